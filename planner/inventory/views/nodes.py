"""Nodes: the table of all of them, one of them, and the table as CSV."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET
from django_tables2 import RequestConfig

from planner.accounts.access import role_required
from planner.accounts.middleware import PlannerRequest
from planner.accounts.models import Role
from planner.inventory import exports, node_details, queries
from planner.inventory.filters import NodeFilter
from planner.inventory.models import NodeRow
from planner.inventory.tables import NodeTable, paginate
from planner.inventory.views.objects import cluster_or_404, current_or_404

PAGE_SIZE = 50


def _filtered(request: PlannerRequest) -> NodeFilter:
    rows = queries.nodes_of(request.team).select_related("snapshot__cluster")
    return NodeFilter(request.GET, rows.only(*queries.NODE_COLUMNS), request=request)


@require_GET
@role_required(Role.VIEWER)
def node_list(request: PlannerRequest) -> HttpResponse:
    """Filter, sort, search and page; all of it in the address."""
    node_filter = _filtered(request)
    table, sums = NodeTable(node_filter.qs), queries.node_sums(node_filter.qs)
    paginate(request, table, PAGE_SIZE, sums["nodes"])
    template = "inventory/node_list.html" + ("#results" if request.htmx else "")
    context = {"filter": node_filter, "table": table, "sums": sums}
    return render(request, template, context)


@require_GET
@role_required(Role.VIEWER)
def node_csv(request: PlannerRequest) -> HttpResponse:
    """The rows of the table with the same filter and order, on one page."""
    table = NodeTable(_filtered(request).qs)
    RequestConfig(request, paginate=False).configure(table)
    return exports.csv_response("nodes", *exports.node_rows(table.data.data))


@require_GET
@role_required(Role.VIEWER)
def node_detail(request: PlannerRequest, uuid: UUID, name: str) -> HttpResponse:
    """One node of the cluster's current snapshot."""
    cluster = cluster_or_404(request, uuid)
    row = NodeRow.objects.filter(snapshot=current_or_404(cluster), name=name).first()
    if row is None:
        raise Http404(_("The current snapshot has no such node."))
    context = {"cluster": cluster, "row": row} | node_details.context(cluster, row)
    return render(request, "inventory/node_detail.html", context)
