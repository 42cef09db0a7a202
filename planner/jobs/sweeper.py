"""Finding what fell through: leases that ended, and bells that nobody heard."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from planner.jobs import bell, registry
from planner.jobs.models import Job


def sweep() -> int:
    """Queue again, or fail, what a dead worker held; ring again for what waits too long.

    Returns how many jobs were touched. Safe to run from many places at once.
    """
    touched = 0
    expired = Job.objects.filter(state=Job.State.RUNNING, lease_until__lt=Now())
    for job in expired:
        touched += _release(job)
    ring_again_after = timedelta(seconds=settings.PLANNER_RING_AGAIN_S)
    waiting = Job.objects.filter(state=Job.State.QUEUED, run_after__lte=Now()).filter(
        Q(rung_at__isnull=True) | Q(rung_at__lt=Now() - ring_again_after)
    )
    if settings.PLANNER_BROKER_URL:
        for job in waiting.order_by("id")[:1000]:
            if not bell.ring(job):
                break  # the broker is away: the next sweep tries again
            touched += 1
    return touched


def _release(job: Job) -> int:
    still = Job.objects.filter(
        pk=job.pk, state=Job.State.RUNNING, claimed_by=job.claimed_by, lease_until__lt=Now()
    )
    if job.cancel_requested:
        return still.update(state=Job.State.CANCELLED, finished_at=Now(), lease_until=None)
    if job.attempts < settings.PLANNER_JOB_ATTEMPTS:
        pause = timedelta(seconds=5 * job.attempts)
        return still.update(
            state=Job.State.QUEUED,
            claimed_by="",
            lease_until=None,
            rung_at=None,
            run_after=Now() + pause,
        )
    with transaction.atomic():
        failed = still.update(
            state=Job.State.FAILED,
            finished_at=Now(),
            lease_until=None,
            error_code="worker-died",
            error_message=f"The worker stopped in the middle, {job.attempts} times.",
            error_way_out="Look at the worker's log and memory, then start it again by hand.",
        )
        hook = registry.on_failed(job.kind)
        if failed and hook is not None:
            hook(job.subject_id, "worker-died")
    return failed
