"""Placement and prices to cost lines: what each workload costs, and what idle GPUs cost.

A missing price is ``None`` ("no price"), never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from fleet.catalogue.prices import Price
from fleet.units import Money


@dataclass(frozen=True, slots=True)
class CostLine:
    """Cost of one workload on one kind of card."""

    workload: str
    cluster: str
    gpu_model: str
    mig_profile: str | None
    units: int
    gpus: Decimal  # boards' worth: MIG devices count by their share
    per_hour: Money | None  # None: no price
    price: Price | None
    note: str = ""

    @property
    def per_month(self) -> Money | None:
        """730 hours; None when there is no price."""
        return self.per_hour.per_month() if self.per_hour is not None else None
