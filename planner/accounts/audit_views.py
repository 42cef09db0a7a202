"""The record of what people did, for admins."""

from __future__ import annotations

import json

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from fleet.csv_text import write_csv
from planner.accounts import queries
from planner.accounts.access import role_required
from planner.accounts.middleware import PlannerRequest
from planner.accounts.models import AuditEvent, Role

PER_PAGE = 50
LONGEST_CSV = 10_000
HEADER = ("time", "who", "action", "kind", "id", "name", "detail", "address")


def _events(request: PlannerRequest) -> QuerySet[AuditEvent]:
    assert request.team is not None  # noqa: S101 (role_required has seen to it)
    text = request.GET.get("q", "").replace("\0", "")[:100].strip()
    return queries.audit_events(request.team, request.user, text)


@require_GET
@role_required(Role.ADMIN)
def audit_list(request: PlannerRequest) -> HttpResponse:
    """Who did what to what, newest first."""
    page = Paginator(_events(request), PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "accounts/audit_list.html", {"page": page})


@require_GET
@role_required(Role.ADMIN)
def audit_csv(request: PlannerRequest) -> HttpResponse:
    """The same events as CSV, newest first."""
    rows = [
        (
            event.at.isoformat(timespec="seconds"),
            event.actor_name,
            event.action,
            event.object_type,
            event.object_id,
            event.object_name,
            json.dumps(event.detail, ensure_ascii=False) if event.detail else "",
            event.address,
        )
        for event in _events(request)[:LONGEST_CSV]
    ]
    response = HttpResponse(write_csv(HEADER, rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="audit.csv"'
    return response
