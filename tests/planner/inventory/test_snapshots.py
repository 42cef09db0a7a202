"""Keeping and removing snapshots."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from planner.accounts.models import Team, User
from planner.inventory import clusters, history, snapshots
from planner.inventory.models import Cluster, NodeRow, NodeValue, ServingFacts, Snapshot
from planner.jobs import runner
from planner.jobs.models import Job
from planner.plans.models import PinnedSnapshot, Plan, PlanRun
from tests.planner.inventory.builders import dump, node


@pytest.fixture
def cluster(team: Team, ada: User) -> Cluster:
    return clusters.create_from_files(team=team, name="prod", sources=[dump(node("a"))], by=ada)


def age(days: int, **chosen: Any) -> None:
    Snapshot.objects.filter(**chosen).update(created_at=timezone.now() - timedelta(days=days))


def numbers() -> list[int]:
    return list(Snapshot.objects.order_by("number").values_list("number", flat=True))


def test_old_snapshots_beyond_the_number_kept_go_and_the_current_one_stays(
    cluster: Cluster, ada: User, settings: Any
) -> None:
    settings.PLANNER_SNAPSHOTS_KEPT = 2
    clusters.import_files(cluster=cluster, sources=[dump(node("a"))], by=ada)
    Cluster.objects.update(current_snapshot=Snapshot.objects.get(number=1))
    settings.PLANNER_SNAPSHOTS_KEPT = 1
    for _time in range(2):
        snapshot = snapshots.build(
            cluster=cluster, inventory=Snapshot.objects.get(number=1).inventory(), read_seconds=0
        )
        Snapshot.objects.filter(pk=snapshot.pk).update(is_complete=True)
    assert history.prune() == 2
    assert numbers() == [1, 4]
    assert NodeRow.objects.count() == NodeValue.objects.count() == 2
    assert ServingFacts.objects.count() == 2


def test_young_snapshots_beyond_the_number_kept_go_too(
    cluster: Cluster, ada: User, settings: Any
) -> None:
    """A cluster that is read every minute must not fill the disk for a month."""
    settings.PLANNER_SNAPSHOTS_KEPT = 2
    for _time in range(3):
        clusters.import_files(cluster=cluster, sources=[dump(node("a"))], by=ada)
    assert numbers() == [3, 4]


def test_aged_snapshots_of_a_cluster_that_is_read_no_more_go_by_a_job(
    cluster: Cluster, ada: User
) -> None:
    clusters.import_files(cluster=cluster, sources=[dump(node("a"))], by=ada)
    assert history.ask_for_due_prunes() == 0
    age(31)
    assert history.ask_for_due_prunes() == 1
    assert history.ask_for_due_prunes() == 0
    job = Job.objects.get(kind=history.KIND)
    assert runner.run(job.pk)
    job.refresh_from_db()
    assert job.result == "1 snapshots deleted"
    assert numbers() == [2]
    assert history.ask_for_due_prunes() == 0


def test_a_pinned_snapshot_stays(cluster: Cluster, ada: User, settings: Any) -> None:
    clusters.import_files(cluster=cluster, sources=[dump(node("a"))], by=ada)
    settings.PLANNER_SNAPSHOTS_KEPT = 1
    plan = Plan.objects.create(team=cluster.team, name="plan")
    run = PlanRun.objects.create(plan=plan, number=1)
    PinnedSnapshot.objects.create(run=run, snapshot=Snapshot.objects.get(number=1))
    age(31)
    assert history.prune() == 0
    assert numbers() == [1, 2]
    with pytest.raises(clusters.ClusterRefused, match="Plans"):
        clusters.delete_cluster(cluster=cluster, by=ada)
    assert Cluster.objects.filter(current_snapshot__number=2).exists()


@pytest.mark.parametrize(("state", "gone"), [("running", 0), ("failed", 1)])
def test_what_a_dead_sync_left_behind_goes_and_what_a_live_one_writes_stays(
    cluster: Cluster, state: str, gone: int
) -> None:
    job = Job.objects.create(
        kind="sync", queue="sync", key="sync:1", subject_id=1, team=cluster.team, state=state
    )
    snapshot = snapshots.build(
        cluster=cluster, inventory=Snapshot.objects.get().inventory(), job_id=job.pk
    )
    assert history.remove_orphans() == 0  # too young: its job may only just have ended
    age(1, pk=snapshot.pk)
    assert history.remove_orphans() == gone
    assert Snapshot.objects.filter(is_complete=True).count() == 1


def test_an_incomplete_snapshot_is_not_visible(cluster: Cluster, ada: User) -> None:
    snapshots.build(cluster=cluster, inventory=Snapshot.objects.get().inventory())
    assert Snapshot.objects.visible_to(ada).count() == 1
    assert Snapshot.objects.current().count() == 1


def test_two_nodes_of_one_name_cost_one_row_and_a_line(team: Team, ada: User) -> None:
    cluster = clusters.create_from_files(
        team=team, name="twins", sources=[dump(node("a"), node("a"))], by=ada
    )
    snapshot = cluster.snapshots.get()
    assert snapshot.nodes.count() == 1
    assert any("a" in line for line in snapshot.problems)


def test_absurd_counts_fit_into_the_columns(team: Team, ada: User) -> None:
    cluster = clusters.create_from_files(
        team=team, name="odd", sources=[dump(node("a", gpus=10**15), node("b", gpus=-4))], by=ada
    )
    row = cluster.snapshots.get().nodes.get(name="a")
    assert len(row.squares) <= 4000
    assert row.physical is None or row.physical < 2**31
