"""What tests of several rooms of the engine share."""

from __future__ import annotations

import re

import pytest

from fleet import words

_PLACEHOLDER = re.compile(r"(\{[^}]*\})")


def _shouted(template: str) -> str:
    parts = _PLACEHOLDER.split(template)
    return "".join(part if part.startswith("{") else part.upper() for part in parts)


@pytest.fixture
def shouting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader whose language is English in capitals: what is small was not translated."""
    monkeypatch.setattr(
        words,
        "_translator",
        words._Translator(
            _shouted, lambda one, many, number: _shouted(one if number == 1 else many)
        ),
    )


@pytest.fixture(autouse=True)
def no_stated_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Running tests in parallel states a width of 80 columns; a pipe has none."""
    monkeypatch.delenv("COLUMNS", raising=False)
