"""Ringing workers. A bell that fails costs time, never work: the sweeper rings again."""

from __future__ import annotations

import logging

from django.conf import settings
from django.db.models.functions import Now

from planner.jobs.models import Job

log = logging.getLogger(__name__)


def ring(job: Job) -> bool:
    """Tell a Celery worker to look at ``job``. Without a broker the job loop polls instead.

    Returns whether the bell was heard by the broker.
    """
    if not settings.PLANNER_BROKER_URL:
        return False
    from planner.jobs.tasks import run_one  # Celery is loaded only where there is a broker

    try:
        run_one.apply_async(args=[job.pk], queue=job.queue, retry=False)
    except Exception as error:  # any broker trouble: the row is safe, the sweeper rings later
        log.warning("bell for job %s not heard: %s", job.pk, type(error).__name__)
        return False
    Job.objects.filter(pk=job.pk).update(rung_at=Now())
    return True
