"""A first answer, fast and always: one workload after the other, cheapest card that fits first.

Among equal costs the fullest node with room wins (fewest free units after), so that whole nodes
stay whole; then the cluster's and the node's name. Any stable order does; a random one strands
far more. For each priority a few orders of the workloads are tried and the best is kept.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from itertools import groupby

from fleet.placement.instance import Instance, Item, Rank, Replica, Spot, rank
from fleet.placement.room import Room

_MANY_SPOTS = 200_000
"""Above this, only two ways are tried: a limit on work, not on time, so answers stay equal."""

_Key = tuple[int, int, int]  # thrift, standing, millionths of one replica


def construct(instance: Instance, cancelled: Callable[[], bool]) -> tuple[Replica, ...]:
    """Replicas placed priority by priority, high first, each with the best of a few ways."""
    room = Room(instance)
    placed: list[Replica] = []
    demands = instance.demands
    for _, level in groupby(range(len(demands)), key=lambda d: demands[d].priority):
        if cancelled():
            break
        found, room = _best_way(instance, room, list(level), cancelled)
        placed += found
    return tuple(placed)


def _best_way(
    instance: Instance, room: Room, level: list[int], cancelled: Callable[[], bool]
) -> tuple[list[Replica], Room]:
    """The best of the ways for the demands of one priority: most replicas, then cost."""
    wanted = sum(instance.demands[d].replicas for d in level if instance.by_demand[d])
    best: tuple[Rank, list[Replica], Room] | None = None
    ways = [(_largest_first, False), (_smallest_first, True)]
    if sum(len(item.spots) for item in instance.items) <= _MANY_SPOTS:
        ways += [(_fewest_choices_first, False), (_smallest_first, False)]
    for order, is_thrifty in ways:
        trial = room.copy()
        found: list[Replica] = []
        for demand in order(instance, level):
            found += place(
                instance, trial, demand, instance.demands[demand].replicas, is_thrifty=is_thrifty
            )
        reached = rank(instance, found)
        if best is None or reached > best[0]:
            best = (reached, found, trial)
        is_cheapest = (-reached.standing, -reached.micro) == floor_cost(instance, level)
        if cancelled() or (sum(best[0].placed) == wanted * instance.scale and is_cheapest):
            break
    if best is None:
        return [], room
    return best[1], best[2]


def floor_cost(instance: Instance, demands: Sequence[int]) -> tuple[int, int]:
    """(standing, millionths) when every replica that can go anywhere had its cheapest spot to
    itself: no answer that places all of them costs less."""
    power = micro = 0
    for demand in demands:
        keys = [
            tuple(item.parts * part for part in item.tiers[0][0])
            for item in (instance.items[i] for i in instance.by_demand[demand])
        ]
        if keys:
            lowest = min(keys)
            power += lowest[0] * instance.demands[demand].replicas
            micro += lowest[1] * instance.demands[demand].replicas
    return power, micro


def _size(instance: Instance, demand: int) -> int:
    sizes = (instance.items[i].units * instance.items[i].parts for i in instance.by_demand[demand])
    return min(sizes, default=0)


def _largest_first(instance: Instance, level: list[int]) -> list[int]:
    return sorted(level, key=lambda d: (-_size(instance, d), d))


def _smallest_first(instance: Instance, level: list[int]) -> list[int]:
    return sorted(level, key=lambda d: (_size(instance, d), d))


def _fewest_choices_first(instance: Instance, level: list[int]) -> list[int]:
    def choices(demand: int) -> int:
        return sum(len(instance.items[i].spots) for i in instance.by_demand[demand])

    return sorted(level, key=lambda d: (choices(d), d))


def place(
    instance: Instance, room: Room, demand: int, replicas: int, *, is_thrifty: bool = False
) -> list[Replica]:
    """Place up to ``replicas`` of one demand in the room, cheapest first; takes the room.

    Whole replicas come first, then parts of those that need not be whole. ``is_thrifty``: fewest
    units first instead, which leaves more for others.
    """
    if replicas <= 0:
        return []
    items = [instance.items[i] for i in instance.by_demand[demand]]
    alone = _Alone(room, [item for item in items if item.parts == 1], is_thrifty=is_thrifty)
    gangs = [item for item in items if item.parts > 1]
    placed: list[Replica] = []
    while len(placed) < replicas:
        gang = _best_gang(room, gangs, is_thrifty=is_thrifty) if gangs else None
        single = alone.best()
        if single is not None and (gang is None or single[0] <= gang[0]):
            _, item, spot = single
            room.take(item, spot)
            alone.changed({spot.node})
            placed.append(Replica(demand, item.shape, (spot,)))
        elif (found := gang[1:] if gang is not None else _best_part(room, gangs)) is not None:
            item, spots = found
            for spot in spots:
                room.take(item, spot)
            alone.changed({spot.node for spot in spots})
            placed.append(Replica(demand, item.shape, spots))
        else:
            break
    return placed


class _Alone:
    """The cheapest place for one part: a heap of the spots of equal cost, renewed where something
    changed; dearer spots are looked at only when the cheaper are full."""

    def __init__(self, room: Room, items: list[Item], *, is_thrifty: bool) -> None:
        self._room = room
        tiers: dict[_Key, list[tuple[Item, tuple[Spot, ...]]]] = {}
        for item in items:
            thrift = item.units if is_thrifty else 0
            for key, spots in item.tiers:
                tiers.setdefault((thrift, *key), []).append((item, spots))
        self._tiers = [(key, tiers[key]) for key in sorted(tiers, reverse=True)]
        self._by_node: dict[int, list[tuple[Item, Spot]]] = {}
        self._heap: list[tuple[int, int, int, int, int, int]] = []
        self._entries: list[tuple[Item, Spot]] = []
        self._key: _Key = (0, 0, 0)

    def _load(self) -> None:
        """Take the next tier, forgetting the last one."""
        self._key, members = self._tiers.pop()
        self._by_node, self._heap, self._entries = {}, [], []
        for item, spots in members:
            for spot in spots:
                if self._room.holds_one(item, spot):
                    self._by_node.setdefault(spot.node, []).append((item, spot))
        for node in self._by_node:
            self._heap += self._fresh(node)
        heapq.heapify(self._heap)

    def _fresh(self, node: int) -> list[tuple[int, int, int, int, int, int]]:
        found = []
        for item, spot in self._by_node[node]:
            if self._room.holds_one(item, spot):
                units = self._room.units[node][spot.slot]
                number = len(self._entries)
                self._entries.append((item, spot))
                found.append(
                    (units - item.units, node, spot.slot, item.shape, self._room.pods[node], number)
                )
        return found

    def changed(self, nodes: set[int]) -> None:
        for node in sorted(nodes & self._by_node.keys()):
            for entry in self._fresh(node):
                heapq.heappush(self._heap, entry)

    def best(self) -> tuple[_Key, Item, Spot] | None:
        """The cheapest place now, left in the heap; places that no longer hold are dropped."""
        while self._heap or self._tiers:
            if not self._heap:
                self._load()
                continue
            left, _, _, _, pods, number = self._heap[0]
            item, spot = self._entries[number]
            is_fresh = left + item.units == self._room.units[spot.node][spot.slot]
            if is_fresh and pods == self._room.pods[spot.node] and self._room.count(item, spot):
                return self._key, item, spot
            heapq.heappop(self._heap)
        return None


def _best_gang(
    room: Room, items: list[Item], *, is_thrifty: bool
) -> tuple[_Key, Item, tuple[Spot, ...]] | None:
    """The cheapest domain that holds all parts of one replica, and the spot of each part.

    Among equal costs the domain with the least room beyond the replica wins, then its name.
    """
    best: tuple[tuple[_Key, int, tuple[str, str], int], Item, tuple[Spot, ...]] | None = None
    for item in items:
        thrift = item.units * item.parts if is_thrifty else 0
        for group, members in item.groups:
            found = _fill(room, item, members, item.parts)
            if found is None:
                continue
            spots, spare = found
            key = ((thrift, *_cost(item, spots)), spare, group, item.shape)
            if best is None or key < best[0]:
                best = (key, item, spots)
    return None if best is None else (best[0][0], best[1], best[2])


def _best_part(room: Room, items: list[Item]) -> tuple[Item, tuple[Spot, ...]] | None:
    """The domain that holds most of one replica of which any number of parts may run."""
    best: tuple[tuple[int, int, int, int, tuple[str, str], int], Item, tuple[Spot, ...]] | None
    best = None
    for item in items:
        if item.is_gang:
            continue
        for group, members in item.groups:
            found = _fill(room, item, members, 1)
            if found is None:
                continue
            spots, spare = found
            worth = item.worth * len(spots)
            key = (-worth, *_cost(item, spots), spare, group, item.shape)
            if best is None or key < best[0]:
                best = (key, item, spots)
    return None if best is None else best[1:]


def _cost(item: Item, spots: tuple[Spot, ...]) -> tuple[int, int]:
    """Standing and millionths of the parts together."""
    keys = [item.key(spot) for spot in spots]
    return sum(power for power, _ in keys), sum(micro for _, micro in keys)


def _fill(
    room: Room, item: Item, members: tuple[Spot, ...], least: int
) -> tuple[tuple[Spot, ...], int] | None:
    """Spots for the parts of one replica within one domain, cheapest then fullest first, and how
    many parts more would fit; None when fewer than ``least`` fit. The room is left as it was."""
    fits = [(spot, room.on_node(item, spot)) for spot in members]
    total = sum(count for _, count in fits)
    if total < least:
        return None
    ordered = sorted(
        (item.key(spot), room.units[spot.node][spot.slot], spot.node, spot.slot, number)
        for number, (spot, count) in enumerate(fits)
        if count
    )
    spots: list[Spot] = []
    for *_, number in ordered:
        spot = members[number]
        while len(spots) < item.parts and room.count(item, spot):
            room.take(item, spot)
            spots.append(spot)
        if len(spots) == item.parts:
            break
    for spot in spots:
        room.take(item, spot, -1)
    return (tuple(spots), total - len(spots)) if len(spots) >= least else None
