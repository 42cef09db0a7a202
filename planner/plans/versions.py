"""Lost-update protection: a form carries the version that it was made from."""

from __future__ import annotations

from typing import Any

from django.db.models import F


class StaleVersion(Exception):
    """Somebody else saved the object first. ``current`` is the row as it is now."""

    def __init__(self, current: Any) -> None:
        super().__init__(f"{current} has changed meanwhile")
        self.current = current


def update_if_unchanged(row: Any, version: int, **fields: Any) -> None:
    """One conditional UPDATE that only the holder of the current version wins.

    Raises ``StaleVersion``, or ``DoesNotExist`` when the row has gone.
    """
    manager = type(row)._default_manager
    won = manager.filter(pk=row.pk, version=version).update(version=F("version") + 1, **fields)
    row.refresh_from_db()
    if not won:
        raise StaleVersion(row)
