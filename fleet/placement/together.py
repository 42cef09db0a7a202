"""Why a workload waits although one of its pods fits somewhere: a quota, its gang or its domain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from fleet.placement.cheaper import Cost, cost_of
from fleet.placement.instance import Instance, Item, Replica, Spot
from fleet.placement.phrases import cores_text, domain_name, domain_names, place_name, short
from fleet.placement.problem import Demand
from fleet.placement.result import ReasonCode
from fleet.placement.room import Room
from fleet.units import gib_text
from fleet.words import say, say_many


def quota_reason(instance: Instance, items: Sequence[Item], room: Room) -> tuple[str, str] | None:
    """Sentence and nearest miss when the nodes have the room and only a quota says no."""
    for item in items:
        for _, members in item.groups or (((("", ""), item.spots)),):
            open_spots = [s for s in members if room.on_node(item, s)]
            if sum(room.on_node(item, s) for s in open_spots) < item.least:
                continue
            for spot in open_spots:
                for number, use in instance.quota_use(item, spot):
                    left, asked = room.quota[number], use * item.least
                    if left < asked:
                        node = place_name(instance.nodes[spot.node])
                        return (
                            _quota(instance, item, number, left, asked),
                            say("Closest: {node} has the room.", node=node),
                        )
    return None


def _quota(instance: Instance, item: Item, number: int, left: int, asked: int) -> str:
    quota = instance.quotas[number]
    values = {
        "quota": f"{short(quota.namespace)}/{short(quota.quota)}",
        "cluster": short(quota.cluster),
        "left": _amount(quota.resource, left),
        "resource": short(quota.resource),
        "asked": _amount(quota.resource, asked),
    }
    is_replica = item.least == item.parts
    if left <= 0 and is_replica:
        return say(
            "Quota {quota} in {cluster} allows no more {resource}; one replica asks for {asked}.",
            **values,
        )
    if left <= 0:
        return say(
            "Quota {quota} in {cluster} allows no more {resource}; one pod asks for {asked}.",
            **values,
        )
    if is_replica:
        return say(
            "Quota {quota} in {cluster} has {left} of {resource} left; one replica asks for "
            "{asked}.",
            **values,
        )
    return say(
        "Quota {quota} in {cluster} has {left} of {resource} left; one pod asks for {asked}.",
        **values,
    )


def _amount(resource: str, value: int) -> str:
    if resource == "cpu":
        return cores_text(value)
    return gib_text(value) if resource == "memory" else str(value)


@dataclass(frozen=True, slots=True, order=True)
class _Domain:
    """How near one domain comes to holding a whole replica: the nearest sorts first."""

    missing_share: Fraction  # of the pods
    missing_units: int
    cost: Cost
    number: int  # of the item
    group: tuple[str, str]
    fits: int
    loose: int  # free units that do not add up to a pod
    blocked: tuple[tuple[str, int], ...]
    """Nodes with free units for another pod, but too little of this."""


def _domain(
    number: int, item: Item, group: tuple[str, str], members: Sequence[Spot], room: Room
) -> _Domain:
    fits = loose = 0
    blocked: Counter[str] = Counter()
    for spot in members:
        here = room.on_node(item, spot)
        fits += here
        of_units, rest = divmod(room.units[spot.node][spot.slot], item.units)
        loose += rest
        if of_units > here:
            blocked[_scarce(item, spot.node, here, room)] += 1
    missing = item.parts - fits
    return _Domain(
        missing_share=Fraction(missing, item.parts),
        missing_units=max(0, missing * item.units - loose),
        cost=min(cost_of(item, spot) for spot in members),
        number=number,
        group=group,
        fits=fits,
        loose=loose,
        blocked=tuple(sorted(blocked.items())),
    )


def _scarce(item: Item, node: int, fits: int, room: Room) -> str:
    """What keeps the next pod off a node that has the units for it."""
    if room.cpu[node] < item.cpu * (fits + 1):
        return "cpu"
    return "memory" if room.memory[node] < item.memory * (fits + 1) else "pods"


def _nearest(items: Sequence[Item], room: Room) -> tuple[_Domain, str]:
    """The domain and shape with most of the pods in place, then the fewest units missing, then
    the lowest price."""
    best = min(
        _domain(number, item, group, members, room)
        for number, item in enumerate(items)
        for group, members in item.groups
    )
    cluster, path = best.group
    said = [
        say(
            "Closest: {place} with room for {fits} of {parts} pods.",
            place=f"{short(cluster)} / {short(path)}" if path else short(cluster),
            fits=best.fits,
            parts=items[best.number].parts,
        )
    ]
    if best.loose:
        said.append(
            say_many(
                "{n} free GPU does not add up to a pod.",
                "{n} free GPUs do not add up to a pod.",
                best.loose,
            )
        )
    said += [_blocked(kind, nodes) for kind, nodes in best.blocked]
    return best, " ".join(said)


def _blocked(kind: str, nodes: int) -> str:
    if kind == "cpu":
        return say_many(
            "{n} node has the GPUs for more, but not the CPU.",
            "{n} nodes have the GPUs for more, but not the CPU.",
            nodes,
        )
    if kind == "memory":
        return say_many(
            "{n} node has the GPUs for more, but not the memory.",
            "{n} nodes have the GPUs for more, but not the memory.",
            nodes,
        )
    return say_many(
        "{n} node has the GPUs for more, but not the pod places.",
        "{n} nodes have the GPUs for more, but not the pod places.",
        nodes,
    )


def _no_node_has(demand: Demand, items: Sequence[Item], chosen: Item, room: Room) -> list[str]:
    """That larger pods of the same card cannot be: no node has as many units free."""
    unit = demand.shapes[chosen.shape].unit
    larger = {
        item.units
        for item in items
        if demand.shapes[item.shape].unit == unit
        and item.units > chosen.units
        and all(room.units[spot.node][spot.slot] < item.units for spot in item.spots)
    }
    if not larger:
        return []
    return [say("No node has {units} × {card} free.", units=min(larger), card=unit)]


def gang_reason(
    instance: Instance, demand: Demand, gangs: Sequence[Item], room: Room
) -> tuple[ReasonCode, int, str, str]:
    """No domain holds all pods of a gang: the cluster does, or it does not either. With the index
    of the shape that comes closest."""
    in_cluster: dict[tuple[int, str], int] = {}
    for number, item in enumerate(gangs):
        for spot in item.spots:
            key = (number, instance.nodes[spot.node].cluster)
            in_cluster[key] = in_cluster.get(key, 0) + room.on_node(item, spot)
    enough = {number for (number, _), total in in_cluster.items() if total >= gangs[number].parts}
    apart = demand.domain != "any" and bool(enough)
    judged = [gangs[number] for number in sorted(enough)] if apart else gangs
    best, nearest = _nearest(judged, room)
    item = judged[best.number]
    unit = demand.shapes[item.shape].unit
    if apart:
        sentence = say(
            "No {domain} has room for {pods} pods of {units} × {card}; across {domains} there "
            "would be.",
            domain=domain_name(demand),
            domains=domain_names(demand),
            pods=item.parts,
            units=item.units,
            card=unit,
        )
        return ReasonCode.DOMAIN, item.shape, sentence, nearest
    sentence = say_many(
        "{n} of the {pods} pods of one replica fits ({units} × {card} each), and they are useful "
        "only all together.",
        "{n} of the {pods} pods of one replica fit ({units} × {card} each), and they are useful "
        "only all together.",
        best.fits,
        pods=item.parts,
        units=item.units,
        card=unit,
    )
    sentence = " ".join((sentence, *_no_node_has(demand, gangs, item, room)))
    return ReasonCode.GANG, item.shape, sentence, nearest


def apart_reason(
    instance: Instance,
    demand: Demand,
    items: Sequence[Item],
    room: Room,
    unfinished: Sequence[Replica],
) -> tuple[ReasonCode, int, str, str]:
    """Pods that count by themselves wait although one would fit: not where the others are. With
    the index of the shape that comes closest.

    ``unfinished``: the replicas of the demand that have some of their pods only; their room counts
    as free here.
    """
    without = room.copy()
    for replica in unfinished:
        for spot in replica.spots:
            without.take(instance.item_of(replica), spot, -1)
    best, nearest = _nearest(items, without)
    item = items[best.number]
    sentence = say(
        "No {domain} has room for all {pods} pods of one replica ({units} × {card} each), and they "
        "must be in one {domain}.",
        domain=domain_name(demand),
        pods=item.parts,
        units=item.units,
        card=demand.shapes[item.shape].unit,
    )
    return ReasonCode.DOMAIN, item.shape, sentence, nearest
