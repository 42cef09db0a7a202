"""The tick: sweep, then ask each app for what is due. Two ticks at once ask for it once."""

from __future__ import annotations

import logging

from planner.jobs import registry, sweeper, ticks

log = logging.getLogger(__name__)


def tick() -> int:
    """Returns how many jobs were touched or asked for. One source that fails stops no other."""
    ticks.note()
    touched = sweeper.sweep()
    for name, due in registry.due_sources().items():
        try:
            touched += due()
        except Exception:
            log.exception("scheduled work “%s” could not be asked for", name)
    return touched
