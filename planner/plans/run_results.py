"""The stored answer of a run: encoding, decoding, and the figures that lists show."""

from __future__ import annotations

import zlib
from collections import Counter
from decimal import Decimal
from typing import Any

import msgspec
from django.utils.translation import get_language

from fleet.planning import Plan, retold
from fleet.units import HOURS_PER_MONTH


def encode(plan: Plan) -> bytes:
    """zlib of the msgpack value."""
    return zlib.compress(msgspec.msgpack.encode(plan), 3)


def decode(data: bytes) -> Plan:
    """Inverse of ``encode``. Raises ``msgspec.ValidationError`` on a value of another version."""
    return msgspec.msgpack.decode(zlib.decompress(data), type=Plan)


def spoken(plan: Plan) -> Plan:
    """The plan in the reader's language: it is stored with English texts (see ``solving``)."""
    return plan if (get_language() or "en").split("-")[0] == "en" else retold(plan)


def counts(plan: Plan) -> dict[str, int]:
    """Placed and wanted replicas and workloads. A workload is placed when all replicas are."""
    placed = placed_replicas(plan)
    demands = plan.problem.demands
    return {
        "placed_replicas": sum(placed.values()),
        "wanted_replicas": sum(demand.replicas for demand in demands),
        "placed_workloads": sum(placed[d.workload] >= d.replicas for d in demands),
        "wanted_workloads": len(demands),
    }


def placed_replicas(plan: Plan) -> Counter[str]:
    """Replicas by workload of which all pods are placed."""
    found = Counter(a.workload for a in plan.placement.assignments if a.pod == 0)
    for unplaced in plan.placement.unplaced:
        found[unplaced.workload] -= len(unplaced.parts)
    return found


def month_totals(plan: Plan) -> dict[str, Decimal]:
    """What the placed workloads cost a month, by currency: currencies are never added up."""
    totals: dict[str, Decimal] = {}
    for line in plan.costs.lines:
        if line.per_hour is not None:
            held = totals.get(line.per_hour.currency, Decimal(0))
            totals[line.per_hour.currency] = held + line.per_hour.amount * HOURS_PER_MONTH
    return totals


def unpriced_workloads(plan: Plan) -> list[str]:
    """Placed workloads with a part that has no price."""
    return sorted({line.workload for line in plan.costs.lines if line.per_hour is None})


def summary(plan: Plan) -> dict[str, Any]:
    """The figures that lists show, as JSON."""
    placement = plan.placement
    return {
        "month": {code: str(amount) for code, amount in month_totals(plan).items()},
        "unpriced": len(unpriced_workloads(plan)),
        "status": str(placement.status),
        "gap": placement.gap,
        "solver": placement.solver,
        "seconds": round(placement.seconds, 3),
        "clusters": sorted({a.cluster for a in placement.assignments}),
        "workloads": {
            d.workload: [placed_replicas(plan)[d.workload], d.replicas]
            for d in plan.problem.demands
        },
    }
