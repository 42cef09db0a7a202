"""The cheapest card that a workload would take, were it not for a filter or for what is in use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fleet.placement.eligibility import (
    blocking_taint,
    in_clusters,
    matches_selector,
    model_allowed,
)
from fleet.placement.instance import Instance, Item, Spot, is_merged, slots_by_card
from fleet.placement.phrases import domain_name, place_name, short
from fleet.placement.problem import Demand
from fleet.sizing.requirement import Shape
from fleet.tolerations import taint_text
from fleet.words import say, say_many

Cost = tuple[int, int]
"""Of one replica: first the standing of cards without a price, then millionths an hour."""


@dataclass(frozen=True, slots=True)
class Excluded:
    """A card that is not used, and the first filter that leaves it out."""

    is_choice: bool  # left out by the workload's own choice of models or clusters
    cost: Cost
    unit: str
    node: str  # one that has it
    reason: str


class CheaperCards:
    """Cards that are left out, by demand; the slots of the fleet are sorted once."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._slots = slots_by_card(instance.nodes)

    def excluded(self, index: int, usable: set[int]) -> tuple[Excluded, ...]:
        """What is left out for one demand, what the fleet leaves out before what its own choices
        leave out, then cheapest first.

        ``usable``: the shapes of which an empty plan would hold a replica. Of another shape the
        nodes that are open to the demand have too little free.
        """
        instance = self._instance
        demand = instance.demands[index]
        items = {instance.items[i].shape: instance.items[i] for i in instance.by_demand[index]}
        in_use = {demand.shapes[number].unit for number in usable}
        found = []
        for number, shape in enumerate(demand.shapes):
            spots = self._slots.get((shape.gpu_model, shape.mig_profile), [])
            item = items.get(number)
            open_spots = item.spots if item is not None else ()
            if open_spots and shape.unit not in in_use:
                found.append(self._scarce(shape, open_spots))
            if len(spots) > len(open_spots):
                taken = {(s.node, s.slot) for s in open_spots}
                out = [s for s in spots if (s.node, s.slot) not in taken]
                found += self._left_out(demand, shape, out)
        return tuple(sorted(found, key=lambda e: (e.is_choice, e.cost)))

    def _scarce(self, shape: Shape, spots: Sequence[Spot]) -> Excluded:
        spot = min(spots, key=lambda s: _cost(shape, s))
        return Excluded(
            is_choice=False,
            cost=_cost(shape, spot),
            unit=shape.unit,
            node=place_name(self._instance.nodes[spot.node]),
            reason=say("too little is free on its nodes"),
        )

    def _left_out(self, demand: Demand, shape: Shape, spots: Sequence[Spot]) -> list[Excluded]:
        """The cheapest slot that would hold a pod, with the number of nodes that share its
        reason."""
        fitting = [spot for spot in spots if self._would_hold(demand, shape, spot)]
        if not fitting:
            return []
        best = min(fitting, key=lambda s: _cost(shape, s))
        filters = [self._filter(demand, shape, spot) for spot in fitting]
        mine = self._filter(demand, shape, best)
        nodes = {s.node for s, other in zip(fitting, filters, strict=True) if other == mine}
        return [
            Excluded(
                is_choice=mine[0] in ("model", "cluster"),
                cost=_cost(shape, best),
                unit=shape.unit,
                node=place_name(self._instance.nodes[best.node]),
                reason=_reason(demand, mine, len(nodes)),
            )
        ]

    def _would_hold(self, demand: Demand, shape: Shape, spot: Spot) -> bool:
        """Whether the node has room for one pod, or for one replica that goes to one node."""
        node = self._instance.nodes[spot.node]
        pods = shape.pods if is_merged(demand) else 1
        return (
            node.slots[spot.slot].free >= shape.gpus_per_pod * pods
            and node.cpu_free >= shape.cpu_milli * pods
            and node.memory_free_mib >= shape.memory_mib * pods
            and node.pods_free >= pods
        )

    def _filter(self, demand: Demand, shape: Shape, spot: Spot) -> tuple[str, str]:
        """The first filter of the funnel that leaves the slot out, with its detail."""
        node = self._instance.nodes[spot.node]
        if not model_allowed(demand, shape):
            return "model", ""
        if not in_clusters(demand, node):
            return "cluster", ""
        if not matches_selector(demand, node):
            return "selector", ""
        taint = blocking_taint(demand, node, node.slots[spot.slot].resource)
        if taint is not None:
            return "taint", short(taint_text(taint))
        return ("domain", "") if node.schedulable else ("state", "")


def cost_of(item: Item, spot: Spot) -> Cost:
    """What a replica of the item costs when all its parts are at the price of this spot."""
    power, micro = item.key(spot)
    return power * item.parts, micro * item.parts


def _cost(shape: Shape, spot: Spot) -> Cost:
    units = shape.gpus_per_pod * shape.pods
    return spot.standing * units, spot.micro * units


def _reason(demand: Demand, why: tuple[str, str], nodes: int) -> str:
    name, detail = why
    if name == "model":
        return say("the workload allows other GPU models only")
    if name == "cluster":
        return say("the workload allows other clusters only")
    if name == "selector":
        return say_many(
            "the node selector leaves out {n} node",
            "the node selector leaves out {n} nodes",
            nodes,
        )
    if name == "taint":
        return say_many(
            "taint {taint} on {n} node", "taint {taint} on {n} nodes", nodes, taint=detail
        )
    if name == "state":
        return say_many("{n} node takes no pods now", "{n} nodes take no pods now", nodes)
    return say("no {domain} label is known", domain=domain_name(demand))
