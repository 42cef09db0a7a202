"""The topology of one cluster: domains, slots, stranded GPUs; and choosing its levels."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from planner.accounts.access import role_required
from planner.accounts.middleware import PlannerRequest
from planner.accounts.models import Role
from planner.frame import views as frame
from planner.inventory import exports, levels, queries, slot_tables, stranded, topology
from planner.inventory.level_forms import LevelFormSet, level_lines, moved, rows_of
from planner.inventory.levels import LevelsConflict
from planner.inventory.models import Cluster
from planner.inventory.views.objects import cluster_or_404, current_or_404


@require_GET
@role_required(Role.VIEWER)
def cluster_topology(request: PlannerRequest, uuid: UUID) -> HttpResponse:
    """How many gangs still fit, what is stranded, and the domains of every level."""
    cluster = cluster_or_404(request, uuid)
    snapshot = cluster.current_snapshot
    within = request.GET.get("within", "")[:1000]
    context: dict[str, Any] = queries.cluster_head(cluster, "topology")
    if snapshot is not None:
        slots = slot_tables.slot_tables(cluster, snapshot, within)
        context |= {
            "levels": topology.domain_levels(cluster, snapshot),
            "slots": slots,
            "within": within if slots and slots[0].rows[0].place.path else "",
            "stranded": stranded.stranded_lines(cluster, snapshot),
            "laying": levels.latest_laying(cluster),
            "is_chosen": bool(cluster.topology_levels),
        }
    return render(request, "inventory/cluster_topology.html", context)


@require_GET
@role_required(Role.VIEWER)
def cluster_topology_csv(request: PlannerRequest, uuid: UUID) -> HttpResponse:
    """The domains of all levels."""
    cluster = cluster_or_404(request, uuid)
    found = topology.domain_levels(cluster, current_or_404(cluster))
    return exports.csv_response("topology", *exports.domain_rows(found))


@require_GET
@role_required(Role.VIEWER)
def cluster_slots_csv(request: PlannerRequest, uuid: UUID) -> HttpResponse:
    """The slots of every model and place."""
    snapshot = current_or_404(cluster_or_404(request, uuid))
    names = topology.level_names(snapshot)
    return exports.csv_response(
        "slots", *exports.slot_rows(slot_tables.model_slots(snapshot), names)
    )


@require_http_methods(["GET", "POST"])
@role_required(Role.ADMIN)
def cluster_levels(request: PlannerRequest, uuid: UUID) -> HttpResponse:
    """Choose, name and order the levels; without any, the proposed ones are used."""
    cluster = cluster_or_404(request, uuid, Role.ADMIN)
    snapshot = current_or_404(cluster)
    known = {key for key, _nodes, _values in snapshot.topology.get("keys", [])}
    if request.method == "GET":
        used = cluster.topology_levels or snapshot.topology_keys
        declared = request.GET.get("use", "")
        rows = rows_of(snapshot.topology, declared) if declared else [tuple(pair) for pair in used]
        return _levels_page(request, cluster, LevelFormSet.of(rows, known), cluster.version)
    what, _dash, row = request.POST.get("do", "save").partition("-")
    version = request.POST.get("version", "")
    version_number = int(version) if version.isascii() and version.isdigit() else 0
    forms = LevelFormSet(request.POST, known=known)
    if what in ("up", "down", "drop", "add"):
        return _levels_page(
            request,
            cluster,
            LevelFormSet.of(moved(forms.typed(), what, row), known),
            version_number,
        )
    if what == "reset":
        return _save(request, cluster, [], version_number)
    if forms.is_valid():
        return _save(request, cluster, forms.levels(), version_number)
    return _levels_page(request, cluster, forms, version_number, status=422)


def _save(
    request: PlannerRequest, cluster: Cluster, chosen: list[tuple[str, str]], version: int
) -> HttpResponse:
    try:
        levels.set_levels(
            cluster=cluster, version=version, levels=chosen, by=request.user, request=request
        )
    except LevelsConflict as conflict:
        return frame.conflict(
            request,
            name=cluster.name,
            changes=[
                {
                    "label": _("Levels"),
                    "mine": _text(chosen),
                    "theirs": _text(conflict.current.topology_levels),
                }
            ],
            url=queries.cluster_url(cluster, "levels"),
        )
    messages.success(request, _("Saved. A snapshot with these levels is being made."))
    return redirect("inventory:cluster-topology", cluster.uuid)


def _text(chosen: Any) -> str:
    return ", ".join(f"{name} = {key}" for name, key in chosen) or _("the proposal")


def _levels_page(
    request: PlannerRequest,
    cluster: Cluster,
    forms: LevelFormSet,
    version: int,
    status: int = 200,
) -> HttpResponse:
    snapshot = current_or_404(cluster)
    choices = topology.choices(snapshot)
    context = {
        "cluster": cluster,
        "snapshot": snapshot,
        "number": snapshot.number,
        "forms": forms,
        "rows": level_lines(forms, choices["carried"]),
        "version": version,
        "is_chosen": bool(cluster.topology_levels),
    }
    return render(request, "inventory/cluster_levels.html", context | choices, status=status)
