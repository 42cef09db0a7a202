"""A language is offered when the program can speak it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from planner.accounts.models import User
from planner.frame import languages


@pytest.fixture
def without_catalogues(tmp_path: Path, settings: Any) -> None:
    settings.LOCALE_PATHS = [tmp_path / "nothing"]


def _profile(user: User, client_for: Callable[..., Client]) -> str:
    return client_for(user).get("/account/profile/").content.decode()


def test_the_switch_is_hidden_while_there_is_one_language(
    without_catalogues: None, vic: User, client_for: Callable[..., Client]
) -> None:
    body = _profile(vic, client_for)
    assert "日本語" not in body
    assert 'name="language"' not in body


def test_the_switch_appears_when_a_catalogue_is_compiled(
    japanese: None, vic: User, client_for: Callable[..., Client]
) -> None:
    body = _profile(vic, client_for)
    assert '<button name="language" value="ja" lang="ja" aria-pressed="false">' in body
    assert "日本語</button>" in body
    assert '<option value="ja">' in body


def test_sources_alone_are_no_catalogue(tmp_path: Path, settings: Any) -> None:
    settings.LOCALE_PATHS = [tmp_path]
    folder = tmp_path / "ja" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "django.po").touch()
    assert [code for code, _name in languages.offered()] == ["en"]
    (folder / "django.mo").touch()
    assert [code for code, _name in languages.offered()] == ["en", "ja"]


def test_a_language_that_is_not_offered_is_refused(
    without_catalogues: None, vic: User, client_for: Callable[..., Client]
) -> None:
    answer = client_for(vic).post("/account/language/", {"language": "ja"})
    assert answer.status_code == 422


def test_the_profile_is_saved_and_keeps_the_language_that_cannot_be_chosen(
    without_catalogues: None, vic: User, client_for: Callable[..., Client]
) -> None:
    User.objects.filter(pk=vic.pk).update(language="ja")
    assert client_for(vic).post("/account/profile/", {"theme": "dark"}).status_code == 302
    vic.refresh_from_db()
    assert (vic.theme, vic.language) == ("dark", "ja")
