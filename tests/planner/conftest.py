"""People of the tests: two teams that must not see each other, and one client a person."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from planner.accounts.models import Membership, Role, Team, User
from tests.planner.people import PASSWORD


def _person(name: str, team: Team | None, role: Role | None) -> User:
    user = User.objects.create_user(name, password=PASSWORD)
    if team is not None and role is not None:
        Membership.objects.create(user=user, team=team, role=role)
    return user


@pytest.fixture
def team(db: None) -> Team:
    """The team "search" of ada, pia and vic."""
    return Team.objects.create(name="search", slug="search")


@pytest.fixture
def other_team(db: None) -> Team:
    """The team "other" of sam."""
    return Team.objects.create(name="other", slug="other")


@pytest.fixture
def ada(team: Team) -> User:
    """Admin of team search."""
    return _person("ada", team, Role.ADMIN)


@pytest.fixture
def pia(team: Team) -> User:
    """Planner of team search."""
    return _person("pia", team, Role.PLANNER)


@pytest.fixture
def vic(team: Team) -> User:
    """Viewer of team search."""
    return _person("vic", team, Role.VIEWER)


@pytest.fixture
def sam(other_team: Team) -> User:
    """Admin of team other: a stranger to team search, with every right in their own."""
    return _person("sam", other_team, Role.ADMIN)


@pytest.fixture
def nobody(db: None) -> User:
    """A user in no team."""
    return _person("nobody", None, None)


@pytest.fixture
def client_for() -> Callable[..., Client]:
    """``client_for(user)`` is a browser where the user has logged in; None: nobody has.

    ``client_for(user, enforce_csrf_checks=True)`` passes options on to the client.
    """

    def make(user: User | None, **options: bool) -> Client:
        client = Client(**options)
        if user is not None:
            client.force_login(user)
        return client

    return make
