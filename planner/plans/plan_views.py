"""Pages of plans: list, form, solve, and the tabs of the answer."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from planner.accounts.access import current_team, require_role, role_required
from planner.accounts.middleware import PlannerRequest
from planner.accounts.models import Role, Team
from planner.charts import cost_per_workload
from planner.plans import conflicts, plan_services, queries
from planner.plans.models import Plan, PlanRun
from planner.plans.plan_forms import PlanForm
from planner.plans.plan_map import plan_map
from planner.plans.plan_report import MOST_IN_CHART, PlanReport
from planner.plans.versions import StaleVersion
from planner.plans.workload_services import Refused

PAGE = 25
TABS = ("placement", "cost", "pods", "solver", "history")


def tab_words() -> dict[str, str]:
    return {
        "placement": _("Placement"),
        "cost": _("Cost"),
        "pods": _("Pods"),
        "solver": _("Solver"),
        "history": _("History"),
    }


def own_plan(request: PlannerRequest, pk: int, role: Role = Role.VIEWER) -> Plan:
    """The plan, if the user may see it and has ``role`` in its team; 404 for strangers."""
    plan: Plan = get_object_or_404(
        Plan.objects.visible_to(request.user).select_related("team", "current_run"), pk=pk
    )
    require_role(request, plan.team, role)
    return plan


def chosen_run(request: PlannerRequest, plan: Plan) -> PlanRun | None:
    """The run that ``?run=`` names, else the plan's answer. Raises ``Http404``."""
    number = request.GET.get("run", "")
    run = plan.current_run
    if number:
        if not number.isascii() or not number.isdigit() or len(number) > 9:
            raise Http404
        run = get_object_or_404(plan.runs, number=int(number))
    if run is not None:
        run.plan = plan
    return run


@require_GET
@role_required(Role.VIEWER)
def plan_list(request: PlannerRequest) -> HttpResponse:
    """Plans with their last answer."""
    team = current_team(request)
    page = Paginator(queries.plan_list(team), PAGE).get_page(request.GET.get("page"))
    synthetic = queries.synthetic_clusters(team)
    context = {
        "page": page,
        "lines": [queries.RunLine(p, p.current_run, synthetic=synthetic) for p in page.object_list],
        "has_workloads": team.workloads.exists(),
    }
    return render(request, "plans/plan_list.html", context)


@require_GET
@role_required(Role.VIEWER)
def plan_detail(request: PlannerRequest, pk: int, tab: str = "placement") -> HttpResponse:
    """The answer of a plan, in tabs; ``?run=`` shows an older one."""
    if tab not in TABS:
        raise Http404
    plan = own_plan(request, pk)
    run = chosen_run(request, plan)
    report = PlanReport.of(run) if run is not None else None
    is_old = run is not None and run.pk != plan.current_run_id
    context: dict[str, Any] = {
        "plan": plan,
        "run": run,
        "run_query": f"?run={run.number}" if run is not None and is_old else "",
        "report": report,
        "tab": tab,
        "tabs": [(key, tab_words()[key]) for key in TABS],
        "job": queries.latest_job(plan),
        "is_old": is_old,
    }
    if tab == "placement" and report is not None and run is not None:
        context["map"] = plan_map(run, report.value.placement.assignments)
    if tab == "pods" and report is not None:
        context["page"] = page = Paginator(report.pod_rows, 100).get_page(request.GET.get("page"))
        context["rows"] = [report.pod_row(row) for row in page]
    if tab in ("placement", "cost") and report is not None:
        context["most"] = most = MOST_IN_CHART if tab == "placement" else None
        costs = report.month_by_model(most)
        context["charts"] = [
            (code, cost_per_workload(parts, currency=code)) for code, parts in costs.items()
        ]
    if tab == "history":
        context["history"] = queries.run_history(plan)
    return render(request, f"plans/plan_{tab}.html", context)


