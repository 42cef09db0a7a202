"""What is free in a team's fleet now, read from the rows of its current snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

import msgspec

from fleet import inventory as fleet_inventory
from fleet.catalogue.prices import PriceBook, unit_share
from fleet.inventory import UnitKind
from fleet.sizing.requirement import Shape
from fleet.units import Money
from planner.accounts.models import Team
from planner.inventory.models import NodeRow

Card = tuple[str, str | None]
"""A GPU model, and a MIG profile or None for whole GPUs."""


@dataclass(frozen=True, slots=True)
class FreeNode:
    """One node with free units of one card."""

    cluster: str
    node: str
    free: int


@dataclass(slots=True)
class FleetNow:
    """The cards of a fleet: where they are free, and on which kinds of machine they sit."""

    free: dict[Card, list[FreeNode]] = field(default_factory=dict)
    cards: set[Card] = field(default_factory=set)
    """Units that the nodes offer, free or not."""
    machines: dict[str, set[tuple[str, str, str]]] = field(default_factory=dict)
    """GPU model -> (instance type, region, cluster)."""

    @property
    def models(self) -> list[str]:
        return sorted(self.machines)

    def replicas(self, shape: Shape, clusters: Iterable[str] = ()) -> dict[str, int]:
        """How many replicas of that shape the free units hold, by cluster: units alone are
        counted, not CPU, memory, taints or topology. Clusters without room are left out."""
        wanted = set(clusters)
        pods: dict[str, int] = {}
        for node in self.free.get((shape.gpu_model, shape.mig_profile), ()):
            if wanted and node.cluster not in wanted:
                continue
            pods[node.cluster] = pods.get(node.cluster, 0) + node.free // shape.gpus_per_pod
        return {name: count // shape.pods for name, count in pods.items() if count >= shape.pods}

    def month_price(self, shape: Shape, book: PriceBook) -> Money | None:
        """A month of one replica at the lowest price of the machines that hold the card; the
        price by model when the fleet has none. None: no price."""
        places = self.machines.get(shape.gpu_model) or {("", "", "")}
        prices = [
            price.per_gpu_hour
            for kind, region, cluster in sorted(places)
            if (price := book.price_for(kind, shape.gpu_model, region, cluster)) is not None
        ]
        if not prices:
            return None
        currency = prices[0].currency
        lowest = min((p.amount for p in prices if p.currency == currency), default=Decimal(0))
        share = unit_share(shape.gpu_model, shape.mig_profile)
        return (Money(lowest, currency) * (share * shape.gpus)).per_month()


def fleet_now(team: Team) -> FleetNow:
    """One query; only nodes that share their GPUs are decoded."""
    rows = (
        NodeRow.objects.filter(
            snapshot__in=team.clusters.exclude(current_snapshot=None).values("current_snapshot"),
            is_gpu_node=True,
        )
        .order_by("snapshot__cluster__name", "name")
        .values_list("snapshot__cluster__name", "name", "value")
    )
    now = FleetNow()
    for cluster, name, value in rows.iterator(chunk_size=500):
        node = msgspec.msgpack.decode(bytes(value), type=fleet_inventory.Node)
        for group in node.groups:
            if group.model is None:
                continue
            place = (node.instance_type, node.region, cluster)
            now.machines.setdefault(group.model, set()).add(place)
            for units in group.units:
                if units.kind not in (UnitKind.WHOLE, UnitKind.MIG):
                    continue
                free = node.free(units)
                profile = units.profile if units.kind == UnitKind.MIG else None
                if units.allocatable:
                    now.cards.add((group.model, profile))
                if free:
                    now.free.setdefault((group.model, profile), []).append(
                        FreeNode(cluster, name, free)
                    )
    return now
