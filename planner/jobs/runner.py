"""Running one job: claim, heartbeat, handler, end. Workers and the embedded loop share it."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from contextlib import suppress
from types import TracebackType

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils import translation

from planner.jobs import claims, registry
from planner.jobs.models import Job
from planner.jobs.reasons import KEPT_LANGUAGE

log = logging.getLogger(__name__)


class JobFailed(Exception):
    """The work cannot be done, and trying again at once would not help."""

    def __init__(self, code: str, message: str, way_out: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.way_out = code, message, way_out


class JobCancelled(Exception):
    """Somebody asked for the job to stop."""


class LeaseLost(Exception):
    """Another worker has taken the job over; nothing may be written any more."""


class Run:
    """A job while it runs: what its handler may know and say."""

    def __init__(self, job: Job, worker: str) -> None:
        self.job_id, self.worker = job.pk, worker
        self.subject_id, self.team_id = job.subject_id, job.team_id
        self.requested_by_id = job.requested_by_id
        self._lost = threading.Event()
        self._cancel = threading.Event()
        self._said_at = 0.0

    def progress(self, phase: str, objects: int = 0, total: int | None = None) -> None:
        """Tell the page where the work is (at most twice a second); stops a cancelled run.

        Raises ``JobCancelled`` or ``LeaseLost``.
        """
        self.check()
        now = time.monotonic()
        if now - self._said_at < 0.5 and objects:
            return
        self._said_at = now
        Job.objects.filter(pk=self.job_id, claimed_by=self.worker, state=Job.State.RUNNING).update(
            phase=phase[:120], objects_read=objects, total=total
        )

    def cancelled(self) -> bool:
        """Whether the work should end now."""
        return self._cancel.is_set() or self._lost.is_set()

    def check(self) -> None:
        """Raise if the work should end now."""
        if self._lost.is_set():
            raise LeaseLost
        if self._cancel.is_set():
            raise JobCancelled

    def guard(self) -> None:
        """Call first in the transaction that makes the result visible: it fails unless this
        worker still holds the job, and holds the row until the commit.

        Raises ``LeaseLost``, or ``JobCancelled``.
        """
        if not connection.in_atomic_block:
            raise RuntimeError("guard() belongs inside the transaction that it guards")
        self.check()
        if not claims.renew(self.job_id, self.worker):
            raise LeaseLost

    def beat(self) -> None:
        """One heartbeat: renew the lease, hear about cancelling."""
        if not claims.renew(self.job_id, self.worker):
            self._lost.set()
        elif Job.objects.filter(pk=self.job_id, cancel_requested=True).exists():
            self._cancel.set()


class _Heartbeat:
    """Renews the lease from a thread of its own while the handler works."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, daemon=True, name=f"beat-{run.job_id}")

    def _loop(self) -> None:
        interval = min(settings.PLANNER_JOB_LEASE_S / 6, 2.0)
        try:
            while not self._stop.wait(interval):
                # A database that is away for a moment is no reason to give up: the lease decides.
                with suppress(DatabaseError):
                    self._run.beat()
        finally:
            connection.close()

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join(timeout=30)


def worker_name() -> str:
    """A name that no other claim has had."""
    return f"{socket.gethostname()[:24]}-{os.getpid()}-{secrets.token_hex(8)}"


def run(job_id: int) -> bool:
    """Run the job if it is queued. Returns whether this call ran it."""
    worker = worker_name()
    if not claims.claim(job_id, worker):
        return False
    job = Job.objects.get(pk=job_id)
    current = Run(job, worker)
    handler = registry.handler(job.kind)
    try:
        if handler is None:
            raise JobFailed("unknown-kind", f"No part of this program does “{job.kind}” jobs.")
        with translation.override(KEPT_LANGUAGE), _Heartbeat(current):
            result = handler(current)
        claims.end(job_id, worker, Job.State.DONE, result=result[:300])
    except LeaseLost:
        log.warning("job %s was taken over by another worker", job_id)
    except JobCancelled:
        claims.end(job_id, worker, Job.State.CANCELLED)
    except JobFailed as error:
        _fail(job, worker, error)
    except Exception as error:
        # The message of an unexpected error may hold anything, so only its type is shown.
        log.exception("job %s (%s) failed", job_id, job.kind)
        _fail(
            job,
            worker,
            JobFailed(
                "internal",
                f"An unexpected error ended the job ({type(error).__name__}).",
                "The log of the worker has the details.",
            ),
        )
    return True


def _fail(job: Job, worker: str, error: JobFailed) -> None:
    with transaction.atomic():
        ended = claims.end(
            job.pk,
            worker,
            Job.State.FAILED,
            error_code=error.code[:40],
            error_message=error.message[:1000],
            error_way_out=error.way_out[:1000],
        )
        hook = registry.on_failed(job.kind)
        if ended and hook is not None:
            hook(job.subject_id, error.code)
