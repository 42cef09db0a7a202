"""What people do with clusters: add, import, edit, delete, sync, test the connection.

Each service is atomic and writes one audit event. A credential goes in and never comes out again:
pages show its fingerprint.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils.translation import gettext as _

from fleet.inventory import Inventory
from fleet.kubernetes import address, dump, reader
from fleet.kubernetes.dump import DumpError, Limits, Source
from fleet.kubernetes.kubeconfig import ClusterAccess
from fleet.kubernetes.topology import Keys
from planner.accounts import audit
from planner.accounts.models import Team, User
from planner.inventory import history, levels, snapshots
from planner.inventory.models import Cluster, Snapshot
from planner.inventory.reaching import address_policy, keep_access
from planner.inventory.sync import request_sync_job
from planner.jobs.models import Job

MIB = 2**20


class ClusterRefused(Exception):
    """What was asked for cannot be done. ``field`` is the form field it belongs to, or ""."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


class EditConflict(Exception):
    """Somebody else saved the cluster meanwhile; ``current`` is how it stands now."""

    def __init__(self, current: Cluster) -> None:
        super().__init__(f"{current} was edited by somebody else")
        self.current = current


def read_files(sources: Sequence[Source], chosen: Keys = ()) -> Inventory:
    """The inventory that files from kubectl hold, with the levels of topology that were chosen.

    Raises ``ClusterRefused`` naming the file and the document.
    """
    limit = settings.PLANNER_UPLOAD_MIB * MIB
    try:
        raw = dump.load(sources, Limits(raw_bytes=limit, unpacked_bytes=limit * 4))
    except DumpError as error:
        raise ClusterRefused("files", f"{error.place}: {error.message}") from None
    return reader.read(raw, levels=chosen)


def create_from_files(
    *,
    team: Team,
    name: str,
    sources: Sequence[Source],
    by: User | None,
    description: str = "",
    source: str = Cluster.Source.FILE,
    request: HttpRequest | None = None,
) -> Cluster:
    """Add a cluster from files, with its first snapshot; all of it or nothing.

    Raises ``ClusterRefused``.
    """
    inventory = read_files(sources)
    with transaction.atomic():
        cluster = _created(
            team=team, name=name, description=description, source=source, created_by=by
        )
        snapshot = _store(cluster, inventory, sources)
        audit.record(
            "cluster.created",
            cluster,
            by=by,
            team=team,
            request=request,
            source=cluster.source,
            files=snapshot.files,
        )
    return cluster


def import_files(
    *,
    cluster: Cluster,
    sources: Sequence[Source],
    by: User | None,
    request: HttpRequest | None = None,
) -> Snapshot:
    """Store files as the next snapshot of a file cluster. Raises ``ClusterRefused``."""
    if cluster.is_live:
        raise ClusterRefused(
            "files", _("This cluster is read live. Add the files as a cluster of their own.")
        )
    chosen = levels.chosen(cluster)
    inventory = read_files(sources, chosen)
    with transaction.atomic():
        snapshot = _store(cluster, inventory, sources)
        audit.record(
            "cluster.imported",
            cluster,
            by=by,
            team=cluster.team,
            request=request,
            snapshot=snapshot.number,
            files=snapshot.files,
        )
    levels.ask_again_if_changed(cluster, chosen)
    history.prune(clusters=Cluster.objects.filter(pk=cluster.pk))
    return snapshot


def create_live(
    *,
    team: Team,
    name: str,
    source: str,
    access: ClusterAccess,
    by: User | None,
    description: str = "",
    sync_interval_s: int | None = None,
    request: HttpRequest | None = None,
) -> tuple[Cluster, Job]:
    """Add a cluster that is read live, and ask for its first sync.

    The in-cluster account is read again at every sync, so nothing of it is stored.
    Raises ``ClusterRefused``, also for an address that the rules do not allow.
    """
    _check_address(access)
    interval = settings.PLANNER_SYNC_INTERVAL_S if sync_interval_s is None else sync_interval_s
    with transaction.atomic():
        cluster = _created(
            team=team,
            name=name,
            description=description,
            source=source,
            server=access.server[:300],
            sync_interval_s=interval,
            created_by=by,
        )
        if source != Cluster.Source.IN_CLUSTER:
            keep_access(cluster, access)
        _set_next_sync(cluster.pk, interval)
        audit.record(
            "cluster.created",
            cluster,
            by=by,
            team=team,
            request=request,
            source=source,
            server=cluster.server,
        )
        job, _new = request_sync_job(cluster, by=by)
    return cluster, job


