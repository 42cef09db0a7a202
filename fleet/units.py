"""Quantities, memory, GPU counts and money: the numbers that everything else is made of.

Memory is an integer of MiB, CPU an integer of millicores, money a ``Money`` of ``Decimal``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from fleet.words import say

HOURS_PER_MONTH = Decimal(730)
"""Hours in a month as clouds bill it: 8,760 / 12."""

_SUFFIXES: dict[str, Decimal] = {
    "": Decimal(1),
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "k": Decimal(10) ** 3,
    "M": Decimal(10) ** 6,
    "G": Decimal(10) ** 9,
    "T": Decimal(10) ** 12,
    "P": Decimal(10) ** 15,
    "E": Decimal(10) ** 18,
    "Ki": Decimal(2) ** 10,
    "Mi": Decimal(2) ** 20,
    "Gi": Decimal(2) ** 30,
    "Ti": Decimal(2) ** 40,
    "Pi": Decimal(2) ** 50,
    "Ei": Decimal(2) ** 60,
}
# No nested quantifier: linear on any input. Lengths are bounded, since names and numbers
# from a cluster are hostile.
_QUANTITY = re.compile(
    r"([+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30}))([eE][+-]?[0-9]{1,2}|[A-Za-z]{0,2})"
)
_MIB = 2**20


class QuantityError(ValueError):
    """A text that is not a Kubernetes quantity."""


def parse_quantity(text: str | int | float) -> Decimal:
    """Read a Kubernetes quantity ("1500m", "16Gi", "1e3") into base units.

    Numbers are accepted as they are, since some servers send them unquoted.
    Raises ``QuantityError`` on anything else; never returns NaN or infinity.
    """
    if isinstance(text, bool):
        raise QuantityError(f"not a quantity: {text!r}")
    if isinstance(text, int | float):
        value = Decimal(str(text))
        if not value.is_finite():
            raise QuantityError(f"not a quantity: {text!r}")
        return value
    if not isinstance(text, str) or len(text) > 64:
        raise QuantityError("not a quantity: expected a text of at most 64 characters")
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise QuantityError(f"not a quantity: {text!r}")
    number, suffix = match.groups()
    if suffix[:1] in ("e", "E") and len(suffix) > 1 and suffix not in _SUFFIXES:
        return Decimal(number + suffix)
    factor = _SUFFIXES.get(suffix)
    if factor is None:
        raise QuantityError(f"not a quantity: {text!r}")
    return Decimal(number) * factor


def milli_cpu(text: str | int | float) -> int:
    """CPU quantity to millicores, rounded up as the scheduler does."""
    return _ceil(parse_quantity(text) * 1000)


def mib(text: str | int | float) -> int:
    """Memory quantity to MiB, rounded down (what can surely be used)."""
    return int(parse_quantity(text)) // _MIB  # integers: Decimal's "//" fails on great numbers


def mib_request(text: str | int | float) -> int:
    """Memory quantity to MiB, rounded up (what is surely taken)."""
    return _ceil(parse_quantity(text) / _MIB)


def whole(text: str | int | float) -> int:
    """A count of devices or pods; extended resources are integers. Rounded up if not."""
    return _ceil(parse_quantity(text))


def _ceil(value: Decimal) -> int:
    result = int(value)
    return result + 1 if value > result else result


def plain_count(text: str | None, digits: int = 9) -> int | None:
    """A count written in plain ASCII digits, at most so many of them; None for anything else."""
    if not text or len(text) > digits or not (text.isascii() and text.isdigit()):
        return None
    return int(text)


def known_sum(numbers: Iterable[int | None]) -> int | None:
    """A sum of which nothing is left out; None where a part of it is unknown."""
    total = 0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total


def gib_text(mebibytes: float, digits: int = 1) -> str:
    """MiB as a text in GiB, "79.2 GiB"."""
    return f"{mebibytes / 1024:,.{digits}f} GiB"


def duration_text(seconds: float) -> str:
    """Seconds as people say it: "45 s", "3 min 20 s", "2 h 5 min"."""
    total = round(seconds)
    if total < 60:
        return say("{seconds} s", seconds=total)
    if total < 3600:
        minutes, rest = divmod(total, 60)
        if rest:
            return say("{minutes} min {seconds} s", minutes=minutes, seconds=rest)
        return say("{minutes} min", minutes=minutes)
    hours, rest = divmod(total, 3600)
    minutes = rest // 60
    if minutes:
        return say("{hours} h {minutes} min", hours=hours, minutes=minutes)
    return say("{hours} h", hours=hours)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in one currency. Adding two currencies is an error, not a guess."""

    amount: Decimal
    currency: str = "USD"

    def __add__(self, other: Money) -> Money:
        if other.currency != self.currency:
            raise ValueError(f"cannot add {other.currency} to {self.currency}")
        return Money(self.amount + other.amount, self.currency)

    def __mul__(self, factor: int | Decimal) -> Money:
        return Money(self.amount * factor, self.currency)

    def rounded(self, digits: int = 2) -> Money:
        """Rounded half up to ``digits`` decimal places."""
        step = Decimal(1).scaleb(-digits)
        return Money(self.amount.quantize(step, rounding=ROUND_HALF_UP), self.currency)

    def per_month(self) -> Money:
        """An hourly amount over a month of 730 hours."""
        return self * HOURS_PER_MONTH
