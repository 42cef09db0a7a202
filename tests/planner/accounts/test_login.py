"""Logging in and out, and slowing down guesses."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.test import Client

from planner.accounts import services, throttle
from planner.accounts.models import LoginFailure, Role, User
from tests.planner.people import PASSWORD

LOGIN = "/account/login/"


def _try(client: Client, name: str, password: str, address: str = "10.0.0.1") -> int:
    data = {"username": name, "password": password}
    return client.post(LOGIN, data, REMOTE_ADDR=address).status_code


def test_the_right_password_opens_a_session_with_a_new_key(vic: User) -> None:
    client = Client()
    client.get(LOGIN)
    before = client.cookies.get("sessionid")
    assert _try(client, "vic", PASSWORD) == 302
    assert client.cookies["sessionid"].value != (before.value if before else None)
    assert client.get("/account/profile/").status_code == 200


def test_a_wrong_password_is_told_beside_the_form(vic: User) -> None:
    response = Client().post(LOGIN, {"username": "vic", "password": "wrong"})
    assert response.status_code == 422
    assert "correct username and password" in response.content.decode()


def test_after_five_failures_even_the_right_password_has_to_wait(vic: User) -> None:
    client = Client()
    assert [_try(client, "vic", "wrong") for _n in range(5)] == [422] * 5
    response = client.post(LOGIN, {"username": "VIC", "password": PASSWORD}, REMOTE_ADDR="10.0.0.1")
    assert response.status_code == 422
    assert "Too many failed logins" in response.content.decode()
    assert _try(client, "vic", PASSWORD) == 422


def test_failures_of_one_person_do_not_lock_out_others(vic: User, pia: User) -> None:
    for _n in range(5):
        _try(Client(), "vic", "wrong")
    assert _try(Client(), "pia", PASSWORD) == 302
    assert _try(Client(), "vic", PASSWORD, address="10.0.0.2") == 302


def test_one_address_cannot_try_one_password_on_everybody(vic: User) -> None:
    LoginFailure.objects.bulk_create(
        LoginFailure(username=f"u{n}", address="10.0.0.1") for n in range(throttle.PER_ADDRESS)
    )
    assert _try(Client(), "vic", PASSWORD) == 422


def test_old_failures_are_forgotten(vic: User) -> None:
    for _n in range(5):
        _try(Client(), "vic", "wrong")
    LoginFailure.objects.update(at=Now() - throttle.WINDOW - timedelta(seconds=1))
    assert _try(Client(), "vic", PASSWORD) == 302
    assert not LoginFailure.objects.exists()


@pytest.mark.parametrize(
    ("wanted", "reached"),
    [
        ("/account/members/?cluster=a", "/account/members/?cluster=a"),
        ("https://evil.example/", None),
        ("//evil.example/", None),
        ("javascript:alert(1)", None),
    ],
)
def test_after_login_only_addresses_of_this_site_are_reached(
    wanted: str, reached: str | None, vic: User
) -> None:
    response = Client().post(LOGIN, {"username": "vic", "password": PASSWORD, "next": wanted})
    assert response.status_code == 302
    target = response.headers["Location"]
    assert target == reached if reached else "evil" not in target and "script" not in target


def test_an_inactive_user_cannot_log_in(vic: User) -> None:
    User.objects.filter(pk=vic.pk).update(is_active=False)
    assert _try(Client(), "vic", PASSWORD) == 422


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "\U0001f600", "\u202egnp"])
def test_odd_names_get_a_message_and_no_fault(name: str, db: None) -> None:
    assert _try(Client(), name, "wrong") == 422


def test_logout_ends_the_session(vic: User, client_for: Callable[..., Client]) -> None:
    client = client_for(vic)
    client.post("/account/logout/")
    assert client.get("/account/profile/").status_code == 302


def test_a_fragment_asked_for_after_the_session_ended_reloads_the_page(db: None) -> None:
    response = Client().get("/jobs/1/", headers={"HX-Request": "true"}, follow=True)
    assert response.headers["HX-Refresh"] == "true"


def test_a_one_time_password_has_to_be_changed_first(
    ada: User, client_for: Callable[..., Client]
) -> None:
    team = ada.memberships.get().team
    member, password = services.add_member(team=team, username="zoe", role=Role.PLANNER, by=ada)
    client = client_for(member.user)
    assert client.get("/account/members/").headers["Location"] == "/account/profile/"
    assert client.get("/account/profile/").status_code == 200
    client.post(
        "/account/password/",
        {"old_password": password, "new_password1": PASSWORD, "new_password2": PASSWORD},
    )
    assert client.get("/account/members/").status_code == 200
