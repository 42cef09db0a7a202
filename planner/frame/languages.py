"""The languages that the program can really speak.

``LANGUAGES`` names those that are meant to come; one is offered when its catalogue is compiled, so
that nobody chooses a language and then reads English with a few words of Django's own between.
"""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import to_locale

Language = tuple[str, str | Promise]


def _is_spoken(code: str) -> bool:
    """English stands in the sources; each other language needs ``django.mo``."""
    if code == settings.LANGUAGE_CODE:
        return True
    return any(
        (Path(folder) / to_locale(code) / "LC_MESSAGES" / "django.mo").is_file()
        for folder in settings.LOCALE_PATHS
    )


def offered() -> list[Language]:
    """Code and name of each language to choose from, in the order of ``LANGUAGES``."""
    return [(code, name) for code, name in settings.LANGUAGES if _is_spoken(code)]
