"""Reads of the inventory. Every function takes a team or a queryset that was already narrowed to
what the user may see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Count, Max, Q, QuerySet, Sum
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from fleet.catalogue.kubernetes_releases import releases
from fleet.read_words import read_words
from fleet.readiness.finding import ORDER, Verdict
from planner.accounts.models import Team
from planner.inventory.models import Cluster, NodeRow, Snapshot
from planner.inventory.sync import KIND
from planner.jobs.models import Job

STALE_AFTER_S = 3600
STALE_INTERVALS = 3


LARGE_COLUMNS = ("value", "problems", "reads", "findings", "topology", "figures", "waiting")
"""Columns of a snapshot that most pages do not show."""


def clusters_of(team: Team | None, name: str = "", *, findings: bool = False) -> QuerySet[Cluster]:
    """The team's clusters with their current snapshots, without the large columns.

    ``name`` narrows it to one cluster; ``findings`` brings the checklists along.
    """
    large = [column for column in LARGE_COLUMNS if not (findings and column == "findings")]
    found = (
        Cluster.objects.filter(team=team)
        .select_related("current_snapshot", "team")
        .defer(*(f"current_snapshot__{column}" for column in large))
    )
    return found.filter(name=name) if name else found


@dataclass(frozen=True, slots=True)
class Synthetic:
    """How many clusters do not exist, and how many GPUs they pretend to have."""

    clusters: int
    gpus: int


def synthetic(clusters: Iterable[Cluster]) -> Synthetic:
    """The share of the demo fleet in ``clusters``."""
    found = [cluster for cluster in clusters if cluster.is_synthetic]
    gpus = sum(c.current_snapshot.physical_gpus or 0 for c in found if c.current_snapshot)
    return Synthetic(len(found), gpus)


def current_snapshot_ids(clusters: Iterable[Cluster]) -> list[int]:
    return [c.current_snapshot_id for c in clusters if c.current_snapshot_id is not None]


def nodes_of(team: Team | None) -> QuerySet[NodeRow]:
    """Rows of the nodes that the team's clusters show now."""
    return NodeRow.objects.filter(
        snapshot__in=Cluster.objects.filter(team=team)
        .exclude(current_snapshot=None)
        .values("current_snapshot")
    )


def latest_syncs(clusters: Iterable[Cluster]) -> dict[int, Job]:
    """The newest sync job of each live cluster, by cluster id: two statements in all."""
    ids = [cluster.pk for cluster in clusters if cluster.is_live]
    if not ids:
        return {}
    newest = (
        Job.objects.filter(kind=KIND, subject_id__in=ids)
        .values("subject_id")
        .annotate(newest=Max("pk"))
        .values("newest")
    )
    return {job.subject_id: job for job in Job.objects.filter(pk__in=newest)}


@dataclass(frozen=True, slots=True)
class Support:
    """Whether a Kubernetes version is still supported: verdict and words."""

    version: str
    verdict: Verdict
    end_of_life: date | None = None


def support(git_version: str, today: date | None = None) -> Support | None:
    """The support of a version as the cluster states it; None when it is unknown."""
    digits = git_version.removeprefix("v").split(".")
    if len(digits) < 2 or digits[0] != "1" or not digits[1].isdecimal():
        return None
    version = git_version.removeprefix("v").split("-")[0].split("+")[0]
    release = releases().get(int(digits[1][:4]))
    if release is None or release.end_of_life is None:
        return Support(version, Verdict.UNKNOWN)
    is_over = release.end_of_life < (today or timezone.now().date())
    return Support(version, Verdict.FAIL if is_over else Verdict.PASS, release.end_of_life)


def is_stale(cluster: Cluster) -> bool:
    """Whether a live cluster's snapshot is older than its schedule explains."""
    snapshot = cluster.current_snapshot
    if snapshot is None or not cluster.is_live:
        return False
    age = (timezone.now() - snapshot.taken_at).total_seconds()
    return age > max(STALE_AFTER_S, STALE_INTERVALS * cluster.sync_interval_s)


@dataclass(frozen=True, slots=True)
class ClusterLine:
    """One row of a table of clusters."""

    cluster: Cluster
    snapshot: Snapshot | None
    job: Job | None
    support: Support | None
    is_stale: bool
    verdicts: tuple[tuple[str, int], ...]

    @property
    def nodes_url(self) -> str:
        return node_list_url(cluster=self.cluster.name)

    @property
    def free_url(self) -> str:
        return node_list_url(cluster=self.cluster.name, state="free")

    @property
    def uncounted_url(self) -> str:
        return node_list_url(cluster=self.cluster.name, state="unknown")

    @property
    def needs_a_look(self) -> bool:
        """Not read, stale, paused, failed, or on a version without support."""
        return (
            self.snapshot is None
            or self.is_stale
            or bool(self.cluster.paused_reason)
            or (self.job is not None and self.job.state == Job.State.FAILED)
            or (self.support is not None and self.support.verdict == Verdict.FAIL)
        )


