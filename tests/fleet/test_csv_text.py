"""CSV that spreadsheets read as text and numbers, never as formulas."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.csv_text import TRIGGERS, safe_cell, write_csv

CELLS = st.text() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False) | st.none()
HOSTILE = st.builds(
    lambda blank, sign, rest: blank + sign + rest,
    st.sampled_from(["", " ", "\u3000", "\ufeff", "\u00a0 "]),
    st.sampled_from(list(TRIGGERS)),
    st.text(),
)


def read_back(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd", "'+cmd"),
        ("-x", "'-x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        (" =1+1", "' =1+1"),
        ("\t=1", "'\t=1"),
        ("＝1+1", "'＝1+1"),
        ("plain", "plain"),
        ("-5", "-5"),
        ("+3.25", "+3.25"),
        ("-5+cmd", "'-5+cmd"),
        ("", ""),
    ],
)
def test_texts_that_start_a_formula_get_an_apostrophe(text: str, cell: str) -> None:
    assert safe_cell(text) == cell


def test_numbers_stay_numbers_and_nothing_is_empty() -> None:
    values = (-3, Decimal("-0.000001"), Decimal("1E+3"), 2.5, True, None)
    assert [safe_cell(v) for v in values] == ["-3", "-0.000001", "1000", "2.5", "true", ""]


def test_the_file_starts_with_a_bom_and_quotes_every_cell() -> None:
    data = write_csv(["a", "b"], [["x", 1]])
    assert data == b'\xef\xbb\xbf"a","b"\r\n"x","1"\r\n'


def test_rows_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="1 cells, the header 2"):
        write_csv(["a", "b"], [["x"]])


@given(st.lists(st.lists(CELLS | HOSTILE, min_size=3, max_size=3), max_size=8))
def test_no_cell_reads_back_as_a_formula_and_no_row_is_lost(rows: list[list[object]]) -> None:
    back = read_back(write_csv(["a", "b", "c"], rows))  # type: ignore[arg-type]
    assert len(back) == len(rows) + 1
    for row, cells in zip(rows, back[1:], strict=True):
        assert len(cells) == 3
        for value, cell in zip(row, cells, strict=True):
            if isinstance(value, int):
                assert int(cell) == value
            elif isinstance(value, Decimal):
                assert Decimal(cell) == value
            elif isinstance(value, str):
                first = cell.lstrip(" \u00a0\u3000\ufeff")[:1]
                is_number = cell.lstrip("+-").replace(".", "", 1).isdecimal()
                assert first not in set(TRIGGERS) or is_number
