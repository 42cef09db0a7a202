"""The people of a team."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from planner.accounts import services
from planner.accounts.models import AuditEvent, Membership, Role, Team, User


def _actions() -> list[str]:
    return list(AuditEvent.objects.order_by("id").values_list("action", flat=True))


def _member(user: User) -> Membership:
    return Membership.objects.get(user=user)


def test_a_new_user_gets_a_one_time_password_that_is_shown_once(
    ada: User, client_for: Callable[..., Client]
) -> None:
    client = client_for(ada)
    response = client.post("/account/members/add/", {"username": "zoe", "role": "planner"})
    body = response.content.decode()
    found = re.search(r"<code>([a-z2-9-]{19})</code>", body)
    assert found
    assert "no-store" in response.headers["Cache-Control"]
    zoe = User.objects.get(username="zoe")
    assert zoe.check_password(found[1])
    assert zoe.must_change_password
    assert found[1] not in client.get("/account/members/").content.decode()
    assert _actions() == ["user.created", "member.added"]
    assert not any(found[1] in str(event.detail) for event in AuditEvent.objects.all())


def test_an_existing_user_is_added_without_a_new_password(
    ada: User, sam: User, client_for: Callable[..., Client]
) -> None:
    body = (
        client_for(ada)
        .post("/account/members/add/", {"username": "sam", "role": "viewer"})
        .content.decode()
    )
    assert "One-time password" not in body
    assert sam.role_in(ada.memberships.get().team) == Role.VIEWER
    assert _actions() == ["member.added"]


@pytest.mark.parametrize(
    "data",
    [
        {"username": "vic", "role": "planner"},
        {"username": "", "role": "viewer"},
        {"username": "a b<script>", "role": "viewer"},
        {"username": "x" * 151, "role": "viewer"},
        {"username": "a\0", "role": "viewer"},
        {"username": "zoe", "role": "root"},
    ],
)
def test_a_refused_addition_says_why_and_changes_nothing(
    data: dict[str, str], ada: User, vic: User, client_for: Callable[..., Client]
) -> None:
    before = Membership.objects.count(), User.objects.count()
    response = client_for(ada).post("/account/members/add/", data)
    assert response.status_code == 422
    assert "errors" in response.content.decode()
    assert (Membership.objects.count(), User.objects.count()) == before
    assert _actions() == []


def test_a_lower_role_ends_the_sessions_of_the_user(
    ada: User, pia: User, client_for: Callable[..., Client]
) -> None:
    session = client_for(pia)
    client_for(ada).post(f"/account/members/{_member(pia).pk}/role/", {"role": "viewer"})
    assert session.get("/account/profile/").status_code == 302
    event = AuditEvent.objects.get()
    assert (event.action, event.detail) == (
        "member.role-changed",
        {"before": "planner", "after": "viewer"},
    )


def test_a_higher_role_keeps_the_session(
    ada: User, vic: User, client_for: Callable[..., Client]
) -> None:
    session = client_for(vic)
    client_for(ada).post(f"/account/members/{_member(vic).pk}/role/", {"role": "admin"})
    assert session.get("/account/audit/").status_code == 200


def test_a_removed_member_has_no_session_and_sees_the_team_no_more(
    ada: User, vic: User, team: Team, client_for: Callable[..., Client]
) -> None:
    session = client_for(vic)
    client_for(ada).post(f"/account/members/{_member(vic).pk}/remove/")
    assert session.get("/account/profile/").status_code == 302
    assert vic.role_in(team) is None
    assert _actions() == ["member.removed"]


@pytest.mark.parametrize("act", ["remove", "role"])
def test_the_last_admin_stays(
    act: str, ada: User, team: Team, client_for: Callable[..., Client]
) -> None:
    client = client_for(ada)
    client.post(f"/account/members/{_member(ada).pk}/{act}/", {"role": "viewer"})
    assert ada.role_in(team) == Role.ADMIN
    assert "last admin" in client.get("/account/members/").content.decode()
    assert _actions() == []


def test_only_a_superuser_deactivates_and_that_ends_the_sessions(
    ada: User, vic: User, client_for: Callable[..., Client]
) -> None:
    User.objects.filter(pk=ada.pk).update(is_superuser=True)
    session = client_for(vic)
    address = f"/account/members/{_member(vic).pk}/active/"
    client_for(ada).post(address, {"active": "no"})
    assert session.get("/account/profile/").status_code == 302
    client_for(ada).post(address, {"active": "yes"})
    assert session.get("/account/profile/").status_code == 302  # the old session stays ended
    assert _actions() == ["user.deactivated", "user.activated"]


def test_nobody_deactivates_themselves(ada: User, team: Team) -> None:
    with pytest.raises(services.MemberError):
        services.set_active(user=ada, active=False, by=ada, team=team)


def test_viewers_see_members_and_no_buttons(
    vic: User, ada: User, client_for: Callable[..., Client]
) -> None:
    body = client_for(vic).get("/account/members/").content.decode()
    assert "ada" in body
    assert "Remove" not in body
    assert "Add a person" not in body


def test_a_failing_act_leaves_no_audit_event(
    ada: User, vic: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**kwargs: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(services, "end_sessions", fail)
    with pytest.raises(RuntimeError):
        services.remove_member(member=_member(vic), by=ada)
    assert _actions() == []
    assert Membership.objects.filter(user=vic).exists()
