"""GPU states as the pages draw them: letters, words, shares of a bar.

The letters are those of ``NodeRow.squares``: one letter is one physical GPU.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from django.utils.html import format_html_join
from django.utils.translation import gettext as _

STATES = "rpfsux"


def word(state: str) -> str:
    """The state in words; a letter that nobody knows is "unknown"."""
    words = {
        "r": _("requested"),
        "p": _("this plan"),
        "f": _("free"),
        "s": _("free but stranded"),
        "u": _("not schedulable"),
    }
    return words.get(state, _("unknown"))


def words(counts: Mapping[str, int]) -> str:
    """Counts by state in words, in the order of the bar: "6 requested, 2 free"."""
    return ", ".join(f"{counts[state]} {word(state)}" for state in STATES if counts.get(state))


@lru_cache(maxsize=512)
def squares_html(squares: str) -> str:
    """One square a letter, as markup that is safe. Kept, since thousands of nodes look alike."""
    states = (state if state in STATES else "x" for state in squares)
    return format_html_join("", '<i class="gpu gpu-{}"></i>', ((state,) for state in states))


def bar(counts: Mapping[str, int], total: int | None = None) -> dict[str, Any]:
    """Segments of a bar: x and width in per cent of ``total`` (at least the sum), with words."""
    whole = max(total or 0, sum(counts.values()))
    segments, x = [], 0.0
    for state in STATES:
        number = counts.get(state, 0)
        if number <= 0:
            continue
        width = 100 * number / whole
        segments.append({"state": state, "x": f"{x:.3f}%", "width": f"{width:.3f}%"})
        x += width
    return {"segments": segments, "text": words(counts) or _("no GPUs")}


@dataclass(frozen=True, slots=True)
class NodeBox:
    """One node of the map: its squares and the same in words."""

    name: str
    url: str
    squares: str
    text: str

    @classmethod
    def of(cls, node: Any) -> Self:
        """From anything with ``name``, ``squares`` and perhaps ``url`` and ``text``."""
        squares = "".join(state if state in STATES else "x" for state in node.squares)
        return cls(
            name=node.name,
            url=getattr(node, "url", ""),
            squares=squares,
            text=getattr(node, "text", "") or words(Counter(squares)) or _("no GPUs"),
        )
