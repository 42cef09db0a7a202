"""Changing one cluster: edit, delete, sync, import, test the connection."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from fleet.kubernetes import rbac
from planner.accounts.access import role_required
from planner.accounts.middleware import PlannerRequest
from planner.accounts.models import Role
from planner.frame import views as frame
from planner.inventory import clusters, queries, uploads
from planner.inventory.clusters import ClusterRefused, EditConflict
from planner.inventory.forms import EditForm, ImportForm, sources_of
from planner.inventory.models import Cluster, ClusterCredential
from planner.inventory.probing import probe
from planner.inventory.views.objects import cluster_or_404


def _edit_page(
    request: PlannerRequest, cluster: Cluster, form: EditForm, status: int = 200, **extra: Any
) -> HttpResponse:
    fingerprint = (
        ClusterCredential.objects.filter(cluster=cluster)
        .values_list("fingerprint", "updated_at")
        .first()
    )
    context = {"cluster": cluster, "form": form, "credential": fingerprint} | extra
    return render(request, "inventory/cluster_edit.html", context, status=status)


@require_http_methods(["GET", "POST"])
@role_required(Role.ADMIN)
def cluster_edit(request: PlannerRequest, uuid: UUID) -> HttpResponse:
    """Name, description, interval; a new credential goes in and is never shown."""
    cluster = cluster_or_404(request, uuid, Role.ADMIN)
    if request.method == "GET":
        return _edit_page(request, cluster, EditForm(cluster=cluster))
    form = EditForm(request.POST, cluster=cluster)
    if form.is_valid():
        data = form.cleaned_data
        try:
            clusters.edit_cluster(
                cluster=cluster,
                version=data["version"],
                name=data["name"],
                description=data["description"],
                sync_interval_s=data.get("sync_interval_s", 0),
                access=form.access,
                by=request.user,
                request=request,
            )
        except EditConflict as conflict:
            return _conflict(request, conflict.current, data)
        except ClusterRefused as error:
            form.add_error(error.field if error.field in form.fields else None, error.message)
        else:
            messages.success(request, _("Saved."))
            return redirect("inventory:cluster-detail", uuid)
    return _edit_page(request, cluster, form, status=422)


def _conflict(request: PlannerRequest, current: Cluster, mine: dict[str, Any]) -> HttpResponse:
    labels = {"name": _("Name"), "description": _("Description"), "sync_interval_s": _("Interval")}
    changes = [
        {"label": label, "mine": mine[field], "theirs": getattr(current, field)}
        for field, label in labels.items()
        if field in mine and mine[field] != getattr(current, field)
    ]
    edit_url = queries.cluster_url(current, "edit")
    return frame.conflict(request, name=current.name, changes=changes, url=edit_url)


@require_http_methods(["GET", "POST"])
@role_required(Role.ADMIN)
def cluster_delete(request: PlannerRequest, uuid: UUID) -> HttpResponse:
    """Ask first; then delete the cluster with its credential and its snapshots."""
    cluster = cluster_or_404(request, uuid, Role.ADMIN)
    refused = ""
    if request.method == "POST":
        try:
            clusters.delete_cluster(cluster=cluster, by=request.user, request=request)
        except ClusterRefused as error:
            refused = error.message
        else:
            messages.success(request, _("%(name)s was deleted.") % {"name": cluster.name})
            return redirect("inventory:cluster-list")
    context = {"cluster": cluster, "refused": refused, "snapshots": cluster.snapshots.count()}
    return render(request, "inventory/cluster_delete.html", context, status=409 if refused else 200)


@require_POST
@role_required(Role.PLANNER)
def cluster_sync(request: PlannerRequest, uuid: UUID) -> HttpResponse:
    """Ask for a sync now; the cluster's page shows how it goes."""
    cluster = cluster_or_404(request, uuid, Role.PLANNER)
    try:
        clusters.request_sync(cluster=cluster, by=request.user, request=request)
    except ClusterRefused as error:
        messages.error(request, error.message)
    return redirect("inventory:cluster-detail", uuid)


@require_http_methods(["GET", "POST"])
@role_required(Role.PLANNER)
def cluster_import(request: PlannerRequest, uuid: UUID) -> HttpResponse:
    """Newer files of a file cluster, as its next snapshot."""
    cluster = cluster_or_404(request, uuid, Role.PLANNER)
    form = ImportForm()
    if request.method == "POST":
        form = ImportForm(request.POST, request.FILES)
        if uploads.was_cut(request):
            form.add_error("files", uploads.too_large())
        if form.is_valid():
            try:
                clusters.import_files(
                    cluster=cluster,
                    sources=sources_of(form.cleaned_data["files"]),
                    by=request.user,
                    request=request,
                )
            except ClusterRefused as error:
                form.add_error("files", error.message)
            else:
                return redirect("inventory:cluster-detail", uuid)
    context = {"cluster": cluster, "form": form, "export_script": rbac.export_script()}
    return render(
        request, "inventory/cluster_import.html", context, status=422 if form.errors else 200
    )


@require_POST
@role_required(Role.ADMIN)
def cluster_test(request: PlannerRequest, uuid: UUID) -> HttpResponse:
    """Connect as a sync would and say how it went; nothing is stored."""
    cluster = cluster_or_404(request, uuid, Role.ADMIN)
    form = EditForm(cluster=cluster)
    return _edit_page(request, cluster, form, probe=probe(cluster) if cluster.is_live else None)