@require_http_methods(["GET", "POST"])
@role_required(Role.PLANNER)
def plan_create(request: PlannerRequest) -> HttpResponse:
    """Make a plan."""
    wanted = request.GET.getlist("workload")[:200]
    chosen: list[Any] = [pk for pk in wanted if pk.isascii() and pk.isdigit() and len(pk) < 18]
    team = current_team(request)
    if not chosen:  # all of them: leaving some out is the rarer wish
        chosen = list(team.workloads.values_list("pk", flat=True)[:200])
    return _create(request, team, {"workloads": chosen, "clusters": queries.usual_clusters(team)})


@require_http_methods(["GET", "POST"])
@role_required(Role.PLANNER)
def plan_clone(request: PlannerRequest, pk: int) -> HttpResponse:
    """Make a plan that starts as a copy of another."""
    plan = own_plan(request, pk, Role.PLANNER)
    copy = _("%(name)s (copy)") % {"name": plan.name[:70]}
    return _create(request, plan.team, PlanForm.initial_of(plan) | {"name": copy, "version": None})


def _create(request: PlannerRequest, team: Team, initial: dict[str, Any]) -> HttpResponse:
    data = request.POST if request.method == "POST" else None
    form = PlanForm(data, team=team, initial=initial)
    if data is not None and form.is_valid():
        try:
            plan = plan_services.create_plan(team=team, by=request.user, **form.columns())
        except Refused as error:
            form.add_error("name", str(error))
        else:
            if "solve" in request.POST:
                return _solve(request, plan)
            return redirect("plans:plan-detail", plan.pk)
    return _form_page(request, form)


def _form_page(
    request: PlannerRequest, form: PlanForm, *, status: int | None = None, **context: Any
) -> HttpResponse:
    code = status or (422 if form.errors else 200)
    return render(request, "plans/plan_edit.html", context | {"form": form}, status=code)


@require_http_methods(["GET", "POST"])
@role_required(Role.PLANNER)
def plan_edit(request: PlannerRequest, pk: int) -> HttpResponse:
    """Change a plan; 409 with both texts when somebody else was first."""
    plan = own_plan(request, pk, Role.PLANNER)
    data = request.POST if request.method == "POST" else None
    form = PlanForm(data, team=plan.team, initial=PlanForm.initial_of(plan))
    if data is not None and form.is_valid():
        try:
            plan_services.update_plan(
                plan=plan,
                by=request.user,
                version=form.cleaned_data["version"] or 0,
                **form.columns(),
            )
        except Refused as error:
            form.add_error("name", str(error))
        except StaleVersion as stale:
            differing = conflicts.differences(form, PlanForm.initial_of(stale.current))
            conflicts.renewed(form, stale.current.version)
            return _form_page(request, form, status=409, plan=stale.current, differences=differing)
        else:
            if "solve" in request.POST:
                return _solve(request, plan)
            return redirect("plans:plan-detail", plan.pk)
    return _form_page(request, form, plan=plan)


@require_http_methods(["GET", "POST"])
@role_required(Role.PLANNER)
def plan_delete(request: PlannerRequest, pk: int) -> HttpResponse:
    """Ask, then delete the plan with its runs."""
    plan = own_plan(request, pk, Role.PLANNER)
    if request.method == "POST":
        name = plan.name
        try:
            plan_services.delete_plan(plan=plan, by=request.user)
        except Refused as error:
            messages.error(request, str(error))
            return redirect("plans:plan-detail", plan.pk)
        messages.success(request, _("Plan “%(name)s” deleted.") % {"name": name})
        return redirect("plans:plan-list")
    context = {"plan": plan, "run_count": plan.runs.count()}
    return render(request, "plans/plan_delete.html", context)


@require_POST
@role_required(Role.PLANNER)
def plan_solve(request: PlannerRequest, pk: int) -> HttpResponse:
    """Ask for a solve; the page shows its progress."""
    return _solve(request, own_plan(request, pk, Role.PLANNER))


def _solve(request: PlannerRequest, plan: Plan) -> HttpResponse:
    try:
        plan_services.request_solve(plan=plan, by=request.user)
    except Refused as error:
        messages.error(request, str(error))
    return redirect("plans:plan-detail", plan.pk)
