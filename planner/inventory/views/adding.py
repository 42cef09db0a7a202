"""Adding clusters: from files, live, or the synthetic demo fleet."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from fleet.kubernetes import rbac
from planner.accounts.access import current_team, role_required
from planner.accounts.middleware import PlannerRequest
from planner.accounts.models import Role
from planner.inventory import clusters, demo, uploads
from planner.inventory.clusters import ClusterRefused
from planner.inventory.forms import (
    AddressForm,
    ClusterForm,
    FilesForm,
    InClusterForm,
    KubeconfigForm,
    LiveForm,
    sources_of,
)
from planner.inventory.models import Cluster

WAYS: dict[str, type[ClusterForm]] = {
    "files": FilesForm,
    "kubeconfig": KubeconfigForm,
    "address": AddressForm,
    "in-cluster": InClusterForm,
}

PROXY_COMMANDS = "kubectl proxy --port=8001\n# http://127.0.0.1:8001"
"""The way in for those whose kubeconfig starts a program: the command, and the address to give."""


def _page(
    request: PlannerRequest, way: str = "", form: ClusterForm | None = None, status: int = 200
) -> HttpResponse:
    forms = {name: kind(auto_id=f"{name}-%s") for name, kind in WAYS.items()}
    if form is not None:
        forms[way] = form
    context: dict[str, Any] = {
        "forms": {name.replace("-", "_"): form for name, form in forms.items()},
        "open": way,
        "export_script": rbac.export_script(),
        "manifest": rbac.read_only_manifest(),
        "proxy_commands": PROXY_COMMANDS,
    }
    return render(request, "inventory/cluster_add.html", context, status=status)


@require_GET
@role_required(Role.ADMIN)
def cluster_add(request: PlannerRequest) -> HttpResponse:
    """The ways in, side by side, with what each needs."""
    return _page(request)


@require_POST
@role_required(Role.ADMIN)
def cluster_create(request: PlannerRequest, way: str) -> HttpResponse:
    """Add a cluster the way that the address names; on trouble the form comes back with it."""
    kind = WAYS.get(way)
    if kind is None:
        raise Http404
    form = kind(request.POST, request.FILES, auto_id=f"{way}-%s")
    if uploads.was_cut(request) and "files" in form.fields:
        form.add_error("files", uploads.too_large())
    if form.is_valid():
        try:
            return redirect("inventory:cluster-detail", _created(request, form).uuid)
        except ClusterRefused as error:
            form.add_error(error.field if error.field in form.fields else None, error.message)
    return _page(request, way, form, status=422)


def _created(request: PlannerRequest, form: ClusterForm) -> Cluster:
    data = form.cleaned_data
    named = {
        "team": current_team(request),
        "name": data["name"],
        "description": data["description"],
    }
    if not isinstance(form, LiveForm):
        sources = sources_of(data["files"])
        cluster = clusters.create_from_files(
            **named, sources=sources, by=request.user, request=request
        )
        messages.success(request, _("%(name)s was imported.") % {"name": cluster.name})
        return cluster
    cluster, _job = clusters.create_live(
        **named,
        source=form.source,
        access=form.valid_access,
        sync_interval_s=data["sync_interval_s"],
        by=request.user,
        request=request,
    )
    return cluster


@require_POST
@role_required(Role.ADMIN)
def demo_load(request: PlannerRequest) -> HttpResponse:
    """Load the synthetic fleet; clusters of it that are there already get a new snapshot."""
    try:
        loaded = demo.load_demo_fleet(team=current_team(request), by=request.user, request=request)
    except ClusterRefused as error:
        messages.error(request, error.message)
        return redirect("inventory:cluster-list")
    messages.success(
        request,
        ngettext(
            "%(count)d synthetic cluster was loaded. No such machine exists.",
            "%(count)d synthetic clusters were loaded. No such machine exists.",
            len(loaded),
        )
        % {"count": len(loaded)},
    )
    return redirect("inventory:overview")
