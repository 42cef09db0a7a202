"""The one error of sizing."""

from __future__ import annotations


class SizingError(ValueError):
    """A workload that cannot be sized. ``field`` is the field of the workload to change."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message
