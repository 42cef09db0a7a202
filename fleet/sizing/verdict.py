"""When memory is called enough: the three levels, and what a card offers."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.sizing.overhead import GIB
from fleet.sizing.requirement import Fit, Line, Shape
from fleet.words import say

SOURCE = "docs/sizing.md, Verdict"


@dataclass(frozen=True, slots=True)
class Options:
    """What a card offers: the shapes that work, and the best try when none does."""

    working: tuple[Shape, ...]
    refused: Shape | None


def safety_margin(weights: float, usable: float) -> float:
    """MiB that must stay free for "fits": 3 % of weights, 1 % of memory and a fixed part."""
    return 0.03 * weights + 0.01 * usable + _fixed(usable)


def margin_line(weights: float, usable: float) -> Line:
    """The arithmetic of ``safety_margin``."""
    formula = say(
        "{weights} of weights + {memory} of memory + {fixed:g} GiB",
        weights="3 %",
        memory="1 %",
        fixed=_fixed(usable) / GIB,
    )
    return Line(say("Margin"), formula, safety_margin(weights, usable), SOURCE)


def verdict(free: float, weights: float, usable: float) -> Fit:
    """Verdict for ``free`` MiB that nothing needs (negative: missing)."""
    if free < 0:
        return Fit.NO
    return Fit.TIGHT if free < safety_margin(weights, usable) else Fit.FITS


def _fixed(usable: float) -> float:
    return GIB if usable >= 30 * GIB else GIB / 2
