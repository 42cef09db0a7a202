"""Job rows: a row asks for work and holds its state. The row is the job; the broker only a bell."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from planner.accounts.models import Team, User
from planner.jobs.reasons import Failure, failure


class JobQuerySet(models.QuerySet["Job"]):
    def visible_to(self, user: Any) -> JobQuerySet:
        """Jobs of the user's teams."""
        return self.filter(team__in=Team.objects.visible_to(user))

    def active(self) -> JobQuerySet:
        return self.filter(state__in=(Job.State.QUEUED, Job.State.RUNNING))


class Job(models.Model):
    """One piece of work for one subject: sync cluster 12, solve plan run 40.

    Life cycle: queued -> running -> done | failed | cancelled. A running job holds a lease that
    its heartbeat renews; when the lease ends, the sweeper queues it again, or fails it after the
    last attempt. ``key`` names the subject: at most one active job per key.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    class Queue(models.TextChoices):
        SYNC = "sync", "sync"
        SOLVE = "solve", "solve"

    kind = models.CharField(max_length=20)
    queue = models.CharField(max_length=10, choices=Queue)
    key = models.CharField(max_length=80)
    subject_id = models.BigIntegerField()
    subject_name = models.CharField(max_length=200, blank=True)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    requested_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")

    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    run_after = models.DateTimeField(db_default=Now())
    rung_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    claimed_by = models.CharField(max_length=64, blank=True, default="")
    lease_until = models.DateTimeField(null=True)
    cancel_requested = models.BooleanField(default=False)

    phase = models.CharField(max_length=120, blank=True, default="")
    objects_read = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True)
    result = models.CharField(max_length=300, blank=True, default="")
    error_code = models.CharField(max_length=40, blank=True, default="")
    error_message = models.CharField(max_length=1000, blank=True, default="")
    error_way_out = models.CharField(max_length=1000, blank=True, default="")

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(
                fields=["key"],
                condition=Q(state__in=("queued", "running")),
                name="jobs_one_active_per_key",
            )
        ]
        indexes = [
            models.Index(
                fields=["queue", "run_after", "id"],
                condition=Q(state="queued"),
                name="jobs_queued_in_order",
            ),
            models.Index(fields=["kind", "subject_id", "-id"], name="jobs_by_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject_name or self.subject_id}"

    @property
    def is_active(self) -> bool:
        return self.state in (self.State.QUEUED, self.State.RUNNING)

    @property
    def failure(self) -> Failure:
        """Why it failed and what to do, in the reader's language."""
        return failure(self.error_code, self.error_message, self.error_way_out)


class JobTick(models.Model):
    """One row: when the schedule last ticked (``planner.jobs.ticks``)."""

    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"tick at {self.at:%Y-%m-%d %H:%M:%S}"
