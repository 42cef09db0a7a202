"""Placement and prices to cost lines: what each workload costs, and what idle GPUs cost.

A missing price is ``None`` ("no price"), never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from fleet.catalogue.prices import Price, PriceBook, price_labels, unit_share
from fleet.inventory import DeviceGroup, Inventory, UnitKind
from fleet.placement.result import Placement
from fleet.units import Money
from fleet.words import say

_STEP = Decimal("0.000001")


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


@dataclass(frozen=True, slots=True)
class CostReport:
    """Lines by workload, cluster, card and price, and their sums by currency."""

    lines: tuple[CostLine, ...]
    per_hour: tuple[Money, ...]  # one for each currency, by currency
    unpriced_gpus: Decimal  # boards' worth on lines without a price

    @property
    def per_month(self) -> tuple[Money, ...]:
        """730 hours, one for each currency."""
        return tuple(amount.per_month() for amount in self.per_hour)

    def of(self, workload: str) -> tuple[CostLine, ...]:
        """The lines of one workload."""
        return tuple(line for line in self.lines if line.workload == workload)


@dataclass(frozen=True, slots=True)
class IdleLine:
    """Boards of one model on one kind of machine of a cluster that nobody asks for, and what
    they cost."""

    cluster: str
    gpu_model: str | None
    physical: int | None
    idle: Decimal | None  # boards' worth; None: cannot be told
    per_hour: Money | None  # None: no price, or idle unknown
    price: Price | None
    note: str = ""
    instance_type: str = ""  # "": unknown


@dataclass(frozen=True, slots=True)
class IdleBoards:
    """Boards of one model on one kind of machine of a cluster, before any price is known.

    ``price_labels`` are the labels that a price depends on. ``idle`` None: cannot be told.
    """

    cluster: str
    gpu_model: str | None
    instance_type: str
    region: str
    price_labels: tuple[tuple[str, str], ...]
    physical: int
    idle: Decimal | None


@dataclass(frozen=True, slots=True)
class IdleReport:
    lines: tuple[IdleLine, ...]
    per_hour: tuple[Money, ...]
    unknown: int  # lines without an amount


def unit_price(price: Price, gpu_model: str, mig_profile: str | None) -> Money:
    """What one unit costs per hour: the board's price times the unit's share of it, kept to a
    millionth so that pods, lines and totals add up exactly."""
    amount = price.per_gpu_hour.amount * unit_share(gpu_model, mig_profile)
    return Money(amount.quantize(_STEP), price.per_gpu_hour.currency)


def sums(amounts: Iterable[Money]) -> tuple[Money, ...]:
    """Totals by currency, in the order of the currencies' names."""
    totals: dict[str, Money] = {}
    for amount in amounts:
        seen = totals.get(amount.currency)
        totals[amount.currency] = amount if seen is None else seen + amount
    return tuple(totals[currency] for currency in sorted(totals))


class NodePrices:
    """The price of the boards of each node, looked up once for each kind of node."""

    def __init__(self, inventories: Mapping[str, Inventory], prices: PriceBook) -> None:
        self._prices = prices
        self._nodes = {
            (cluster, node.name): node
            for cluster, inventory in inventories.items()
            for node in inventory.nodes
        }

    def of(self, cluster: str, node: str, gpu_model: str) -> Price | None:
        """None: no price, or no such node."""
        found = self._nodes.get((cluster, node))
        if found is None:
            return None
        return self._prices.price_for(
            found.instance_type, gpu_model, found.region, cluster, found.labels
        )


def cost_report(
    placement: Placement, inventories: Mapping[str, Inventory], prices: PriceBook
) -> CostReport:
    """What each placed workload costs: GPUs × price of the node's boards, MIG by its share."""
    book = NodePrices(inventories, prices)
    groups: dict[tuple[str, str, str, str | None, Price | None], int] = {}
    for a in placement.assignments:
        price = book.of(a.cluster, a.node, a.gpu_model)
        key = (a.workload, a.cluster, a.gpu_model, a.mig_profile, price)
        groups[key] = groups.get(key, 0) + a.gpus
    lines = [
        CostLine(
            workload=workload,
            cluster=cluster,
            gpu_model=model,
            mig_profile=mig,
            units=units,
            gpus=(unit_share(model, mig) * units).quantize(_STEP),
            per_hour=unit_price(price, model, mig) * units if price is not None else None,
            price=price,
            note=_price_note(price),
        )
        for (workload, cluster, model, mig, price), units in groups.items()
    ]
    return CostReport(
        tuple(lines),
        sums(line.per_hour for line in lines if line.per_hour is not None),
        sum((line.gpus for line in lines if line.per_hour is None), Decimal(0)),
    )


def idle_cost(
    inventories: Mapping[str, Inventory],
    prices: PriceBook,
    placement: Placement | None = None,
) -> IdleReport:
    """What boards cost that nobody asks for, by cluster, GPU model and kind of machine.

    Boards that are broken or not schedulable are paid as well and count as idle. With a
    ``placement`` what it places counts as asked for. A group whose use cannot be told in boards
    is a line without an amount.
    """
    return idle_priced(idle_boards(inventories, placement), prices)


