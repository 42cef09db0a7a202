"""Reading the CSV tables of the catalogue, once per process."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files


@cache
def rows(name: str) -> tuple[dict[str, str], ...]:
    """Rows of ``fleet/catalogue/<name>`` as texts by column; empty cells are empty texts."""
    text = files("fleet.catalogue").joinpath(name).read_text(encoding="utf-8")
    return tuple(dict(row) for row in csv.DictReader(text.splitlines()))


def number(cell: str) -> float | None:
    """A figure, or None when the cell is empty (unknown)."""
    return float(cell) if cell.strip() else None


def integer(cell: str) -> int | None:
    """A count, or None when the cell is empty (unknown)."""
    return int(float(cell)) if cell.strip() else None
