"""Prices as data: what one GPU costs per hour, with kind, currency, source and date.

A missing price is ``None`` ("no price"), never 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from functools import cache
from statistics import median

from fleet.catalogue.accelerators import accelerator
from fleet.catalogue.instance_types import InstanceType, instance_type, instance_types, same_model
from fleet.catalogue.mig_profiles import profile
from fleet.units import Money
from fleet.words import say, say_many

_STEP = Decimal("0.000001")
"""Prices per GPU-hour are kept to a millionth, since a node price rarely divides evenly."""


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
    other_region: str = ""
    """Region of the list price, where the machine is known to stand in another one."""


class MatchBy(StrEnum):
    """What a price entry is for, the most precise first."""

    INSTANCE_TYPE = "instance-type"
    GPU_MODEL = "gpu-model"


@dataclass(frozen=True, slots=True)
class PriceEntry:
    """A price that somebody typed in. It goes before every price of the catalogue.

    ``match`` is an instance type or a GPU model (catalogue name); ``cluster`` narrows it to one
    cluster ("" all). Raises ``ValueError`` on an empty match, a negative amount or a validity
    that ends before it starts.
    """

    kind: PriceKind
    match_by: MatchBy
    match: str
    per_gpu_hour: Money
    source: str
    cluster: str = ""
    as_of: date | None = None
    valid_from: date | None = None
    valid_to: date | None = None

    def __post_init__(self) -> None:
        if not self.match.strip():
            raise ValueError("price: match must name an instance type or a GPU model")
        if not self.per_gpu_hour.amount.is_finite() or self.per_gpu_hour.amount < 0:
            raise ValueError(f"price of {self.match}: the amount must be 0 or more")
        if self.valid_from and self.valid_to and self.valid_to < self.valid_from:
            raise ValueError(f"price of {self.match}: valid_to lies before valid_from")

    def holds_on(self, day: date | None) -> bool:
        """Whether the entry is valid on that day; with no day, whatever its validity."""
        if day is None:
            return True
        return not (
            (self.valid_from is not None and day < self.valid_from)
            or (self.valid_to is not None and day > self.valid_to)
        )


@dataclass(frozen=True, slots=True)
class OwnedHardware:
    """The cost of a machine that one owns, as an hourly rate of one installed GPU.

    Amounts in ``currency``. The defaults are figures of public calculators of 2026; each is
    meant to be edited.
    """

    gpu_model: str
    node_price: Decimal
    gpus: int
    gpu_watts: Decimal
    host_watts: Decimal = Decimal(2000)
    residual: Decimal = Decimal("0.2")  # share of the price left at the end
    years: Decimal = Decimal(4)
    load: Decimal = Decimal("0.8")  # mean power over rated power
    pue: Decimal = Decimal("1.4")
    per_kwh: Decimal = Decimal("0.10")
    yearly_share: Decimal = Decimal("0.10")  # support, staff, rack and network, of the price
    currency: str = "USD"
    cluster: str = ""
    source: str = ""  # where the figures come from; "": one's own
    as_of: date | None = None

    def __post_init__(self) -> None:
        if self.gpus < 1:
            raise ValueError(f"owned {self.gpu_model}: gpus must be at least 1")
        if self.years <= 0:
            raise ValueError(f"owned {self.gpu_model}: years must be above 0")
        if not 0 <= self.residual <= 1:
            raise ValueError(f"owned {self.gpu_model}: residual must be between 0 and 1")
        amounts = (self.node_price, self.gpu_watts, self.host_watts, self.load, self.pue)
        if any(not a.is_finite() or a < 0 for a in (*amounts, self.per_kwh, self.yearly_share)):
            raise ValueError(f"owned {self.gpu_model}: figures must be 0 or more")

    @property
    def per_installed_gpu_hour(self) -> Decimal:
        """capex, power and running cost of the node per hour, divided by its GPUs:
        price × (1 − residual) / (years × 8,760)
        + (GPUs × W × load + host W) / 1,000 × PUE × price of a kWh
        + yearly share × price / 8,760."""
        capex = self.node_price * (1 - self.residual) / (self.years * 8760)
        kilowatts = (self.gpus * self.gpu_watts * self.load + self.host_watts) / 1000
        power = kilowatts * self.pue * self.per_kwh
        running = self.yearly_share * self.node_price / 8760
        return ((capex + power + running) / self.gpus).quantize(_STEP)

    def price(self) -> Price:
        """The rate with its basis in words."""
        return Price(
            Money(self.per_installed_gpu_hour, self.currency),
            PriceKind.OWNED,
            say_many(
                "owned hardware: {price:,} {currency} for {n} GPU over {years} years, {left} "
                "left, PUE {pue}, {per_kwh} {currency}/kWh",
                "owned hardware: {price:,} {currency} for {n} GPUs over {years} years, {left} "
                "left, PUE {pue}, {per_kwh} {currency}/kWh",
                self.gpus,
                price=self.node_price,
                currency=self.currency,
                years=self.years,
                left=f"{self.residual:.0%}",
                pue=self.pue,
                per_kwh=self.per_kwh,
            ),
            self.source or say("owned hardware, own figures"),
            self.as_of,
        )


@dataclass(frozen=True, slots=True)
class PriceBook:
    """Prices in their order: typed-in entries by instance type, then by GPU model; list prices
    of the catalogue by instance type; their median by GPU model; owned hardware; none."""

    entries: tuple[PriceEntry, ...] = ()
    owned: tuple[OwnedHardware, ...] = ()
    use_catalogue: bool = True
    on_day: date | None = None

    def price_for(
        self,
        instance_type: str,
        gpu_model: str | None,
        region: str = "",
        cluster: str = "",
        node_labels: Mapping[str, str] | None = None,
    ) -> Price | None:
        """The price of one GPU of that model on that kind of machine; None: no price.

        ``node_labels`` are looked at for capacity type ("spot"): list prices of the catalogue
        are on demand, so a spot node takes the spot price where the catalogue has one.
        """
        entry = self._entry(instance_type, gpu_model, cluster)
        if entry is not None:
            return Price(
                entry.per_gpu_hour,
                entry.kind,
                _own_basis(entry),
                entry.source,
                entry.as_of,
            )
        owned = self._owned(gpu_model, cluster) if cluster else None
        if owned is not None and owned.cluster:
            return owned.price()
        if self.use_catalogue:
            spot = is_spot(node_labels or {})
            found = instance_price(instance_type, gpu_model, region, spot=spot)
            if found is None and gpu_model is not None:
                found = median_price(gpu_model)
            if found is not None:
                return found
        owned = self._owned(gpu_model, cluster)
        return owned.price() if owned is not None else None

    def _entry(self, instance_type: str, gpu_model: str | None, cluster: str) -> PriceEntry | None:
        wanted = {MatchBy.INSTANCE_TYPE: instance_type, MatchBy.GPU_MODEL: gpu_model}
        order = list(MatchBy)
        found = [
            e
            for e in self.entries
            if wanted[e.match_by] == e.match
            and e.cluster in ("", cluster)
            and e.holds_on(self.on_day)
        ]
        # The most precise match first, then one for this cluster, then the newest, then as typed.
        found.sort(
            key=lambda e: (
                order.index(e.match_by),
                e.cluster == "",
                -(e.as_of.toordinal() if e.as_of else 0),
            )
        )
        return found[0] if found else None

    def _owned(self, gpu_model: str | None, cluster: str) -> OwnedHardware | None:
        found = [o for o in self.owned if o.gpu_model == gpu_model and o.cluster in ("", cluster)]
        found.sort(key=lambda o: o.cluster == "")
        return found[0] if found else None


def _own_basis(entry: PriceEntry) -> str:
    if entry.match_by is MatchBy.INSTANCE_TYPE:
        return say("own price for instance type {name}", name=entry.match)
    return say("own price for gpu model {name}", name=entry.match)


def default_book() -> PriceBook:
    """List prices of the catalogue, nothing typed in."""
    return PriceBook()


_SPOT_LABELS = {
    "karpenter.sh/capacity-type": "spot",
    "eks.amazonaws.com/capacityType": "SPOT",
    "cloud.google.com/gke-spot": "true",
    "cloud.google.com/gke-preemptible": "true",
    "kubernetes.azure.com/scalesetpriority": "spot",
}


def price_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Those of a node's labels that a price depends on."""
    return {key: value for key, value in labels.items() if _SPOT_LABELS.get(key) == value}


