"""Finding the object of an address: what the user may not see is not there."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from planner.accounts.access import require_role
from planner.accounts.middleware import PlannerRequest
from planner.accounts.models import Role
from planner.inventory.models import Cluster, Snapshot


def cluster_or_404(request: PlannerRequest, uuid: UUID, role: Role = Role.VIEWER) -> Cluster:
    """The cluster, if the user is in its team; ``PermissionDenied`` without ``role`` there."""
    visible = (
        Cluster.objects.visible_to(request.user)
        .select_related("team", "current_snapshot")
        .defer(
            "current_snapshot__value",
            "current_snapshot__topology",
            "current_snapshot__figures",
            "current_snapshot__waiting",
        )
    )
    cluster: Cluster = get_object_or_404(visible, uuid=uuid)
    require_role(request, cluster.team, role)
    return cluster


def current_or_404(cluster: Cluster) -> Snapshot:
    """What the cluster shows now. ``Http404`` before the first snapshot."""
    if cluster.current_snapshot is None:
        raise Http404(_("There is no snapshot of this cluster yet."))
    return cluster.current_snapshot
