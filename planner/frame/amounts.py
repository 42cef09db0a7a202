"""Decimal amounts as texts of the reader's language, rounded half up.

Django's ``number_format`` cuts digits off instead of rounding: 41.746 would become "41.74".
"""

from __future__ import annotations

from decimal import Decimal

from django.utils.formats import number_format

from fleet.units import Money


def text(amount: Decimal, digits: int) -> str:
    """``amount`` with ``digits`` places after the point, rounded half up, thousands grouped."""
    rounded = Money(amount).rounded(digits).amount
    return number_format(rounded, decimal_pos=digits, use_l10n=True, force_grouping=True)
