"""Clusters: the list, and one cluster in tabs."""

from __future__ import annotations

from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from fleet.kubernetes import rbac
from fleet.kubernetes.unread import lost_with
from planner.accounts.access import role_required
from planner.accounts.middleware import PlannerRequest
from planner.accounts.models import Role
from planner.frame import navigation
from planner.inventory import (
    exports,
    fleet_figures,
    gpu_maps,
    queries,
    running,
    stored_figures,
    waiting,
)
from planner.inventory.models import NodeRow, Snapshot
from planner.inventory.pod_lines import pod_line
from planner.inventory.tables import ClusterNodeTable, paginate
from planner.inventory.views.objects import cluster_or_404, current_or_404

PAGE_SIZE = 50
OWNERS_ON_A_PAGE = 50
PODS_ON_A_PAGE = 50
WAITING_ON_A_PAGE = 10
POD_PAGE = "pods"
WAITING_PAGE = "waiting"
"""Words of the address for the page of an owner's pods and of what waits; "page" is that of the
owners."""


@require_GET
@role_required(Role.VIEWER)
def cluster_list(request: PlannerRequest) -> HttpResponse:
    """All clusters of the team, those with trouble marked."""
    clusters = queries.clusters_of(request.team, navigation.chosen_cluster(request))
    lines = queries.cluster_lines(list(clusters))
    context = {"lines": lines, "trouble": sum(line.needs_a_look for line in lines)}
    return render(request, "inventory/cluster_list.html", context)


@require_GET
@role_required(Role.VIEWER)
def cluster_csv(request: PlannerRequest) -> HttpResponse:
    """The table of clusters."""
    clusters = queries.clusters_of(request.team, navigation.chosen_cluster(request))
    lines = queries.cluster_lines(list(clusters))
    return exports.csv_response("clusters", *exports.cluster_rows(lines))


@require_GET
@role_required(Role.VIEWER)
def cluster_detail(request: PlannerRequest, uuid: UUID) -> HttpResponse:
    """The nodes of one cluster, and how its last sync went."""
    cluster = cluster_or_404(request, uuid)
    rows = NodeRow.objects.filter(snapshot=cluster.current_snapshot_id, is_gpu_node=True)
    table = ClusterNodeTable(rows.select_related("snapshot__cluster").only(*queries.NODE_COLUMNS))
    snapshot, maps = cluster.current_snapshot, gpu_maps.pool_maps(rows)
    paginate(request, table, PAGE_SIZE, maps.node_count)
    context = queries.cluster_head(cluster, "nodes") | {
        "table": table,
        "maps": maps,
        "nodes_url": queries.node_list_url(cluster=cluster.name),
        "free_url": queries.node_list_url(cluster=cluster.name, state="free"),
        "stranded_url": queries.node_list_url(cluster=cluster.name, state="stranded"),
        "requested_url": queries.node_list_url(cluster=cluster.name, state="requested"),
        "uncounted_url": queries.node_list_url(cluster=cluster.name, state="unknown"),
    }
    if snapshot is not None:
        figures = stored_figures.decoded(snapshot.figures, cluster.name)
        attached = figures.attached
        context |= {
            "free_note": fleet_figures.free_note(figures.summary.totals),
            "attached": attached,
            "attached_left_out": attached.count - len(attached.pools),
            "withheld": max(0, (snapshot.physical_gpus or 0) - (snapshot.schedulable_gpus or 0)),
            "withheld_url": queries.node_list_url(cluster=cluster.name, state="withheld"),
        }
    return render(request, "inventory/cluster_detail.html", context)


@require_GET
@role_required(Role.VIEWER)
def cluster_running_csv(request: PlannerRequest, uuid: UUID) -> HttpResponse:
    """The owners, or the pods of the owner that the address names."""
    cluster = cluster_or_404(request, uuid)
    owner = running.chosen_owner(request.GET)
    if owner is not None:
        pods = running.pods_of_owner(cluster, owner)
        return exports.csv_response("pods", *exports.pod_rows(pods))
    groups = running.owner_groups(cluster, running.searched(request.GET))
    return exports.csv_response("running", *exports.owner_rows(running.owner_lines(groups)))


@require_GET
@role_required(Role.VIEWER)
def cluster_waiting_csv(request: PlannerRequest, uuid: UUID) -> HttpResponse:
    """What waits for GPUs: every line that is kept."""
    cluster = cluster_or_404(request, uuid)
    found = waiting.waiting_list(current_or_404(cluster))
    lines = waiting.waiting_lines(cluster, found)
    return exports.csv_response("waiting", *exports.waiting_rows(lines))


@require_GET
@role_required(Role.VIEWER)
def cluster_running(request: PlannerRequest, uuid: UUID) -> HttpResponse:
    """Who uses the GPUs and what waits for them: pods by owner, or the pods of one owner."""
    cluster = cluster_or_404(request, uuid)
    owner, text = running.chosen_owner(request.GET), running.searched(request.GET)
    pages = Paginator(running.owner_groups(cluster, text), OWNERS_ON_A_PAGE)
    page = pages.get_page(request.GET.get("page"))
    context = queries.cluster_head(cluster, "running") | {
        "owner": owner,
        "text": text,
        "page": page,
        "owners": running.owner_lines(page),
    }
    if cluster.current_snapshot is not None:
        waits = waiting.waiting_list(cluster.current_snapshot)
        lines = Paginator(waiting.waiting_lines(cluster, waits), WAITING_ON_A_PAGE)
        context |= {"waits": waits, "waiting": lines.get_page(request.GET.get(WAITING_PAGE))}
    if owner is not None:
        pods = Paginator(running.pods_of_owner(cluster, owner), PODS_ON_A_PAGE)
        context["pods"] = found = pods.get_page(request.GET.get(POD_PAGE))
        context["pod_lines"] = [pod_line(pod) for pod in found]
    return render(request, "inventory/cluster_running.html", context)


@require_GET
@role_required(Role.VIEWER)
def snapshot_list(request: PlannerRequest, uuid: UUID) -> HttpResponse:
    """The history of one cluster."""
    cluster = cluster_or_404(request, uuid)
    found = Snapshot.objects.filter(cluster=cluster, is_complete=True).defer(
        "value", "findings", "problems", "reads", "topology", "figures", "waiting"
    )
    context = {"snapshots": found[:200]} | queries.cluster_head(cluster, "snapshots")
    return render(request, "inventory/snapshot_list.html", context)


@require_GET
@role_required(Role.VIEWER)
def snapshot_detail(request: PlannerRequest, uuid: UUID, number: int) -> HttpResponse:
    """What one sync read: every resource with its answer, and every odd object."""
    cluster = cluster_or_404(request, uuid)
    snapshot = get_object_or_404(
        Snapshot.objects.defer("value", "findings", "topology", "figures", "waiting"),
        cluster=cluster,
        number=number,
        is_complete=True,
    )
    lines = queries.read_lines(snapshot)
    context = {
        "snapshot": snapshot,
        "failed": [(line, lost_with(line.resource)) for line in lines if line.is_failed],
        "forbidden": [(line, lost_with(line.resource)) for line in lines if line.is_forbidden],
        "missing_manifest": rbac.missing_manifest(
            [line.resource for line in lines if line.is_forbidden]
        ),
        "reads": [line for line in lines if not line.is_absent],
        "absent": [line for line in lines if line.is_absent],
    }
    return render(
        request,
        "inventory/snapshot_detail.html",
        queries.cluster_head(cluster, "snapshots") | context,
    )
