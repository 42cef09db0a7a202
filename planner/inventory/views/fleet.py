"""The overview: what the fleet is, in one look."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from planner.accounts.access import role_required
from planner.accounts.middleware import PlannerRequest
from planner.accounts.models import Role
from planner.frame import navigation
from planner.inventory import fleet_figures, gpu_maps, queries
from planner.inventory.models import Cluster


@require_GET
@role_required(Role.VIEWER)
def overview(request: PlannerRequest) -> HttpResponse:
    """The fleet of the team, or the cluster that ``?cluster=`` chooses."""
    chosen = navigation.chosen_cluster(request)
    clusters = list(queries.clusters_of(request.team, chosen))
    lines = queries.cluster_lines(clusters)
    nodes = queries.nodes_of(request.team).filter(
        snapshot__in=queries.current_snapshot_ids(clusters)
    )
    figures = fleet_figures.figures(request.team, clusters, chosen)
    context = {
        "lines": lines,
        "ages": queries.snapshot_ages(lines),
        "figures": figures,
        "chart": fleet_figures.chart(figures),
        "maps": gpu_maps.pool_maps(nodes),
        "demo_only": all(line.cluster.source == Cluster.Source.DEMO for line in lines),
        "chosen": chosen,
    }
    return render(request, "inventory/overview.html", context)
