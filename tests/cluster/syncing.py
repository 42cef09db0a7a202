"""The planner's path to a cluster: added with its credential, read by the sync job."""

from __future__ import annotations

from fleet.kubernetes.kubeconfig import ClusterAccess
from planner.accounts.models import Team
from planner.inventory import clusters
from planner.inventory.models import Cluster
from planner.inventory.sync import request_sync_job
from planner.jobs import runner
from planner.jobs.models import Job


def added(access: ClusterAccess, name: str = "live") -> tuple[Cluster, Job]:
    """A cluster as a person adds it, and its first sync as asked for."""
    team, _ = Team.objects.get_or_create(name="Search", slug="search")
    return clusters.create_live(
        team=team,
        name=name,
        source=Cluster.Source.KUBECONFIG,
        access=access,
        by=None,
        sync_interval_s=0,
    )


def synced(access: ClusterAccess, name: str = "live") -> tuple[Cluster, Job]:
    """Add a cluster and do its first sync; both as they stand afterwards."""
    cluster, job = added(access, name)
    return cluster, _done(cluster, job)


def resynced(cluster: Cluster) -> Job:
    """One more sync of a cluster, which then stands as it does afterwards."""
    job, is_new = request_sync_job(cluster, by=None)
    assert is_new
    return _done(cluster, job)


def _done(cluster: Cluster, job: Job) -> Job:
    assert runner.run(job.pk)
    job.refresh_from_db()
    cluster.refresh_from_db()
    return job
