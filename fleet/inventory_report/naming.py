"""Keys of the report for objects of several kinds that may share a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

Report = dict[str, Any]


def by_unique_name(found: Iterable[tuple[str, str, Report]]) -> Report:
    """(name, kind, report) by name; by "name (kind)" where several kinds share the name."""
    listed = list(found)
    names = Counter(name for name, _, _ in listed)
    return {
        name if names[name] == 1 else f"{name} ({kind})": report for name, kind, report in listed
    }
