"""Which function does which kind of job, and who knows what is due. Apps register here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.jobs.runner import Run

Handler = Callable[["Run"], str]
"""Does the work and returns one sentence about the result. Raises ``JobFailed`` to fail it."""

OnFailed = Callable[["int", "str"], None]
Due = Callable[[], int]
"""Asks for the jobs that are due now; returns how many."""

_handlers: dict[str, Handler] = {}
_on_failed: dict[str, OnFailed] = {}
_due: dict[str, Due] = {}


def register(kind: str, handler: Handler, *, on_failed: OnFailed | None = None) -> None:
    """Say which function does jobs of ``kind``.

    ``on_failed(subject_id, error_code)`` is called once after a job has failed for good.
    """
    _handlers[kind] = handler
    if on_failed is not None:
        _on_failed[kind] = on_failed


def register_due(name: str, due: Due) -> None:
    """Add a source of scheduled work, asked at every tick."""
    _due[name] = due


def handler(kind: str) -> Handler | None:
    return _handlers.get(kind)


def on_failed(kind: str) -> OnFailed | None:
    return _on_failed.get(kind)


def due_sources() -> dict[str, Due]:
    return dict(_due)
