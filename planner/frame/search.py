"""The search of the top bar. Apps register a section; the frame imports none of them.

In the ``ready`` of an ``AppConfig``::

    search.register(_("Nodes"), find_nodes)

``find_nodes(team, text)`` returns at most ``LIMIT`` results, all of them of ``team``, for a text
of 1 to 100 characters. It must escape LIKE wildcards (Django's ``icontains`` does).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise

from planner.accounts.models import Team

LIMIT = 6
LONGEST = 100


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the answer: a name, where it leads, and what it is ("node in prod-tokyo")."""

    name: str
    url: str
    note: str = ""


Find = Callable[[Team, str], Sequence[Result]]

_sections: dict[str | Promise, Find] = {}


def register(section: str | Promise, find: Find) -> None:
    """Add a section of results; sections are shown in the order of registration."""
    _sections[section] = find


def find(team: Team, text: str) -> list[tuple[str | Promise, list[Result]]]:
    """Sections with results for ``text`` in ``team``; sections without a result are left out."""
    words = " ".join(text.replace("\0", "").split())[:LONGEST]
    if not words:
        return []
    found = [(section, list(look(team, words))[:LIMIT]) for section, look in _sections.items()]
    return [(section, results) for section, results in found if results]
