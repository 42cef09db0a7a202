"""Keys of the report for objects of several kinds that may share a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

Report = dict[str, Any]


def by_unique_name(found: Iterable[tuple[str, str, Report]]) -> Report:
    """(name, kind, report) by name; by "name (kind)" where several kinds share the name, and
    "name (kind 2)" for the second of two API groups that have a kind of that name."""
    listed = list(found)
    names = Counter(name for name, _, _ in listed)
    seen: Counter[tuple[str, str]] = Counter()
    keyed: Report = {}
    for name, kind, report in listed:
        seen[name, kind] += 1
        number = seen[name, kind]
        which = kind if number == 1 else f"{kind} {number}"
        keyed[name if names[name] == 1 else f"{name} ({which})"] = report
    return keyed
