"""Reads of the pages: lists with what stands beside each row, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec
from django.db.models import Count, Max, Prefetch, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from fleet import workloads as fleet_workloads
from fleet.units import Money
from planner.accounts.models import Team
from planner.frame.search import LIMIT, Result
from planner.inventory.models import Cluster
from planner.jobs.models import Job
from planner.plans.models import Plan, PlanRun, PriceEntry, Workload
from planner.plans.plan_places import cluster_words
from planner.plans.plan_words import proof_text

_LIGHT_RUN = ("current_run__result", "current_run__inputs")


def workload_list(team: Team, *, text: str = "", kind: str = "") -> QuerySet[Workload]:
    """Workloads of the team with their plans, whose last answers say how they were placed."""
    plans = Plan.objects.select_related("current_run").defer(*_LIGHT_RUN).order_by("-updated_at")
    rows: QuerySet[Workload] = Workload.objects.filter(team=team)
    if text:
        rows = rows.filter(name__icontains=text)
    if kind in Workload.Kind.values:
        rows = rows.filter(kind=kind)
    return rows.prefetch_related(Prefetch("plans", queryset=plans))


def serving_workloads(team: Team) -> Sequence[fleet_workloads.Workload]:
    """The embedding and LLM workloads that the team declared, as the engine takes them. A row
    that this version cannot read is left out: its own page says so."""
    kinds = (Workload.Kind.EMBEDDING, Workload.Kind.LLM)
    found = []
    for row in Workload.objects.filter(team=team, kind__in=kinds):
        try:
            found.append(row.value)
        except msgspec.ValidationError:
            continue
    return found


def last_answer(workload: Workload) -> tuple[Plan, int, int] | None:
    """The plan whose answer holds the workload, newest first: (plan, placed, wanted)."""
    answers = []
    for plan in workload.plans.all():
        run = plan.current_run
        held = run.summary.get("workloads", {}).get(workload.name) if run is not None else None
        if run is not None and held is not None:
            answers.append((run.finished_at, plan, int(held[0]), int(held[1])))
    if not answers:
        return None
    _at, plan, placed, wanted = max(answers, key=lambda answer: (answer[0], answer[1].pk))
    return plan, placed, wanted


def plan_list(team: Team) -> QuerySet[Plan]:
    """Plans of the team with their last answer and the number of their workloads."""
    rows: QuerySet[Plan] = (
        Plan.objects.filter(team=team)
        .select_related("current_run")
        .defer(*_LIGHT_RUN)
        .annotate(workload_count=Count("workloads", distinct=True))
        .order_by("name")
    )
    return rows


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run in a list, with the figures that it was stored with."""

    plan: Plan
    run: PlanRun | None
    job: Job | None = None
    synthetic: frozenset[str] = frozenset()  # names of the team's synthetic clusters

    @property
    def where(self) -> str:
        """ "on 3 clusters (2 of them synthetic)"; "" when nothing is placed."""
        used = self.run.summary.get("clusters", []) if self.run is not None else []
        return cluster_words(len(used), len(self.synthetic.intersection(used))) if used else ""

    @property
    def totals(self) -> list[Money]:
        """A month of what is placed, one for each currency."""
        months = self.run.summary.get("month", {}) if self.run is not None else {}
        return [Money(Decimal(months[code]), code) for code in sorted(months)]

    @property
    def proof(self) -> str:
        if self.run is None or not self.run.summary:
            return ""
        return proof_text(self.run.summary["status"], self.run.summary["gap"])


def synthetic_clusters(team: Team) -> frozenset[str]:
    """Names of the team's made-up clusters."""
    rows = Cluster.objects.filter(team=team, source=Cluster.Source.DEMO)
    return frozenset(rows.values_list("name", flat=True))


def usual_clusters(team: Team) -> list[int]:
    """The clusters that a new plan starts with: the real ones where the team has synthetic ones
    too, else none, which stands for all."""
    clusters = list(Cluster.objects.filter(team=team))
    real = [cluster.pk for cluster in clusters if not cluster.is_synthetic]
    return real if len(real) < len(clusters) else []


def run_history(plan: Plan) -> list[RunLine]:
    """The runs of a plan, newest first, with the job that did each."""
    runs = list(plan.runs.select_related("requested_by").defer("result", "inputs")[:100])
    jobs: dict[int, Job] = {}
    for job in Job.objects.filter(kind="solve", subject_id__in=[run.pk for run in runs]).order_by(
        "id"
    ):
        jobs[job.subject_id] = job
    return [RunLine(plan, run, jobs.get(run.pk)) for run in runs]


def latest_job(plan: Plan) -> Job | None:
    """The job of the newest run."""
    newest = plan.runs.aggregate(newest=Max("pk"))["newest"]
    return Job.objects.filter(kind="solve", subject_id=newest).first() if newest else None


def price_list(team: Team) -> QuerySet[PriceEntry]:
    rows: QuerySet[PriceEntry] = PriceEntry.objects.filter(team=team).select_related("cluster")
    return rows


def count_workloads(team: Team, cluster: str) -> int:
    """For the menu. Workloads belong to no cluster, so the choice of one changes nothing."""
    return Workload.objects.filter(team=team).count()


def count_plans(team: Team, cluster: str) -> int:
    return Plan.objects.filter(team=team).count()


def find_workloads(team: Team, text: str) -> Sequence[Result]:
    rows: Any = Workload.objects.filter(team=team, name__icontains=text)[:LIMIT]
    return [
        Result(row.name, reverse("plans:workload-detail", args=[row.pk]), row.get_kind_display())
        for row in rows
    ]


def find_plans(team: Team, text: str) -> Sequence[Result]:
    rows: Any = Plan.objects.filter(team=team, name__icontains=text)[:LIMIT]
    return [
        Result(row.name, reverse("plans:plan-detail", args=[row.pk]), _("plan")) for row in rows
    ]
