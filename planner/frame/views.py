"""Pages of the frame itself: search, health and errors."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from planner.accounts.access import role_required
from planner.accounts.middleware import PlannerRequest
from planner.accounts.models import Role
from planner.frame import health, search


@require_GET
@role_required(Role.VIEWER)
def search_results(request: PlannerRequest) -> HttpResponse:
    """Everything of the current team whose name holds the text, by section."""
    text = request.GET.get("q", "")
    found = search.find(request.team, text) if request.team is not None else []
    template = "frame/search.html#results" if request.htmx else "frame/search.html"
    return render(request, template, {"text": text[: search.LONGEST], "sections": found})


@login_not_required
@never_cache
@require_GET
def healthz(request: HttpRequest) -> HttpResponse:
    """Whether this process answers. Touches nothing else."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@never_cache
@require_GET
def readyz(request: HttpRequest) -> HttpResponse:
    """Whether this process can serve pages: 503 with the reason when it cannot."""
    report = health.readiness()
    return JsonResponse(report.as_dict(), status=200 if report.ready else 503)


def _error(request: HttpRequest, status: int, title: str, message: str) -> HttpResponse:
    context = {"status": status, "title": title, "message": message[:500]}
    return render(request, "frame/error.html", context, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """A request that cannot be read."""
    return _error(
        request,
        400,
        _("This request cannot be read"),
        _("The address or the form holds something that this program does not accept."),
    )


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Logged in, but not allowed; the exception says what it needs."""
    return _error(
        request,
        403,
        _("Not allowed"),
        str(exception) or _("Your role in this team does not allow this."),
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """No such page, or none that this user may know of: the same words for both."""
    return _error(
        request,
        404,
        _("Not found"),
        _("There is nothing at this address, or it belongs to another team."),
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """A fault of the program. The page asks nothing of the database or the session."""
    return HttpResponse(render_to_string("frame/500.html"), status=500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form whose token is missing or old."""
    return _error(
        request,
        403,
        _("This form is too old"),
        _(
            "Its protection against forged requests has run out. Go back, reload the page and send "
            "the form again."
        ),
    )


def conflict(
    request: HttpRequest,
    *,
    name: str,
    changes: list[dict[str, Any]],
    url: str,
) -> HttpResponse:
    """409: somebody else saved ``name`` meanwhile. Nothing is lost: both texts are shown.

    ``changes`` has ``label``, ``mine`` and ``theirs`` for each field that differs; ``url`` is the
    page to edit the saved state.
    """
    return render(
        request, "frame/409.html", {"name": name, "changes": changes, "url": url}, status=409
    )
