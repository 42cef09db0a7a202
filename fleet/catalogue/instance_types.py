"""What clouds call a machine, which GPUs it has and what it costs on the list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache

from fleet.catalogue.tables import integer, number, rows


@dataclass(frozen=True, slots=True)
class InstanceType:
    """One row: an instance type in the region that its price is for."""

    cloud: str
    name: str
    region: str  # "any" when one price holds everywhere
    gpu_model: str  # catalogue name
    gpu_count: Decimal  # may be a fraction: a sixth of an A10
    gpu_memory_gib: float | None  # of the whole GPU
    vcpu: int | None
    mem_gib: float | None
    on_demand: Decimal | None  # per hour of the machine; None: no price known
    spot: Decimal | None
    currency: str
    source: str
    as_of: date | None
    evidence: str  # "two-source", "api-snapshot", "page-transcribed", "maintainer-typed", "none"
    notes: str


def _amount(cell: str) -> Decimal | None:
    return Decimal(cell) if cell.strip() else None


def _day(cell: str) -> date | None:
    """A date, the first of a month when only the month is known, else None (undated)."""
    try:
        return date.fromisoformat(cell if len(cell) != len("2026-10") else f"{cell}-01")
    except ValueError:
        return None


@cache
def instance_types() -> tuple[InstanceType, ...]:
    """All instance types of the table, in its order."""
    return tuple(
        InstanceType(
            cloud=row["cloud"],
            name=row["instance_type"],
            region=row["region"],
            gpu_model=row["gpu_model"],
            gpu_count=_amount(row["gpu_count"]) or Decimal(0),
            gpu_memory_gib=number(row["gpu_mem_each"]),
            vcpu=integer(row["vcpu"]),
            mem_gib=number(row["mem_gib"]),
            on_demand=_amount(row["on_demand_usd_h"]),
            spot=_amount(row["spot_usd_h"]),
            currency="USD",
            source=row["source"],
            as_of=_day(row["price_date"]),
            evidence=row["price_evidence"],
            notes=row["notes"],
        )
        for row in rows("instance_types.csv")
    )


@cache
def _by_name() -> dict[str, tuple[InstanceType, ...]]:
    found: dict[str, tuple[InstanceType, ...]] = {}
    for kind in instance_types():
        found[kind.name.lower()] = (*found.get(kind.name.lower(), ()), kind)
    return found


def instance_type(name: str, region: str = "") -> InstanceType | None:
    """The instance type of that name (case does not matter), the row of ``region`` when there
    is one, else the first with a price; None when the table lacks it.

    The region of the answer is the region of its price, which may be another one.
    """
    found = _by_name().get(name.strip().lower(), ())
    if not found:
        return None
    return min(found, key=lambda kind: (kind.region != region, kind.on_demand is None))


def same_model(listed: str, seen: str) -> bool:
    """Whether the model of a table row and the model that a node shows can be the same.

    Nodes may show only a family ("H100"), which every H100 of the table satisfies.
    """
    return listed == seen or listed.startswith(f"{seen}-")
