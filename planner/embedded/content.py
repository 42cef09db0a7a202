"""What the embedded default starts with: one login, and on request the synthetic fleet."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from fleet import workload_file
from planner.accounts.models import Membership, Role, Team, User
from planner.inventory.demo import load_demo_fleet
from planner.inventory.models import Cluster
from planner.plans.models import Plan, Workload
from planner.plans.plan_services import create_plan, request_solve
from planner.plans.workload_services import import_workloads

NAME = "admin"
TEAM = "Platform"
WORKLOADS = Path(__file__).with_name("demo_workloads.yaml")


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
        team, _made = Team.objects.get_or_create(slug=TEAM.lower(), defaults={"name": TEAM})
        Membership.objects.create(user=user, team=team, role=Role.ADMIN)
        settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(password, encoding="utf-8")
        return Login(user, password)
    password = path.read_text(encoding="utf-8").strip() if path.exists() else ""
    return Login(user, password if password and user.check_password(password) else "")


def ensure_demo(user: User, say: Callable[[str], object]) -> None:
    """Load the demo fleet, its workloads and a plan to solve, on the first start only.

    What a person deletes afterwards stays deleted: a mark beside the database remembers.
    """
    mark = settings.DATA_DIR / "demo-loaded"
    team = Team.objects.filter(slug=TEAM.lower()).first()
    if mark.exists() or team is None or Cluster.objects.filter(team=team).exists():
        return
    say(_("Making the synthetic fleet (first start only) …"))
    with transaction.atomic():
        load_demo_fleet(team=team, by=user)
        import_workloads(team=team, by=user, values=workload_file.load(WORKLOADS.read_bytes()))
        plan = _demo_plan(team, user)
        request_solve(plan=plan, by=user)
    mark.touch()


def _demo_plan(team: Team, user: User) -> Plan:
    return create_plan(
        team=team,
        by=user,
        workloads=Workload.objects.filter(team=team),
        clusters=(),
        name=_("Demo: first quarter"),
        description=_("Made-up workloads on the synthetic fleet"),
    )