def is_spot(labels: Mapping[str, str]) -> bool:
    """Whether the node's labels say that it is spot or preemptible capacity."""
    return bool(price_labels(labels))


def instance_price(
    name: str, gpu_model: str | None = None, region: str = "", *, spot: bool = False
) -> Price | None:
    """Price of the instance type divided by its GPUs, or None.

    A row whose GPU model differs from ``gpu_model`` does not count: the node is then not what
    its type says. A spot node without a known spot price takes the on-demand price, and says so.
    """
    found = instance_type(name, region)
    if found is None or found.gpu_count <= 0:
        return None
    if gpu_model is not None and not same_model(found.gpu_model, gpu_model):
        return None
    amount, kind = found.on_demand, PriceKind.LIST
    if spot and found.spot is not None:
        amount, kind = found.spot, PriceKind.SPOT
    if amount is None:
        return None
    basis = _instance_basis(found, amount)
    if spot and found.spot is None:
        basis = say("{basis}; spot node, no spot price known: on-demand price", basis=basis)
    per_gpu = (amount / found.gpu_count).quantize(_STEP)
    elsewhere = found.region if region and found.region not in ("", "any", region) else ""
    return Price(Money(per_gpu, found.currency), kind, basis, found.source, found.as_of, elsewhere)


def _instance_basis(found: InstanceType, amount: Decimal) -> str:
    figures = {
        "name": found.name,
        "region": found.region,
        "amount": f"{amount} {found.currency}",
        "gpus": f"{found.gpu_count.normalize():f}",  # a type may hold a share of a GPU
    }
    count = math.ceil(found.gpu_count)
    if found.region in ("", "any"):
        return say_many(
            "instance type {name}, {amount} / {gpus} GPU",
            "instance type {name}, {amount} / {gpus} GPUs",
            count,
            **figures,
        )
    return say_many(
        "instance type {name} in {region}, {amount} / {gpus} GPU",
        "instance type {name} in {region}, {amount} / {gpus} GPUs",
        count,
        **figures,
    )


