from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

import pytest
from django.db.models import ProtectedError
from django.test import Client
from django.urls import reverse

from fleet.workloads import LlmWorkload
from planner.accounts.models import Team, User
from planner.inventory import history, snapshots
from planner.inventory.models import Cluster, Snapshot
from planner.jobs import claims, runner, sweeper
from planner.jobs.models import Job
from planner.jobs.requests import request_cancel
from planner.plans import plan_services, run_results, solving
from planner.plans.models import PinnedSnapshot, Plan, PlanRun, Workload
from planner.plans.workload_services import Refused
from tests.planner.plans.conftest import add_cluster

ClientFor = Callable[..., Client]


def solve(plan: Plan, by: User) -> PlanRun:
    """Ask for a solve and run its job, as the loop does."""
    job = plan_services.request_solve(plan=plan, by=by)
    assert runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, (job.error_code, job.error_message)
    plan.refresh_from_db()
    return plan.runs.latest("number")


def test_a_solve_places_workloads_and_becomes_the_answer_of_the_plan(
    plan: Plan, fleet: list[Cluster], pia: User
) -> None:
    run = solve(plan, pia)

    assert plan.current_run == run
    assert run.finished_at is not None
    value = run_results.decode(bytes(run.result or b""))
    placed = {a.workload for a in value.placement.assignments}
    assert "chat" in placed
    assert run.placed_workloads == sum(
        held[0] >= held[1] for held in run.summary["workloads"].values()
    )
    assert run.wanted_workloads == 3


def test_a_run_pins_the_snapshots_that_were_current_when_it_started(
    plan: Plan, fleet: list[Cluster], pia: User
) -> None:
    run = solve(plan, pia)

    pinned = set(run.pins.values_list("snapshot", flat=True))
    assert pinned == {cluster.current_snapshot_id for cluster in fleet}


def test_a_plan_for_chosen_clusters_pins_only_those(
    plan: Plan, fleet: list[Cluster], pia: User
) -> None:
    plan.clusters.set([fleet[1]])

    run = solve(plan, pia)

    assert [pin.snapshot.cluster for pin in run.pins.all()] == [fleet[1]]


def test_a_pinned_snapshot_cannot_be_pruned(
    plan: Plan, fleet: list[Cluster], pia: User, settings: Any
) -> None:
    settings.PLANNER_SNAPSHOTS_KEPT = 1
    ages_ago = datetime(2020, 1, 1, tzinfo=UTC)
    run = solve(plan, pia)
    pinned = fleet[0].current_snapshot
    assert pinned is not None
    newer = snapshots.build(cluster=fleet[0], inventory=pinned.inventory())
    snapshots.publish(newer)
    Snapshot.objects.filter(pk=pinned.pk).update(created_at=ages_ago)

    history.prune()

    assert Snapshot.objects.filter(pk=pinned.pk).exists()
    with pytest.raises(ProtectedError):
        Snapshot.objects.get(pk=pinned.pk).delete()
    run.delete()
    history.prune()
    assert not Snapshot.objects.filter(pk=pinned.pk).exists()


