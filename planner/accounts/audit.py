"""Writing audit events, in the same transaction as the act."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.http import HttpRequest

from planner.accounts.models import AuditEvent, Team, User


def record(
    action: str,
    subject: models.Model,
    *,
    by: User | None,
    team: Team | None,
    request: HttpRequest | None = None,
    **detail: Any,
) -> AuditEvent:
    """Record ``action`` ("cluster.created") on ``subject``. ``detail`` must hold no secret.

    Call it inside the transaction of the act, so that a rollback takes the event with it.
    """
    return AuditEvent.objects.create(
        actor=by,
        actor_name=by.get_username() if by is not None else "system",
        team=team,
        action=action,
        object_type=subject._meta.model_name or "",
        object_id=str(subject.pk),
        object_name=str(subject)[:200],
        detail=detail,
        address=(request.META.get("REMOTE_ADDR") or "")[:45] if request is not None else "",
    )
