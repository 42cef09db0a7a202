"""The sync job, against a fake API server on loopback: success, every kind of failure, the swap."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from fleet.kubernetes import api
from fleet.kubernetes.fetching import FetchLimits
from fleet.kubernetes.kubeconfig import ClusterAccess
from planner.accounts.models import Team, User
from planner.inventory import clusters, snapshots, sync
from planner.inventory.models import Cluster, NodeRow, Snapshot
from planner.inventory.reaching import keep_access
from planner.jobs import runner
from planner.jobs.models import Job
from planner.jobs.requests import request_cancel
from planner.jobs.runner import LeaseLost, Run
from tests.fakes.kubeapi import Authority, FakeKubeApi, status
from tests.planner.inventory.builders import node, pod

pytestmark = pytest.mark.django_db(transaction=True)

TEAM = {"name": "search", "slug": "search"}


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture
def fake(authority: Authority) -> Iterator[FakeKubeApi]:
    with FakeKubeApi(tls=authority.server(), ca_pem=authority.pem) as server:
        server.add("/api/v1/nodes", "NodeList", [node("a"), node("b")])
        server.add("/api/v1/pods", "PodList", [pod("p", "a")])
        yield server


@pytest.fixture
def cluster(fake: FakeKubeApi) -> Cluster:
    return live_cluster(fake.access())


def live_cluster(access: ClusterAccess) -> Cluster:
    team, _ = Team.objects.get_or_create(**TEAM)
    cluster = Cluster.objects.create(
        team=team,
        name="prod",
        source=Cluster.Source.FIELDS,
        server=access.server,
        sync_interval_s=300,
    )
    keep_access(cluster, access)
    return cluster


def run_sync(cluster: Cluster) -> Job:
    job, _is_new = sync.request_sync_job(cluster, by=None)
    assert runner.run(job.pk)
    job.refresh_from_db()
    cluster.refresh_from_db()
    return job


def test_a_sync_makes_the_snapshot_visible_and_says_so(cluster: Cluster) -> None:
    job = run_sync(cluster)
    assert job.state == Job.State.DONE, job.error_message
    assert "2 nodes" in job.result
    snapshot = cluster.current_snapshot
    assert snapshot is not None
    assert (snapshot.is_complete, snapshot.job_id, snapshot.physical_gpus) == (True, job.pk, 16)
    assert snapshot.kubernetes_version == "v1.36.3"
    reads = {read["resource"]: read["status"] for read in snapshot.reads}
    assert reads["nodes"] == "read"
    assert reads["deployments.apps"] == "not-served"
    assert cluster.next_sync_at is not None


def test_a_forbidden_optional_resource_is_recorded_and_the_sync_goes_on(
    cluster: Cluster, fake: FakeKubeApi
) -> None:
    fake.add("/api/v1/resourcequotas", "ResourceQuotaList", [])
    fake.script("/api/v1/resourcequotas", status(403), repeat_last=True)
    assert run_sync(cluster).state == Job.State.DONE
    assert cluster.current_snapshot is not None
    reads = {read["resource"]: read["status"] for read in cluster.current_snapshot.reads}
    assert reads["resourcequotas"] == "forbidden"


def test_a_refused_credential_pauses_the_schedule_and_keeps_the_old_snapshot(
    cluster: Cluster, fake: FakeKubeApi
) -> None:
    run_sync(cluster)
    before = cluster.current_snapshot
    fake.token = "another"
    job = run_sync(cluster)
    assert (job.state, job.error_code) == (Job.State.FAILED, "unauthorized")
    assert job.error_way_out
    assert cluster.paused_reason == "unauthorized"
    assert cluster.current_snapshot == before
    Cluster.objects.update(next_sync_at=timezone.now())
    assert sync.ask_for_due_syncs() == 0


def test_a_late_refusal_of_a_replaced_credential_pauses_nothing(
    cluster: Cluster, fake: FakeKubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job opened the old credential; somebody enters a new one; then the old one is refused."""
    user = User.objects.create(username="eve", email="eve@example.test")
    opened = sync.opened_access

    def open_then_edit(found: Cluster) -> ClusterAccess:
        access = opened(found)
        fake.token = "new"
        clusters.edit_cluster(
            cluster=found,
            version=found.version,
            name=found.name,
            description="",
            sync_interval_s=found.sync_interval_s,
            by=user,
            access=fake.access(),
        )
        return access

    monkeypatch.setattr(sync, "opened_access", open_then_edit)
    job = run_sync(cluster)
    assert (job.state, job.error_code) == (Job.State.FAILED, "unauthorized")
    assert cluster.paused_reason == ""
    Cluster.objects.update(next_sync_at=timezone.now())
    assert sync.ask_for_due_syncs() == 1
    monkeypatch.setattr(sync, "opened_access", opened)
    job = Job.objects.get(state=Job.State.QUEUED)
    assert runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE


def test_a_server_that_is_away_is_asked_again_later_and_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(api, "FetchLimits", partial(FetchLimits, back_off_s=0.01))
    cluster = live_cluster(ClusterAccess(server="http://127.0.0.1:9"))
    pauses = []
    for _time in range(3):
        assert run_sync(cluster).error_code == "refused"
        assert cluster.next_sync_at is not None
        pauses.append((cluster.next_sync_at - timezone.now()).total_seconds())
    assert 500 < pauses[0] < 700  # twice the interval, give or take a tenth
    assert pauses[1] > 1.5 * pauses[0]
    assert max(pauses) < 3600 * 1.1
    assert cluster.failures == 3
    assert cluster.paused_reason == ""