def median_price(gpu_model: str) -> Price | None:
    """Median of the on-demand list prices per GPU over the instance types with that model; of its
    whole family when only the family is known ("H100").

    The date is the oldest of the rows: the price is no fresher than that.
    """
    found = _median(gpu_model)
    if found is None:
        return None
    if found.of_family:
        basis = say(
            "GPU family {name}, median of {rows} instance types", name=gpu_model, rows=found.rows
        )
    else:
        basis = say(
            "GPU model {name}, median of {rows} instance types", name=gpu_model, rows=found.rows
        )
    source = say("instance type catalogue")
    return Price(found.per_gpu_hour, PriceKind.LIST, basis, source, found.oldest)


@dataclass(frozen=True, slots=True)
class _Median:
    per_gpu_hour: Money
    rows: int
    oldest: date | None
    of_family: bool


@cache
def _median(gpu_model: str) -> _Median | None:
    known = [k for k in instance_types() if k.on_demand is not None and k.gpu_count > 0]
    exact = [k for k in known if k.gpu_model == gpu_model]
    kinds = exact or [k for k in known if same_model(k.gpu_model, gpu_model)]
    prices = [(k.on_demand / k.gpu_count, k) for k in kinds if k.on_demand is not None]
    if not prices:
        return None
    middle = median(amount for amount, _ in prices).quantize(_STEP)
    dates = [kind.as_of for _, kind in prices if kind.as_of is not None]
    return _Median(
        Money(middle, prices[0][1].currency),
        len(prices),
        min(dates) if dates else None,
        of_family=not exact,
    )


def unit_share(gpu_model: str, mig_profile: str | None) -> Decimal:
    """What part of a board one unit is worth.

    1 for a whole GPU; for a MIG device the larger of its compute fraction and its memory
    fraction (the rest of the board cannot be sold twice). A profile that is not in the table is
    read from its name ("2g.10gb": 2 of 7 compute slices, 10 GB of the board); what cannot be
    read counts as a whole board, never as nothing.
    """
    if mig_profile is None:
        return Decimal(1)
    found = profile(gpu_model, mig_profile)
    if found is not None and found.compute_slices_total and found.memory_slices_total:
        return max(
            Decimal(found.compute_slices) / found.compute_slices_total,
            Decimal(found.memory_slices) / found.memory_slices_total,
        )
    named = re.match(r"([0-9]{1,2})g\.([0-9]{1,4})gb", mig_profile)
    if named is None:
        return Decimal(1)
    share = Decimal(int(named[1])) / 7
    board = accelerator(gpu_model)
    if board is not None and board.memory_gib:
        share = max(share, Decimal(int(named[2])) / Decimal(str(board.memory_gib)))
    return min(Decimal(1), share)
