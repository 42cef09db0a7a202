"""Pages of the frame itself: errors and health."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form whose token is missing or old."""
    return render(request, "frame/403_csrf.html", status=403)
