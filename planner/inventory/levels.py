"""The levels of topology of one cluster: what is proposed, what a person chose, and the job that
lays them anew.

A snapshot never changes, so new levels are a new snapshot: the same objects, read at the same
time, with the place of every node told by other labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from fleet.kubernetes.topology import Keys, lay
from planner.accounts import audit
from planner.accounts.models import User
from planner.inventory import history, snapshots
from planner.inventory.models import Cluster, Snapshot
from planner.jobs.models import Job
from planner.jobs.requests import request_job
from planner.jobs.runner import JobFailed, Run

KIND = "levels"
TRIES = 3
"""A sync may publish while levels are laid; then they are laid on the newer snapshot."""


class LevelsConflict(Exception):
    """Somebody else saved the cluster meanwhile; ``current`` is how it stands now."""

    def __init__(self, current: Cluster) -> None:
        super().__init__(f"{current} was edited by somebody else")
        self.current = current


def chosen(cluster: Cluster) -> Keys:
    """The levels that a person chose, as they stand in the database; () for the proposal."""
    stored = Cluster.objects.filter(pk=cluster.pk).values_list("topology_levels", flat=True).first()
    return tuple((str(name), str(key)) for name, key in stored or ())


def set_levels(
    *,
    cluster: Cluster,
    version: int,
    levels: Sequence[tuple[str, str]],
    by: User,
    request: HttpRequest | None = None,
) -> Job | None:
    """Store the levels (none: back to the proposal) and ask for the snapshot that shows them.

    ``version`` is the one that the form showed. None where there is no snapshot yet. Raises
    ``LevelsConflict``.
    """
    with transaction.atomic():
        mine = Cluster.objects.filter(pk=cluster.pk, version=version).update(
            topology_levels=[list(pair) for pair in levels], version=version + 1
        )
        edited = Cluster.objects.select_related("team").get(pk=cluster.pk)
        if not mine:
            raise LevelsConflict(edited)
        audit.record(
            "cluster.levels-edited",
            edited,
            by=by,
            team=edited.team,
            request=request,
            levels=[f"{name}={key}" for name, key in levels] or "proposal",
        )
        if edited.current_snapshot_id is None:
            return None
        return request_laying(edited, by=by)


def request_laying(cluster: Cluster, *, by: User | None) -> Job:
    """The active job that lays the levels of ``cluster`` anew, asked for if there is none."""
    job, _new = request_job(
        kind=KIND,
        queue=Job.Queue.SYNC,
        subject_id=cluster.pk,
        subject_name=cluster.name,
        team=cluster.team,
        by=by,
    )
    return job


def ask_again_if_changed(cluster: Cluster, used: Keys) -> None:
    """After a snapshot was published with the levels ``used``: lay them anew if somebody chose
    others while it was made."""
    if chosen(cluster) != used:
        request_laying(cluster, by=None)


def latest_laying(cluster: Cluster) -> Job | None:
    """The newest job of that kind."""
    return Job.objects.filter(kind=KIND, subject_id=cluster.pk).order_by("-pk").first()


def lay_levels(run: Run) -> str:
    """Handler of ``levels`` jobs; its subject is a cluster."""
    cluster = Cluster.objects.filter(pk=run.subject_id).first()
    if cluster is None:
        raise JobFailed("gone", "There is no such cluster any more.")
    for _ in range(TRIES):
        before = Snapshot.objects.filter(pk__in=_current(cluster)).first()
        if before is None:
            return "no snapshot yet: the next one will show the levels"
        used = chosen(cluster)
        run.progress("laying the levels anew")
        after = _laid(run, cluster, before, used)
        with transaction.atomic():
            run.guard()
            held = Cluster.objects.select_for_update().get(pk=cluster.pk)
            is_newest = held.current_snapshot_id == before.pk and chosen(cluster) == used
            if is_newest:
                snapshots.publish(after, laid_from=before)
        if is_newest:
            history.prune(clusters=Cluster.objects.filter(pk=cluster.pk))
            return f"snapshot {after.number}: {len(after.topology_keys)} levels"
        after.delete()
    raise JobFailed(
        "busy", "The cluster was read again and again meanwhile.", "The next sync shows the levels."
    )


def _current(cluster: Cluster) -> QuerySet[Cluster, Any]:
    return Cluster.objects.filter(pk=cluster.pk).values("current_snapshot")


def _laid(run: Run, cluster: Cluster, before: Snapshot, levels: Keys) -> Snapshot:
    """The snapshot with other levels, out of reach; it is as old as what it was made from."""
    inventory = replace(lay(before.inventory(), levels), taken_at=before.taken_at)
    return snapshots.build(
        cluster=cluster,
        inventory=inventory,
        files=before.files,
        read_seconds=before.read_seconds,
        job_id=run.job_id,
        progress=lambda rows: run.progress("storing the snapshot", rows),
    )
