"""Who gets what at the URLs about people."""

from __future__ import annotations

from typing import Any

from planner.accounts.models import Membership, Role, Team, User
from tests.planner.matrix import ADMIN_ACTS, LIST, MARKER, Entry, Row
from tests.planner.people import PASSWORD

ANY_USER_ACTS = Row(302, 302, 302, 302, 302)
ADMIN_READS = Row(302, 200, 403, 403, 200)


def objects(team: Team, admin: User) -> dict[str, Any]:
    user = User.objects.create_user(f"{MARKER}-max", password=PASSWORD)
    member = Membership.objects.create(user=user, team=team, role=Role.VIEWER)
    return {"accounts_member": member}


ENTRIES = {
    "accounts:login": Entry(
        get=Row(200, 200, 200, 200, 200),
        post=ANY_USER_ACTS,
        data=lambda w: {"username": f"{MARKER}-max", "password": PASSWORD},
    ),
    "accounts:logout": Entry(post=ANY_USER_ACTS),
    "accounts:profile": Entry(
        get=LIST, post=ANY_USER_ACTS, data=lambda w: {"theme": "dark", "language": "en"}
    ),
    "accounts:password": Entry(
        post=ANY_USER_ACTS,
        data=lambda w: {
            "old_password": PASSWORD,
            "new_password1": "another long pass phrase",
            "new_password2": "another long pass phrase",
        },
    ),
    "accounts:theme-set": Entry(post=ANY_USER_ACTS, data=lambda w: {"theme": "dark"}),
    "accounts:language-set": Entry(post=ANY_USER_ACTS, data=lambda w: {"language": "en"}),
    "accounts:team-switch": Entry(
        post=Row(302, 404, 302, 302, 302), data=lambda w: {"team": w["team"].pk}
    ),
    "accounts:member-list": Entry(get=LIST),
    "accounts:member-add": Entry(
        post=Row(302, 200, 403, 403, 200), data=lambda w: {"username": "zoe", "role": "viewer"}
    ),
    "accounts:member-role": Entry(
        post=ADMIN_ACTS,
        args=lambda w: [w["accounts_member"].pk],
        data=lambda w: {"role": "planner"},
    ),
    "accounts:member-remove": Entry(post=ADMIN_ACTS, args=lambda w: [w["accounts_member"].pk]),
    # Only a superuser may; what a superuser gets is tested with the members page.
    "accounts:member-active": Entry(
        post=Row(302, 404, 403, 403, 403), args=lambda w: [w["accounts_member"].pk]
    ),
    "accounts:audit-list": Entry(get=ADMIN_READS),
    "accounts:audit-csv": Entry(get=ADMIN_READS),
}
