"""The problem made ready for search: integers and indexes in a stable order.

Nodes are ordered by cluster and name, demands by priority (high first) and name, so that the
order of the input never changes an answer. Prices become whole millionths of the currency, so
that comparing two answers never rests on a float.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal

from fleet.catalogue.accelerators import accelerator
from fleet.catalogue.prices import unit_share
from fleet.placement.eligibility import admits, lacks_domain, model_allowed
from fleet.placement.problem import Demand, NodeCapacity, Problem, QuotaRoom, Slot
from fleet.sizing.requirement import Shape
from fleet.words import say

MICRO = 1_000_000
_UNKNOWN_STANDING = 1_000
_FINEST_SCALE = 720_720
"""Divisible by 1 to 16. With rarer numbers of pods together a pod's share is rounded down to this,
so that the solver's floats still tell shares apart."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One slot of one node, with what a unit there costs."""

    node: int
    slot: int
    micro: int  # millionths of the currency per unit-hour; 0 when there is no price
    standing: int  # 0 when there is a price; else computing power taken, see ``standing``


@dataclass(frozen=True, slots=True)
class Item:
    """One shape of one demand: ``parts`` equal parts make a replica, each part on one node.

    A gang is placed with all its parts or not at all. Of another replica any number of parts may
    be placed, all within one domain.
    """

    demand: int
    shape: int
    units: int  # of one part
    cpu: int
    memory: int
    pods: int
    parts: int
    is_gang: bool
    worth: int  # of one part that counts on its own, in parts of ``Instance.scale``
    spots: tuple[Spot, ...]
    groups: tuple[tuple[tuple[str, str], tuple[Spot, ...]], ...]
    """Spots by topology domain (cluster, path), for ``parts`` > 1."""

    tiers: tuple[tuple[tuple[int, int], tuple[Spot, ...]], ...]
    """Spots by the cost of one part (see ``key``), cheapest first."""

    @property
    def least(self) -> int:
        """How many parts are useful at least."""
        return self.parts if self.is_gang else 1

    def key(self, spot: Spot) -> tuple[int, int]:
        """What one part costs there: first the standing of cards without a price, then money."""
        return (spot.standing * self.units, spot.micro * self.units)


@dataclass(frozen=True, slots=True)
class Replica:
    """One placed replica: the spot of each part that is placed."""

    demand: int
    shape: int
    spots: tuple[Spot, ...]


@dataclass(frozen=True, slots=True)
class Instance:
    problem: Problem
    nodes: tuple[NodeCapacity, ...]
    demands: tuple[Demand, ...]
    items: tuple[Item, ...]
    by_demand: tuple[tuple[int, ...], ...]  # indexes of items
    quotas: tuple[QuotaRoom, ...]
    scale: int
    """What a whole replica counts. The pods of replicas that need not be whole divide it."""

    _quotas_of: dict[tuple[str, str], tuple[int, ...]]  # (cluster, namespace)

    def quota_use(self, item: Item, spot: Spot) -> list[tuple[int, int]]:
        """(quota, amount) that one part takes there."""
        node = self.nodes[spot.node]
        found = self._quotas_of.get((node.cluster, self.demands[item.demand].namespace), ())
        if not found:
            return []
        resource = node.slots[spot.slot].resource
        amounts = {
            "cpu": item.cpu,
            "memory": item.memory,
            "pods": item.pods,
            resource: item.units,
        }
        return [
            (q, amounts[self.quotas[q].resource])
            for q in found
            if amounts.get(self.quotas[q].resource, 0) > 0
        ]

    def is_whole(self, replica: Replica) -> bool:
        """Whether all parts of the replica are placed."""
        return len(replica.spots) == self.item_of(replica).parts

    def worth(self, replica: Replica) -> int:
        """What the replica counts: ``scale``, or the share of it whose pods are placed."""
        item = self.item_of(replica)
        return self.scale if item.is_gang else item.worth * len(replica.spots)

    def item_of(self, replica: Replica) -> Item:
        return next(
            self.items[i]
            for i in self.by_demand[replica.demand]
            if self.items[i].shape == replica.shape
        )


