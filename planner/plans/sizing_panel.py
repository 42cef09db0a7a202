"""What the page shows beside a workload: the requirement with bars, verdicts, room and price."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from django.utils.translation import gettext as _

from fleet.placement.demand import demand
from fleet.sizing.cards import STANDARD, resolve
from fleet.sizing.errors import SizingError
from fleet.sizing.requirement import Fit, MemoryUse, Requirement, Shape
from fleet.sizing.size import in_words, size
from fleet.units import Money, duration_text, gib_text
from fleet.workloads import Workload
from planner.accounts.models import Team
from planner.frame import amounts
from planner.plans.free_units import FleetNow, Offer, fleet_now
from planner.plans.models import Workload as WorkloadRow

MAX_ROWS = 14
_PARTS = ("weights", "kv_cache", "activations", "optimizer", "overhead")


def part_names() -> dict[str, str]:
    """The parts of GPU memory in words, in the order of the bar."""
    return {
        "weights": _("weights"),
        "kv_cache": _("KV cache"),
        "activations": _("activations"),
        "optimizer": _("optimizer"),
        "overhead": _("overhead"),
    }


@dataclass(frozen=True, slots=True)
class BarPart:
    part: str
    x: str  # percent of the bar, as SVG takes it
    width: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """One shape in the table."""

    shape: Shape
    title: str  # "2 × H100-SXM5-80GB"
    pods: str  # "2 pods", "" for one
    bar: tuple[BarPart, ...]
    usable_x: str  # where the line of usable memory stands
    used_text: str
    usable_text: str
    verdict: str  # pass, warn, fail
    verdict_text: str
    free: Mapping[str, int]  # replicas that fit now, by cluster
    is_held: bool  # whether machines of the fleet could hold one, were they empty
    is_lacking: bool  # whether the fleet has no such unit
    month: Money | None
    load: str

    @property
    def free_total(self) -> int:
        return sum(self.free.values())

    @property
    def works(self) -> bool:
        return self.shape.fit is not Fit.NO

    @property
    def over(self) -> bool:
        """Whether the line of usable memory lies within the bar."""
        return self.shape.use.total > self.shape.usable_mib

    @property
    def cpu_text(self) -> str:
        return amounts.text(Decimal(self.shape.cpu_milli) / 1000, 0)

    @property
    def memory_text(self) -> str:
        return gib_text(self.shape.memory_mib, 0)


@dataclass(frozen=True, slots=True)
class Panel:
    requirement: Requirement
    sentence: str  # what one replica needs, the best shapes first
    standing: str  # why the best has no room; "" when it has
    rows: tuple[Row, ...]
    more_rows: tuple[Row, ...]  # of the fleet's cards, beyond the first ones
    lacking_rows: tuple[Row, ...]  # of cards that the fleet lacks
    best: Row | None
    parts: dict[str, str]  # those that occur
    has_fleet: bool
    note: str  # "131.5 GiB of weights + 10.4 GiB of KV cache at 32 requests."


@dataclass(frozen=True, slots=True)
class SizingProblem:
    """The workload cannot be sized: the field and what to do."""

    field: str
    message: str


def fleet_cards(now: FleetNow) -> tuple[str, ...]:
    """The cards of the fleet that sizing knows by name."""
    return tuple(name for name in now.models if _is_known(name))


def _is_known(name: str) -> bool:
    try:
        resolve(name)
    except SizingError:
        return False
    return True


def panel_for(team: Team, workload: Workload) -> Panel | SizingProblem:
    """Size the workload on the cards of the team's fleet, and on the usual ones beside them."""
    now = fleet_now(team)
    cards = fleet_cards(now)
    try:
        requirement = _requirement(workload, cards)
        others: tuple[Shape, ...] = ()
        if cards and not workload.constraints.gpu_models:
            usual = [name for name in STANDARD if name not in cards]
            others = size(workload, cards=usual).shapes
    except SizingError as error:
        return SizingProblem(error.field, error.message)
    return make_panel(requirement, others, workload, now)


def _requirement(workload: Workload, cards: tuple[str, ...]) -> Requirement:
    return size(workload, cards=workload.constraints.gpu_models or cards or None)


def make_panel(
    requirement: Requirement, others: Sequence[Shape], workload: Workload, now: FleetNow
) -> Panel:
    """The view of a requirement: shapes with room first, then the other shapes of the fleet's
    cards, then refused cards with their reason; ``others`` on cards that the fleet lacks."""
    offered = _offered(requirement, others, workload, now)
    working = [_row(shape, offer, now) for shape, offer in offered]
    nothing = Offer({}, None, is_held=False)
    refused = [_row(shape, nothing, now) for shape in requirement.refused]
    rows = [row for row in working if not row.is_lacking]
    refused_here = [row for row in refused if not row.is_lacking]
    room = max(MAX_ROWS - len(rows), 4)
    best = next(iter(working), None)
    return Panel(
        requirement=requirement,
        sentence=_sentence(requirement, offered, now),
        standing=_standing(best, now),
        rows=tuple(rows[:MAX_ROWS] + refused_here[:room]),
        more_rows=tuple(rows[MAX_ROWS:] + refused_here[room:]),
        lacking_rows=_one_a_card(row for row in (*working, *refused) if row.is_lacking),
        best=best,
        parts={
            name: word
            for name, word in part_names().items()
            if any(getattr(row.shape.use, name) for row in (*working, *refused))
        },
        has_fleet=bool(now.machines),
        note=_note(best.shape) if best is not None else "",
    )


