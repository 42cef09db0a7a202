"""Keeping and removing snapshots."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from planner.accounts.models import Team, User
from planner.inventory import clusters, snapshots
from planner.inventory.models import Cluster, NodeRow, Snapshot
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
    for _time in range(3):
        clusters.import_files(cluster=cluster, sources=[dump(node("a"))], by=ada)
    age(31)
    Cluster.objects.update(current_snapshot=Snapshot.objects.get(number=1))
    assert snapshots.prune() == 1
    assert numbers() == [1, 3, 4]
    assert NodeRow.objects.count() == 3


def test_young_snapshots_stay_however_many_there_are(
    cluster: Cluster, ada: User, settings: Any
) -> None:
    settings.PLANNER_SNAPSHOTS_KEPT = 1
    for _time in range(3):
        clusters.import_files(cluster=cluster, sources=[dump(node("a"))], by=ada)
    assert snapshots.prune() == 0
    assert numbers() == [1, 2, 3, 4]


def test_a_pinned_snapshot_stays(cluster: Cluster, ada: User, settings: Any) -> None:
    settings.PLANNER_SNAPSHOTS_KEPT = 1
    clusters.import_files(cluster=cluster, sources=[dump(node("a"))], by=ada)
    plan = Plan.objects.create(team=cluster.team, name="plan")
    run = PlanRun.objects.create(plan=plan, number=1)
    PinnedSnapshot.objects.create(run=run, snapshot=Snapshot.objects.get(number=1))
    age(31)
    assert snapshots.prune() == 0
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
    assert snapshots.remove_orphans() == 0  # too young: its job may only just have ended
    age(1, pk=snapshot.pk)
    assert snapshots.remove_orphans() == gone
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