@dataclass(frozen=True, slots=True, order=True)
class Rank:
    """How good an answer is; the greater the better. All integers."""

    placed: tuple[int, ...]  # by priority, high first; one replica counts ``Instance.scale``
    standing: int  # negative: computing power taken on cards without a price
    micro: int  # negative: millionths per hour


def standing(slot: Slot) -> int:
    """Order of cards without a price: dense 16-bit TFLOPS of the unit, so that the card with
    the least computing power goes first. Unknown figures rank last."""
    card = accelerator(slot.gpu_model)
    power = card.bf16_tflops if card is not None else None
    if power is None:
        return _UNKNOWN_STANDING
    return max(1, round(power * float(unit_share(slot.gpu_model, slot.mig_profile))))


def priorities(instance: Instance) -> tuple[int, ...]:
    """Distinct priorities, high first."""
    return tuple(sorted({d.priority for d in instance.demands}, reverse=True))


def rank(instance: Instance, replicas: Iterable[Replica]) -> Rank:
    """The rank of an answer."""
    levels = priorities(instance)
    placed = dict.fromkeys(levels, 0)
    power = micro = 0
    for replica in replicas:
        placed[instance.demands[replica.demand].priority] += instance.worth(replica)
        units = instance.item_of(replica).units
        for spot in replica.spots:
            power += spot.standing * units
            micro += spot.micro * units
    return Rank(tuple(placed[p] for p in levels), -power, -micro)


def placed_by_priority(
    instance: Instance, replicas: Iterable[Replica]
) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """(priority, number), high first: of whole replicas, and of pods of the others."""
    whole: Counter[int] = Counter()
    pods: Counter[int] = Counter()
    for replica in replicas:
        priority = instance.demands[replica.demand].priority
        if instance.is_whole(replica):
            whole[priority] += 1
        else:
            pods[priority] += len(replica.spots)
    levels = priorities(instance)
    return tuple((p, whole[p]) for p in levels), tuple((p, pods[p]) for p in levels if pods[p])


def is_merged(demand: Demand) -> bool:
    """Whether the pods of a replica go to one node as one: all or none, within one node."""
    return demand.gang and demand.domain == "node"


def money(micro: int) -> Decimal:
    """Millionths to an amount."""
    return Decimal(micro) / MICRO


def build(problem: Problem) -> Instance:
    """Index the problem. Raises ``ValueError`` when two workloads or two nodes share a name."""
    nodes = tuple(sorted(problem.nodes, key=lambda n: (n.cluster, n.node)))
    demands = tuple(sorted(problem.demands, key=lambda d: (-d.priority, d.workload)))
    twice = _twice(d.workload for d in demands)
    if twice is not None:
        raise ValueError(
            say("two workloads are named {name}: give each its own name", name=repr(twice))
        )
    twice = _twice(f"{n.cluster}/{n.node}" for n in nodes)
    if twice is not None:
        raise ValueError(
            say("two nodes are named {name}: give each its own name", name=repr(twice))
        )
    quotas = tuple(
        sorted(problem.quotas, key=lambda q: (q.cluster, q.namespace, q.quota, q.resource))
    )
    quotas_of: dict[tuple[str, str], tuple[int, ...]] = {}
    for index, quota in enumerate(quotas):
        key = (quota.cluster, quota.namespace)
        quotas_of[key] = (*quotas_of.get(key, ()), index)
    scale = math.lcm(*{s.pods for d in demands if not d.gang for s in d.shapes})
    scale = min(scale, _FINEST_SCALE)
    slots = slots_by_card(nodes)
    admitted = _Admitted(nodes)
    items: list[Item] = []
    by_demand: list[tuple[int, ...]] = []
    for index, demand in enumerate(demands):
        first = len(items)
        for number, shape in enumerate(demand.shapes):
            item = _item(index, demand, number, shape, admitted, slots, scale)
            if item.spots:
                items.append(item)
        by_demand.append(tuple(range(first, len(items))))
    return Instance(
        problem, nodes, demands, tuple(items), tuple(by_demand), quotas, scale, quotas_of
    )


