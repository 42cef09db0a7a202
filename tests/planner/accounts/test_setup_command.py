"""The commands that make the first admin and further teams."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from planner.accounts.models import Role, Team, User


def _run(*args: str) -> str:
    out = io.StringIO()
    call_command(*args, stdout=out)
    return out.getvalue()


def test_setup_makes_admin_and_team_and_prints_the_password_once(db: None) -> None:
    text = _run("setup", "--team", "Search", "--admin", "root")
    password = re.search(r"Password: (\S+)", text)
    user = User.objects.get(username="root")
    assert password
    assert user.check_password(password[1])
    assert user.must_change_password
    assert user.role_in(Team.objects.get(slug="search")) == Role.ADMIN
    assert "nothing to set up" in _run("setup")
    assert User.objects.count() == 1


def test_setup_takes_the_password_of_the_environment_and_does_not_print_it(
    db: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "password"
    path.write_text("from a file of the operator\n")
    monkeypatch.setenv("PLANNER_ADMIN_PASSWORD_FILE", str(path))
    assert "operator" not in _run("setup")
    user = User.objects.get()
    assert user.check_password("from a file of the operator")
    assert not user.must_change_password


def test_createteam_adds_a_team_with_an_existing_admin(sam: User) -> None:
    assert "Password" not in _run("createteam", "Third", "--admin", "sam")
    assert sam.role_in(Team.objects.get(slug="third")) == Role.ADMIN


@pytest.mark.parametrize("name", ["other", "Other", "!!!"])
def test_createteam_refuses_a_name_that_cannot_be(name: str, sam: User) -> None:
    with pytest.raises(CommandError):
        _run("createteam", name, "--admin", "sam")
    assert Team.objects.count() == 1
