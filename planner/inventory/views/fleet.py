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


@require_GET
@role_required(Role.VIEWER)
def overview(request: PlannerRequest) -> HttpResponse:
    """The fleet of the team, or the cluster that ``?cluster=`` chooses. ``?real=1`` leaves out
    the clusters that do not exist."""
    chosen = navigation.chosen_cluster(request)
    found = list(queries.clusters_of(request.team, chosen))
    real = [cluster for cluster in found if not cluster.is_synthetic]
    is_narrowed = bool(real) and request.GET.get("real") == "1"
    clusters = real if is_narrowed else found
    lines = queries.cluster_lines(clusters)
    nodes = queries.nodes_of(request.team).filter(
        snapshot__in=queries.current_snapshot_ids(clusters)
    )
    scope = {"cluster": chosen, "real": "1" if is_narrowed else ""}
    figures = fleet_figures.figures(request.team, clusters, scope)
    context = {
        "lines": lines,
        "ages": queries.snapshot_ages(lines),
        "figures": figures,
        "chart": fleet_figures.chart(figures),
        "maps": gpu_maps.pool_maps(nodes),
        "synthetic": queries.synthetic(found),
        "demo_only": not real,
        "is_narrowed": is_narrowed,
        "chosen": chosen,
    }
    return render(request, "inventory/overview.html", context)
