"""The search of the top bar."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from django.test import Client

from planner.accounts.models import Team, User
from planner.frame import search


@pytest.fixture
def things(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Team, str]]:
    """Two sections that remember what they were asked."""
    asked: list[tuple[Team, str]] = []

    def nodes(team: Team, text: str) -> Sequence[search.Result]:
        asked.append((team, text))
        return [search.Result(f"<i>{text}-{n}</i>", f"/n/{n}", "node") for n in range(20)]

    monkeypatch.setattr(search, "_sections", {"Nodes": nodes, "Plans": lambda team, text: []})
    return asked


def test_results_are_links_of_the_current_team_with_names_escaped(
    things: list[tuple[Team, str]], vic: User, team: Team, client_for: Callable[..., Client]
) -> None:
    response = client_for(vic).get("/search/?q=gpu", headers={"HX-Request": "true"})
    body = response.content.decode()
    assert things == [(team, "gpu")]
    assert '<a href="/n/0"><span class="results-name">&lt;i&gt;gpu-0&lt;/i&gt;</span>' in body
    assert body.count("<a ") == search.LIMIT
    assert "<html" not in body


def test_without_htmx_the_answer_is_a_whole_page(
    things: list[tuple[Team, str]], vic: User, client_for: Callable[..., Client]
) -> None:
    body = client_for(vic).get("/search/?q=gpu").content.decode()
    assert "<html" in body
    assert 'href="/n/0"' in body


def test_sections_without_results_are_left_out(
    things: list[tuple[Team, str]], vic: User, client_for: Callable[..., Client]
) -> None:
    response = client_for(vic).get("/search/?q=gpu", headers={"HX-Request": "true"})
    assert "Plans" not in response.content.decode()


@pytest.mark.parametrize("text", ["", "   ", "\0"])
def test_an_empty_text_asks_nobody(
    text: str, things: list[tuple[Team, str]], vic: User, client_for: Callable[..., Client]
) -> None:
    response = client_for(vic).get("/search/", {"q": text}, headers={"HX-Request": "true"})
    assert response.status_code == 200
    assert things == []


def test_a_long_text_is_cut(
    things: list[tuple[Team, str]], vic: User, client_for: Callable[..., Client]
) -> None:
    client_for(vic).get("/search/", {"q": "x" * 5000}, headers={"HX-Request": "true"})
    assert len(things[0][1]) == search.LONGEST
