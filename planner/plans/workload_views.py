"""Pages of workloads: list, one form a kind, the sizing beside it, import and export."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from fleet import workload_file
from fleet.catalogue.models import Model, model, models
from fleet.workloads import Workload as WorkloadValue
from planner.accounts.access import current_team, require_role, role_required
from planner.accounts.middleware import PlannerRequest
from planner.accounts.models import Role, Team
from planner.plans import conflicts, queries, workload_services
from planner.plans.free_units import fleet_now
from planner.plans.models import Workload
from planner.plans.plan_forms import ImportForm
from planner.plans.sizing_panel import SizingProblem, fleet_cards, panel_for, sentences
from planner.plans.versions import StaleVersion
from planner.plans.workload_common_form import WorkloadForm
from planner.plans.workload_kind_forms import FORMS
from planner.plans.workload_services import Refused
from planner.plans.workload_specs import declared, priority_text, to_yaml

PAGE = 25
EXAMPLE = """workloads:
  - kind: llm
    name: chat-70b
    model: meta-llama/Meta-Llama-3.1-70B
    replicas: 3
    max_context: 16384
    concurrency: 32
  - kind: embedding
    name: search-embed
    model: BAAI/bge-m3
    replicas: 4
  - kind: training
    name: finetune-8b
    model: meta-llama/Meta-Llama-3.1-8B
    method: full
    gpus: 16
    constraints:
      topology: rack
