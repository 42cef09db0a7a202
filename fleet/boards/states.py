"""Boards of one node by state. Each board is in exactly one:

- requested: held by pods, whether or not the node takes new ones;
- free: can be had now;
- stranded: nobody holds it and nobody can have it: CPU, memory or pod places beside it are used
  up, or the node has a taint that no workload tolerates;
- unschedulable: the node takes no pods, or the board is withdrawn, or nothing is advertised;
- unknown: shared or cut boards of which the node does not say which ones are held, and boards
  whose claims could not be read.

Some free boards are a *fragment*: fewer than pods of their kind usually ask for. They stay free,
since smaller pods can have them, and are told apart.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from fleet.boards.asked import NOTHING_ASKED, Asked
from fleet.boards.stranding import room, unwanted_taints
from fleet.catalogue.mig_profiles import profile
from fleet.inventory import DeviceGroup, Node, Sharing, UnitKind, Units
from fleet.inventory_totals import whole_free

_PARTS = frozenset({UnitKind.SHARE, UnitKind.MIG, UnitKind.PARTITION, UnitKind.VGPU, UnitKind.DRA})
STATES = ("requested", "free", "stranded", "unschedulable", "unknown")


@dataclass(frozen=True, slots=True)
class NodeFigures:
    """Boards of one node. ``physical`` None: no object says how many; then all are None.
    ``requested`` and ``free`` alone are None where it could not be read who holds boards."""

    physical: int | None
    schedulable: int | None  # the node takes pods and the board is healthy, held or not
    requested: int | None
    free: int | None
    stranded: int | None
    unhealthy: int | None
    not_schedulable: int | None = None
    unknown: int | None = None
    stranded_cause: str = ""  # "cpu", "memory", "pods" or "taint"
    fragment: int | None = None  # of the free: fewer than a usual pod asks for
    usual_pod: int | None = None  # GPUs of a usual pod, where there is a fragment


@dataclass(frozen=True, slots=True)
class GroupBoards:
    """The boards of one device group by state."""

    group: DeviceGroup
    states: Counter[str]
    cause: str  # why boards of it are stranded
    whole: int  # free boards that can be had whole, with CPU and memory beside them
    fragment: int  # of those: fewer than a usual pod asks for
    usual_pod: int  # GPUs of a usual pod
    offered: int  # boards that the scheduler hands out whole, held or not


def node_figures(node: Node, asked: Asked = NOTHING_ASKED) -> NodeFigures:
    """Boards of one node by state; ``asked`` is what the workloads of its cluster ask for."""
    if any(group.physical is None for group in node.counted_groups):
        return NodeFigures(None, None, None, None, None, None)
    found = tuple(boards(node, asked))
    states: Counter[str] = Counter()
    for part in found:
        states.update(part.states)
    sick = sum(min(g.unhealthy or 0, g.physical or 0) for g in node.groups)
    is_use_known = not any(group.use_unknown for group in node.groups)
    return NodeFigures(
        physical=sum(group.physical or 0 for group in node.groups),
        schedulable=sum(schedulable(node, group) for group in node.groups),
        requested=states["requested"] if is_use_known else None,
        free=states["free"] if is_use_known else None,
        stranded=states["stranded"],
        unhealthy=None if not sick and any(g.has_untold_sick for g in node.groups) else sick,
        not_schedulable=states["unschedulable"],
        unknown=states["unknown"],
        stranded_cause=next((part.cause for part in found if part.cause), ""),
        fragment=sum(part.fragment for part in found),
        usual_pod=next((part.usual_pod for part in found if part.fragment), None),
    )


def node_squares(node: Node, asked: Asked = NOTHING_ASKED) -> tuple[str, ...]:
    """One state per board, in the order of ``STATES`` within a group; empty when unknown."""
    squares: list[str] = []
    for part in boards(node, asked):
        for state in STATES:
            squares.extend([state] * part.states[state])
    return tuple(squares)


def boards(node: Node, asked: Asked = NOTHING_ASKED) -> Iterator[GroupBoards]:
    """Each group of the node with its boards by state and why boards of it are stranded."""
    left, limit = room(node)
    if unwanted_taints(node, asked):
        left, limit = 0, "taint"
    for group in node.groups:
        states = _states(node, group)
        usable = min(states["free"], left)
        cause = limit if usable < states["free"] else ""
        states["stranded"] = states["free"] - usable
        states["free"] = usable
        left -= usable
        whole = min(usable, whole_free(node, group))
        offered = _offered(group)
        usual = asked.usual_pod(node, group.model, offered)
        yield GroupBoards(
            group, states, cause, whole, whole % usual if usual > 1 else 0, usual, offered
        )


def _offered(group: DeviceGroup) -> int:
    if group.sharing == Sharing.PASSTHROUGH:
        return 0
    whole = sum(u.allocatable for u in group.units_of(UnitKind.WHOLE))
    if group.whole_free is not None or group.use_unknown:  # units are not boards: DRA, HAMi
        return max(0, (group.physical or 0) - (group.unhealthy or 0))
    return whole


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
    if group.use_unknown:
        plugin = sum(u.requested or 0 for u in group.units_of(UnitKind.WHOLE))
        return min(boards, max(plugin, group.boards_held)), boards
    if group.whole_free is not None:
        held = max(0, boards - group.whole_free - (group.unhealthy or 0))
        return (held, held) if _is_offered(group) else (0, 0)  # gone, not held
    whole = min(boards, sum(u.requested or 0 for u in group.units_of(UnitKind.WHOLE)))
    offered = min(boards, sum(u.capacity for u in group.units_of(UnitKind.WHOLE)))
    cut_boards = boards - max(whole, offered)  # a vanished plugin offers none of what is held
    share, units = 0.0, 0
    for unit in group.units:
        if unit.kind in _PARTS and unit.requested:
            units += unit.requested
            share += unit.requested * _share(group, unit, cut_boards)
    most = min(cut_boards, units)
    least = min(most, math.ceil(share - 1e-9))
    return whole + least, whole + most


def _is_offered(group: DeviceGroup) -> bool:
    """Whether the scheduler can hand out anything of it at all."""
    return any(unit.allocatable for unit in group.units)


def _share(group: DeviceGroup, unit: Units, boards: int) -> float:
    """The part of a board that one unit is."""
    known = profile(group.model or "", unit.profile) if unit.profile else None
    if known is not None and known.memory_slices_total:
        device = max(known.memory_slices / known.memory_slices_total, 1 / known.max_instances)
        return device / unit.per_device
    if group.replicas and not unit.is_of_mig:
        return 1 / group.replicas
    return min(1.0, boards / unit.capacity) if unit.capacity else 1.0


def schedulable(node: Node, group: DeviceGroup) -> int:
    """Boards of the group that pods may be given, held or not."""
    if not node.schedulable or not _is_offered(group):
        return 0
    return max(0, (group.physical or 0) - (group.unhealthy or 0))
