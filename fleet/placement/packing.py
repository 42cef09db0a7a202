"""From counts on classes of nodes to parts on nodes, and from parts to whole replicas."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from fleet.placement.classes import NodeClass, group_of
from fleet.placement.constructive import place
from fleet.placement.instance import Instance, Replica, Spot
from fleet.placement.model import Model
from fleet.placement.room import Room


def unpack(model: Model, values: Sequence[int]) -> tuple[tuple[Replica, ...], tuple[int, ...]]:
    """Replicas that realise the counts, and the classes whose counts did not fit on their nodes.

    What did not fit is placed anew where there is room, so the replicas are always a valid
    answer; they realise the counts exactly when no class failed.
    """
    instance = model.instance
    room = Room(instance)
    wanted: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for column, (number, c, use) in enumerate(model.parts):
        if values[column]:
            wanted[c].append((number, use, values[column]))
    parts: dict[tuple[int, tuple[str, str]], list[Spot]] = defaultdict(list)
    failed: list[int] = []
    for c in sorted(wanted):
        one = model.classes[c]
        placed, fits = _pack(instance, room, one, wanted[c])
        if not fits:
            failed.append(c)
        for number, spot in placed:
            group = group_of(instance, number, one) or ("", "")
            parts[(number, group if instance.items[number].parts > 1 else ("", ""))].append(spot)
    replicas: list[Replica] = []
    for number, group in sorted(parts):
        item = instance.items[number]
        spots = sorted(parts[(number, group)], key=lambda s: (s.node, s.slot))
        whole = len(spots) // item.parts * item.parts
        if not item.is_gang:
            whole = len(spots)  # the last replica may have some of its parts only
        for start in range(0, whole, item.parts):
            replicas.append(
                Replica(item.demand, item.shape, tuple(spots[start : start + item.parts]))
            )
        for spot in spots[whole:]:
            room.take(item, spot, -1)
    if failed:
        replicas += _fill(instance, room, replicas)
    return tuple(replicas), tuple(failed)


def _fill(instance: Instance, room: Room, replicas: Sequence[Replica]) -> list[Replica]:
    placed: dict[int, int] = defaultdict(int)
    for replica in replicas:
        placed[replica.demand] += 1
    found: list[Replica] = []
    for demand, entry in enumerate(instance.demands):
        found += place(instance, room, demand, entry.replicas - placed[demand])
    return found


def _pack(
    instance: Instance, room: Room, one: NodeClass, wanted: list[tuple[int, int, int]]
) -> tuple[list[tuple[int, Spot]], bool]:
    """Best-fit decreasing by a few measures; the first that fits all, else the first tried."""
    items = instance.items
    measures = (
        lambda w: (-items[w[0]].units, -items[w[0]].cpu, -items[w[0]].memory, w[0]),
        lambda w: (-items[w[0]].cpu, -items[w[0]].units, -items[w[0]].memory, w[0]),
        lambda w: (-items[w[0]].memory, -items[w[0]].units, -items[w[0]].cpu, w[0]),
    )
    total = sum(count for _, _, count in wanted)
    first: list[tuple[int, Spot]] | None = None
    for measure in measures:
        placed = _best_fit(instance, room, one, sorted(wanted, key=measure))
        if len(placed) == total:
            return placed, True
        for number, spot in placed:
            room.take(items[number], spot, -1)
        if first is None:
            first = placed
    for number, spot in first or ():
        room.take(items[number], spot)
    return first or [], False


def _best_fit(
    instance: Instance, room: Room, one: NodeClass, wanted: list[tuple[int, int, int]]
) -> list[tuple[int, Spot]]:
    placed: list[tuple[int, Spot]] = []
    for number, use, count in wanted:
        item, sample = instance.items[number], one.spots[use]
        slot = sample.slot
        left = count
        for node in sorted(one.nodes, key=lambda n: (room.units[n][slot], n)):
            spot = Spot(node, slot, sample.micro, sample.standing)
            parts = min(left, room.count(item, spot))
            if parts:
                room.take(item, spot, parts)
                placed += [(number, spot)] * parts
                left -= parts
            if not left:
                break
    return placed
