"""Making the people of the tests."""

from __future__ import annotations

from planner.accounts.models import Membership, Role, Team, User

PASSWORD = "correct horse battery staple"


def make_person(name: str, team: Team | None = None, role: Role | None = None) -> User:
    """A user with ``PASSWORD``, in ``team`` with ``role`` or in no team."""
    user = User.objects.create_user(name, password=PASSWORD)
    if team is not None and role is not None:
        Membership.objects.create(user=user, team=team, role=role)
    return user
