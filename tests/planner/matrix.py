"""The words of the URL matrix; see test_url_matrix.py for how to add an entry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

World = dict[str, Any]
"""Objects of team search by name, made by the ``objects`` of each matrix file."""

MARKER = "quokka"
"""Part of the name of every object in the world: a stranger must never read it."""


class Row(NamedTuple):
    """The status that each kind of person gets."""

    anonymous: int
    stranger: int
    viewer: int
    planner: int
    admin: int


NOT_ALLOWED = Row(302, 405, 405, 405, 405)  # the view does not know the method
LIST = Row(302, 200, 200, 200, 200)  # everybody sees the list of their own team
READ = Row(302, 404, 200, 200, 200)  # one object of team search
PLANNER_OPENS = Row(302, 404, 403, 200, 200)  # a form about an object, for planners
PLANNER_ACTS = Row(302, 404, 403, 302, 302)  # a POST that redirects afterwards
ADMIN_OPENS = Row(302, 404, 403, 403, 200)
ADMIN_ACTS = Row(302, 404, 403, 403, 302)


def nothing(world: World) -> dict[str, Any]:
    return {}


def no_args(world: World) -> Sequence[Any]:
    return ()


@dataclass(frozen=True)
class Entry:
    """What one URL pattern answers. ``args``: the arguments of the pattern, for an object of team
    search; ``data``: a POST that the view accepts; ``query``: the query of a GET."""

    get: Row = NOT_ALLOWED
    post: Row = NOT_ALLOWED
    args: Callable[[World], Sequence[Any]] = no_args
    data: Callable[[World], dict[str, Any]] = nothing
    query: str = ""
