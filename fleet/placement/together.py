"""Why a workload waits although one of its pods fits somewhere: a quota, its gang or its domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fleet.placement.instance import Instance, Item, Replica
from fleet.placement.phrases import cores, domain_name, domain_names, place_name, short
from fleet.placement.problem import Demand
from fleet.placement.result import ReasonCode
from fleet.placement.room import Room
from fleet.units import gib_text
from fleet.words import say


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
    if item.least == item.parts:
        return say(
            "Quota {quota} in {cluster} allows {left} more {resource}, {asked} are asked for one "
            "replica.",
            **values,
        )
    return say(
        "Quota {quota} in {cluster} allows {left} more {resource}, {asked} are asked for one pod.",
        **values,
    )


def _amount(resource: str, value: int) -> str:
    if resource == "cpu":
        return cores(value)
    return gib_text(value) if resource == "memory" else str(value)


@dataclass(frozen=True, slots=True, order=True)
class _Domain:
    """How near one domain comes to holding a whole replica: the nearest sorts first."""

    missing: int
    number: int  # of the item
    fits: int
    loose: int
    group: tuple[str, str]


def _nearest(instance: Instance, items: Sequence[Item], room: Room) -> tuple[_Domain, str]:
    domains = []
    for number, item in enumerate(items):
        for group, members in item.groups:
            fits = sum(room.on_node(item, s) for s in members)
            loose = sum(room.units[s.node][s.slot] for s in members) - fits * item.units
            domains.append(_Domain(item.parts - fits, number, fits, loose, group))
    best = min(domains)
    cluster, path = best.group
    text = say(
        "Closest: {place} with room for {fits} of {parts} pods and {loose} loose GPUs.",
        place=f"{short(cluster)} / {short(path)}" if path else short(cluster),
        fits=best.fits,
        parts=items[best.number].parts,
        loose=best.loose,
    )
    return best, text


def gang_reason(
    instance: Instance, demand: Demand, gangs: Sequence[Item], room: Room
) -> tuple[ReasonCode, str, str]:
    """No domain holds all pods of a gang: the cluster does, or it does not either."""
    in_cluster: dict[tuple[int, str], int] = {}
    for number, item in enumerate(gangs):
        for spot in item.spots:
            key = (number, instance.nodes[spot.node].cluster)
            in_cluster[key] = in_cluster.get(key, 0) + room.on_node(item, spot)
    best, nearest = _nearest(instance, gangs, room)
    item = gangs[best.number]
    unit = demand.shapes[item.shape].unit
    enough = any(total >= gangs[number].parts for (number, _), total in in_cluster.items())
    if demand.domain != "any" and enough:
        sentence = say(
            "No {domain} has room for {pods} pods of {units} × {card}; across {domains} there "
            "would be.",
            domain=domain_name(demand),
            domains=domain_names(demand),
            pods=item.parts,
            units=item.units,
            card=unit,
        )
        return ReasonCode.DOMAIN, sentence, nearest
    sentence = say(
        "{fits} of the {pods} pods of one replica fit ({units} × {card} each), and they are useful "
        "only all together.",
        fits=best.fits,
        pods=item.parts,
        units=item.units,
        card=unit,
    )
    return ReasonCode.GANG, sentence, nearest


def apart_reason(
    instance: Instance,
    demand: Demand,
    items: Sequence[Item],
    room: Room,
    unfinished: Sequence[Replica],
) -> tuple[ReasonCode, str, str]:
    """Pods that count by themselves wait although one would fit: not where the others are.

    ``unfinished``: the replicas of the demand that have some of their pods only; their room counts
    as free here.
    """
    without = room.copy()
    for replica in unfinished:
        for spot in replica.spots:
            without.take(instance.item_of(replica), spot, -1)
    best, nearest = _nearest(instance, items, without)
    item = items[best.number]
    sentence = say(
        "No {domain} has room for all {pods} pods of one replica ({units} × {card} each), and they "
        "must be in one {domain}.",
        domain=domain_name(demand),
        pods=item.parts,
        units=item.units,
        card=demand.shapes[item.shape].unit,
    )
    return ReasonCode.DOMAIN, sentence, nearest
