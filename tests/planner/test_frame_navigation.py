"""The menu and the choice of a cluster."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from planner.accounts.models import Membership, Role, Team, User
from planner.frame import navigation


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    def nodes(team: Team, cluster: str) -> int:
        return 3 if cluster else 7

    monkeypatch.setattr(navigation, "_counts", {"nodes": nodes})
    monkeypatch.setattr(
        navigation, "_clusters", [lambda team: [f"{team.slug}-a", f"{team.slug}-b"]]
    )


def _page(user: User, client_for: Callable[..., Client], query: str = "") -> str:
    return client_for(user).get(f"/account/members/{query}").content.decode()


def test_the_menu_shows_counts(vic: User, client_for: Callable[..., Client]) -> None:
    assert 'Nodes<span class="count">7</span>' in _page(vic, client_for)


def test_the_chosen_cluster_is_kept_by_the_links_of_the_menu(
    vic: User, client_for: Callable[..., Client]
) -> None:
    body = _page(vic, client_for, "?cluster=search-b")
    menu = body[body.index('id="sidebar"') : body.index("</nav>")]
    links = re.findall(r'<li><a href="([^"]*)"', menu)
    assert len(links) == 7
    assert all(link.endswith("?cluster=search-b") for link in links)
    assert 'Nodes<span class="count">3</span>' in body


def test_a_cluster_of_another_team_cannot_be_chosen(
    vic: User, client_for: Callable[..., Client]
) -> None:
    body = _page(vic, client_for, "?cluster=other-a")
    menu = body[body.index('id="sidebar"') : body.index("</nav>")]
    assert "other-a" not in menu
    assert '<span class="menu-summary">All clusters</span>' in body


def test_the_team_is_switched_by_post_and_kept(
    vic: User, other_team: Team, client_for: Callable[..., Client]
) -> None:
    Membership.objects.create(user=vic, team=other_team, role=Role.ADMIN)
    client = client_for(vic)
    client.post("/account/team/", {"team": other_team.pk})
    body = client.get("/account/members/").content.decode()
    assert "<h1>Team other</h1>" in body


@pytest.mark.parametrize("value", ["", "abc", "-1", "9" * 30, "\u0663"])
def test_a_team_that_is_none_is_not_found(
    value: str, vic: User, client_for: Callable[..., Client]
) -> None:
    assert client_for(vic).post("/account/team/", {"team": value}).status_code == 404
