"""How long snapshots are kept, and the job that takes old ones away."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, ProtectedError, Q, QuerySet, RestrictedError
from django.db.models.functions import Now

from planner.inventory.models import Cluster, Snapshot
from planner.jobs.models import Job
from planner.jobs.requests import request_job
from planner.jobs.runner import Run

KIND = "prune"
ASK_AGAIN_AFTER = timedelta(hours=1)
"""What is pinned stays however old it is, so a cluster may be due again at once."""

ASKED_AT_ONCE = 50


def prune_cluster(run: Run) -> str:
    """Handler of ``prune`` jobs; its subject is a cluster."""
    removed = prune(clusters=Cluster.objects.filter(pk=run.subject_id))
    return f"{removed} snapshots deleted"


def prune(*, clusters: QuerySet[Cluster] | None = None) -> int:
    """Delete old snapshots and what dead syncs left behind; returns how many snapshots went.

    Kept: the newest ``PLANNER_SNAPSHOTS_KEPT`` of each cluster unless they are older than
    ``PLANNER_SNAPSHOT_DAYS``; in any case the current one, and every one that a plan has pinned.
    """
    chosen = Cluster.objects.all() if clusters is None else clusters
    removed = remove_orphans()
    for cluster in chosen.only("pk", "current_snapshot_id"):
        complete = Snapshot.objects.filter(cluster=cluster, is_complete=True)
        newest = complete.order_by("-number").values_list("number", flat=True)
        last_kept = list(newest[: settings.PLANNER_SNAPSHOTS_KEPT])[-1:]
        beyond = Q(number__lt=last_kept[0]) if last_kept else Q()
        old = complete.filter(beyond | _aged()).exclude(pk=cluster.current_snapshot_id or 0)
        removed += sum(_remove(pk) for pk in list(old.values_list("pk", flat=True)))
    return removed


def remove_orphans() -> int:
    """Delete incomplete snapshots that no running job is still writing."""
    orphans = Snapshot.objects.filter(
        is_complete=False,
        created_at__lt=Now() - timedelta(seconds=settings.PLANNER_JOB_LEASE_S),
    ).exclude(job_id__in=Job.objects.filter(state=Job.State.RUNNING).values("pk"))
    return sum(_remove(pk) for pk in list(orphans.values_list("pk", flat=True)))


def ask_for_due_prunes() -> int:
    """Request a prune job for clusters with aged snapshots, each at most once an hour. Syncs and
    imports prune their own cluster; this is for those that are not read any more."""
    aged = Snapshot.objects.filter(_aged(), cluster=OuterRef("pk"), is_complete=True).exclude(
        pk=OuterRef("current_snapshot")
    )
    lately = Job.objects.filter(
        kind=KIND, subject_id=OuterRef("pk"), created_at__gt=Now() - ASK_AGAIN_AFTER
    )
    due = Cluster.objects.filter(Exists(aged), ~Exists(lately)).select_related("team")
    asked = 0
    for cluster in due.order_by("pk")[:ASKED_AT_ONCE]:
        asked += request_job(
            kind=KIND,
            queue=Job.Queue.SYNC,
            subject_id=cluster.pk,
            subject_name=cluster.name,
            team=cluster.team,
            by=None,
        )[1]
    return asked


def _aged() -> Q:
    return Q(created_at__lt=Now() - timedelta(days=settings.PLANNER_SNAPSHOT_DAYS))


def _remove(pk: int) -> int:
    """1 when it went; 0 when a plan pins it or a cluster shows it, which the database decides."""
    try:
        with transaction.atomic():
            Snapshot.objects.filter(pk=pk).delete()
    except (ProtectedError, RestrictedError):
        return 0
    return 1
