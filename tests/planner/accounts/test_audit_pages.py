"""The audit log on the page and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import pytest
from django.test import Client

from planner.accounts import audit
from planner.accounts.models import AuditEvent, Team, User


def test_events_are_listed_newest_first_and_by_page(
    ada: User, team: Team, client_for: Callable[..., Client]
) -> None:
    for n in range(60):
        audit.record(f"thing.made-{n:02}", team, by=ada, team=team)
    client = client_for(ada)
    first = client.get("/account/audit/").content.decode()
    second = client.get("/account/audit/?page=2").content.decode()
    assert "60 events" in first
    assert first.index("thing.made-59") < first.index("thing.made-58")
    assert "thing.made-09" in second
    assert "thing.made-10" not in second
    assert '<a href="?page=2"' in first


@pytest.mark.parametrize("page", ["0", "-1", "999", "abc", "1e9", "9" * 40])
def test_a_page_that_is_none_shows_one_that_is(
    page: str, ada: User, client_for: Callable[..., Client]
) -> None:
    assert client_for(ada).get("/account/audit/", {"page": page}).status_code == 200


def test_the_filter_is_kept_by_the_csv_link_and_percent_is_a_letter(
    ada: User, team: Team, client_for: Callable[..., Client]
) -> None:
    audit.record("cluster.created", team, by=ada, team=team)
    client = client_for(ada)
    body = client.get("/account/audit/?q=cluster").content.decode()
    assert 'href="/account/audit.csv?q=cluster"' in body
    assert "cluster.created" in body
    assert "cluster.created" not in client.get("/account/audit/?q=%25").content.decode()


def test_the_csv_holds_every_event_and_no_formula(
    ada: User, team: Team, client_for: Callable[..., Client]
) -> None:
    Team.objects.filter(pk=team.pk).update(name="=cmd|' /C calc'!A0")
    team.refresh_from_db()
    audit.record("team.renamed", team, by=ada, team=team, before="search")
    response = client_for(ada).get("/account/audit.csv")
    rows = list(csv.reader(io.StringIO(response.content.decode("utf-8-sig"))))
    assert response.headers["Content-Disposition"] == 'attachment; filename="audit.csv"'
    assert rows[0][1:3] == ["who", "action"]
    assert rows[1][1:3] == ["ada", "team.renamed"]
    assert rows[1][5] == "'=cmd|' /C calc'!A0"
    assert rows[1][6] == '{"before": "search"}'


def test_events_of_other_teams_are_not_seen(
    ada: User, sam: User, other_team: Team, client_for: Callable[..., Client]
) -> None:
    audit.record("team.secret-act", other_team, by=sam, team=other_team)
    assert "secret-act" not in client_for(ada).get("/account/audit/").content.decode()
    assert "secret-act" in client_for(sam).get("/account/audit/").content.decode()


def test_an_event_can_be_neither_changed_nor_deleted(ada: User, team: Team) -> None:
    event = audit.record("team.created", team, by=ada, team=team)
    with pytest.raises(TypeError):
        event.save()
    with pytest.raises(TypeError):
        event.delete()
    assert AuditEvent.objects.count() == 1


def test_an_event_outlives_its_actor(ada: User, team: Team) -> None:
    audit.record("team.created", team, by=ada, team=team)
    User.objects.get(pk=ada.pk).delete()
    assert AuditEvent.objects.get().actor_name == "ada"