def _offered(
    requirement: Requirement, others: Sequence[Shape], workload: Workload, now: FleetNow
) -> list[tuple[Shape, Offer]]:
    """The allowed shapes with what the fleet has of each: with room first, then held by some
    machine, then of the fleet's cards, then the others; the cheapest first in each."""
    shapes = (*requirement.shapes, *others)
    allowed = tuple(s for s in shapes if workload.constraints.allow_mig or not s.mig_profile)
    wanted = replace(demand(workload, requirement), shapes=allowed)
    offered = list(zip(allowed, now.offers(wanted), strict=True))
    return (
        sorted(offered, key=lambda pair: _rank(pair[0], pair[1], now)) if now.machines else offered
    )


def _rank(shape: Shape, offer: Offer, now: FleetNow) -> tuple[int, bool, Decimal]:
    if offer.free:
        group = 0
    elif offer.is_held:
        group = 1
    else:
        group = 3 if _is_lacking(shape, now) else 2
    price = offer.per_hour
    is_comparable = price is not None and price.currency == now.currency
    return group, not is_comparable, price.amount if price is not None else Decimal(0)


def _is_lacking(shape: Shape, now: FleetNow) -> bool:
    return bool(now.machines) and (shape.gpu_model, shape.mig_profile) not in now.cards


def _sentence(
    requirement: Requirement, offered: Sequence[tuple[Shape, Offer]], now: FleetNow
) -> str:
    """The shapes as good as the best one; the plain order of sizing without a fleet."""
    if not offered or not now.machines:
        return requirement.sentence
    first = _rank(*offered[0], now)[0]
    return in_words([shape for shape, offer in offered if _rank(shape, offer, now)[0] == first])


def _one_a_card(rows: Iterable[Row]) -> tuple[Row, ...]:
    """The first row of each card: what one would buy, not every way to split it."""
    found: dict[str, Row] = {}
    for row in rows:
        found.setdefault(row.shape.unit, row)
    return tuple(found.values())


def _standing(best: Row | None, now: FleetNow) -> str:
    if best is None or best.free or not now.machines:
        return ""
    if best.is_held:
        return _("Your fleet has no room for it now.")
    return _("No machine of your fleet can hold it, even empty.")


def _note(shape: Shape) -> str:
    words = part_names()
    largest = sorted(_PARTS, key=lambda name: -getattr(shape.use, name))[:2]
    parts = [
        _("%(amount)s of %(part)s")
        % {"amount": gib_text(getattr(shape.use, name) * shape.gpus), "part": words[name]}
        for name in largest
        if getattr(shape.use, name) > 0
    ]
    return " + ".join(parts)


def _row(shape: Shape, offer: Offer, now: FleetNow) -> Row:
    verdict, text = {
        Fit.FITS: ("pass", _("Fits")),
        Fit.TIGHT: ("warn", _("Tight")),
        Fit.NO: ("fail", _("No")),
    }[shape.fit]
    full = max(shape.use.total, shape.usable_mib, 1.0)
    pods = _("%(pods)d pods × %(gpus)d") % {"pods": shape.pods, "gpus": shape.gpus_per_pod}
    return Row(
        shape=shape,
        title=f"{shape.gpus} × {shape.unit}",
        pods=pods if shape.pods > 1 else "",
        bar=_bar(shape.use, full),
        usable_x=_percent(min(shape.usable_mib, full), full),
        used_text=gib_text(shape.use.total).removesuffix(" GiB"),
        usable_text=gib_text(shape.usable_mib),
        verdict=verdict,
        verdict_text=text,
        free=offer.free,
        is_held=offer.is_held,
        is_lacking=_is_lacking(shape, now),
        month=offer.per_hour.per_month() if offer.per_hour is not None else None,
        load=_load_text(shape.load_seconds),
    )


def _load_text(seconds: tuple[float, float] | None) -> str:
    if seconds is None:
        return ""
    low, high = (duration_text(value) for value in seconds)
    return low if low == high else _("%(low)s to %(high)s") % {"low": low, "high": high}


def _bar(use: MemoryUse, full: float) -> tuple[BarPart, ...]:
    parts, x = [], 0.0
    for name, word in part_names().items():
        amount = getattr(use, name)
        if amount > 0:
            parts.append(
                BarPart(
                    name, _percent(x, full), _percent(amount, full), f"{word} {gib_text(amount)}"
                )
            )
            x += amount
    return tuple(parts)


def _percent(value: float, full: float) -> str:
    return f"{100 * value / full:.2f}%"


def sentences(team: Team, rows: Iterable[WorkloadRow]) -> dict[int, str]:
    """What one replica of each workload needs, in one sentence, or why it cannot be told."""
    now = fleet_now(team)
    cards = fleet_cards(now)
    found = {}
    for row in rows:
        value = row.value
        try:
            requirement = _requirement(value, cards)
        except SizingError as error:
            found[row.pk] = error.message
        else:
            offered = _offered(requirement, (), value, now)
            found[row.pk] = _sentence(requirement, offered, now)
    return found
