"""Changing a team's own prices. Each act is one transaction with its audit event."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from planner.accounts import audit
from planner.accounts.models import Team, User
from planner.plans.models import PriceEntry
from planner.plans.versions import update_if_unchanged


def create_price(*, team: Team, by: User, columns: dict[str, Any]) -> PriceEntry:
    with transaction.atomic():
        row = PriceEntry.objects.create(team=team, **columns)
        audit.record("price.created", row, by=by, team=team, price=str(row.per_gpu_hour))
    return row


def update_price(*, price: PriceEntry, by: User, version: int, columns: dict[str, Any]) -> None:
    """Raises ``StaleVersion`` when somebody else saved first."""
    with transaction.atomic():
        update_if_unchanged(price, version, **columns)
        audit.record("price.changed", price, by=by, team=price.team, price=str(price.per_gpu_hour))


def delete_price(*, price: PriceEntry, by: User) -> None:
    """Finished runs keep the prices that they used."""
    with transaction.atomic():
        audit.record("price.deleted", price, by=by, team=price.team)
        price.delete()
