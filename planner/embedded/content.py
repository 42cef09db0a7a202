"""What the embedded default starts with: one login, and on request the synthetic fleet."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from planner.accounts.models import Membership, Role, Team, User

NAME = "admin"
TEAM = "Platform"


@dataclass(frozen=True, slots=True)
class Login:
    user: User
    password: str  # "" once the person has set their own


@transaction.atomic
def ensure_login() -> Login:
    """The first user with a random password, kept (0600) beside the database until changed."""
    path = settings.DATA_DIR / "login"
    user = User.objects.filter(username=NAME).first()
    if user is None:
        password = secrets.token_urlsafe(12)
        user = User.objects.create_superuser(NAME, password=password)
        team, _ = Team.objects.get_or_create(slug=TEAM.lower(), defaults={"name": TEAM})
        Membership.objects.create(user=user, team=team, role=Role.ADMIN)
        settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(password, encoding="utf-8")
        return Login(user, password)
    password = path.read_text(encoding="utf-8").strip() if path.exists() else ""
    return Login(user, password if password and user.check_password(password) else "")


def ensure_demo(user: User, say: Callable[[str], object]) -> None:
    """Load the demo fleet, its workloads and a solved plan, unless they are there already."""
