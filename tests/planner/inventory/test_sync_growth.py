"""A sync costs the same whether a cluster has one snapshot or as many as are kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from planner.accounts.models import Team
from planner.inventory import snapshots, sync
from planner.inventory.models import Cluster, NodeRow, PodRow, Snapshot
from planner.inventory.reaching import keep_access
from planner.jobs import runner
from planner.jobs.models import Job
from tests.fakes.kubeapi import FakeKubeApi
from tests.planner.inventory.builders import node, pod

pytestmark = pytest.mark.django_db(transaction=True)

NODES, PODS, KEPT = 3, 5, 48


@pytest.fixture
def cluster(team: Team) -> Iterator[Cluster]:
    with FakeKubeApi(token=None) as fake:
        fake.add("/api/v1/nodes", "NodeList", [node(f"n{i}") for i in range(NODES)])
        fake.add("/api/v1/pods", "PodList", [pod(f"p{i}", "n0") for i in range(PODS)])
        found = Cluster.objects.create(
            team=team, name="prod", source=Cluster.Source.FIELDS, server=fake.url
        )
        keep_access(found, fake.access())
        yield found


def statements_of_a_sync(cluster: Cluster) -> list[str]:
    """What a sync asks of the database, numbers and progress left out."""
    job, _ = sync.request_sync_job(cluster, by=None)
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert runner.run(job.pk)
    job.refresh_from_db()
    cluster.refresh_from_db()
    assert job.state == Job.State.DONE, job.error_message
    found = [re.sub(r"\d+|'[^']*'", "?", query["sql"]) for query in captured.captured_queries]
    # How often progress is told depends on the clock.
    return sorted(sql[:200] for sql in found if "jobs_job" not in sql)


def add_snapshots(cluster: Cluster, count: int) -> None:
    """As ``count`` earlier syncs have left them."""
    assert cluster.current_snapshot is not None
    inventory = cluster.current_snapshot.inventory()
    for _ in range(count):
        snapshots.publish(snapshots.build(cluster=cluster, inventory=inventory))
    cluster.refresh_from_db()


def rows() -> tuple[int, int, int]:
    return Snapshot.objects.count(), NodeRow.objects.count(), PodRow.objects.count()


def test_history_makes_no_sync_dearer(cluster: Cluster, settings: Any) -> None:
    settings.PLANNER_SNAPSHOTS_KEPT = KEPT
    statements_of_a_sync(cluster)
    with_one = statements_of_a_sync(cluster)
    add_snapshots(cluster, KEPT - 4)
    before = rows()
    with_many = statements_of_a_sync(cluster)
    assert with_many == with_one
    assert tuple(after - b for after, b in zip(rows(), before, strict=True)) == (1, NODES, PODS)


def test_a_full_history_loses_one_snapshot_for_each_new_one(
    cluster: Cluster, settings: Any
) -> None:
    settings.PLANNER_SNAPSHOTS_KEPT = KEPT
    statements_of_a_sync(cluster)
    add_snapshots(cluster, KEPT)
    first = statements_of_a_sync(cluster)  # takes away what was beyond the number kept
    assert rows() == (KEPT, KEPT * NODES, KEPT * PODS)
    second = statements_of_a_sync(cluster)
    assert rows() == (KEPT, KEPT * NODES, KEPT * PODS)
    assert len(second) <= len(first)
