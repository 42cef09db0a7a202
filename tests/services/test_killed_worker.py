"""A worker that dies in the middle of a sync leaves nothing half, and its work is done again."""

from __future__ import annotations

from planner.inventory.models import Cluster, NodeRow, Snapshot
from planner.inventory.sync import request_sync_job
from planner.jobs.models import Job
from tests.fakes.kubeapi import hang, page
from tests.processes import wait_for
from tests.services.conftest import Stack
from tests.services.fleet_api import add_cluster, fleet_api, pod


def whole_snapshot_of(cluster: Cluster) -> Snapshot | None:
    """What a reader sees now; fails when it is not whole."""
    cluster.refresh_from_db()
    snapshot = cluster.current_snapshot
    if snapshot is not None:
        assert snapshot.is_complete
        assert NodeRow.objects.filter(snapshot=snapshot).count() == snapshot.node_count
    return snapshot


def test_kill_9_in_the_middle_of_a_sync_keeps_the_old_snapshot_and_the_job(stack: Stack) -> None:
    with fleet_api(nodes=3, pods=6) as api:
        cluster, first = add_cluster(api)
        worker = stack.worker()
        wait_for("the first sync", lambda: Job.objects.get(pk=first.pk).state == Job.State.DONE)
        old = whole_snapshot_of(cluster)
        assert old is not None

        many = [pod(i, 3) for i in range(900)]
        api.add("/api/v1/pods", "PodList", many)
        api.script("/api/v1/pods", page("PodList", many[:500], "500"), hang())
        job, _ = request_sync_job(cluster, by=None)
        wait_for(
            "the worker reads the second page",
            lambda: any(r.query.get("continue") == "500" for r in api.requests),
        )
        assert whole_snapshot_of(cluster) == old
        worker.kill()
        job.refresh_from_db()
        assert job.state == Job.State.RUNNING
        assert whole_snapshot_of(cluster) == old
        api.script("/api/v1/pods")  # from now on it answers

        stack.worker()
        stack.beat()

        def done() -> bool:
            whole_snapshot_of(cluster)
            job.refresh_from_db()
            assert job.state != Job.State.FAILED, job.error_message
            return job.state == Job.State.DONE

        wait_for("the job runs again", done, timeout_s=60)
        new = whole_snapshot_of(cluster)
        assert new is not None
        assert new.number > old.number
        assert new.pod_count == 900
        assert job.attempts == 2
        assert Snapshot.objects.filter(cluster=cluster, is_complete=True).count() == 2
