"""Warnings that stand above a page for as long as something is wrong.

Apps say what may be wrong, each in the ``ready`` of its ``AppConfig``; the frame imports none of
them::

    standing.register(nobody_works)      # (request) -> sentence or ""
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest

Warner = Callable[[HttpRequest], str]

_warners: list[Warner] = []


def register(warner: Warner) -> None:
    """Ask ``warner`` for each page. It answers for the user of the request, cheaply."""
    _warners.append(warner)


def warnings(request: HttpRequest) -> list[str]:
    """What is wrong now, as sentences."""
    return [text for warner in _warners if (text := warner(request))]
