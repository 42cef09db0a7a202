"""What the page shows beside a workload: the requirement with bars, verdicts, room and price."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _

from fleet.catalogue.prices import PriceBook
from fleet.sizing.cards import resolve
from fleet.sizing.errors import SizingError
from fleet.sizing.requirement import Fit, MemoryUse, Requirement, Shape
from fleet.sizing.size import size
from fleet.units import Money, duration_text, gib_text
from fleet.workloads import Workload
from planner.accounts.models import Team
from planner.frame import amounts
from planner.plans.free_units import FleetNow, fleet_now
from planner.plans.models import Workload as WorkloadRow
from planner.plans.price_books import book_for

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
    free: dict[str, int]  # replicas that fit now, by cluster
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
    rows: tuple[Row, ...]
    other_rows: tuple[Row, ...]  # refused cards and shapes beyond the first ones
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
    """Size the workload on the cards of the team's fleet, or on the usual ones without a fleet."""
    now = fleet_now(team)
    cards = fleet_cards(now)
    try:
        chosen = workload.constraints.gpu_models
        requirement = size(workload, cards=chosen or cards or None)
    except SizingError as error:
        return SizingProblem(error.field, error.message)
    return make_panel(requirement, workload, now, book_for(team))


def make_panel(
    requirement: Requirement, workload: Workload, now: FleetNow, book: PriceBook
) -> Panel:
    """The view of a requirement: working shapes first, refused cards with their reason after."""
    allowed = [s for s in requirement.shapes if workload.constraints.allow_mig or not s.mig_profile]
    clusters = workload.constraints.clusters
    # MIG devices that no node offers could be cut, but are not there: they come last.
    here = [s for s in allowed if not now.cards or (s.gpu_model, s.mig_profile) in now.cards]
    elsewhere = [s for s in allowed if s not in here]
    rows = [_row(shape, now, book, clusters) for shape in here]
    others = [_row(shape, now, book, clusters) for shape in elsewhere]
    refused = [_row(shape, now, book, clusters) for shape in requirement.refused]
    shown = rows[:MAX_ROWS]
    best = next(iter(rows + others), None)
    room = max(MAX_ROWS - len(shown), 4)
    return Panel(
        requirement=requirement,
        rows=tuple(shown + refused[:room]),
        other_rows=tuple(rows[MAX_ROWS:] + others + refused[room:]),
        best=best,
        parts={
            name: word
            for name, word in part_names().items()
            if any(getattr(s.use, name) for s in (*allowed, *requirement.refused))
        },
        has_fleet=bool(now.machines),
        note=_note(best.shape) if best is not None else "",
    )


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


def _row(shape: Shape, now: FleetNow, book: PriceBook, clusters: Iterable[str]) -> Row:
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
        free=now.replicas(shape, clusters) if shape.fit is not Fit.NO else {},
        month=now.month_price(shape, book) if shape.fit is not Fit.NO else None,
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
    cards = fleet_cards(fleet_now(team))
    found = {}
    for row in rows:
        value = row.value
        try:
            found[row.pk] = size(
                value, cards=value.constraints.gpu_models or cards or None
            ).sentence
        except SizingError as error:
            found[row.pk] = error.message
    return found
