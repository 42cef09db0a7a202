"""The job that solves a plan: pin, decode, place, cost, and one transaction for the answer."""

from __future__ import annotations

from typing import Any

import msgspec
from django.db import transaction
from django.db.models.functions import Now
from django.utils import translation

from fleet.placement.solver import Budget, SolveProgress
from fleet.planning import PlanError, make_plan
from fleet.workloads import Workload
from planner.inventory.models import Cluster, Snapshot
from planner.jobs.runner import JobFailed, Run
from planner.plans import run_results
from planner.plans.models import PinnedSnapshot, Plan, PlanRun
from planner.plans.price_books import decode_book


def solve_run(run: Run) -> str:
    """Solve one plan run. Returns one sentence about the answer.

    Raises ``JobFailed`` for inputs that cannot be planned; a lost lease or a cancel leaves
    nothing but the pins, which a second attempt takes over.
    """
    row = PlanRun.objects.select_related("plan").filter(pk=run.subject_id).first()
    if row is None:
        raise JobFailed("gone", "The plan was deleted before it was solved.")
    if row.finished_at is not None:
        return "Already solved."
    run.progress("pinning snapshots")
    snapshots = pin_snapshots(run, row)
    inventories = {}
    for done, snapshot in enumerate(snapshots):
        run.progress("reading snapshots", done, len(snapshots))
        inventories[snapshot.cluster.name] = snapshot.inventory()
    workloads, book = _inputs(row.inputs)

    def tell(progress: SolveProgress) -> None:
        if not run.cancelled():
            run.progress(progress.phase, progress.placed, progress.total)

    run.progress("sizing")
    try:
        # Stored in English, whatever the worker speaks: readers get it in their own language.
        with translation.override("en"):
            plan = make_plan(
                workloads,
                inventories,
                book,
                Budget(seconds=float(row.inputs["budget_s"])),
                seed=int(row.inputs["seed"]),
                progress=tell,
                cancelled=run.cancelled,
            )
    except PlanError as error:
        raise JobFailed(
            "plan",
            f"The plan cannot be made: {error}",
            "Open the workload, correct the field and solve again.",
        ) from error
    run.check()
    _store(run, row, run_results.encode(plan), run_results.counts(plan), run_results.summary(plan))
    figures = run_results.counts(plan)
    return f"{figures['placed_workloads']} of {figures['wanted_workloads']} workloads placed."


def pin_snapshots(run: Run, row: PlanRun) -> list[Snapshot]:
    """The snapshots of this run: those pinned by an earlier attempt, else the current ones.

    Raises ``JobFailed`` when no cluster has a complete snapshot.
    """
    with transaction.atomic():
        run.guard()
        if not row.pins.exists():
            clusters = Cluster.objects.filter(team=row.plan.team_id)
            if row.inputs["clusters"]:
                clusters = clusters.filter(pk__in=row.inputs["clusters"])
            current = clusters.exclude(current_snapshot=None).values_list(
                "current_snapshot", flat=True
            )
            PinnedSnapshot.objects.bulk_create(
                PinnedSnapshot(run=row, snapshot_id=pk) for pk in current
            )
    found = list(
        Snapshot.objects.filter(pins__run=row).select_related("cluster").order_by("cluster__name")
    )
    if not found:
        raise JobFailed(
            "no-snapshot",
            "None of the plan's clusters has a complete snapshot.",
            "Add a cluster or sync one, then solve again.",
        )
    return found


def _inputs(inputs: dict[str, Any]) -> Any:
    try:
        return (
            msgspec.convert(inputs["workloads"], type=tuple[Workload, ...]),
            decode_book(inputs["prices"]),
        )
    except (msgspec.ValidationError, KeyError) as error:
        raise JobFailed(
            "inputs",
            f"The stored inputs of this run cannot be read: {error}",
            "Open the workloads of the plan, save them again and solve anew.",
        ) from error


def _store(
    run: Run, row: PlanRun, result: bytes, counts: dict[str, int], summary: dict[str, Any]
) -> None:
    with transaction.atomic():
        run.guard()
        PlanRun.objects.filter(pk=row.pk, finished_at=None).update(
            result=result, summary=summary, finished_at=Now(), **counts
        )
        Plan.objects.filter(pk=row.plan_id).update(current_run=row)
