"""Every URL, every kind of person, GET and POST: which status. A URL without an entry fails here.

To add the URLs of an app, write ``tests/planner/matrix_<app>.py`` with two names:

``objects(team, admin) -> dict[str, Any]``
    makes objects of team search (few, cheap, no fleet solving) and returns them by a key that
    starts with the app's word. Every name of an object holds ``MARKER`` ("quokka"), since the test
    looks for it in what a stranger reads.

``ENTRIES: dict[str, Entry]``
    one entry a URL name, with its namespace::

        "inventory:cluster-detail": Entry(get=READ, args=lambda w: [w["cluster"].name]),
        "inventory:cluster-delete": Entry(post=ADMIN_ACTS, args=lambda w: [w["cluster"].name]),
        "plans:plan-add": Entry(get=Row(302, 200, 403, 200, 200), post=..., data=lambda w: {...}),

A method without a row must answer 405 (anonymous: 302 to the login). ``data`` is a POST that the
view accepts: a viewer's 403 proves nothing when an admin would get 422. The stranger is admin of
another team, so that only the object check can stop them: 404, never 403. Each person meets the
world as it was made; what they change is rolled back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from planner.accounts.models import Role, Team
from tests.planner.matrix import MARKER, NOT_ALLOWED, Entry, Row
from tests.planner.people import make_person

_files = [
    import_module(f"tests.planner.{path.stem}")
    for path in sorted(Path(__file__).parent.glob("matrix_*.py"))
]
ENTRIES: dict[str, Entry] = {name: e for file in _files for name, e in file.ENTRIES.items()}


def _names(patterns: list[Any], namespace: str = "") -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{pattern.namespace}:" if pattern.namespace else ""
            yield from _names(pattern.url_patterns, namespace + inner)
        elif isinstance(pattern, URLPattern):
            yield f"{namespace}{pattern.name or pattern.pattern}"


ALL_NAMES = sorted(set(_names(get_resolver().url_patterns)))


pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[dict[str, Any]]:
    """People and objects, made once for the module: each test rolls back what it changes."""
    with django_db_blocker.unblock(), transaction.atomic():
        team = Team.objects.create(name="search", slug="search")
        other = Team.objects.create(name="other", slug="other")
        made: dict[str, Any] = {
            "team": team,
            "ada": make_person("ada", team, Role.ADMIN),
            "pia": make_person("pia", team, Role.PLANNER),
            "vic": make_person("vic", team, Role.VIEWER),
            "sam": make_person("sam", other, Role.ADMIN),
        }
        for file in _files:
            made.update(file.objects(team, made["ada"]))
        yield made
        transaction.set_rollback(True)


def test_every_url_has_an_entry_and_every_entry_a_url() -> None:
    assert sorted(ENTRIES) == ALL_NAMES


@pytest.mark.parametrize("name", sorted(ENTRIES))
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_each_person_gets_the_status_of_the_matrix(
    name: str,
    method: str,
    world: dict[str, Any],
    client_for: Callable[..., Client],
) -> None:
    entry = ENTRIES[name]
    expected: Row = entry.get if method == "GET" else entry.post
    people = {
        "anonymous": None,
        "stranger": world["sam"],
        "viewer": world["vic"],
        "planner": world["pia"],
        "admin": world["ada"],
    }
    address = reverse(name, args=entry.args(world))
    got = {}
    for kind, user in people.items():
        with transaction.atomic():
            client = client_for(user)
            if method == "GET":
                response = client.get(address + (f"?{entry.query}" if entry.query else ""))
            else:
                response = client.post(address, entry.data(world))
            body = b"".join(response) if response.streaming else response.content
            transaction.set_rollback(True)
        got[kind] = response.status_code
        if kind == "stranger":
            assert MARKER.encode() not in body
    assert Row(**got) == expected


READ_BY_ADMIN = sorted(name for name, entry in ENTRIES.items() if entry.get.admin == 200)
POSTED = sorted(name for name, entry in ENTRIES.items() if entry.post.admin != NOT_ALLOWED.admin)
_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "DROP", "ALTER")


@pytest.mark.parametrize("name", READ_BY_ADMIN)
def test_a_get_writes_nothing(
    name: str, world: dict[str, Any], client_for: Callable[..., Client]
) -> None:
    entry = ENTRIES[name]
    with CaptureQueriesContext(connection) as queries:
        client = client_for(world["ada"])
        before = len(queries)
        client.get(reverse(name, args=entry.args(world)) + f"?{entry.query}")
    written = [
        query["sql"]
        for query in queries.captured_queries[before:]
        if query["sql"].startswith(_WRITES) and "django_session" not in query["sql"]
    ]
    assert written == []


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}], ids=["page", "htmx"])
@pytest.mark.parametrize("name", POSTED)
def test_a_post_without_its_token_is_refused(
    name: str,
    headers: dict[str, str],
    world: dict[str, Any],
    client_for: Callable[..., Client],
) -> None:
    entry = ENTRIES[name]
    client = client_for(world["ada"], enforce_csrf_checks=True)
    address = reverse(name, args=entry.args(world))
    response = client.post(address, entry.data(world), headers=headers)
    assert response.status_code == 403
    assert "too old" in response.content.decode()
