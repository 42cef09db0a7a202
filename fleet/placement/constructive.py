"""A first answer, fast and always: one workload after the other, cheapest card that fits first.

Among equal costs the fullest node with room wins (fewest free units after), so that whole nodes
stay whole; then the cluster's and the node's name. Any stable order does; a random one strands
far more.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

from fleet.placement.instance import Instance, Item, Rank, Replica, Spot, rank
from fleet.placement.room import Room

_Key = tuple[int, int, int, int, int, int]


def construct(instance: Instance, cancelled: Callable[[], bool]) -> tuple[Replica, ...]:
    """The best of a few orders of the demands; each order keeps priorities apart."""
    best: tuple[Replica, ...] = ()
    best_rank: Rank | None = None
    wanted = sum(d.replicas for d in instance.demands)
    for order in (_largest_first, _fewest_choices_first, _smallest_first):
        placed = _in_order(instance, order(instance), cancelled)
        found = rank(instance, placed)
        if best_rank is None or found > best_rank:
            best, best_rank = placed, found
        if cancelled() or (len(best) == wanted and _is_cheapest(instance, best_rank)):
            break
    return best


def _is_cheapest(instance: Instance, found: Rank) -> bool:
    return (-found.standing, -found.micro) == floor_cost(instance)


def floor_cost(instance: Instance) -> tuple[int, int]:
    """(standing, millionths) when every replica that can go anywhere had its cheapest spot to
    itself: no answer that places all of them costs less."""
    power = micro = 0
    for index, demand in enumerate(instance.demands):
        keys = [
            tuple(item.parts * part for part in min(item.key(s) for s in item.spots))
            for item in (instance.items[i] for i in instance.by_demand[index])
        ]
        if keys:
            lowest = min(keys)
            power += lowest[0] * demand.replicas
            micro += lowest[1] * demand.replicas
    return power, micro


def _size(instance: Instance, demand: int) -> int:
    return max(
        (instance.items[i].units * instance.items[i].parts for i in instance.by_demand[demand]),
        default=0,
    )


def _largest_first(instance: Instance) -> list[int]:
    demands = instance.demands
    return sorted(range(len(demands)), key=lambda d: (-demands[d].priority, -_size(instance, d), d))


def _smallest_first(instance: Instance) -> list[int]:
    demands = instance.demands
    return sorted(range(len(demands)), key=lambda d: (-demands[d].priority, _size(instance, d), d))


def _fewest_choices_first(instance: Instance) -> list[int]:
    demands = instance.demands

    def choices(demand: int) -> int:
        return sum(len(instance.items[i].spots) for i in instance.by_demand[demand])

    return sorted(range(len(demands)), key=lambda d: (-demands[d].priority, choices(d), d))


def _in_order(
    instance: Instance, order: list[int], cancelled: Callable[[], bool]
) -> tuple[Replica, ...]:
    room = Room(instance)
    placed: list[Replica] = []
    for demand in order:
        if cancelled():
            break
        placed.extend(place(instance, room, demand, instance.demands[demand].replicas))
    return tuple(placed)


def place(instance: Instance, room: Room, demand: int, replicas: int) -> list[Replica]:
    """Place up to ``replicas`` of one demand in the room, cheapest first; takes the room."""
    items = [instance.items[i] for i in instance.by_demand[demand]]
    alone = _Alone(room, [item for item in items if item.parts == 1])
    gangs = [item for item in items if item.parts > 1]
    placed: list[Replica] = []
    while len(placed) < replicas:
        gang = best_gang(room, gangs) if gangs else None
        single = alone.best()
        if single is not None and (gang is None or single[0] <= gang[0]):
            _, item, spot = single
            room.take(item, spot)
            alone.changed({spot.node})
            placed.append(Replica(demand, item.shape, (spot,)))
        elif gang is not None:
            _, item, spots = gang
            for spot in spots:
                room.take(item, spot)
            alone.changed({spot.node for spot in spots})
            placed.append(Replica(demand, item.shape, spots))
        else:
            break
    return placed


class _Alone:
    """The cheapest place for one part, kept in a heap that is renewed where something changed."""

    def __init__(self, room: Room, items: list[Item]) -> None:
        self._room = room
        self._by_node: dict[int, list[tuple[Item, Spot]]] = {}
        self._heap: list[tuple[_Key, int, int, int]] = []
        self._entries: list[tuple[Item, Spot]] = []
        for item in items:
            for spot in item.spots:
                self._by_node.setdefault(spot.node, []).append((item, spot))
        for node in self._by_node:
            self._push(node)
        heapq.heapify(self._heap)

    def _push(self, node: int, *, into_heap: bool = False) -> None:
        for item, spot in self._by_node[node]:
            if self._room.on_node(item, spot) == 0:
                continue
            left = self._room.units[node][spot.slot] - item.units
            entry = (
                (*item.key(spot), left, node, spot.slot, item.shape),
                self._room.units[node][spot.slot],
                self._room.pods[node],
                len(self._entries),
            )
            self._entries.append((item, spot))
            if into_heap:
                heapq.heappush(self._heap, entry)
            else:
                self._heap.append(entry)

    def changed(self, nodes: set[int]) -> None:
        for node in sorted(nodes & self._by_node.keys()):
            self._push(node, into_heap=True)

    def best(self) -> tuple[tuple[int, int], Item, Spot] | None:
        """The cheapest place now, left in the heap; places that no longer hold are dropped."""
        while self._heap:
            _, units, pods, number = self._heap[0]
            item, spot = self._entries[number]
            fresh = units == self._room.units[spot.node][spot.slot]
            if fresh and pods == self._room.pods[spot.node] and self._room.count(item, spot):
                return item.key(spot), item, spot
            heapq.heappop(self._heap)
        return None


def best_gang(
    room: Room, items: list[Item]
) -> tuple[tuple[int, int], Item, tuple[Spot, ...]] | None:
    """The cheapest domain that holds all parts of one replica, and the spot of each part.

    Among equal costs the domain with the least room beyond the replica wins, then its name.
    """
    best: tuple[tuple[int, int, int, tuple[str, str], int], Item, tuple[Spot, ...]] | None = None
    for item in items:
        for group, members in item.groups:
            found = _fill(room, item, members)
            if found is None:
                continue
            spots, spare = found
            power = sum(item.key(s)[0] for s in spots)
            micro = sum(item.key(s)[1] for s in spots)
            key = (power, micro, spare, group, item.shape)
            if best is None or key < best[0]:
                best = (key, item, spots)
    return None if best is None else (best[0][:2], best[1], best[2])


def _fill(room: Room, item: Item, members: tuple[Spot, ...]) -> tuple[tuple[Spot, ...], int] | None:
    """Spots for all parts within one domain, cheapest then fullest first, and how many parts
    more would fit; None when they do not all fit. The room is left as it was."""
    fits = [(spot, room.on_node(item, spot)) for spot in members]
    total = sum(count for _, count in fits)
    if total < item.parts:
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
    return (tuple(spots), total - item.parts) if len(spots) == item.parts else None
