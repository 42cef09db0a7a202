"""Choices among rows that no key from outside can break.

A database refuses an integer beyond 64 bits with an error of its own, which would be a 500; here
such a key names no row, as any other unknown key.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

_LARGEST = 2**63 - 1


def _may_be_a_key(value: Any) -> bool:
    try:
        return 0 <= int(value) <= _LARGEST
    except (TypeError, ValueError, OverflowError):
        return False


class RowChoice(forms.ModelChoiceField):  # type: ignore[type-arg]  # not generic at run time
    """One row by its integer key."""

    def to_python(self, value: Any) -> Any:
        if value not in self.empty_values and not _may_be_a_key(getattr(value, "pk", value)):
            raise ValidationError(
                self.error_messages["invalid_choice"],
                code="invalid_choice",
                params={"value": str(value)[:40]},
            )
        return super().to_python(value)


class RowChoices(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # as above
    """Several rows by their integer keys."""

    def clean(self, value: Any) -> Any:
        for key in value if isinstance(value, list | tuple) else ():
            if not _may_be_a_key(key):
                raise ValidationError(
                    self.error_messages["invalid_choice"],
                    code="invalid_choice",
                    params={"value": str(key)[:40]},
                )
        return super().clean(value)
