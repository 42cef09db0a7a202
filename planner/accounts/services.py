"""What can be done to people and teams. Each act is one transaction with its audit event."""

from __future__ import annotations

import secrets

from django.db import transaction
from django.db.models import F
from django.http import HttpRequest
from django.utils.translation import gettext as _

from planner.accounts import audit
from planner.accounts.models import Membership, Role, Team, User


class MemberError(Exception):
    """The act is not possible; the message says why."""


def one_time_password() -> str:
    """Sixteen letters and digits that are easy to read out, 80 bits."""
    letters = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(letters) for _n in range(4)) for _group in range(4))


@transaction.atomic
def save_profile(*, user: User, theme: str, language: str) -> None:
    """Keep how the pages look for this user."""
    User.objects.filter(pk=user.pk).update(theme=theme, language=language)


@transaction.atomic
def change_password(*, user: User, password: str, request: HttpRequest | None = None) -> None:
    """A new password; every session of the user ends (the caller may keep the current one)."""
    user.set_password(password)
    user.must_change_password = False
    user.save(update_fields=["password", "must_change_password"])
    audit.record("user.password-changed", user, by=user, team=None, request=request)


@transaction.atomic
def add_member(
    *, team: Team, username: str, role: Role, by: User | None, request: HttpRequest | None = None
) -> tuple[Membership, str]:
    """Add a user to the team; a user that does not exist is made.

    Returns the membership and the one-time password of a new user ("" for one who existed).
    Raises ``MemberError`` when the user is a member already.
    """
    password = ""
    user = User.objects.filter(username=username).first()
    if user is None:
        password = one_time_password()
        user = User.objects.create_user(username, password=password, must_change_password=True)
        audit.record("user.created", user, by=by, team=team, request=request)
    member, created = Membership.objects.get_or_create(
        user=user, team=team, defaults={"role": role}
    )
    if not created:
        raise MemberError(_("“%(name)s” is a member of this team already.") % {"name": user})
    audit.record("member.added", user, by=by, team=team, request=request, role=role.value)
    return member, password


def _guard_last_admin(member: Membership) -> None:
    others = Membership.objects.filter(
        team=member.team, role=Role.ADMIN, user__is_active=True
    ).exclude(pk=member.pk)
    if member.role == Role.ADMIN and not others.exists():
        raise MemberError(_("This is the last admin of the team. Make somebody else admin first."))


@transaction.atomic
def change_role(
    *, member: Membership, role: Role, by: User, request: HttpRequest | None = None
) -> None:
    """Give a member another role. Losing rights ends the sessions of the user.

    Raises ``MemberError`` for the last admin of the team.
    """
    before = Role(member.role)
    if before == role:
        return
    if role != Role.ADMIN:
        _guard_last_admin(member)
    member.role = role
    member.save(update_fields=["role"])
    if before.includes(role):
        end_sessions(user=member.user)
    audit.record(
        "member.role-changed",
        member.user,
        by=by,
        team=member.team,
        request=request,
        before=before.value,
        after=role.value,
    )


@transaction.atomic
def remove_member(*, member: Membership, by: User, request: HttpRequest | None = None) -> None:
    """Take a member out of the team and end their sessions.

    Raises ``MemberError`` for the last admin of the team.
    """
    _guard_last_admin(member)
    audit.record(
        "member.removed", member.user, by=by, team=member.team, request=request, role=member.role
    )
    end_sessions(user=member.user)
    member.delete()


@transaction.atomic
def set_active(
    *, user: User, active: bool, by: User, team: Team, request: HttpRequest | None = None
) -> None:
    """Let a user log in, or not any more; a user who may not has no session left.

    Raises ``MemberError`` for oneself.
    """
    if user == by:
        raise MemberError(_("You cannot deactivate yourself."))
    if user.is_active == active:
        return
    user.is_active = active
    user.save(update_fields=["is_active"])
    if not active:
        end_sessions(user=user)
    action = "user.activated" if active else "user.deactivated"
    audit.record(action, user, by=by, team=team, request=request)


def end_sessions(*, user: User) -> None:
    """End every session of the user, wherever it is kept."""
    User.objects.filter(pk=user.pk).update(session_epoch=F("session_epoch") + 1)


@transaction.atomic
def create_team(*, name: str, slug: str, by: User | None = None) -> Team:
    """A new, empty team."""
    team = Team.objects.create(name=name, slug=slug)
    audit.record("team.created", team, by=by, team=team)
    return team


@transaction.atomic
def create_first_admin(*, username: str, password: str, team: Team, own_password: bool) -> User:
    """The first admin, of every team. ``own_password``: nobody else knows it."""
    user = User.objects.create_superuser(
        username, password=password, must_change_password=not own_password
    )
    Membership.objects.create(user=user, team=team, role=Role.ADMIN)
    audit.record("user.created", user, by=None, team=team)
    return user
