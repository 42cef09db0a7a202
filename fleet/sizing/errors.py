"""The one error of sizing, and its hint."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.words import say


class SizingError(ValueError):
    """A workload that cannot be sized. ``field`` is the field of the workload to change."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


def with_near(sentence: str, near: Sequence[str]) -> str:
    """The sentence, and the names that may have been meant."""
    if not near:
        return sentence
    return sentence + " " + say("Did you mean {names}?", names=", ".join(near))