def _twice(names: Iterable[str]) -> str | None:
    """The first name that was there before."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def slots_by_card(
    nodes: tuple[NodeCapacity, ...],
) -> dict[tuple[str, str | None], list[Spot]]:
    """Every slot of the fleet by GPU model and MIG profile, whoever may use it."""
    found: dict[tuple[str, str | None], list[Spot]] = {}
    for n, node in enumerate(nodes):
        for s, slot in enumerate(node.slots):
            price = slot.price_per_unit_hour
            spot = Spot(
                n,
                s,
                round(price * MICRO) if price is not None else 0,
                standing(slot) if price is None else 0,
            )
            found.setdefault((slot.gpu_model, slot.mig_profile), []).append(spot)
    return found


class _Admitted:
    """Which slots are open to a demand, asked once for all demands with the same conditions."""

    def __init__(self, nodes: tuple[NodeCapacity, ...]) -> None:
        self.nodes = nodes
        self._known: dict[object, dict[tuple[int, int], bool]] = {}

    def test(self, demand: Demand) -> Callable[[Spot], bool]:
        conditions = (
            demand.clusters,
            tuple(sorted(demand.node_selector.items())),
            demand.tolerations,
            demand.tolerate_gpu_taints,
        )
        known = self._known.setdefault(conditions, {})

        def is_open(spot: Spot) -> bool:
            place = (spot.node, spot.slot)
            if place not in known:
                node = self.nodes[spot.node]
                known[place] = admits(demand, node, node.slots[spot.slot].resource)
            return known[place]

        return is_open


def _item(
    index: int,
    demand: Demand,
    number: int,
    shape: Shape,
    admitted: _Admitted,
    slots: dict[tuple[str, str | None], list[Spot]],
    scale: int,
) -> Item:
    nodes = admitted.nodes
    pods, parts = (shape.pods, 1) if is_merged(demand) else (1, shape.pods)
    is_open = admitted.test(demand)
    spots = tuple(
        spot
        for spot in slots.get((shape.gpu_model, shape.mig_profile), ())
        if model_allowed(demand, shape)
        and is_open(spot)
        and not lacks_domain(demand, shape, nodes[spot.node])
    )
    groups: dict[tuple[str, str], list[Spot]] = {}
    if parts > 1:
        for spot in spots:
            path = domain_path(demand, nodes[spot.node])
            if path is not None:
                groups.setdefault((nodes[spot.node].cluster, path), []).append(spot)
        spots = tuple(spot for group in sorted(groups) for spot in groups[group])
    units = shape.gpus_per_pod * pods
    tiers: dict[tuple[int, int], list[Spot]] = {}
    for spot in spots:
        tiers.setdefault((spot.standing * units, spot.micro * units), []).append(spot)
    return Item(
        demand=index,
        shape=number,
        units=units,
        cpu=shape.cpu_milli * pods,
        memory=shape.memory_mib * pods,
        pods=pods,
        parts=parts,
        is_gang=demand.gang,
        worth=scale // parts,
        spots=spots,
        groups=tuple((group, tuple(groups[group])) for group in sorted(groups)),
        tiers=tuple((key, tuple(tiers[key])) for key in sorted(tiers)),
    )


def domain_path(demand: Demand, node: NodeCapacity) -> str | None:
    """The path of the domain that a replica must stay within; "" for the whole cluster; None
    when the node does not say."""
    return "" if demand.domain == "any" else node.domains.get(demand.domain)
