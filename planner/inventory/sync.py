"""The sync job: read one live cluster, build a snapshot out of reach, swap it in."""

from __future__ import annotations

import random
import time
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from fleet.inventory import Inventory
from fleet.kubernetes import api, reader
from fleet.kubernetes.api import FetchError, FetchProgress
from fleet.kubernetes.objects import RawCluster
from fleet.kubernetes.topology import Keys
from planner.accounts.models import User
from planner.inventory import history, levels, snapshots
from planner.inventory.collector import young_only
from planner.inventory.discovery import RememberedDiscovery
from planner.inventory.models import Cluster
from planner.inventory.reaching import address_policy, opened_access
from planner.jobs.models import Job
from planner.jobs.requests import request_job
from planner.jobs.runner import JobFailed, Run

KIND = "sync"
PAUSING = frozenset({"unauthorized", "credential"})
"""Trying again with the same credential would only get the account locked."""

LONGEST_PAUSE_S = 3600
DUE_AT_ONCE = 200


def sync_cluster(run: Run) -> str:
    """Handler of ``sync`` jobs; its subject is a cluster."""
    cluster = Cluster.objects.filter(pk=run.subject_id).first()
    if cluster is None or not cluster.is_live:
        raise JobFailed("gone", "There is no live cluster to read any more.")
    started = time.monotonic()
    chosen = levels.chosen(cluster)
    with young_only():
        inventory = _inventory(run, cluster, chosen)
        run.check()
        snapshot = snapshots.build(
            cluster=cluster,
            inventory=inventory,
            read_seconds=time.monotonic() - started,
            job_id=run.job_id,
            progress=lambda rows: run.progress("storing the snapshot", rows),
        )
    with transaction.atomic():
        run.guard()
        snapshots.publish(snapshot)
        Cluster.objects.filter(pk=cluster.pk).update(failures=0, paused_reason="")
        Cluster.objects.filter(pk=cluster.pk, sync_interval_s__gt=0).update(
            next_sync_at=Now() + _jittered(cluster.sync_interval_s)
        )
    levels.ask_again_if_changed(cluster, chosen)
    history.prune(clusters=Cluster.objects.filter(pk=cluster.pk))
    return f"snapshot {snapshot.number}: {snapshot.node_count} nodes, {snapshot.pod_count} pods" + (
        f"; {snapshot.flagged}" if snapshot.flagged else ""
    )


def _inventory(run: Run, cluster: Cluster, chosen: Keys) -> Inventory:
    raw = _fetched(run, cluster)  # let go of when this ends: it is large
    run.progress("making sense of the objects")
    return reader.read(raw, levels=chosen)


def _fetched(run: Run, cluster: Cluster) -> RawCluster:
    try:
        return _called(run, cluster)
    except JobFailed as error:
        if error.code in PAUSING:
            _pause(run, cluster, error.code)
        raise


def _pause(run: Run, cluster: Cluster, code: str) -> None:
    """Pause the schedule, unless the cluster was edited since this job looked at it: what was
    refused may then be a credential that has been replaced."""
    with transaction.atomic():
        run.guard()
        Cluster.objects.filter(pk=cluster.pk, version=cluster.version).update(paused_reason=code)


def _called(run: Run, cluster: Cluster) -> RawCluster:
    access = opened_access(cluster)

    def heard(progress: FetchProgress) -> None:
        run.progress(progress.phase, progress.objects)

    run.progress("connecting")
    try:
        return api.fetch(
            access,
            address_policy(),
            progress=heard,
            cancelled=run.cancelled,
            memory=RememberedDiscovery(cluster),
        )
    except FetchError as error:
        run.check()  # a cancelled or lost run is no failure of the cluster
        raise JobFailed(error.code, error.message, error.way_out) from None


def sync_failed(cluster_id: int, code: str) -> None:
    """After a failed sync: wait longer each time, up to an hour. A schedule that was paused waits
    for somebody who enters a credential."""
    cluster = Cluster.objects.filter(pk=cluster_id).first()
    if cluster is None:
        return
    Cluster.objects.filter(pk=cluster_id).update(failures=F("failures") + 1)
    if cluster.sync_interval_s and code not in PAUSING:
        longest = max(LONGEST_PAUSE_S, cluster.sync_interval_s)
        pause = min(cluster.sync_interval_s * 2 ** min(cluster.failures + 1, 8), longest)
        Cluster.objects.filter(pk=cluster_id).update(next_sync_at=Now() + _jittered(pause))


def _jittered(seconds: int) -> timedelta:
    """About ``seconds``, so that clusters added together do not stay in step."""
    return timedelta(seconds=seconds * random.uniform(0.9, 1.1))  # noqa: S311 (no secret)


def ask_for_due_syncs() -> int:
    """Request the syncs that are due. Two ticks at once ask for each only once: moving the due
    time on is a conditional UPDATE, on the database's clock."""
    due = Cluster.objects.filter(
        source__in=Cluster.LIVE, sync_interval_s__gt=0, paused_reason="", next_sync_at__lte=Now()
    ).select_related("team")
    asked = 0
    for cluster in due.order_by("next_sync_at")[:DUE_AT_ONCE]:
        with transaction.atomic():
            ours = Cluster.objects.filter(pk=cluster.pk, next_sync_at=cluster.next_sync_at).update(
                next_sync_at=Now() + _jittered(cluster.sync_interval_s)
            )
            if ours:
                asked += request_sync_job(cluster, by=None)[1]
    return asked


def request_sync_job(cluster: Cluster, *, by: User | None) -> tuple[Job, bool]:
    """The active sync of ``cluster``, asked for if there is none; and whether it is new."""
    return request_job(
        kind=KIND,
        queue=Job.Queue.SYNC,
        subject_id=cluster.pk,
        subject_name=cluster.name,
        team=cluster.team,
        by=by,
    )
