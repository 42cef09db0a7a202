"""Nodes that nobody can tell apart, as one class with a count: what keeps the exact part small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fleet.placement.instance import Instance, Spot, domain_path
from fleet.placement.room import Room


@dataclass(frozen=True, slots=True)
class NodeClass:
    """``nodes`` with equal room, prices, domains and workloads that may use them."""

    nodes: tuple[int, ...]
    uses: tuple[tuple[int, int], ...]  # (item, slot) that may be placed there
    fits: tuple[int, ...]  # parts of each use that one empty node holds
    spots: tuple[Spot, ...]  # of each use, on the first node: price and standing
    units: tuple[int, ...]  # free units by slot, of one node
    cpu: int  # capped at what the uses could ever take
    memory: int
    pods: int

    @property
    def count(self) -> int:
        return len(self.nodes)


def classes(instance: Instance) -> tuple[NodeClass, ...]:
    """The classes of all nodes that can hold at least one part of some replica."""
    room = Room(instance)
    uses: dict[int, list[tuple[int, Spot, int]]] = {}
    for number, item in enumerate(instance.items):
        for spot in item.spots:
            fits = room.count(item, spot)
            if fits:
                uses.setdefault(spot.node, []).append((number, spot, fits))
    found: dict[object, list[int]] = {}
    members: dict[object, NodeClass] = {}
    for node in sorted(uses):
        one = _class_of(instance, (node,), uses[node])
        key = (
            instance.nodes[node].cluster,
            tuple(slot.resource for slot in instance.nodes[node].slots),
            _paths(instance, one),
            one.uses,
            one.fits,
            tuple((spot.micro, spot.standing) for spot in one.spots),
            one.units,
            one.cpu,
            one.memory,
            one.pods,
        )
        found.setdefault(key, []).append(node)
        members.setdefault(key, one)
    return tuple(_with_nodes(members[key], nodes) for key, nodes in found.items())


def _paths(instance: Instance, one: NodeClass) -> tuple[tuple[str, str | None], ...]:
    """The domains that tell nodes apart: those that a gang which may go there must stay in."""
    node = instance.nodes[one.nodes[0]]
    kinds = {
        instance.demands[instance.items[number].demand].domain
        for number, _ in one.uses
        if instance.items[number].parts > 1
    }
    return tuple((kind, node.domains.get(kind)) for kind in sorted(kinds - {"any"}))


def split(found: Sequence[NodeClass], failed: Iterable[int]) -> tuple[NodeClass, ...]:
    """The classes with those of the given indexes taken apart into single nodes."""
    apart = set(failed)
    result: list[NodeClass] = []
    for index, one in enumerate(found):
        if index in apart:
            result += [_with_nodes(one, [node]) for node in one.nodes]
        else:
            result.append(one)
    return tuple(result)


def _with_nodes(one: NodeClass, nodes: Sequence[int]) -> NodeClass:
    return NodeClass(
        tuple(nodes), one.uses, one.fits, one.spots, one.units, one.cpu, one.memory, one.pods
    )


def _class_of(
    instance: Instance, nodes: tuple[int, ...], uses: list[tuple[int, Spot, int]]
) -> NodeClass:
    node = instance.nodes[nodes[0]]
    # No mix of parts can take more CPU than all free units at the highest CPU per unit; room
    # beyond that makes no difference, and without it nodes are more often alike.
    most = [0, 0, 0]
    for slot, entry in enumerate(node.slots):
        here = [instance.items[number] for number, spot, _ in uses if spot.slot == slot]
        for axis, needs in enumerate(
            ([i.cpu for i in here], [i.memory for i in here], [i.pods for i in here])
        ):
            most[axis] += max(
                (-(-need * entry.free // i.units) for need, i in zip(needs, here, strict=True)),
                default=0,
            )
    used_slots = {spot.slot for _, spot, _ in uses}
    return NodeClass(
        nodes=nodes,
        uses=tuple((number, spot.slot) for number, spot, _ in uses),
        fits=tuple(fits for _, _, fits in uses),
        spots=tuple(spot for _, spot, _ in uses),
        units=tuple(s.free if n in used_slots else 0 for n, s in enumerate(node.slots)),
        cpu=min(node.cpu_free, most[0]),
        memory=min(node.memory_free_mib, most[1]),
        pods=min(node.pods_free, most[2]),
    )


def group_of(instance: Instance, item: int, one: NodeClass) -> tuple[str, str] | None:
    """The topology group (cluster, path) that the class lies in for this item."""
    node = instance.nodes[one.nodes[0]]
    path = domain_path(instance.demands[instance.items[item].demand], node)
    return None if path is None else (node.cluster, path)
