"""One job, alive: the fragment that pages poll, and the button that stops it."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from planner.accounts import audit
from planner.accounts.access import require_role, role_required
from planner.accounts.middleware import PlannerRequest
from planner.accounts.models import Role
from planner.jobs.models import Job
from planner.jobs.requests import request_cancel


def _progress(request: PlannerRequest, job: Job) -> HttpResponse:
    template = "components/job_progress.html" if request.htmx else "frame/job.html"
    context = {"job": job, "role": request.user.role_in(job.team), "now": timezone.now()}
    response = render(request, template, context)
    if request.htmx and not job.is_active:
        # Parts of the page that show what the job has changed refresh themselves on this event.
        response["HX-Trigger"] = "job-ended"
    return response


@require_GET
@role_required(Role.VIEWER)
def job_progress(request: PlannerRequest, job_id: int) -> HttpResponse:
    """Phase, objects read and elapsed time; then the result or the error."""
    return _progress(request, get_object_or_404(Job.objects.visible_to(request.user), pk=job_id))


@require_POST
@role_required(Role.PLANNER)
def job_cancel(request: PlannerRequest, job_id: int) -> HttpResponse:
    """Ask the job to stop; answers with its progress."""
    job = get_object_or_404(Job.objects.visible_to(request.user), pk=job_id)
    require_role(request, job.team, Role.PLANNER)
    if request_cancel(job):
        audit.record("job.cancelled", job, by=request.user, team=job.team, request=request)
    job.refresh_from_db()
    return _progress(request, job) if request.htmx else redirect("jobs:progress", job.pk)
