"""How many replicas of each shape of one demand there is room for, and what the first one costs.

This is what a solve of that demand alone, on one shape and with many replicas, places: the same
nodes, domains, quotas and room. All parts of a replica are equal, so that filling one node after
the other reaches the most, and no search is needed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from decimal import Decimal

from fleet.inventory import Inventory
from fleet.placement.constructive import place
from fleet.placement.instance import Instance, Item, Spot, build, money
from fleet.placement.problem import Demand, NodeCapacity, Problem, QuotaRoom
from fleet.placement.room import Room


@dataclass(frozen=True, slots=True)
class ShapeRoom:
    """The room for one shape, when nothing else is placed."""

    replicas: dict[str, int] = field(default_factory=dict)
    """Whole replicas by cluster; clusters without room are left out."""

    per_hour: Decimal | None = None
    """The first replica, at its cheapest place, in the currency of the nodes' prices. None: no
    room, or no price."""

    @property
    def total(self) -> int:
        return sum(self.replicas.values())


def rooms(
    nodes: tuple[NodeCapacity, ...], demand: Demand, quotas: tuple[QuotaRoom, ...] = ()
) -> tuple[ShapeRoom, ...]:
    """The room for each shape of the demand, each by itself, in the order of its shapes.

    The demand's number of replicas does not limit it. Raises ``ValueError`` when two nodes share
    a name.
    """
    instance = build(Problem(nodes, (demand,), quotas))
    found = {instance.items[i].shape: _shape_room(instance, i) for i in instance.by_demand[0]}
    return tuple(found.get(number, ShapeRoom()) for number in range(len(demand.shapes)))


def emptied(inventory: Inventory) -> Inventory:
    """The inventory as if no pod ran: what its machines could hold at most."""
    return replace(
        inventory,
        nodes=tuple(
            replace(
                node,
                cpu_requested=0,
                memory_requested_mib=0,
                pods_count=0,
                groups=tuple(
                    replace(
                        group, units=tuple(replace(units, requested=0) for units in group.units)
                    )
                    for group in node.groups
                ),
            )
            for node in inventory.nodes
        ),
    )


def _shape_room(instance: Instance, number: int) -> ShapeRoom:
    item = instance.items[number]
    room = Room(instance)
    counts: Counter[str] = Counter()
    for cluster, spots in _domains(instance, item):
        counts[cluster] += _fill(room, item, spots)
    replicas = {cluster: count for cluster, count in counts.items() if count}
    return ShapeRoom(replicas, _first_cost(instance, number) if replicas else None)


def _domains(instance: Instance, item: Item) -> list[tuple[str, tuple[Spot, ...]]]:
    """(cluster, spots) of each domain that a replica must stay within."""
    if item.parts > 1:
        return [(cluster, spots) for (cluster, _), spots in item.groups]
    return [(instance.nodes[spot.node].cluster, (spot,)) for spot in item.spots]


def _fill(room: Room, item: Item, spots: tuple[Spot, ...]) -> int:
    """Whole replicas that the domain holds; takes their room and no more."""
    taken: list[tuple[Spot, int]] = []
    for spot in spots:
        count = room.count(item, spot)
        if count:
            room.take(item, spot, count)
            taken.append((spot, count))
    parts = sum(count for _, count in taken)
    spare = parts % item.parts
    for spot, count in reversed(taken):
        back = min(spare, count)
        room.take(item, spot, -back)
        spare -= back
    return parts // item.parts


def _first_cost(instance: Instance, number: int) -> Decimal | None:
    item = instance.items[number]
    first = place(replace(instance, by_demand=((number,),)), Room(instance), 0, 1)
    spots = [spot for replica in first for spot in replica.spots]
    if any(spot.standing for spot in spots):
        return None
    return money(sum(spot.micro * item.units for spot in spots))
