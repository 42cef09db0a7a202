"""Puts the current team on the request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import translation

from planner.accounts.models import Role, Team, User

SESSION_KEY = "team"


class PlannerRequest(HttpRequest):
    """The request as views see it: a logged-in user with a current team and a role in it."""

    user: User
    team: Team | None
    role: Role | None
    htmx: Any


class TeamMiddleware:
    """``request.team`` is the team chosen in the top bar (else the first one), ``request.role``
    the user's role there. Both are None for strangers, so that nothing is allowed by accident."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        team: Team | None = None
        role: Role | None = None
        user = request.user
        if isinstance(user, User) and user.is_active:
            teams = Team.objects.visible_to(user)
            chosen = request.session.get(SESSION_KEY)
            team = teams.filter(pk=chosen).first() if chosen else None
            team = team or teams.filter(memberships__user=user).order_by("name").first()
            team = team or teams.order_by("name").first()
            role = user.role_in(team) if team is not None else None
            if user.language:
                translation.activate(user.language)
                request.LANGUAGE_CODE = translation.get_language() or "en"
        request.team = team  # type: ignore[attr-defined]  # see PlannerRequest
        request.role = role  # type: ignore[attr-defined]
        return self.get_response(request)


class PasswordChangeMiddleware:
    """Somebody else knows this password: nothing but changing it, or leaving, is possible."""

    ALLOWED = frozenset({"accounts:profile", "accounts:password", "accounts:logout"})

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, kwargs: Any
    ) -> HttpResponse | None:
        user = request.user
        if not isinstance(user, User) or not user.must_change_password:
            return None
        match = request.resolver_match
        if match is not None and match.view_name in self.ALLOWED:
            return None
        return redirect("accounts:profile")
