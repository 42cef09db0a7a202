"""What every page of the frame needs."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest


def frame(request: HttpRequest) -> dict[str, Any]:
    """Current team and role, for the top bar and the menu."""
    return {"team": getattr(request, "team", None), "role": getattr(request, "role", None)}
