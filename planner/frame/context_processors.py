"""What every page of the frame needs."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from planner.accounts.models import User

THEME_COOKIE = "theme"


def theme_of(request: HttpRequest) -> str:
    """The theme to render: the user's own, else that of the cookie (login page), else auto."""
    user = getattr(request, "user", None)
    chosen = user.theme if isinstance(user, User) else request.COOKIES.get(THEME_COOKIE, "")
    return chosen if chosen in User.Theme.values else User.Theme.AUTO.value


def frame(request: HttpRequest) -> dict[str, Any]:
    """Current team, role and theme, for the frame around each page."""
    return {
        "team": getattr(request, "team", None),
        "role": getattr(request, "role", None),
        "theme": theme_of(request),
    }
