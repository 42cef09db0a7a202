"""CSV that a spreadsheet opens as text and numbers, never as formulas.

Names from clusters end up in cells, and Excel runs a cell that starts with ``=``. So a text that
starts with such a sign gets an apostrophe before it. UTF-8 with BOM, since Excel on Japanese
Windows reads a file without one as Shift-JIS.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

BOM = "\ufeff"
TRIGGERS = "=+-@\t\r\n＝＋－＠"
"""Signs that start a formula, with their full-width forms."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?")

Cell = str | int | float | Decimal | bool | None


def safe_cell(value: Cell) -> str:
    """The value as the text of a cell: numbers unchanged, None empty, dangerous texts marked.

    The first sign is looked at after spaces and control signs, which spreadsheets skip.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if _NUMBER.fullmatch(value):
        return value
    first = value.lstrip(_SKIPPED)[:1]
    is_formula = value[:1] in _TRIGGER_SET or first in _TRIGGER_SET
    return f"'{value}" if value and is_formula else value


_TRIGGER_SET = frozenset(TRIGGERS)
_SKIPPED = " \u00a0\u3000\ufeff\u200b\u0000\u000b\u000c"


def write_csv(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """The table as CSV: every cell quoted, lines end with CRLF, UTF-8 with BOM.

    Raises ``ValueError`` when a row is not as long as the header.
    """
    out = io.StringIO()
    out.write(BOM)
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow([safe_cell(name) for name in header])
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"csv: a row has {len(row)} cells, the header {len(header)}")
        writer.writerow([safe_cell(value) for value in row])
    # A lone surrogate cannot be written as UTF-8; it is shown as "?".
    return out.getvalue().encode("utf-8", errors="replace")
