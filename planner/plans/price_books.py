"""A team's price book: its own entries, before the list prices of the catalogue."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec

from fleet.catalogue import prices as fleet_prices
from fleet.units import Money
from planner.accounts.models import Team
from planner.plans.models import PriceEntry


def book_for(team: Team) -> fleet_prices.PriceBook:
    """The prices that count for the team, as the engine takes them."""
    rows = PriceEntry.objects.filter(team=team).select_related("cluster")
    entries, owned = [], []
    for row in rows:
        if row.kind == PriceEntry.Kind.OWNED and row.owned_inputs:
            owned.append(owned_hardware(row))
        else:
            entries.append(_entry(row))
    return fleet_prices.PriceBook(entries=tuple(entries), owned=tuple(owned))


def _entry(row: PriceEntry) -> fleet_prices.PriceEntry:
    by_type = bool(row.instance_type)
    return fleet_prices.PriceEntry(
        kind=fleet_prices.PriceKind(row.kind),
        match_by=(
            fleet_prices.MatchBy.INSTANCE_TYPE if by_type else fleet_prices.MatchBy.GPU_MODEL
        ),
        match=row.instance_type if by_type else row.gpu_model,
        per_gpu_hour=Money(row.per_gpu_hour, row.currency),
        source=row.source,
        cluster=row.cluster.name if row.cluster is not None else "",
        as_of=row.as_of,
    )


def owned_hardware(row: PriceEntry) -> fleet_prices.OwnedHardware:
    """The entry's own figures as the engine takes them."""
    return from_inputs(
        row.owned_inputs or {},
        gpu_model=row.gpu_model,
        currency=row.currency,
        cluster=row.cluster.name if row.cluster is not None else "",
        source=row.source,
        as_of=row.as_of,
    )


def from_inputs(inputs: dict[str, Any], **about: Any) -> fleet_prices.OwnedHardware:
    """Owned hardware from the figures of the calculator (texts, so that no decimal is lost).

    Raises ``ValueError`` on figures that the formula refuses.
    """
    figures: dict[str, Any] = {
        name: Decimal(str(value)) for name, value in inputs.items() if name != "gpus"
    }
    return fleet_prices.OwnedHardware(gpus=int(inputs["gpus"]), **figures, **about)


def decode_book(data: Any) -> fleet_prices.PriceBook:
    """Inverse of ``msgspec.to_builtins`` of a price book. Raises ``msgspec.ValidationError``."""
    return msgspec.convert(data, type=fleet_prices.PriceBook)
