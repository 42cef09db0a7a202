"""Error pages, and what tells an operator that the process is well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError
from django.test import Client, RequestFactory

from planner.accounts.models import User
from planner.frame import health, views


def test_an_unknown_address_is_a_page_that_says_so(
    vic: User, client_for: Callable[..., Client]
) -> None:
    response = client_for(vic).get("/no/such/page/")
    assert response.status_code == 404
    assert "Not found" in response.content.decode()


def test_what_a_role_may_not_do_is_said_with_the_role_that_may(
    vic: User, client_for: Callable[..., Client]
) -> None:
    response = client_for(vic).get("/account/audit/")
    assert response.status_code == 403
    assert "Admin" in response.content.decode()
    assert "Viewer" in response.content.decode()


def test_an_unreadable_host_is_a_bad_request_and_no_fault(db: None) -> None:
    response = Client().get("/account/login/", headers={"host": "evil.example"})
    assert response.status_code == 400


def test_a_fault_shows_no_trace_and_asks_nothing_of_the_database(
    rf: RequestFactory,
) -> None:
    response = views.server_error(rf.get("/"))  # no "db" mark: a query would fail the test
    assert response.status_code == 500
    assert "fault of the program" in response.content.decode()


def test_a_conflict_shows_both_texts(vic: User, client_for: Callable[..., Client]) -> None:
    request = client_for(vic).get("/account/profile/").wsgi_request
    response = views.conflict(
        request,
        name="chat-70b",
        changes=[{"label": "Replicas", "mine": "<b>3</b>", "theirs": "5"}],
        url="/workloads/1/edit/",
    )
    body = response.content.decode()
    assert response.status_code == 409
    assert "&lt;b&gt;3&lt;/b&gt;" in body
    assert "<td>5</td>" in body


def test_healthz_needs_neither_login_nor_database() -> None:
    response = Client().get("/healthz")
    assert response.content == b"ok\n"


def test_readyz_is_ready_on_a_migrated_database(db: None) -> None:
    response = Client().get("/readyz")
    assert response.status_code == 200
    assert response.json()["checks"] == {"database": "ok", "migrations": "ok"}


def test_readyz_is_not_ready_without_a_database(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*args: Any) -> None:
        raise DatabaseError("secret host name")

    monkeypatch.setattr(health, "MigrationExecutor", away)
    response = Client().get("/readyz")
    assert response.status_code == 503
    assert "secret" not in response.content.decode()


def test_a_broker_that_is_away_only_warns(db: None, settings: Any) -> None:
    settings.PLANNER_BROKER_URL = "redis://127.0.0.1:1/0"
    response = Client().get("/readyz")
    assert response.status_code == 200
    assert "broker" in response.json()["warnings"]


def test_a_token_in_the_htmx_header_is_enough(vic: User, client_for: Callable[..., Client]) -> None:
    client = client_for(vic, enforce_csrf_checks=True)
    client.get("/account/profile/")
    token = client.cookies["csrftoken"].value
    response = client.post("/account/theme/", {"theme": "dark"}, headers={"X-CSRFToken": token})
    assert response.status_code == 302
