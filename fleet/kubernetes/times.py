"""Timestamps as the API writes them."""

from __future__ import annotations

from datetime import UTC, datetime


def time_of(text: str | None) -> datetime | None:
    """A timestamp of the API; None when absent or not one."""
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