def idle_boards(
    inventories: Mapping[str, Inventory], placement: Placement | None = None
) -> tuple[IdleBoards, ...]:
    """The boards that nobody asks for, by what a price depends on. See ``idle_cost``."""
    planned: dict[tuple[str, str, str], Decimal] = {}
    for a in placement.assignments if placement is not None else ():
        place = (a.cluster, a.node, a.gpu_model)
        share = unit_share(a.gpu_model, a.mig_profile) * a.gpus
        planned[place] = planned.get(place, Decimal(0)) + share
    found: dict[_Kind, _Idle] = {}
    for cluster in sorted(inventories):
        for node in inventories[cluster].nodes:
            labels = tuple(sorted(price_labels(node.labels).items()))
            for group in node.groups:
                used = boards_used(group)
                extra = planned.pop((cluster, node.name, group.model or ""), Decimal(0))
                is_known = used is not None and group.physical is not None
                key = (cluster, group.model, node.instance_type, node.region, labels, is_known)
                line = found.setdefault(key, _Idle())
                line.physical += group.physical or 0
                if used is not None and group.physical is not None:
                    line.idle += max(Decimal(0), group.physical - used - extra)
    return tuple(
        IdleBoards(*key[:5], physical=line.physical, idle=line.idle if key[5] else None)
        for key, line in found.items()
    )


def idle_priced(boards: Iterable[IdleBoards], prices: PriceBook) -> IdleReport:
    """What those boards cost; boards of one kind of machine and one price are one line."""
    found: dict[_IdleKey, _Idle] = {}
    for part in boards:
        price = prices.price_for(
            part.instance_type, part.gpu_model, part.region, part.cluster, dict(part.price_labels)
        )
        key = (part.cluster, part.gpu_model, part.instance_type, price, part.idle is not None)
        line = found.setdefault(key, _Idle())
        line.physical += part.physical
        line.idle += part.idle or 0
    lines = tuple(
        _idle_line(*key, line)
        for key, line in sorted(
            found.items(), key=lambda pair: (pair[0][0], pair[0][1] or "~", pair[0][2])
        )
    )
    amounts = [line.per_hour for line in lines if line.per_hour is not None]
    return IdleReport(lines, sums(amounts), sum(line.per_hour is None for line in lines))


_Kind = tuple[str, str | None, str, str, tuple[tuple[str, str], ...], bool]
"""The fields of ``IdleBoards`` that tell kinds apart, and whether the idle boards can be told."""
_IdleKey = tuple[str, str | None, str, Price | None, bool]
"""Cluster, GPU model, instance type, price, and whether the idle boards can be told."""


@dataclass(slots=True)
class _Idle:
    physical: int = 0
    idle: Decimal = Decimal(0)


def _idle_line(
    cluster: str,
    model: str | None,
    instance_type: str,
    price: Price | None,
    is_known: bool,
    line: _Idle,
) -> IdleLine:
    idle = line.idle.quantize(_STEP) if is_known else None
    amount = None
    if price is not None and idle is not None:
        amount = (price.per_gpu_hour * idle).rounded(6)
    return IdleLine(
        cluster,
        model,
        physical=line.physical if is_known else line.physical or None,
        idle=idle,
        per_hour=amount,
        price=price,
        note=_idle_note(idle, price),
        instance_type=instance_type,
    )


def _price_note(price: Price | None) -> str:
    return say("no price") if price is None else ""


def _idle_note(idle: Decimal | None, price: Price | None) -> str:
    if idle is None:
        return say("what is in use cannot be counted in boards")
    return _price_note(price)


def costs_retold(report: CostReport) -> CostReport:
    """The report with its notes in the language that is spoken now."""
    lines = tuple(replace(line, note=_price_note(line.price)) for line in report.lines)
    return replace(report, lines=lines)


def idle_retold(report: IdleReport) -> IdleReport:
    """The report with its notes in the language that is spoken now."""
    lines = tuple(replace(line, note=_idle_note(line.idle, line.price)) for line in report.lines)
    return replace(report, lines=lines)


def boards_used(group: DeviceGroup) -> Decimal | None:
    """How many boards' worth of the group is asked for; None when it cannot be told.

    Whole units count as boards, MIG devices by their share; slices, shares and partitions by
    boards over units. Memory and core units describe the same boards twice: the larger counts.
    """
    if group.physical is None:
        return None
    used = overlapping = Decimal(0)
    for units in group.units:
        if units.requested is None:
            return None  # who holds them could not be read
        if not units.requested:
            continue
        if units.kind is UnitKind.WHOLE:
            used += units.requested
        elif units.kind is UnitKind.MIG and group.model and units.profile:
            used += unit_share(group.model, units.profile) * units.requested
        elif units.kind is UnitKind.UNCLASSIFIED or not units.capacity:
            return None
        else:
            worth = Decimal(units.requested) * group.physical / units.capacity
            if units.kind in (UnitKind.MEMORY, UnitKind.CORE):
                overlapping = max(overlapping, worth)
            else:
                used += worth
    return min(Decimal(group.physical), used + overlapping)
