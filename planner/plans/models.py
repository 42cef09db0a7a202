"""What people plan: workloads, prices, plans and their solved runs."""

from __future__ import annotations

from typing import Any

import msgspec
from django.db import models
from django.utils.translation import gettext_lazy as _

from fleet import workloads as fleet_workloads
from planner.accounts.models import Team, User
from planner.inventory.models import Cluster, Snapshot


class TeamOwnedQuerySet(models.QuerySet[Any]):
    def visible_to(self, user: Any) -> TeamOwnedQuerySet:
        """Rows of the user's teams; none for anybody else."""
        return self.filter(team__in=Team.objects.visible_to(user))


class Workload(models.Model):
    """A declared workload. ``spec`` is the encoded ``fleet.workloads`` value, the one truth."""

    class Kind(models.TextChoices):
        EMBEDDING = "embedding", _("Embedding")
        LLM = "llm", _("LLM inference")
        TRAINING = "training", _("Distributed training")

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="workloads")
    name = models.SlugField(max_length=63)
    kind = models.CharField(max_length=10, choices=Kind)
    spec = models.JSONField()
    version = models.PositiveIntegerField(default=1)  # lost-update protection
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    updated_at = models.DateTimeField(auto_now=True)

    objects = TeamOwnedQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="plans_workload_name_in_team")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def value(self) -> fleet_workloads.Workload:
        """The declared value. Raises ``msgspec.ValidationError`` on a row of another program."""
        value: fleet_workloads.Workload = msgspec.convert(self.spec, type=fleet_workloads.Workload)
        return value

    @property
    def priority(self) -> int:
        """Higher is placed first."""
        return int(self.spec.get("priority", 0))


class PriceEntry(models.Model):
    """A price that the team states itself; it goes before the list prices of the catalogue."""

    class Kind(models.TextChoices):
        LIST = "list", _("List")
        NEGOTIATED = "negotiated", _("Negotiated")
        COMMITTED = "committed", _("Committed")
        SPOT = "spot", _("Spot")
        OWNED = "owned", _("Owned hardware")

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="prices")
    kind = models.CharField(max_length=10, choices=Kind)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, null=True, blank=True)
    instance_type = models.CharField(max_length=100, blank=True)
    gpu_model = models.CharField(max_length=100, blank=True)
    per_gpu_hour = models.DecimalField(max_digits=12, decimal_places=4)
    currency = models.CharField(max_length=3, default="USD")
    source = models.CharField(max_length=200)
    as_of = models.DateField()
    owned_inputs = models.JSONField(null=True, blank=True)  # inputs of the owned-hardware formula
    version = models.PositiveIntegerField(default=1)

    objects = TeamOwnedQuerySet.as_manager()

    class Meta:
        ordering = ("gpu_model", "instance_type", "id")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(instance_type="") ^ models.Q(gpu_model=""),
                name="plans_price_for_one_thing",
            )
        ]

    def __str__(self) -> str:
        return f"{self.gpu_model or self.instance_type} {self.per_gpu_hour} {self.currency}"


class Plan(models.Model):
    """A named set of workloads, solved against pinned snapshots."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="plans")
    name = models.CharField(max_length=80)
    description = models.CharField(max_length=300, blank=True)
    workloads = models.ManyToManyField(Workload, related_name="plans")
    clusters = models.ManyToManyField(Cluster, related_name="plans", blank=True)  # none: all
    budget_s = models.PositiveIntegerField(default=20)
    seed = models.PositiveIntegerField(default=0)
    version = models.PositiveIntegerField(default=1)
    current_run = models.ForeignKey(
        "PlanRun", on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = TeamOwnedQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="plans_plan_name_in_team")
        ]

    def __str__(self) -> str:
        return self.name


class PlanRun(models.Model):
    """One solve of a plan: its inputs as they were, and its answer. Immutable once finished.

    The job row (kind "solve", subject: the run) holds state and progress.
    """

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="runs")
    number = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    requested_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    snapshots = models.ManyToManyField(Snapshot, through="PinnedSnapshot", related_name="runs")
    inputs = models.JSONField(default=dict)  # workloads, prices, budget and seed as they were
    result = models.BinaryField(null=True)  # zlib of the encoded fleet.planning.Plan
    placed_replicas = models.PositiveIntegerField(null=True)
    wanted_replicas = models.PositiveIntegerField(null=True)
    placed_workloads = models.PositiveIntegerField(null=True)
    wanted_workloads = models.PositiveIntegerField(null=True)
    summary = models.JSONField(default=dict)  # figures for lists: cost, gap, status

    class Meta:
        ordering = ("-number",)
        constraints = [
            models.UniqueConstraint(fields=["plan", "number"], name="plans_run_number_in_plan")
        ]

    def __str__(self) -> str:
        return f"run {self.number} of plan {self.plan_id}"


class PinnedSnapshot(models.Model):
    """A snapshot that a run used: it cannot be pruned while the run exists."""

    run = models.ForeignKey(PlanRun, on_delete=models.CASCADE, related_name="pins")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="pins")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "snapshot"], name="plans_pin_once")]

    def __str__(self) -> str:
        return f"{self.run_id} pins {self.snapshot_id}"
