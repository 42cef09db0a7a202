"""The fleet at a glance: boards by state, per GPU model and per cluster, and the largest gangs.

Everything here counts boards. Each board of a node is in exactly one state:

- requested: held by pods, whether or not the node takes new ones;
- free: can be had now;
- stranded: nobody holds it, but CPU, memory or pod places beside it are used up;
- unschedulable: the node takes no pods, or the board is withdrawn, or nothing is advertised;
- unknown: shared or cut boards of which the node does not say which ones are held.

Virtual and simulated nodes are in no sum.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fleet.catalogue.mig_profiles import profile
from fleet.inventory import DeviceGroup, Inventory, Node, Sharing, UnitKind

CPU_PER_GPU_MILLI = 1_000
"""The least CPU beside one GPU: below it no process feeds the card."""
MEMORY_PER_GPU_MIB = 2_048
"""The least host memory beside one GPU: a CUDA context and its libraries take about this."""

_PARTS = frozenset({UnitKind.SHARE, UnitKind.MIG, UnitKind.PARTITION, UnitKind.VGPU, UnitKind.DRA})
STATES = ("requested", "free", "stranded", "unschedulable", "unknown")


@dataclass(frozen=True, slots=True)
class NodeFigures:
    """Boards of one node. ``physical`` None: no object says how many; then all are None."""

    physical: int | None
    schedulable: int | None  # the node takes pods and the board is healthy, held or not
    requested: int | None
    free: int | None
    stranded: int | None
    unhealthy: int | None
    not_schedulable: int | None = None
    unknown: int | None = None
    stranded_cause: str = ""  # "cpu", "memory" or "pods"


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
    whole: Counter[tuple[str, tuple[str, ...] | None, str]] = field(default_factory=Counter)
    has_racks: bool = False
    is_estimated: bool = False


def summarise(inventories: Mapping[str, Inventory]) -> FleetSummary:
    """Sum up clusters by name. Rows are ordered by number of boards, then name."""
    models: dict[tuple[str, str], _Sum] = defaultdict(_Sum)
    clusters: dict[str, _Sum] = {name: _Sum() for name in inventories}
    total = _Sum()
    for cluster, inventory in inventories.items():
        for node in inventory.nodes:
            if node.is_virtual or node.is_simulated:
                continue
            for group, states, cause in _groups(node):
                label = "" if group.model else group.model_label
                model = models[group.model or "unknown", label]
                model.vendor = model.vendor or group.vendor
                for target in (model, clusters[cluster], total):
                    _count(target, cluster, node, group, states, cause)
    rows = (_row(name, found, label) for (name, label), found in models.items())
    return FleetSummary(
        models=tuple(sorted(rows, key=lambda r: (-r.physical, r.name, r.label))),
        clusters=tuple(_row(name, found) for name, found in clusters.items()),
        totals=_row("", total),
    )


def node_figures(node: Node) -> NodeFigures:
    """Boards of one node by state."""
    if any(group.physical is None for group in node.groups):
        return NodeFigures(None, None, None, None, None, None)
    states: Counter[str] = Counter()
    why = ""
    for _, found, cause in _groups(node):
        states.update(found)
        why = why or cause
    sick = sum(min(g.unhealthy or 0, g.physical or 0) for g in node.groups)
    physical = sum(group.physical or 0 for group in node.groups)
    return NodeFigures(
        physical=physical,
        schedulable=sum(_schedulable(node, group) for group in node.groups),
        requested=states["requested"],
        free=states["free"],
        stranded=states["stranded"],
        unhealthy=sick,
        not_schedulable=states["unschedulable"],
        unknown=states["unknown"],
        stranded_cause=why,
    )


def node_squares(node: Node) -> tuple[str, ...]:
    """One state per board, in the order of ``STATES`` within a group; empty when unknown."""
    squares: list[str] = []
    for _, states, _ in _groups(node):
        for state in STATES:
            squares.extend([state] * states[state])
    return tuple(squares)


def _groups(node: Node) -> Iterable[tuple[DeviceGroup, Counter[str], str]]:
    """Each group with its boards by state and why boards of it are stranded."""
    left = _room(node)
    for group in node.groups:
        states = _states(node, group)
        usable = min(states["free"], left.boards)
        cause = left.cause if usable < states["free"] else ""
        states["stranded"] = states["free"] - usable
        states["free"] = usable
        left = _Room(left.boards - usable, left.cause)
        yield group, states, cause


@dataclass(frozen=True, slots=True)
class _Room:
    boards: int
    cause: str


def _room(node: Node) -> _Room:
    """How many more boards CPU, memory and pod places can serve, and which runs out first."""
    cpu = max(0, node.cpu_allocatable - node.cpu_requested) // CPU_PER_GPU_MILLI
    memory = max(0, node.memory_allocatable_mib - node.memory_requested_mib) // MEMORY_PER_GPU_MIB
    limits = []
    if node.cpu_allocatable:
        limits.append((cpu, "cpu"))
    if node.memory_allocatable_mib:
        limits.append((memory, "memory"))
    if node.pods_allocatable and node.pods_count >= node.pods_allocatable:
        limits.append((0, "pods"))  # one place is enough: one pod can hold all boards
    boards, cause = min(limits, default=(1_000_000, ""))
    return _Room(boards, cause)


def _states(node: Node, group: DeviceGroup) -> Counter[str]:
    """Boards by state, stranded ones still among the free."""
    boards = group.physical or 0
    sick = min(group.unhealthy or 0, boards)
    least, most = _held(group, boards)
    states: Counter[str] = Counter()
    states["requested"] = least
    rest = boards - least
    if not node.schedulable or not _is_offered(group):
        states["unschedulable"] = rest
        return states
    states["unschedulable"] = min(sick, rest)
    rest -= states["unschedulable"]
    states["unknown"] = min(most - least, rest)
    states["free"] = rest - states["unknown"]
    return states


def _held(group: DeviceGroup, boards: int) -> tuple[int, int]:
    """The fewest and the most boards that the pods of a node may hold."""
    if group.whole_free is not None:
        held = max(0, boards - group.whole_free - (group.unhealthy or 0))
        return (held, held) if _is_offered(group) else (0, 0)  # gone, not held
    whole = min(boards, sum(u.requested for u in group.units_of(UnitKind.WHOLE)))
    cut_boards = boards - min(boards, sum(u.capacity for u in group.units_of(UnitKind.WHOLE)))
    share, units = 0.0, 0
    for unit in group.units:
        if unit.kind in _PARTS:
            units += unit.requested
            share += unit.requested * _share(group, unit.profile, unit.capacity, cut_boards)
    most = min(cut_boards, units)
    least = min(most, math.ceil(share - 1e-9))
    return whole + least, whole + most


def _is_offered(group: DeviceGroup) -> bool:
    """Whether the scheduler can hand out anything of it at all."""
    return any(unit.allocatable for unit in group.units)


def _share(group: DeviceGroup, cut: str | None, capacity: int, boards: int) -> float:
    """The part of a board that one unit is."""
    known = profile(group.model or "", cut) if cut else None
    if known is not None and known.memory_slices_total:
        return max(known.memory_slices / known.memory_slices_total, 1 / known.max_instances)
    if group.replicas:
        return 1 / group.replicas
    return min(1.0, boards / capacity) if capacity else 1.0


def _schedulable(node: Node, group: DeviceGroup) -> int:
    if not node.schedulable or not _is_offered(group):
        return 0
    return max(0, (group.physical or 0) - (group.unhealthy or 0))


def _count(
    target: _Sum,
    cluster: str,
    node: Node,
    group: DeviceGroup,
    states: Counter[str],
    cause: str,
) -> None:
    key = (cluster, node.name)
    target.nodes.add(key)
    if group.physical is None:
        target.uncounted.add(key)
    target.states.update(states)
    target.schedulable += _schedulable(node, group)
    target.is_estimated |= group.physical_estimated
    if cause:
        target.causes[cause] += states["stranded"]
    rack = node.domain("rack")
    target.has_racks |= rack is not None
    target.whole[cluster, rack, node.name] += _whole(node, group, states)


def _whole(node: Node, group: DeviceGroup, states: Counter[str]) -> int:
    if group.whole_free is not None:
        return min(states["free"], group.whole_free)
    if group.sharing == Sharing.PASSTHROUGH:
        return 0
    return min(states["free"], sum(node.free(u) for u in group.units_of(UnitKind.WHOLE)))


def _row(name: str, found: _Sum, label: str = "") -> SummaryRow:
    racks: Counter[tuple[str, tuple[str, ...]]] = Counter()
    clusters: Counter[str] = Counter()
    for (cluster, rack, _), boards in found.whole.items():
        clusters[cluster] += boards
        if rack is not None:
            racks[cluster, rack] += boards
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
    )
