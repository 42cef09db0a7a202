"""Making, changing, removing and solving plans. Each act is one transaction with its event."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from planner.accounts import audit
from planner.accounts.models import Team, User
from planner.inventory.models import Cluster
from planner.jobs.models import Job
from planner.jobs.requests import request_job
from planner.plans.models import Plan, PlanRun, Workload
from planner.plans.price_books import book_for
from planner.plans.versions import update_if_unchanged
from planner.plans.workload_services import Refused

JOB_KIND = "solve"
MAX_WORKLOADS_OF_PLAN = 200


def _name_taken(name: str) -> Refused:
    return Refused(_("Your team already has a plan named “%(name)s”.") % {"name": name})


def create_plan(
    *,
    team: Team,
    by: User,
    workloads: Iterable[Workload],
    clusters: Iterable[Cluster],
    **fields: Any,
) -> Plan:
    """Raises ``Refused`` when the name is taken."""
    try:
        with transaction.atomic():
            plan = Plan.objects.create(team=team, created_by=by, **fields)
            plan.workloads.set(workloads)
            plan.clusters.set(clusters)
            audit.record("plan.created", plan, by=by, team=team)
    except IntegrityError as error:
        raise _name_taken(str(fields.get("name"))) from error
    return plan


def update_plan(
    *,
    plan: Plan,
    by: User,
    version: int,
    workloads: Iterable[Workload],
    clusters: Iterable[Cluster],
    **fields: Any,
) -> None:
    """Raises ``StaleVersion`` when somebody else was first, ``Refused`` when the name is taken."""
    try:
        with transaction.atomic():
            update_if_unchanged(plan, version, updated_at=Now(), **fields)
            plan.workloads.set(workloads)
            plan.clusters.set(clusters)
            audit.record("plan.changed", plan, by=by, team=plan.team)
    except IntegrityError as error:
        raise _name_taken(str(fields.get("name"))) from error


def delete_plan(*, plan: Plan, by: User) -> None:
    """Removes its runs too. Raises ``Refused`` while one of them is being solved."""
    with transaction.atomic():
        if active_job(plan) is not None:
            raise Refused(_("This plan is being solved. Cancel that first, then delete it."))
        audit.record("plan.deleted", plan, by=by, team=plan.team)
        plan.delete()


def active_job(plan: Plan) -> Job | None:
    """The job that solves this plan now, if any."""
    runs = plan.runs.filter(finished_at=None).values("pk")
    return Job.objects.active().filter(kind=JOB_KIND, subject_id__in=runs).first()


def request_solve(*, plan: Plan, by: User | None) -> Job:
    """The job that solves ``plan``: the one already active, or a new one with the inputs as now.

    Raises ``Refused`` when the plan is empty or too big, or when the user has another solve
    running: one at a time leaves room for the others.
    """
    with transaction.atomic():
        locked = Plan.objects.select_for_update().get(pk=plan.pk)
        job = active_job(locked)
        if job is not None:
            return job
        if by is not None:
            other = Job.objects.active().filter(kind=JOB_KIND, requested_by=by).first()
            if other is not None:
                raise Refused(
                    _("Your solve of “%(name)s” is still running. Wait for it or cancel it first.")
                    % {"name": other.subject_name}
                )
        specs = list(locked.workloads.order_by("name").values_list("spec", flat=True))
        if not specs:
            raise Refused(_("This plan has no workload yet. Add one, then solve."))
        if len(specs) > MAX_WORKLOADS_OF_PLAN:
            raise Refused(
                _("A plan holds at most %(count)d workloads; this one has %(has)d.")
                % {"count": MAX_WORKLOADS_OF_PLAN, "has": len(specs)}
            )
        last = locked.runs.aggregate(last=Max("number"))["last"] or 0
        run = PlanRun.objects.create(
            plan=locked,
            number=last + 1,
            requested_by=by,
            inputs={
                "workloads": specs,
                "prices": msgspec.to_builtins(book_for(locked.team)),
                "clusters": list(locked.clusters.order_by("pk").values_list("pk", flat=True)),
                "budget_s": locked.budget_s,
                "seed": locked.seed,
            },
        )
        job, _new = request_job(
            kind=JOB_KIND,
            queue=Job.Queue.SOLVE,
            subject_id=run.pk,
            subject_name=locked.name,
            team=locked.team,
            by=by,
        )
        audit.record("plan.solve-requested", locked, by=by, team=locked.team, run=run.number)
    return job
