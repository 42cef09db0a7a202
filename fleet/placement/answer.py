"""From placed replicas to assignments: replica and pod numbers, and why each pod is here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fleet.placement.cheaper import CheaperCards, Cost, Excluded, cost_of
from fleet.placement.instance import Instance, Item, Replica, Spot, money
from fleet.placement.phrases import domain_name
from fleet.placement.result import Assignment
from fleet.placement.room import Room
from fleet.sizing.requirement import Fit
from fleet.words import say


def in_order(instance: Instance, replicas: Sequence[Replica]) -> tuple[Replica, ...]:
    """Replicas in the order in which they are numbered: by demand, whole ones first, node, slot
    and shape."""

    def place(replica: Replica) -> tuple[int, bool, list[tuple[int, int]], int]:
        spots = [(spot.node, spot.slot) for spot in replica.spots]
        return replica.demand, not instance.is_whole(replica), spots, replica.shape

    return tuple(sorted(replicas, key=place))


def assignments(instance: Instance, replicas: Sequence[Replica]) -> tuple[Assignment, ...]:
    """One assignment a pod, replicas of a workload numbered from 0."""
    found: list[Assignment] = []
    numbers: dict[int, int] = {}
    empty = Room(instance)
    others = CheaperCards(instance)
    ways = {d: _ways(instance, empty, others, d) for d in {r.demand for r in replicas}}
    for replica in in_order(instance, replicas):
        number = numbers.get(replica.demand, 0)
        numbers[replica.demand] = number + 1
        item = instance.item_of(replica)
        demand = instance.demands[replica.demand]
        shape = demand.shapes[replica.shape]
        pod = 0
        for spot in replica.spots:
            node = instance.nodes[spot.node]
            slot = node.slots[spot.slot]
            why = _why(instance, item, spot, ways[replica.demand])
            for _ in range(item.pods):
                found.append(
                    Assignment(
                        workload=demand.workload,
                        replica=number,
                        pod=pod,
                        cluster=node.cluster,
                        node=node.node,
                        resource=slot.resource,
                        gpu_model=slot.gpu_model,
                        mig_profile=slot.mig_profile,
                        gpus=shape.gpus_per_pod,
                        cpu_milli=shape.cpu_milli,
                        memory_mib=shape.memory_mib,
                        shape=replica.shape,
                        why_here=why,
                    )
                )
                pod += 1
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Ways:
    """What a replica costs on each card where an empty plan would hold one, and the cards that
    are left out."""

    open: list[tuple[Cost, str]]
    excluded: tuple[Excluded, ...]


def _ways(instance: Instance, empty: Room, others: CheaperCards, demand: int) -> _Ways:
    found = []
    shapes = set()
    for index in instance.by_demand[demand]:
        item = instance.items[index]
        places = [members for _, members in item.groups] or [item.spots]
        keys = [
            cost_of(item, spot)
            for members in places
            if sum(empty.count(item, spot) for spot in members) >= item.least
            for spot in members
            if empty.count(item, spot)
        ]
        if keys:
            found.append((min(keys), instance.demands[demand].shapes[item.shape].unit))
            shapes.add(item.shape)
    return _Ways(found, others.excluded(demand, shapes))


def _why(instance: Instance, item: Item, spot: Spot, ways: _Ways) -> str:
    """Why this card, and how the node was chosen, with the numbers."""
    demand = instance.demands[item.demand]
    shape = demand.shapes[item.shape]
    slot = instance.nodes[spot.node].slots[spot.slot]
    currency = instance.problem.currency
    mine = cost_of(item, spot)
    cheaper: dict[Cost, str] = {}
    for key, unit in ways.open:
        if key < mine:
            cheaper.setdefault(key, unit)
    if slot.price_per_unit_hour is None:
        price = say("no price; cards without a price are ranked by computing power")
    else:
        price = say(
            "{amount} {currency} an hour a replica",
            amount=f"{money(spot.micro * item.units * item.parts):.2f}",
            currency=currency,
        )
    left_out = next(
        (e for e in ways.excluded if e.cost < mine and e.unit not in cheaper.values()), None
    )
    if cheaper:
        card = say(
            "{card} ({price}); cheaper cards are full or needed elsewhere: {names}",
            card=shape.unit,
            price=price,
            names=", ".join(dict.fromkeys(cheaper[k] for k in sorted(cheaper))),
        )
    elif left_out is not None:
        card = say("cheapest that may be used ({card}, {price})", card=shape.unit, price=price)
    else:
        card = say("cheapest card that fits ({card}, {price})", card=shape.unit, price=price)
    parts = [card]
    if left_out is not None:
        parts.append(
            say(
                "{card} would be cheaper, but: {reason}",
                card=left_out.unit if left_out.unit != shape.unit else left_out.node,
                reason=left_out.reason,
            )
        )
    if item.parts > 1:
        domain = domain_name(demand)
        if item.is_gang:
            text = say("{pods} pods together in one {domain}", pods=item.parts, domain=domain)
        else:
            text = say("each pod counts by itself; one {domain} a replica", domain=domain)
        parts.append(text)
    if shape.fit is Fit.TIGHT:
        parts.append(say("tight: little memory to spare"))
    return "; ".join(parts)
