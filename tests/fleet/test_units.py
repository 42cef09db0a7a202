"""Kubernetes quantities: every text has one value, anything else one error."""

from __future__ import annotations

import contextlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.units import (
    QuantityError,
    duration_text,
    mib,
    mib_request,
    milli_cpu,
    parse_quantity,
    plain_count,
    whole,
)

SUFFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18} | {
    "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60,
}  # fmt: skip


@given(st.integers(-(10**9), 10**9), st.sampled_from(sorted(SUFFIXES)))
def test_a_suffix_multiplies(number: int, suffix: str) -> None:
    assert parse_quantity(f"{number}{suffix}") == number * SUFFIXES[suffix]


@given(st.decimals(-(10**6), 10**6, places=6), st.integers(-9, 9), st.sampled_from("eE"))
def test_exponents_are_powers_of_ten(number: Decimal, exponent: int, letter: str) -> None:
    expected = number * Decimal(10) ** exponent
    assert parse_quantity(f"{number:f}{letter}{exponent}") == expected


@given(st.integers(0, 10**12))
def test_milli_is_a_thousandth(number: int) -> None:
    assert parse_quantity(f"{number}m") * 1000 == number
    assert milli_cpu(f"{number}m") == number


@given(st.integers(0, 2**60))
def test_memory_is_rounded_down_to_have_and_up_to_ask(amount: int) -> None:
    assert mib(str(amount)) == amount // 2**20
    assert mib_request(str(amount)) == -(-amount // 2**20)


@given(st.text(max_size=80) | st.floats() | st.integers() | st.none() | st.booleans())
def test_anything_is_a_finite_number_or_an_error(text: object) -> None:
    with contextlib.suppress(QuantityError):
        assert parse_quantity(text).is_finite()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["", "abc", "1 Gi", "1GiB", "--1", "1e999", "NaN", "inf", "0x10", "1_000", "1" * 65]
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_quantity(text)


def test_one_exa_is_no_exponent() -> None:
    assert parse_quantity("1E") == 10**18
    assert parse_quantity("1Ei") == 2**60
    assert whole("1k") == 1000


@pytest.mark.parametrize("text", ["²", "١٢", "-1", "1.5", "", None, "1" * 10, " 1"])
def test_only_plain_digits_are_a_plain_count(text: str | None) -> None:
    assert plain_count(text) is None
    assert plain_count("12") == 12


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (200, "3 min 20 s"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
    ],
)
def test_a_duration_is_told_as_people_say_it(
    request: pytest.FixtureRequest, seconds: float, text: str
) -> None:
    assert duration_text(seconds) == text
    request.getfixturevalue("shouting")
    assert duration_text(seconds) == text.upper()