def test_a_retry_takes_the_snapshots_of_the_first_attempt(
    plan: Plan, fleet: list[Cluster], pia: User
) -> None:
    job = plan_services.request_solve(plan=plan, by=pia)
    with (
        patch.object(solving, "make_plan", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        runner.run(job.pk)
    first = set(PinnedSnapshot.objects.values_list("snapshot", flat=True))
    again = snapshots.build(cluster=fleet[0], inventory=fleet[0].current_snapshot.inventory())  # type: ignore[union-attr]
    snapshots.publish(again)

    Job.objects.filter(pk=job.pk).update(state=Job.State.QUEUED, claimed_by="", lease_until=None)
    assert runner.run(job.pk)

    assert set(PinnedSnapshot.objects.values_list("snapshot", flat=True)) == first
    assert again.pk not in first


def test_a_killed_solve_leaves_the_answer_before_and_nothing_half(
    plan: Plan, fleet: list[Cluster], pia: User
) -> None:
    before = solve(plan, pia)
    job = plan_services.request_solve(plan=plan, by=pia)
    with (
        patch.object(solving, "_store", side_effect=SystemExit),
        pytest.raises(SystemExit),
    ):
        runner.run(job.pk)
    plan.refresh_from_db()
    run = plan.runs.latest("number")
    assert plan.current_run == before
    assert (run.result, run.finished_at, run.summary) == (None, None, {})

    Job.objects.filter(pk=job.pk).update(lease_until="2000-01-01T00:00:00Z")
    sweeper.sweep()
    Job.objects.filter(pk=job.pk).update(run_after="2000-01-01T00:00:00Z")
    assert runner.run(job.pk)

    plan.refresh_from_db()
    assert plan.current_run == run


def test_a_worker_that_lost_its_lease_stores_nothing(
    plan: Plan, fleet: list[Cluster], pia: User
) -> None:
    job = plan_services.request_solve(plan=plan, by=pia)
    real = solving.make_plan

    def slow(*args: Any, **kwargs: Any) -> Any:
        Job.objects.filter(pk=job.pk).update(claimed_by="another-worker")
        return real(*args, **kwargs)

    with patch.object(solving, "make_plan", slow):
        runner.run(job.pk)

    run = plan.runs.get()
    plan.refresh_from_db()
    assert (run.result, run.finished_at, plan.current_run) == (None, None, None)
    job.refresh_from_db()
    assert (job.state, job.claimed_by) == (Job.State.RUNNING, "another-worker")


def test_a_cancelled_solve_stores_nothing(plan: Plan, fleet: list[Cluster], pia: User) -> None:
    job = plan_services.request_solve(plan=plan, by=pia)
    real = solving.make_plan

    def cancelled_meanwhile(*args: Any, **kwargs: Any) -> Any:
        request_cancel(Job.objects.get(pk=job.pk))
        current = kwargs["cancelled"].__self__
        current.beat()
        return real(*args, **kwargs)

    with patch.object(solving, "make_plan", cancelled_meanwhile):
        runner.run(job.pk)

    job.refresh_from_db()
    assert job.state == Job.State.CANCELLED
    assert plan.runs.get().result is None


def test_a_double_click_makes_one_run(plan: Plan, fleet: list[Cluster], pia: User) -> None:
    first = plan_services.request_solve(plan=plan, by=pia)
    second = plan_services.request_solve(plan=plan, by=pia)

    assert first.pk == second.pk
    assert plan.runs.count() == 1


def test_a_user_solves_one_plan_at_a_time(
    plan: Plan, team: Team, pia: User, ada: User, three: list[Workload]
) -> None:
    other = plan_services.create_plan(
        team=team, by=pia, name="Q2", workloads=three, clusters=[], budget_s=5, seed=0
    )
    plan_services.request_solve(plan=plan, by=pia)

    with pytest.raises(Refused, match="Q1 capacity"):
        plan_services.request_solve(plan=other, by=pia)
    plan_services.request_solve(plan=other, by=ada)

    assert Job.objects.active().count() == 2


def test_a_plan_without_a_workload_is_not_solved(plan: Plan, pia: User) -> None:
    plan.workloads.clear()

    with pytest.raises(Refused, match="no workload"):
        plan_services.request_solve(plan=plan, by=pia)


def test_without_a_snapshot_the_job_fails_with_a_way_out(plan: Plan, pia: User) -> None:
    job = plan_services.request_solve(plan=plan, by=pia)
    runner.run(job.pk)

    job.refresh_from_db()
    assert (job.state, job.error_code) == (Job.State.FAILED, "no-snapshot")
    assert "sync" in job.error_way_out


def test_inputs_stay_as_they_were_when_the_solve_was_asked_for(
    plan: Plan, three: list[Workload], fleet: list[Cluster], pia: User
) -> None:
    job = plan_services.request_solve(plan=plan, by=pia)
    Workload.objects.filter(name="chat").update(spec=three[1].spec | {"replicas": 9})

    runner.run(job.pk)

    run = plan.runs.get()
    assert run.summary["workloads"]["chat"][1] == 1
    page = Client()
    page.force_login(pia)
    text = page.get(reverse("plans:plan-detail", args=[plan.pk])).content.decode()
    assert "have changed since this answer" in text


def test_an_unknown_model_in_a_stored_workload_fails_the_job_in_words(
    plan: Plan, three: list[Workload], fleet: list[Cluster], pia: User
) -> None:
    Workload.objects.filter(name="chat").update(spec=three[1].spec | {"model": "no/such-model"})
    job = plan_services.request_solve(plan=plan, by=pia)

    runner.run(job.pk)

    job.refresh_from_db()
    assert (job.state, job.error_code) == (Job.State.FAILED, "plan")
    assert "chat" in job.error_message


def test_equal_input_and_seed_give_an_equal_answer(
    plan: Plan, fleet: list[Cluster], pia: User
) -> None:
    runs = [solve(plan, pia), solve(plan, pia)]

    answers = [run_results.decode(bytes(run.result or b"")).placement for run in runs]
    assert answers[0].assignments == answers[1].assignments


def test_the_solve_button_queues_a_job_and_the_page_shows_it(
    plan: Plan, fleet: list[Cluster], pia: User, client_for: ClientFor
) -> None:
    client = client_for(pia)

    response = client.post(reverse("plans:plan-solve", args=[plan.pk]), follow=True)

    job = Job.objects.get()
    text = response.content.decode()
    assert reverse("jobs:progress", args=[job.pk]) in text
    assert reverse("jobs:cancel", args=[job.pk]) in text
    assert claims.next_queued(["solve"]) == job.pk


def test_an_answer_on_snapshots_that_are_no_longer_current_says_so(
    plan: Plan, fleet: list[Cluster], pia: User, client_for: ClientFor
) -> None:
    solve(plan, pia)
    pinned = fleet[0].current_snapshot
    assert pinned is not None
    snapshots.publish(snapshots.build(cluster=fleet[0], inventory=pinned.inventory()))

    text = client_for(pia).get(reverse("plans:plan-detail", args=[plan.pk])).content.decode()

    assert "newer snapshot" in text


def test_a_cluster_of_another_team_is_never_placed_on(
    plan: Plan, other_team: Team, pia: User, fleet: list[Cluster]
) -> None:
    add_cluster(other_team, "theirs", "12")

    run = solve(plan, pia)

    assert {pin.snapshot.cluster.team_id for pin in run.pins.all()} == {plan.team_id}


def test_a_workload_that_fits_nowhere_waits_with_its_reason(
    plan: Plan, fleet: list[Cluster], declare: Callable[..., Workload], pia: User
) -> None:
    plan.workloads.add(
        declare(LlmWorkload(name="huge", model="deepseek-ai/DeepSeek-V3", replicas=40))
    )

    run = solve(plan, pia)

    assert run.summary["workloads"]["huge"][0] < 40
    value = run_results.decode(bytes(run.result or b""))
    waiting = next(u for u in value.placement.unplaced if u.workload == "huge")
    assert waiting.sentence
