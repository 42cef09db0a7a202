"""Claiming, renewing and ending jobs by conditional UPDATE, on the database's clock.

Every function here is one statement whose row count tells who won. Web, workers and sweeper may
run on machines with different clocks: only ``Now()`` of the database counts.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Now

from planner.jobs.models import Job


def _lease() -> timedelta:
    return timedelta(seconds=settings.PLANNER_JOB_LEASE_S)


def claim(job_id: int, worker: str) -> bool:
    """Take a queued job. True for exactly one caller."""
    return bool(
        Job.objects.filter(pk=job_id, state=Job.State.QUEUED, run_after__lte=Now()).update(
            state=Job.State.RUNNING,
            claimed_by=worker,
            lease_until=Now() + _lease(),
            started_at=Now(),
            attempts=F("attempts") + 1,
            phase="",
            objects_read=0,
            total=None,
        )
    )


def next_queued(queues: list[str]) -> int | None:
    """The id of the oldest job that may run now."""
    return (
        Job.objects.filter(queue__in=queues, state=Job.State.QUEUED, run_after__lte=Now())
        .order_by("run_after", "id")
        .values_list("id", flat=True)
        .first()
    )


def renew(job_id: int, worker: str) -> bool:
    """Renew the lease. False: it is lost, and the work must stop without a trace."""
    return bool(
        Job.objects.filter(pk=job_id, state=Job.State.RUNNING, claimed_by=worker).update(
            lease_until=Now() + _lease()
        )
    )


def end(job_id: int, worker: str, state: str, **fields: str) -> bool:
    """End a running job. False when another worker has taken it over meanwhile."""
    return bool(
        Job.objects.filter(pk=job_id, state=Job.State.RUNNING, claimed_by=worker).update(
            state=state, finished_at=Now(), lease_until=None, **fields
        )
    )
