"""The people of a team: everybody sees them, admins change them."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from planner.accounts import queries, services
from planner.accounts.access import role_required
from planner.accounts.forms import MemberAddForm, RoleForm
from planner.accounts.middleware import PlannerRequest
from planner.accounts.models import Membership, Role


def _page(
    request: PlannerRequest,
    form: MemberAddForm,
    *,
    new: Membership | None = None,
    password: str = "",
) -> HttpResponse:
    assert request.team is not None  # noqa: S101 (role_required has seen to it)
    context = {
        "members": list(queries.members(request.team)),
        "form": form,
        "roles": Role.choices,
        "new": new,
        "password": password,
    }
    wrong = form.is_bound and bool(form.errors)
    return render(request, "accounts/member_list.html", context, status=422 if wrong else 200)


@require_GET
@role_required(Role.VIEWER)
def member_list(request: PlannerRequest) -> HttpResponse:
    """Who is in the team."""
    return _page(request, MemberAddForm())


@never_cache
@require_POST
@role_required(Role.ADMIN)
def member_add(request: PlannerRequest) -> HttpResponse:
    """Add a person. The answer shows a new user's one-time password, once."""
    assert request.team is not None  # noqa: S101 (role_required has seen to it)
    form = MemberAddForm(request.POST)
    if not form.is_valid():
        return _page(request, form)
    try:
        member, password = services.add_member(
            team=request.team,
            username=form.cleaned_data["username"],
            role=Role(form.cleaned_data["role"]),
            by=request.user,
            request=request,
        )
    except services.MemberError as error:
        form.add_error("username", str(error))
        return _page(request, form)
    return _page(request, MemberAddForm(), new=member, password=password)


def _member(request: PlannerRequest, member_id: int) -> Membership:
    return get_object_or_404(
        Membership.objects.select_related("user", "team"), pk=member_id, team=request.team
    )


@require_POST
@role_required(Role.ADMIN)
def member_role(request: PlannerRequest, member_id: int) -> HttpResponse:
    """Give a member another role."""
    member = _member(request, member_id)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("No such role."))
        return redirect("accounts:member-list")
    try:
        services.change_role(
            member=member, role=Role(form.cleaned_data["role"]), by=request.user, request=request
        )
    except services.MemberError as error:
        messages.error(request, str(error))
    return redirect("accounts:member-list")


@require_POST
@role_required(Role.ADMIN)
def member_remove(request: PlannerRequest, member_id: int) -> HttpResponse:
    """Take a member out of the team."""
    try:
        services.remove_member(member=_member(request, member_id), by=request.user, request=request)
    except services.MemberError as error:
        messages.error(request, str(error))
    return redirect("accounts:member-list")


@require_POST
@role_required(Role.ADMIN)
def member_active(request: PlannerRequest, member_id: int) -> HttpResponse:
    """Let a user log in or not; for superusers, since a user may belong to several teams."""
    member = _member(request, member_id)
    if not request.user.is_superuser:
        raise PermissionDenied(_("Only an admin of every team can deactivate a user."))
    try:
        services.set_active(
            user=member.user,
            active=request.POST.get("active") == "yes",
            by=request.user,
            team=member.team,
            request=request,
        )
    except services.MemberError as error:
        messages.error(request, str(error))
    return redirect("accounts:member-list")
