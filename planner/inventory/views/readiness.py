"""The checklist: all clusters by question, and one cluster with evidence and remedies."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from planner.accounts.access import role_required
from planner.accounts.middleware import PlannerRequest
from planner.accounts.models import Role
from planner.frame import navigation
from planner.inventory import checklists, exports, queries
from planner.inventory.views.objects import cluster_or_404


@require_GET
@role_required(Role.VIEWER)
def readiness_matrix(request: PlannerRequest) -> HttpResponse:
    """Clusters × questions."""
    clusters = queries.clusters_of(request.team, navigation.chosen_cluster(request), findings=True)
    return render(request, "inventory/readiness.html", checklists.matrix(list(clusters)))


@require_GET
@role_required(Role.VIEWER)
def readiness_csv(request: PlannerRequest) -> HttpResponse:
    """Every finding of the clusters on the page."""
    clusters = queries.clusters_of(request.team, navigation.chosen_cluster(request), findings=True)
    return exports.csv_response("readiness", *exports.finding_rows(clusters))


@require_GET
@role_required(Role.VIEWER)
def cluster_readiness(request: PlannerRequest, uuid: UUID) -> HttpResponse:
    """One cluster: findings by question, problems first."""
    cluster = cluster_or_404(request, uuid)
    return render(request, "inventory/cluster_readiness.html", checklists.of_cluster(cluster))


@require_GET
@role_required(Role.VIEWER)
def cluster_readiness_csv(request: PlannerRequest, uuid: UUID) -> HttpResponse:
    """The findings of one cluster."""
    cluster = cluster_or_404(request, uuid)
    return exports.csv_response("readiness", *exports.finding_rows([cluster]))
