"""Tables and words for a terminal: names made harmless, columns that fit, colour for people."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from fleet.csv_text import Cell, write_csv

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_COLOURS = {"fail": "31;1", "warn": "33", "unknown": "35", "pass": "32", "bold": "1"}
_LEAST_COLUMN = 8


def escaped(text: str) -> str:
    """The text without anything that moves the cursor or turns the direction of writing."""
    if text.isprintable() and not _BIDI.intersection(text):
        return text
    return "".join(c if c.isprintable() and c not in _BIDI else _escape(c) for c in text)


def _escape(character: str) -> str:
    if character in "\n\t":
        return " "
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def width_of(text: str) -> int:
    """Columns that the text takes: East Asian wide signs take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def terminal_width() -> int | None:
    """Columns to fit into; None when nobody says (a pipe): then nothing is cut."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return max(40, shutil.get_terminal_size().columns)
    return None


def coloured(text: str, colour: str) -> str:
    """The text in a colour, on a terminal that wants one (``NO_COLOR`` is obeyed)."""
    plain = not sys.stdout.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return text if plain else f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    right: bool = False  # numbers stand on the right


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> str:
    """The rows under their titles, two spaces apart, cut to the terminal's width.

    The widest columns give way first. An empty table is an empty text.
    """
    if not rows:
        return ""
    cells = [[escaped(cell) for cell in row] for row in rows]
    titles = [column.title for column in columns]
    widths = [max(width_of(row[i]) for row in [titles, *cells]) for i in range(len(columns))]
    room = terminal_width()
    if room is not None:
        _shrink(widths, room - 2 * (len(widths) - 1))
    lines = [
        "  ".join(
            _fitted(cell, width, column.right)
            for cell, width, column in zip(row, widths, columns, strict=True)
        ).rstrip()
        for row in [titles, *cells]
    ]
    return "\n".join(lines) + "\n"


def _shrink(widths: list[int], room: int) -> None:
    while sum(widths) > room and max(widths) > _LEAST_COLUMN:
        widths[widths.index(max(widths))] -= 1


def _fitted(text: str, width: int, right: bool) -> str:
    if width_of(text) > width:
        kept = ""
        for character in text:
            if width_of(kept) + width_of(character) > width - 1:
                break
            kept += character
        text = kept + "…"
    padding = " " * (width - width_of(text))
    return padding + text if right else text + padding


def paragraph(text: str, indent: str = "") -> str:
    """The text wrapped to the terminal's width."""
    room = terminal_width()
    text = escaped(text)
    if room is None:
        return f"{indent}{text}\n"
    return textwrap.fill(text, room, initial_indent=indent, subsequent_indent=indent) + "\n"


def block(text: str, indent: str) -> str:
    """Lines to paste, indented and never wrapped."""
    return "".join(f"{indent}{escaped(line)}\n" for line in text.splitlines())


def write(text: str) -> None:
    sys.stdout.write(text)


def write_json(value: Any) -> None:
    """JSON with two spaces of indent; decimals as texts, dates as ISO 8601."""
    plain = msgspec.to_builtins(value, str_keys=True)
    sys.stdout.write(json.dumps(plain, indent=2, ensure_ascii=False) + "\n")


def write_table_csv(header: Sequence[str], rows: Sequence[Mapping[str, Cell]]) -> None:
    """CSV on standard output."""
    write_bytes(write_csv(header, [[row[name] for name in header] for row in rows]))


def write_bytes(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
