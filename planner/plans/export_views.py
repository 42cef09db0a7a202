"""The answer of a plan to take away: CSV and JSON."""

from __future__ import annotations

import msgspec
from django.http import Http404, HttpResponse
from django.views.decorators.http import require_GET

from fleet.planning import report_csv
from planner.accounts.access import role_required
from planner.accounts.middleware import PlannerRequest
from planner.accounts.models import Role
from planner.plans.plan_report import PlanReport
from planner.plans.plan_views import chosen_run, own_plan


def _report(request: PlannerRequest, pk: int) -> PlanReport:
    run = chosen_run(request, own_plan(request, pk))
    report = PlanReport.of(run) if run is not None else None
    if report is None:
        raise Http404
    return report


def _file(content: bytes, content_type: str, suffix: str, report: PlanReport) -> HttpResponse:
    """No text of a user in the file name: it goes into a header."""
    response = HttpResponse(content, content_type=content_type)
    name = f"plan-{report.run.plan_id}-run-{report.run.number}.{suffix}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


@require_GET
@role_required(Role.VIEWER)
def plan_csv(request: PlannerRequest, pk: int) -> HttpResponse:
    """One row a pod; columns in docs/report-columns.md."""
    report = _report(request, pk)
    content = report_csv(report.value, report.run.plan.name)
    return _file(content, "text/csv; charset=utf-8", "csv", report)


@require_GET
@role_required(Role.VIEWER)
def plan_json(request: PlannerRequest, pk: int) -> HttpResponse:
    """The whole answer: inputs, requirements, placement and costs, with the pinned snapshots."""
    report = _report(request, pk)
    value = report.value
    content = {
        "plan": report.run.plan.name,
        "run": report.run.number,
        "finished_at": report.run.finished_at,
        "snapshots": [
            {
                "cluster": s.cluster.name,
                "number": s.number,
                "taken_at": s.taken_at,
                "synthetic": s.cluster.is_synthetic,
            }
            for s in report.snapshots
        ],
        "counts": report.figures,
        "rows": report.pod_rows,
        "workloads": value.workloads,
        "requirements": value.requirements,
        "placement": value.placement,
        "costs": value.costs,
        "idle": value.idle,
    }
    data = msgspec.json.format(msgspec.json.encode(content), indent=1)
    return _file(data, "application/json", "json", report)
