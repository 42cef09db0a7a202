"""Theme, language and password of one's own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from planner.accounts.models import AuditEvent, User
from tests.planner.people import PASSWORD

NEW = "a different long pass phrase"


def _change_password(client: Client, old: str = PASSWORD, new: str = NEW) -> int:
    data = {"old_password": old, "new_password1": new, "new_password2": new}
    return client.post("/account/password/", data).status_code


def test_the_theme_is_rendered_by_the_server_here_and_on_the_login_page(
    vic: User, client_for: Callable[..., Client]
) -> None:
    client = client_for(vic)
    client.post("/account/theme/", {"theme": "dark"})
    assert 'data-theme="dark"' in client.get("/account/profile/").content.decode()
    client.post("/account/logout/")
    assert 'data-theme="dark"' in client.get("/account/login/").content.decode()


def test_a_theme_cookie_that_is_none_is_ignored(db: None) -> None:
    client = Client()
    client.cookies["theme"] = '"><script>'
    assert 'data-theme="auto"' in client.get("/account/login/").content.decode()


@pytest.mark.parametrize(
    ("address", "data"),
    [
        ("/account/theme/", {"theme": "pink"}),
        ("/account/theme/", {}),
        ("/account/language/", {"language": "xx"}),
        ("/account/profile/", {"theme": "pink", "language": "xx"}),
    ],
)
def test_a_choice_that_is_none_changes_nothing(
    address: str, data: dict[str, str], vic: User, client_for: Callable[..., Client]
) -> None:
    assert client_for(vic).post(address, data).status_code == 422
    vic.refresh_from_db()
    assert (vic.theme, vic.language) == ("auto", "")


def test_the_language_goes_with_the_user(
    japanese: None, vic: User, client_for: Callable[..., Client]
) -> None:
    client_for(vic).post("/account/language/", {"language": "ja"})
    body = client_for(vic).get("/account/profile/").content.decode()
    assert '<html lang="ja"' in body


def test_a_new_password_ends_the_other_sessions_and_keeps_this_one(
    vic: User, client_for: Callable[..., Client]
) -> None:
    here, elsewhere = client_for(vic), client_for(vic)
    assert _change_password(here) == 302
    assert here.get("/account/profile/").status_code == 200
    assert elsewhere.get("/account/profile/").status_code == 302
    assert [event.action for event in AuditEvent.objects.all()] == ["user.password-changed"]
    assert not AuditEvent.objects.get().detail


@pytest.mark.parametrize(("old", "new"), [("wrong", NEW), (PASSWORD, "short"), (PASSWORD, "")])
def test_a_password_that_is_refused_changes_nothing(
    old: str, new: str, vic: User, client_for: Callable[..., Client]
) -> None:
    assert _change_password(client_for(vic), old, new) == 422
    vic.refresh_from_db()
    assert vic.check_password(PASSWORD)
    assert not AuditEvent.objects.exists()


def test_a_user_in_no_team_can_reach_the_profile_and_nothing_else(
    nobody: User, client_for: Callable[..., Client]
) -> None:
    client = client_for(nobody)
    assert "no team yet" in client.get("/account/profile/").content.decode()
    response = client.get("/account/members/")
    assert response.status_code == 403
    assert "Ask an admin" in response.content.decode()