"""


def _own(request: PlannerRequest, pk: int, role: Role = Role.VIEWER) -> Workload:
    row: Workload = get_object_or_404(
        Workload.objects.visible_to(request.user).select_related("team"), pk=pk
    )
    require_role(request, row.team, role)
    return row


def _form(kind: str, team: Team, *args: Any, **kwargs: Any) -> WorkloadForm:
    if kind not in FORMS:
        raise Http404
    return FORMS[kind](*args, team=team, fleet_models=fleet_cards(fleet_now(team)), **kwargs)


@require_GET
@role_required(Role.VIEWER)
def workload_list(request: PlannerRequest) -> HttpResponse:
    """Declared workloads with what one replica needs and how the last plan placed them."""
    team = current_team(request)
    text, kind = request.GET.get("q", "")[:100].replace("\0", ""), request.GET.get("kind", "")
    found = queries.workload_list(team, text=text, kind=kind)
    page = Paginator(found, PAGE).get_page(request.GET.get("page"))
    rows = list(page.object_list)
    needs = sentences(team, rows)
    entries = [
        (row, needs[row.pk], queries.last_answer(row), priority_text(row.priority)) for row in rows
    ]
    context = {
        "page": page,
        "entries": entries,
        "q": text,
        "kind": kind,
        "kinds": Workload.Kind.choices,
        "total": queries.count_workloads(team, ""),
    }
    return render(request, "plans/workload_list.html", context)


@require_GET
@role_required(Role.VIEWER)
def workload_detail(request: PlannerRequest, pk: int) -> HttpResponse:
    """What was declared, and what one replica needs."""
    row = _own(request, pk)
    context = {
        "workload": row,
        "declared": declared(row),
        "panel": panel_for(row.team, row.value),
        "answer": queries.last_answer(row),
        "plans": row.plans.order_by("name"),
    }
    return render(request, "plans/workload_detail.html", context)


def _page(
    request: PlannerRequest, form: WorkloadForm, *, status: int = 200, **context: Any
) -> HttpResponse:
    """The form with the sizing beside it, as of what the form holds now."""
    value = form.value
    if value is None and not form.is_bound:
        value = _trial(form)
    context |= {
        "form": form,
        "kind_label": Workload.Kind(form.kind).label,
        "models": [entry for entry in models().values() if entry.kind in form.model_kinds],
        "panel": panel_for(form.team, value) if value is not None else None,
        "model_note": _model_of(value),
    }
    return render(request, "plans/workload_edit.html", context, status=status)


def _trial(form: WorkloadForm) -> WorkloadValue | None:
    """What the initial values of an unsent form declare; None while they are incomplete."""
    data = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    trial = _form(form.kind, form.team, {k: v for k, v in data.items() if v not in (None, False)})
    return trial.value if trial.is_valid() else None


def _model_of(value: WorkloadValue | None) -> Model | None:
    return model(value.model) if value is not None and value.model else None


@require_http_methods(["GET", "POST"])
@role_required(Role.PLANNER)
def workload_create(request: PlannerRequest, kind: str) -> HttpResponse:
    """Declare a workload of one kind."""
    return _create(request, kind, {}, None)


@require_http_methods(["GET", "POST"])
@role_required(Role.PLANNER)
def workload_clone(request: PlannerRequest, pk: int) -> HttpResponse:
    """Declare a workload that starts as a copy of another."""
    row = _own(request, pk, Role.PLANNER)
    initial = FORMS[row.kind].initial_of(row) | {"name": _free_name(row), "version": None}
    return _create(request, row.kind, initial, row)


def _free_name(row: Workload) -> str:
    taken = set(row.team.workloads.values_list("name", flat=True))
    stem = row.name[:57]
    return next(name for number in range(2, 10_000) if (name := f"{stem}-{number}") not in taken)


def _create(
    request: PlannerRequest, kind: str, initial: dict[str, Any], source: Workload | None
) -> HttpResponse:
    team = source.team if source is not None else current_team(request)
    form = _form(kind, team, _sent(request), initial=initial)
    saved = _saved(
        request,
        form,
        lambda value: workload_services.create_workload(team=team, by=request.user, value=value),
        _("Workload “%(name)s” declared."),
    )
    return saved or _page(request, form, status=422 if form.errors else 200, source=source)


def _sent(request: PlannerRequest) -> Any:
    return request.POST if request.method == "POST" else None


def _saved(
    request: PlannerRequest,
    form: WorkloadForm,
    save: Callable[[WorkloadValue], Workload],
    message: str,
) -> HttpResponse | None:
    """Save a valid form and go to its page; None when it is not sent, not valid, or refused."""
    if not form.is_bound or not form.is_valid() or form.value is None:
        return None
    try:
        row = save(form.value)
    except Refused as error:
        form.add_error("name", str(error))
        return None
    messages.success(request, message % {"name": row.name})
    return redirect("plans:workload-detail", row.pk)


@require_http_methods(["GET", "POST"])
@role_required(Role.PLANNER)
def workload_edit(request: PlannerRequest, pk: int) -> HttpResponse:
    """Change a workload; 409 with both texts when somebody else was first."""
    row = _own(request, pk, Role.PLANNER)
    form = _form(row.kind, row.team, _sent(request), initial=FORMS[row.kind].initial_of(row))

    def save(value: WorkloadValue) -> Workload:
        version = form.cleaned_data["version"] or 0
        workload_services.update_workload(
            workload=row, by=request.user, version=version, value=value
        )
        return row

    try:
        saved = _saved(request, form, save, _("Workload “%(name)s” saved."))
    except StaleVersion as stale:
        differing = conflicts.differences(form, FORMS[row.kind].initial_of(stale.current))
        conflicts.renewed(form, stale.current.version)
        return _page(request, form, status=409, workload=stale.current, differences=differing)
    return saved or _page(request, form, status=422 if form.errors else 200, workload=row)


@require_http_methods(["GET", "POST"])
@role_required(Role.PLANNER)
def workload_delete(request: PlannerRequest, pk: int) -> HttpResponse:
    """Ask, then delete."""
    row = _own(request, pk, Role.PLANNER)
    if request.method == "POST":
        name = row.name
        workload_services.delete_workload(workload=row, by=request.user)
        messages.success(request, _("Workload “%(name)s” deleted.") % {"name": name})
        return redirect("plans:workload-list")
    context = {"workload": row, "plans": row.plans.order_by("name")}
    return render(request, "plans/workload_delete.html", context)


@require_POST
@role_required(Role.PLANNER)
def workload_sizing(request: PlannerRequest, kind: str) -> HttpResponse:
    """The sizing of what the form holds now. Writes nothing."""
    form = _form(kind, current_team(request), _named(request.POST))
    form.is_valid()
    panel = panel_for(form.team, form.value) if form.value is not None else None
    if isinstance(panel, SizingProblem):
        form.add_error(panel.field if panel.field in form.fields else None, panel.message)
    context = {"form": form, "panel": panel, "model_note": _model_of(form.value)}
    return render(request, "plans/sizing.html", context)


def _named(data: Any) -> Any:
    """The name does not matter for sizing: an unfinished one must not stand in its way."""
    copy = data.copy()
    copy["name"] = "workload"
    return copy


@require_http_methods(["GET", "POST"])
@role_required(Role.PLANNER)
def workload_import(request: PlannerRequest) -> HttpResponse:
    """Read a workload file: all of it or nothing."""
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            values = workload_file.load(form.data_bytes())
            created, replaced = workload_services.import_workloads(
                team=current_team(request), by=request.user, values=values
            )
        except (workload_file.WorkloadFileError, Refused) as error:
            form.add_error(None, str(error))
        else:
            text = _("%(created)d workloads declared, %(replaced)d replaced.")
            messages.success(request, text % {"created": created, "replaced": replaced})
            return redirect("plans:workload-list")
    status = 422 if form.is_bound and form.errors else 200
    context = {"form": form, "example": EXAMPLE}
    return render(request, "plans/workload_import.html", context, status=status)


@require_GET
@role_required(Role.VIEWER)
def workload_export(request: PlannerRequest, pk: int | None = None) -> HttpResponse:
    """One workload, or all of the team, as a workload file."""
    if pk is not None:
        rows = [_own(request, pk)]
    else:
        rows = list(Workload.objects.filter(team=current_team(request)))
    response = HttpResponse(to_yaml(rows), content_type="application/yaml; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="workloads.yaml"'
    return response
