"""What a team's fleet has room for now, by the current snapshots and the placement's own rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from fleet.catalogue.prices import PriceBook, unit_share
from fleet.inventory import Inventory
from fleet.placement.capacity import capacity, main_currency, quota_rooms
from fleet.placement.problem import Demand, NodeCapacity, QuotaRoom
from fleet.placement.rooms import emptied, rooms
from fleet.sizing.requirement import Shape
from fleet.units import Money
from planner.accounts.models import Team
from planner.inventory.models import Snapshot
from planner.plans.price_books import book_for

Card = tuple[str, str | None]
"""A GPU model, and a MIG profile or None for whole GPUs."""
_Shown = tuple[str, int, datetime]
"""Cluster, snapshot and when it was made: a database may give the key of a deleted row anew."""
_KEPT = 8


@dataclass(frozen=True, slots=True)
class Offer:
    """What a fleet has for one shape."""

    free: Mapping[str, int]
    """Replicas that a plan of this workload alone would place now, by cluster."""
    per_hour: Money | None  # one replica; None: no price
    is_held: bool  # whether machines of the fleet could hold one replica, were they empty


@dataclass(frozen=True, slots=True, eq=False)
class FleetNow:
    """The GPU nodes of a fleet: what is free on them, and on which kinds of machine they are."""

    nodes: tuple[NodeCapacity, ...]
    empty: tuple[NodeCapacity, ...]  # the same nodes, were nothing placed on them
    quotas: tuple[QuotaRoom, ...]
    book: PriceBook
    currency: str
    machines: Mapping[str, frozenset[tuple[str, str, str]]]
    """GPU model -> (instance type, region, cluster)."""
    cards: frozenset[Card]
    """Units that the nodes offer, free or not."""

    @property
    def models(self) -> list[str]:
        return sorted(self.machines)

    def offers(self, demand: Demand) -> tuple[Offer, ...]:
        """The offer for each shape of the demand.

        The price is that of the cheapest place with room; without room, of the cheapest machines
        that could hold the shape, were they empty; of no machine, by the model alone.
        """
        now = rooms(self.nodes, demand, self.quotas)
        ever = rooms(self.empty, demand)
        found = []
        for shape, room, most in zip(demand.shapes, now, ever, strict=True):
            is_held = bool(room.replicas or most.replicas)
            amount = room.per_hour if room.replicas else most.per_hour
            price = Money(amount, self.currency) if amount is not None else None
            if not is_held and shape.gpu_model not in self.machines:
                price = self._price_by_model(shape)
            found.append(Offer(room.replicas, price, is_held))
        return tuple(found)

    def _price_by_model(self, shape: Shape) -> Money | None:
        price = self.book.price_for("", shape.gpu_model)
        if price is None:
            return None
        return price.per_gpu_hour * (unit_share(shape.gpu_model, shape.mig_profile) * shape.gpus)


def fleet_now(team: Team) -> FleetNow:
    """The room of the team's current snapshots at its prices. Kept per set of snapshots."""
    shown = team.clusters.exclude(current_snapshot=None).order_by("name")
    keys = shown.values_list("name", "current_snapshot", "current_snapshot__created_at")
    return _fleet(tuple(keys), book_for(team))


@lru_cache(maxsize=_KEPT)
def _fleet(shown: tuple[_Shown, ...], book: PriceBook) -> FleetNow:
    names = {pk: name for name, pk, _ in shown}
    inventories = {
        names[snapshot.pk]: _gpu_part(snapshot.inventory())
        for snapshot in Snapshot.objects.filter(pk__in=names).only("value")
    }
    currency = main_currency(inventories, book)
    empty = capacity({name: emptied(i) for name, i in inventories.items()}, book, currency)
    machines: dict[str, set[tuple[str, str, str]]] = {}
    for cluster, inventory in inventories.items():
        for node in inventory.nodes:
            for group in node.groups:
                if group.model is not None:
                    place = (node.instance_type, node.region, cluster)
                    machines.setdefault(group.model, set()).add(place)
    return FleetNow(
        nodes=capacity(inventories, book, currency),
        empty=empty,
        quotas=quota_rooms(inventories),
        book=book,
        currency=currency,
        machines={model: frozenset(places) for model, places in machines.items()},
        cards=frozenset(
            (slot.gpu_model, slot.mig_profile) for node in empty for slot in node.slots if slot.free
        ),
    )


def _gpu_part(inventory: Inventory) -> Inventory:
    return replace(
        inventory, nodes=tuple(node for node in inventory.nodes if node.is_gpu_node), pods=()
    )
