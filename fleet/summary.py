"""The fleet at a glance: boards by state, per GPU model and per cluster, and the largest gangs.

Everything here counts boards, each in exactly one state (``fleet.boards.states``).
Virtual and simulated nodes are in no sum.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from fleet.boards.asked import asked
from fleet.boards.states import GroupBoards, boards, schedulable
from fleet.inventory import Inventory, Node


@dataclass(frozen=True, slots=True)
class GangFit:
    """The most whole GPUs that one gang can get now. ``rack`` None: no rack is known."""

    node: int
    rack: int | None
    cluster: int


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """Boards of one model, one cluster or the whole fleet."""

    name: str  # model, cluster, or "" for the totals; "unknown" for a model that we do not know
    vendor: str
    physical: int
    schedulable: int
    requested: int
    free: int
    stranded: int
    not_schedulable: int
    unknown: int
    gpu_nodes: int
    uncounted_nodes: int  # GPU nodes of which nobody knows how many boards they have
    stranded_causes: dict[str, int]  # cause -> boards
    largest: GangFit
    is_estimated: bool = False  # some node's boards are derived, not read
    label: str = ""  # of an unknown model: what the nodes call it
    fragments: int = 0  # of the free: in pieces smaller than a usual pod asks for
    unread: int = 0  # of ``unknown``: it could not be read who holds them
    uncounted_clusters: int = 0  # in which GPUs may be missing from every count

    @property
    def known_physical(self) -> int | None:
        """Boards that are counted; None where there may be some and none is counted."""
        is_counted = self.uncounted_nodes < self.gpu_nodes or not self.gpu_nodes
        return _unless(self.physical, not is_counted or self.uncounted_clusters)

    @property
    def known_requested(self) -> int | None:
        """Boards that are surely held; None where there may be some and none is known."""
        return _unless(self.requested, self.known_physical is None or self.unread)

    @property
    def known_free(self) -> int | None:
        """Boards that are surely free; None where there may be some and none is known."""
        return _unless(self.free, self.known_physical is None or self.unread)


def _unless(number: int, is_unknown: bool | int) -> int | None:
    return None if is_unknown and not number else number


@dataclass(frozen=True, slots=True)
class FleetSummary:
    models: tuple[SummaryRow, ...]
    clusters: tuple[SummaryRow, ...]
    totals: SummaryRow


@dataclass(slots=True)
class _Sum:
    """``whole``: usable free whole boards by cluster, rack and node."""

    vendor: str = ""
    states: Counter[str] = field(default_factory=Counter)
    schedulable: int = 0
    nodes: set[tuple[str, str]] = field(default_factory=set)
    uncounted: set[tuple[str, str]] = field(default_factory=set)
    causes: Counter[str] = field(default_factory=Counter)
    fragments: int = 0
    unread: int = 0
    whole: Counter[tuple[str, tuple[str, ...] | None, str]] = field(default_factory=Counter)
    has_racks: bool = False
    is_estimated: bool = False


def summarise(inventories: Mapping[str, Inventory]) -> FleetSummary:
    """Sum up clusters by name. Rows are ordered by number of boards, then name."""
    return merged(_of_cluster(name, inventory) for name, inventory in inventories.items())


def merged(summaries: Iterable[FleetSummary]) -> FleetSummary:
    """The summary of fleets that share no cluster: no inventory is needed for it.

    Counts add up. A gang lies within one cluster, so of its sizes the largest stays.
    """
    models: dict[tuple[str, str], SummaryRow] = {}
    clusters: list[SummaryRow] = []
    totals = _row("", _Sum())
    for summary in summaries:
        clusters.extend(summary.clusters)
        totals = _added(totals, summary.totals)
        for row in summary.models:
            key = (row.name, row.label)
            models[key] = _added(models[key], row) if key in models else row
    return FleetSummary(
        models=tuple(sorted(models.values(), key=lambda r: (-r.physical, r.name, r.label))),
        clusters=tuple(clusters),
        totals=totals,
    )


def _of_cluster(cluster: str, inventory: Inventory) -> FleetSummary:
    models: dict[tuple[str, str], _Sum] = defaultdict(_Sum)
    total = _Sum()
    wanted = asked(inventory)
    for node in inventory.nodes:
        if node.is_virtual or node.is_simulated:
            continue
        for part in boards(node, wanted):
            group = part.group
            label = "" if group.model else group.model_label
            model = models[group.model or "unknown", label]
            model.vendor = model.vendor or group.vendor
            for target in (model, total):
                _count(target, cluster, node, part)
    missing = int(bool(inventory.uncounted))
    return FleetSummary(
        models=tuple(_row(name, found, label) for (name, label), found in models.items()),
        clusters=(replace(_row(cluster, total), uncounted_clusters=missing),),
        totals=replace(_row("", total), uncounted_clusters=missing),
    )


def _added(one: SummaryRow, other: SummaryRow) -> SummaryRow:
    fits = (one.largest, other.largest)
    racks = [fit.rack for fit in fits if fit.rack is not None]
    return SummaryRow(
        name=one.name,
        vendor=one.vendor or other.vendor,
        physical=one.physical + other.physical,
        schedulable=one.schedulable + other.schedulable,
        requested=one.requested + other.requested,
        free=one.free + other.free,
        stranded=one.stranded + other.stranded,
        not_schedulable=one.not_schedulable + other.not_schedulable,
        unknown=one.unknown + other.unknown,
        gpu_nodes=one.gpu_nodes + other.gpu_nodes,
        uncounted_nodes=one.uncounted_nodes + other.uncounted_nodes,
        stranded_causes=dict(Counter(one.stranded_causes) + Counter(other.stranded_causes)),
        largest=GangFit(
            node=max(fit.node for fit in fits),
            rack=max(racks) if racks else None,
            cluster=max(fit.cluster for fit in fits),
        ),
        is_estimated=one.is_estimated or other.is_estimated,
        label=one.label,
        fragments=one.fragments + other.fragments,
        unread=one.unread + other.unread,
        uncounted_clusters=one.uncounted_clusters + other.uncounted_clusters,
    )


def _count(target: _Sum, cluster: str, node: Node, part: GroupBoards) -> None:
    key, group = (cluster, node.name), part.group
    target.nodes.add(key)
    if group.physical is None:
        target.uncounted.add(key)
    target.states.update(part.states)
    target.schedulable += schedulable(node, group)
    target.is_estimated |= group.physical_estimated
    target.fragments += part.fragment
    target.unread += part.states["unknown"] if group.use_unknown else 0
    if part.cause:
        target.causes[part.cause] += part.states["stranded"]
    rack = node.domain("rack")
    target.has_racks |= rack is not None
    target.whole[cluster, rack, node.name] += part.whole


def _row(name: str, found: _Sum, label: str = "") -> SummaryRow:
    racks: Counter[tuple[str, tuple[str, ...]]] = Counter()
    clusters: Counter[str] = Counter()
    for (cluster, rack, _), count in found.whole.items():
        clusters[cluster] += count
        if rack is not None:
            racks[cluster, rack] += count
    return SummaryRow(
        name=name,
        vendor=found.vendor,
        physical=sum(found.states.values()),
        schedulable=found.schedulable,
        requested=found.states["requested"],
        free=found.states["free"],
        stranded=found.states["stranded"],
        not_schedulable=found.states["unschedulable"],
        unknown=found.states["unknown"],
        gpu_nodes=len(found.nodes),
        uncounted_nodes=len(found.uncounted),
        stranded_causes=dict(found.causes),
        largest=GangFit(
            node=max(found.whole.values(), default=0),
            rack=max(racks.values(), default=0) if found.has_racks else None,
            cluster=max(clusters.values(), default=0),
        ),
        is_estimated=found.is_estimated,
        label=label,
        fragments=found.fragments,
        unread=found.unread,
    )
