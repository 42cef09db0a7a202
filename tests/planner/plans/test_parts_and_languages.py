"""Replicas of which only some pods are placed, and stored answers in the reader's language."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from fleet import words
from fleet.workloads import Constraints, TrainingWorkload
from planner.accounts.models import Team, User
from planner.inventory.models import Cluster
from planner.jobs import runner
from planner.plans import plan_services, run_results
from planner.plans.models import PlanRun, Workload
from planner.plans.plan_report import PlanReport

ClientFor = Callable[..., Client]


@pytest.fixture
def in_part(
    team: Team, pia: User, fleet: list[Cluster], declare: Callable[..., Workload]
) -> PlanRun:
    """One training job of 16 workers, each of which is useful by itself."""
    workload = declare(
        TrainingWorkload(
            name="loose",
            model="meta-llama/Meta-Llama-3.1-8B",
            method="lora",
            gpus=128,
            gpus_per_worker=8,
            constraints=Constraints(gang=False),
        )
    )
    plan = plan_services.create_plan(
        team=team, by=pia, name="in part", workloads=[workload], clusters=[], budget_s=5, seed=0
    )
    assert runner.run(plan_services.request_solve(plan=plan, by=pia).pk)
    plan.refresh_from_db()
    assert plan.current_run is not None
    return plan.current_run


@pytest.fixture
def another_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other language is English with a cry before each sentence."""

    def cry(text: str) -> str:
        return f"ACH, {text}" if translation.get_language() == "ja" else text

    def cry_many(one: str, many: str, number: int) -> str:
        return cry(one if number == 1 else many)

    monkeypatch.setattr(words, "_translator", words._Translator(cry, cry_many))


def test_a_replica_in_part_counts_its_pods_and_is_not_called_placed(
    in_part: PlanRun, vic: User, client_for: ClientFor
) -> None:
    plan = run_results.decode(bytes(in_part.result or b""))
    pods = len(plan.placement.assignments)
    assert 0 < pods < 16
    assert (in_part.placed_replicas, in_part.placed_workloads) == (0, 0)

    page = client_for(vic).get(reverse("plans:plan-detail", args=[in_part.plan_id]))
    text = page.content.decode()
    assert f"{pods} of 16 pods" in text
    assert "In part" in text
    assert "0 of 1 workload placed" in text

    solver = client_for(vic).get(reverse("plans:plan-tab", args=[in_part.plan_id, "solver"]))
    assert f"0: {pods}" in solver.content.decode().split("Pods of replicas in part")[1]


def test_a_stored_answer_is_told_in_the_language_of_its_reader(
    in_part: PlanRun, another_language: None
) -> None:
    english = PlanReport.of(in_part)
    with translation.override("ja"):
        other = PlanReport.of(in_part)
    assert english is not None
    assert other is not None
    for report, opening in ((english, ""), (other, "ACH, ")):
        waits = report.waiting[0].result
        assert waits.sentence.startswith(f"{opening}1 replica has")
        assert waits.nearest.startswith(f"{opening}Closest: ")
        assert waits.steps[0].label.startswith(f"{opening}has ")
        assert report.placed[0].why[0].startswith(f"{opening}cheapest card")
    assert other.value.placement.score == english.value.placement.score
    assert [a.node for a in other.value.placement.assignments] == [
        a.node for a in english.value.placement.assignments
    ]


def test_an_answer_is_stored_in_english_whatever_the_worker_speaks(
    in_part: PlanRun, pia: User, another_language: None
) -> None:
    job = plan_services.request_solve(plan=in_part.plan, by=pia)
    with translation.override("ja"):
        assert runner.run(job.pk)
    run = in_part.plan.runs.latest("number")
    assert run.pk != in_part.pk
    stored = run_results.decode(bytes(run.result or b""))
    assert stored.placement.unplaced[0].sentence.startswith("1 replica has")


def test_the_page_of_an_answer_speaks_the_language_that_the_browser_asks_for(
    in_part: PlanRun, vic: User, client_for: ClientFor, another_language: None
) -> None:
    address = reverse("plans:plan-detail", args=[in_part.plan_id])
    client = client_for(vic)
    assert (
        "ACH, Closest: " in client.get(address, headers={"accept-language": "ja"}).content.decode()
    )
    assert "ACH, " not in client.get(address, headers={"accept-language": "en"}).content.decode()
