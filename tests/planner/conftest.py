"""People of the tests: two teams that must not see each other, and one client a person."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import translation

from planner.accounts.models import Role, Team, User
from tests.planner.people import make_person


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """A request activates the language of its user, and that would outlast the test."""
    with translation.override("en"):
        yield


@pytest.fixture
def japanese(tmp_path: Path, settings: Any) -> None:
    """A compiled catalogue of Japanese, with nothing in it."""
    folder = tmp_path / "ja" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    magic, version, messages, header = 0x950412DE, 0, 0, 28
    (folder / "django.mo").write_bytes(
        struct.pack("<7I", magic, version, messages, header, header, 0, header)
    )
    settings.LOCALE_PATHS = [tmp_path]


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
    return make_person("ada", team, Role.ADMIN)


@pytest.fixture
def pia(team: Team) -> User:
    """Planner of team search."""
    return make_person("pia", team, Role.PLANNER)


@pytest.fixture
def vic(team: Team) -> User:
    """Viewer of team search."""
    return make_person("vic", team, Role.VIEWER)


@pytest.fixture
def sam(other_team: Team) -> User:
    """Admin of team other: a stranger to team search, with every right in their own."""
    return make_person("sam", other_team, Role.ADMIN)


@pytest.fixture
def nobody(db: None) -> User:
    """A user in no team."""
    return make_person("nobody")


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
