"""The menu and the choice of a cluster."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from planner.accounts.models import Membership, Role, Team, User
from planner.frame import navigation


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    def nodes(team: Team, cluster: str) -> int:
        return 3 if cluster else 7

    def failed(team: Team, cluster: str) -> int:
        return 0 if cluster else 9

    monkeypatch.setattr(navigation, "_counts", {})
    navigation.register_count("nodes", nodes)
    navigation.register_count(
        "readiness", failed, words=lambda number: f"{number} failed checks", verdict="fail"
    )
    monkeypatch.setattr(
        navigation, "_clusters", [lambda team: [f"{team.slug}-a", f"{team.slug}-b"]]
    )


def _page(user: User, client_for: Callable[..., Client], query: str = "") -> str:
    return client_for(user).get(f"/account/members/{query}").content.decode()


def _entry(label: str, body: str) -> str:
    """What stands beside the label of an entry of the menu."""
    found = re.search(rf">{label}\s*(<span.*?)\s*</a>", body, re.DOTALL)
    assert found is not None
    return found.group(1)


def test_the_menu_shows_counts(vic: User, client_for: Callable[..., Client]) -> None:
    assert _entry("Nodes", _page(vic, client_for)) == '<span class="count">7</span>'


def test_a_count_says_what_it_counts_and_is_coloured_while_something_failed(
    vic: User, client_for: Callable[..., Client]
) -> None:
    entry = _entry("Readiness", _page(vic, client_for))
    assert '<span class="count count-fail" title="9 failed checks">' in entry
    assert '<span class="visually-hidden">9 failed checks</span>' in entry
    entry = _entry("Readiness", _page(vic, client_for, "?cluster=search-b"))
    assert '<span class="count" title="0 failed checks">' in entry


def test_the_chosen_cluster_is_kept_by_the_links_of_the_menu(
    vic: User, client_for: Callable[..., Client]
) -> None:
    body = _page(vic, client_for, "?cluster=search-b")
    menu = body[body.index('id="sidebar"') : body.index("</nav>")]
    links = re.findall(r'<li><a href="([^"]*)"', menu)
    assert len(links) == 7
    assert all(link.endswith("?cluster=search-b") for link in links)
    assert _entry("Nodes", body) == '<span class="count">3</span>'


def test_a_cluster_of_another_team_cannot_be_chosen(
    vic: User, client_for: Callable[..., Client]
) -> None:
    body = _page(vic, client_for, "?cluster=other-a")
    menu = body[body.index('id="sidebar"') : body.index("</nav>")]
    assert "other-a" not in menu
    assert 'href="/nodes/"' in menu


@pytest.mark.parametrize(
    ("name", "narrows"),
    [
        ("inventory:overview", True),
        ("inventory:cluster-list", True),
        ("inventory:readiness", True),
        ("inventory:node-list", False),  # has a filter of its own
        ("plans:workload-list", False),
        ("plans:plan-list", False),
        ("plans:price-list", False),
        ("accounts:member-list", False),
        ("accounts:audit-list", False),
        ("accounts:profile", False),
    ],
)
def test_the_choice_of_a_cluster_stands_where_it_narrows_the_page(
    name: str, narrows: bool, ada: User, client_for: Callable[..., Client]
) -> None:
    body = client_for(ada).get(reverse(name)).content.decode()
    assert ("menu-cluster" in body) is narrows


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
