"""Who may do what. Deny by default: logged in (middleware), role (decorator), object (queryset)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.core.exceptions import PermissionDenied
from django.http import HttpResponseBase
from django.utils.translation import gettext as _

from planner.accounts.middleware import PlannerRequest
from planner.accounts.models import Role, Team

P = ParamSpec("P")
View = Callable[Concatenate[PlannerRequest, P], HttpResponseBase]


def role_required(role: Role) -> Callable[[View[P]], View[P]]:
    """Let a view run only for people with at least ``role`` in their current team.

    Objects of other teams are a second question: take them through ``visible_to`` or ``of_team``
    and check the role in *their* team with ``require_role``.
    """

    def decorate(view: View[P]) -> View[P]:
        @wraps(view)
        def guarded(
            request: PlannerRequest, /, *args: P.args, **kwargs: P.kwargs
        ) -> HttpResponseBase:
            if request.team is None or request.role is None:
                raise PermissionDenied(_("You are in no team yet. Ask an admin to add you to one."))
            if not request.role.includes(role):
                raise PermissionDenied(
                    _("This needs the role “%(needed)s” in team %(team)s; yours is “%(yours)s”.")
                    % {
                        "needed": role.label,
                        "team": request.team.name,
                        "yours": request.role.label,
                    }
                )
            return view(request, *args, **kwargs)

        guarded.required_role = role  # type: ignore[attr-defined]  # read by the URL matrix test
        return guarded

    return decorate


def require_role(request: PlannerRequest, team: Team, role: Role) -> None:
    """Raise ``PermissionDenied`` unless the user has at least ``role`` in the object's team."""
    held = request.user.role_in(team)
    if held is None or not held.includes(role):
        raise PermissionDenied(
            _("This needs the role “%(needed)s” in team %(team)s.")
            % {"needed": role.label, "team": team.name}
        )


def current_team(request: PlannerRequest) -> Team:
    """The team of a request that ``role_required`` has let through."""
    if request.team is None:
        raise PermissionDenied(_("You are in no team yet. Ask an admin to add you to one."))
    return request.team
