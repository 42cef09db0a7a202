"""Prices as data: what one GPU costs per hour, with kind, currency, source and date.

A missing price is ``None`` ("no price"), never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from fleet.units import Money


class PriceKind(StrEnum):
    LIST = "list"
    NEGOTIATED = "negotiated"
    COMMITTED = "committed"
    SPOT = "spot"
    OWNED = "owned"


@dataclass(frozen=True, slots=True)
class Price:
    """What one GPU costs per hour."""

    per_gpu_hour: Money
    kind: PriceKind
    basis: str  # "instance type p5.48xlarge, 98.32 USD / 8 GPUs", "GPU model", "owned hardware"
    source: str
    as_of: date | None
