"""When the schedule was last seen to tick, by the clock of the database.

Queued rows wait for ever when no process takes them, and nothing on a page would say so. The tick
leaves a mark, and its age tells a job loop that lives from one that was never started.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db.models import Exists, Q
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils.translation import gettext as _

from fleet.units import duration_text
from planner.accounts.models import Role
from planner.jobs.models import Job, JobTick

MISSED = 3
"""Intervals without a tick after which nobody does the jobs."""
_ONLY = 1


def note() -> None:
    """The schedule ticks now. One statement, so that two ticks at once do no harm."""
    JobTick.objects.bulk_create(
        [JobTick(pk=_ONLY, at=Now())],
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["at"],
    )


def _patience() -> timedelta:
    return timedelta(seconds=MISSED * settings.PLANNER_TICK_S)


def age() -> timedelta | None:
    """How long ago the schedule ticked; None when it never did."""
    seen = JobTick.objects.annotate(now=Now()).values_list("at", "now").first()
    return None if seen is None else seen[1] - seen[0]


def warning() -> str:
    """For ``/readyz``: "" while the schedule ticks."""
    since = age()
    if since is None:
        return "no tick was ever seen: start `manage.py runjobs` or Celery beat"
    if since <= _patience():
        return ""
    ago = duration_text(since.total_seconds())
    return f"the last tick was {ago} ago: start `manage.py runjobs` or Celery beat"


def nobody_works(request: HttpRequest) -> str:
    """For the pages of admins: work is queued and no tick was seen of late. One statement."""
    if getattr(request, "role", None) != Role.ADMIN:
        return ""
    ticks = JobTick.objects.filter(at__gte=Now() - _patience())
    waiting = Job.objects.filter(~Exists(ticks), Q(state=Job.State.QUEUED, run_after__lte=Now()))
    if not waiting.exists():
        return ""
    return _("Nobody does the jobs: start “manage.py runjobs” or Celery beat.")
