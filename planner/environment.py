"""Reading settings from the environment: typed, and loud when a value cannot be used."""

from __future__ import annotations

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def text(name: str, default: str = "") -> str:
    """``PLANNER_<name>``, or the content of the file that ``PLANNER_<name>_FILE`` names.

    Raises ``ImproperlyConfigured`` when both are set or the file cannot be read.
    """
    key = f"PLANNER_{name}"
    value, path = os.environ.get(key), os.environ.get(f"{key}_FILE")
    if value is not None and path is not None:
        raise ImproperlyConfigured(f"Set {key} or {key}_FILE, not both.")
    if path is not None:
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ImproperlyConfigured(
                f"{key}_FILE: cannot read the file ({error.strerror})."
            ) from error
    return default if value is None else value


def flag(name: str, *, default: bool) -> bool:
    """``PLANNER_<name>`` as yes or no."""
    value = text(name, "yes" if default else "no").strip().lower()
    if value in {"1", "yes", "true", "on"}:
        return True
    if value in {"0", "no", "false", "off", ""}:
        return False
    raise ImproperlyConfigured(f"PLANNER_{name}: write yes or no, not {value!r}.")


def integer(name: str, default: int, *, least: int = 0) -> int:
    """``PLANNER_<name>`` as a number of at least ``least``."""
    value = text(name, str(default)).strip()
    try:
        number = int(value)
    except ValueError:
        raise ImproperlyConfigured(
            f"PLANNER_{name}: write a whole number, not {value!r}."
        ) from None
    if number < least:
        raise ImproperlyConfigured(f"PLANNER_{name}: must be at least {least}.")
    return number


def words(name: str, default: str = "") -> list[str]:
    """``PLANNER_<name>`` as a list: parts between commas or blanks."""
    return text(name, default).replace(",", " ").split()