def edit_cluster(
    *,
    cluster: Cluster,
    version: int,
    name: str,
    description: str,
    sync_interval_s: int,
    by: User,
    access: ClusterAccess | None = None,
    request: HttpRequest | None = None,
) -> Cluster:
    """Change a cluster; with ``access``, replace its credential and let its schedule go on.

    ``version`` is the one that the form showed. Raises ``EditConflict``, ``ClusterRefused``.
    """
    changes: dict[str, object] = {
        "name": name,
        "description": description,
        "sync_interval_s": sync_interval_s if cluster.is_live else 0,
        "version": version + 1,
    }
    if access is not None:
        _check_address(access)
        changes |= {"server": access.server[:300], "paused_reason": "", "failures": 0}
    try:
        with transaction.atomic():
            mine = Cluster.objects.filter(pk=cluster.pk, version=version).update(**changes)
            if not mine:
                raise EditConflict(Cluster.objects.get(pk=cluster.pk))
            edited = Cluster.objects.get(pk=cluster.pk)
            if access is not None:
                keep_access(edited, access)
            if edited.sync_interval_s != cluster.sync_interval_s or access is not None:
                _set_next_sync(edited.pk, edited.sync_interval_s)
            audit.record(
                "cluster.edited",
                edited,
                by=by,
                team=edited.team,
                request=request,
                credential_replaced=access is not None,
                sync_interval_s=edited.sync_interval_s,
            )
    except IntegrityError:
        raise _name_taken(name) from None
    return edited


def delete_cluster(*, cluster: Cluster, by: User, request: HttpRequest | None = None) -> None:
    """Delete a cluster with its credential and snapshots.

    Raises ``ClusterRefused`` while a plan still holds a snapshot of it.
    """
    try:
        with transaction.atomic():
            audit.record("cluster.deleted", cluster, by=by, team=cluster.team, request=request)
            Cluster.objects.filter(pk=cluster.pk).update(current_snapshot=None)
            Cluster.objects.get(pk=cluster.pk).delete()
    except ProtectedError as error:
        raise ClusterRefused(
            "",
            _(
                "Plans were solved against %(count)d snapshots of this cluster. "
                "Delete those plans first, so that no report loses its ground."
            )
            % {"count": len(error.protected_objects)},
        ) from None


def request_sync(*, cluster: Cluster, by: User, request: HttpRequest | None = None) -> Job:
    """Ask for a sync now. A second click gets the job of the first.

    Raises ``ClusterRefused`` for a cluster that is not read live.
    """
    if not cluster.is_live:
        raise ClusterRefused("", _("This cluster comes from files. Import newer files instead."))
    with transaction.atomic():
        job, is_new = request_sync_job(cluster, by=by)
        if is_new:
            audit.record(
                "cluster.sync-requested", cluster, by=by, team=cluster.team, request=request
            )
    return job


def _created(**fields: object) -> Cluster:
    try:
        with transaction.atomic():
            return Cluster.objects.create(**fields)
    except IntegrityError:
        raise _name_taken(str(fields["name"])) from None


def _name_taken(name: str) -> ClusterRefused:
    return ClusterRefused(
        "name", _("The team has a cluster called %(name)s already.") % {"name": name}
    )


def _store(cluster: Cluster, inventory: Inventory, sources: Sequence[Source]) -> Snapshot:
    snapshot = snapshots.build(
        cluster=cluster, inventory=inventory, files=[source.name for source in sources]
    )
    snapshots.publish(snapshot)
    cluster.current_snapshot = snapshot
    return snapshot


def _check_address(access: ClusterAccess) -> None:
    try:
        address.check(access.server, address_policy())
    except address.AddressError as error:
        raise ClusterRefused("address", error.message) from None


def _set_next_sync(cluster_id: int, interval_s: int) -> None:
    due = Now() + timedelta(seconds=interval_s) if interval_s else None
    Cluster.objects.filter(pk=cluster_id).update(next_sync_at=due)
