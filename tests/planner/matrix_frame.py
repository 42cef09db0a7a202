"""Who gets what at the URLs of the frame."""

from __future__ import annotations

from typing import Any

from planner.accounts.models import Team, User
from tests.planner.matrix import LIST, MARKER, Entry, Row

ANYBODY = Entry(get=Row(200, 200, 200, 200, 200), post=Row(405, 405, 405, 405, 405))


def objects(team: Team, admin: User) -> dict[str, Any]:
    return {}


ENTRIES = {
    "frame:search": Entry(get=LIST, query=f"q={MARKER[:4]}"),
    "frame:healthz": ANYBODY,
    "frame:readyz": ANYBODY,
}