def cluster_lines(clusters: Sequence[Cluster]) -> list[ClusterLine]:
    """Clusters with what their row shows, those that need a look first; a constant number of
    statements."""
    jobs = latest_syncs(clusters)
    lines = [
        ClusterLine(
            cluster=cluster,
            snapshot=(snapshot := cluster.current_snapshot),
            job=jobs.get(cluster.pk),
            support=support(snapshot.kubernetes_version) if snapshot else None,
            is_stale=is_stale(cluster),
            verdicts=verdict_counts(snapshot.verdicts) if snapshot else (),
        )
        for cluster in clusters
    ]
    return sorted(lines, key=lambda line: (not line.needs_a_look, line.cluster.name))


def verdict_counts(verdicts: dict[str, int]) -> tuple[tuple[str, int], ...]:
    """Verdicts that were given at least once, problems first; "not applicable" is left out."""
    return tuple(
        (str(verdict), verdicts[verdict])
        for verdict in ORDER
        if verdict != Verdict.NOT_APPLICABLE and verdicts.get(verdict)
    )


NO_POOL = "(none)"
NO_MODEL = "(unknown)"
"""Words of the address for "no value"; the filters understand them."""


def cluster_url(cluster: Cluster, page: str = "detail") -> str:
    """The address of one of the cluster's pages: "detail", "edit", "running" …"""
    return reverse(f"inventory:cluster-{page}", args=[cluster.uuid])


def node_url(cluster_uuid: Any, name: str) -> str:
    return reverse("inventory:node-detail", args=[cluster_uuid, name])


def node_list_url(**filters: str) -> str:
    """The node table with that filter in its address; empty values are left out."""
    return reverse("inventory:node-list", query={k: v for k, v in filters.items() if v})


NODE_COLUMNS = (
    "name",
    "pool",
    "instance_type",
    "zone",
    "gpu_model",
    "gpu_label",
    "sharing",
    "is_gpu_node",
    "schedulable",
    "not_schedulable_reason",
    "physical",
    "allocatable",
    "requested",
    "free",
    "stranded",
    "stranded_cause",
    "fragment",
    "unhealthy",
    "physical_estimated",
    "squares",
    "problem_count",
    "snapshot__cluster__uuid",
    "snapshot__cluster__name",
    "snapshot__cluster__source",
)
"""What tables of nodes show."""


def node_sums(nodes: QuerySet[NodeRow]) -> dict[str, Any]:
    """Sums over all pages of a table; ``unknown`` nodes are in none of them."""
    return nodes.order_by().aggregate(
        nodes=Count("pk"),
        physical_gpus=Sum("physical"),
        free_gpus=Sum("free"),
        stranded_gpus=Sum("stranded"),
        unknown=Count("pk", filter=Q(free=None)),
    )


@dataclass(frozen=True, slots=True)
class SnapshotAges:
    """How many clusters have been read, and which has the oldest and the newest snapshot."""

    read: int
    oldest: ClusterLine | None
    newest: ClusterLine | None


def snapshot_ages(lines: Sequence[ClusterLine]) -> SnapshotAges:
    """The ages for the first sentence of the overview."""
    dated = sorted(
        ((line.snapshot.taken_at, place) for place, line in enumerate(lines) if line.snapshot)
    )
    if not dated:
        return SnapshotAges(0, None, None)
    return SnapshotAges(len(dated), lines[dated[0][1]], lines[dated[-1][1]])


def cluster_head(cluster: Cluster, tab: str) -> dict[str, Any]:
    """What stands above the tabs of a cluster."""
    snapshot = cluster.current_snapshot
    return {
        "cluster": cluster,
        "tab": tab,
        "snapshot": snapshot,
        "support": support(snapshot.kubernetes_version) if snapshot else None,
        "is_stale": is_stale(cluster),
        "job": latest_syncs([cluster]).get(cluster.pk),
    }


@dataclass(frozen=True, slots=True)
class ReadLine:
    """How reading one resource went, as a verdict and words."""

    resource: str
    status: str
    verdict: str
    word: str
    count: int
    detail: str
    seconds: float

    @property
    def is_absent(self) -> bool:
        """Nothing was there to be read: not installed, or not among the files."""
        return self.status in ("not-served", "not-in-file")

    @property
    def is_forbidden(self) -> bool:
        """The account may not list it (403)."""
        return self.status == "forbidden"

    @property
    def is_failed(self) -> bool:
        """It is there, and could not be read."""
        return self.status == "failed"


_READ_VERDICTS = {
    "read": "pass",
    "forbidden": "warn",
    "failed": "fail",
    "not-served": "na",
    "not-in-file": "unknown",
}


def read_lines(snapshot: Snapshot) -> list[ReadLine]:
    """Each resource with its answer, what failed first."""
    order = ["failed", "forbidden", "read", "not-in-file", "not-served"]
    words = {
        "read": _("read"),
        "forbidden": _("forbidden"),
        "failed": _("failed"),
        "not-served": _("not served"),
        "not-in-file": _("not in the file"),
    }
    lines = [
        ReadLine(
            read["resource"],
            read["status"],
            _READ_VERDICTS.get(read["status"], "unknown"),
            words.get(read["status"], read["status"]),
            read["count"],
            read_words(read["status"], read.get("reason", ""), read.get("number", 0)),
            read.get("seconds", 0.0),
        )
        for read in snapshot.reads
    ]
    return sorted(lines, key=lambda line: order.index(line.status) if line.status in order else 9)
