"""Asking for work, and asking for it to stop."""

from __future__ import annotations

from functools import partial

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from planner.accounts.models import Team, User
from planner.jobs import bell
from planner.jobs.models import Job


def request_job(
    *,
    kind: str,
    queue: str,
    subject_id: int,
    subject_name: str,
    team: Team,
    by: User | None,
) -> tuple[Job, bool]:
    """The active job for this subject, made if there is none; and whether it is new.

    Double clicks, two beats and redeliveries all end at the same row: the partial unique
    constraint on ``key`` decides, not a look beforehand.
    """
    key = f"{kind}:{subject_id}"
    for _attempt in range(3):
        try:
            with transaction.atomic():
                job = Job.objects.create(
                    kind=kind,
                    queue=queue,
                    key=key,
                    subject_id=subject_id,
                    subject_name=subject_name[:200],
                    team=team,
                    requested_by=by,
                )
        except IntegrityError:
            active = Job.objects.active().filter(key=key).first()
            if active is not None:
                return active, False
            continue  # it ended between the two statements: ask again
        transaction.on_commit(partial(bell.ring, job))
        return job, True
    raise RuntimeError(f"job {key} could not be requested: it kept ending while being asked for")


def request_cancel(job: Job) -> bool:
    """Ask a job to stop. A queued one is cancelled at once, a running one at its next step.

    Returns whether it was still active.
    """
    now_cancelled = Job.objects.filter(pk=job.pk, state=Job.State.QUEUED).update(
        state=Job.State.CANCELLED, cancel_requested=True, finished_at=Now()
    )
    if now_cancelled:
        return True
    return bool(
        Job.objects.filter(pk=job.pk, state=Job.State.RUNNING).update(cancel_requested=True)
    )