def test_a_lost_key_is_a_state_of_the_cluster_and_calls_nobody(
    cluster: Cluster, fake: FakeKubeApi, settings: Any
) -> None:
    settings.PLANNER_CREDENTIAL_KEYS = ["A" * 43 + "="]
    job = run_sync(cluster)
    assert (job.state, job.error_code) == (Job.State.FAILED, "credential")
    assert cluster.paused_reason == "credential"
    assert fake.requests == []


def test_an_address_that_is_no_longer_allowed_is_not_called(
    cluster: Cluster, fake: FakeKubeApi, settings: Any
) -> None:
    settings.PLANNER_ALLOW_LOOPBACK = False
    settings.PLANNER_CLUSTER_NETWORKS = ["10.0.0.0/8"]
    assert run_sync(cluster).error_code == "address"
    assert fake.requests == []


def test_success_ends_pause_and_count_of_failures(cluster: Cluster) -> None:
    Cluster.objects.update(paused_reason="unauthorized", failures=4)
    run_sync(cluster)
    assert (cluster.paused_reason, cluster.failures) == ("", 0)


def test_a_cancelled_sync_leaves_nothing_visible(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, _ = sync.request_sync_job(cluster, by=None)
    original = snapshots.build

    def build(**kwargs: Any) -> Snapshot:
        snapshot = original(**kwargs)
        request_cancel(job)
        return snapshot

    monkeypatch.setattr(snapshots, "build", build)
    monkeypatch.setattr(Run, "check", _hears_of_cancel)
    runner.run(job.pk)
    job.refresh_from_db()
    cluster.refresh_from_db()
    assert job.state == Job.State.CANCELLED
    assert cluster.current_snapshot is None


def _hears_of_cancel(run: Run) -> None:
    if Job.objects.filter(pk=run.job_id, cancel_requested=True).exists():
        raise runner.JobCancelled


def test_a_worker_that_lost_its_lease_swaps_nothing_in(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_sync(cluster)
    before = cluster.current_snapshot
    original = snapshots.publish

    def publish(snapshot: Snapshot) -> None:
        raise AssertionError("must not be reached")

    def guard(run: Run) -> None:
        raise LeaseLost

    monkeypatch.setattr(snapshots, "publish", publish)
    monkeypatch.setattr(Run, "guard", guard)
    job, _ = sync.request_sync_job(cluster, by=None)
    runner.run(job.pk)
    cluster.refresh_from_db()
    assert cluster.current_snapshot == before
    assert Snapshot.objects.filter(is_complete=False).count() == 1
    monkeypatch.setattr(snapshots, "publish", original)


def test_a_reader_sees_the_old_snapshot_or_the_new_one_and_nothing_between(
    cluster: Cluster, fake: FakeKubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_sync(cluster)
    fake.add("/api/v1/nodes", "NodeList", [node(f"n{i}") for i in range(1200)])
    seen: list[int] = []

    def visible() -> int:
        return NodeRow.objects.filter(
            snapshot__in=Cluster.objects.values("current_snapshot")
        ).count()

    def watching(run: Run, phase: str, objects: int = 0, total: int | None = None) -> None:
        seen.append(visible())

    monkeypatch.setattr(Run, "progress", watching)
    assert run_sync(cluster).state == Job.State.DONE
    assert len(seen) > 5
    assert set(seen) == {2}
    assert visible() == 1200


def test_the_swap_is_one_update_of_the_cluster(cluster: Cluster) -> None:
    run_sync(cluster)
    snapshot = Snapshot.objects.get()
    statements: list[str] = []
    with connection.execute_wrapper(_Recorder(statements)):
        snapshots.publish(snapshot)
    swaps = [s for s in statements if s.startswith("UPDATE") and "current_snapshot_id" in s]
    assert len(swaps) == 1


class _Recorder:
    def __init__(self, statements: list[str]) -> None:
        self.statements = statements

    def __call__(self, execute: Callable[..., Any], sql: str, *args: Any) -> Any:
        self.statements.append(sql)
        return execute(sql, *args)


def test_what_is_due_is_asked_for_once_by_two_ticks(cluster: Cluster) -> None:
    Cluster.objects.update(next_sync_at=timezone.now())
    assert sync.ask_for_due_syncs() == 1
    Cluster.objects.update(next_sync_at=timezone.now())
    assert sync.ask_for_due_syncs() == 0  # due again, but still queued
    assert Job.objects.count() == 1


def test_a_cluster_by_hand_only_is_never_due(cluster: Cluster) -> None:
    Cluster.objects.update(sync_interval_s=0, next_sync_at=timezone.now())
    assert sync.ask_for_due_syncs() == 0


def test_a_fleet_that_shrinks_by_more_than_half_is_flagged(
    cluster: Cluster, fake: FakeKubeApi
) -> None:
    run_sync(cluster)
    fake.add("/api/v1/nodes", "NodeList", [node("a", gpus=4)])
    run_sync(cluster)
    assert cluster.current_snapshot is not None
    assert "shrunk by more than half" in cluster.current_snapshot.flagged
    assert "16" in cluster.current_snapshot.flagged
