"""Who uses the GPUs of a cluster: pods by the owner that a person knows them by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Sum

from planner.inventory.models import Cluster, PodRow

MOST_PODS = 500


@dataclass(frozen=True, slots=True)
class OwnerLine:
    """The pods of one owner: what a person knows them by."""

    namespace: str
    owner: str
    state: str
    pods: int
    gpu_units: int
    gpu_resource: str


def owner_lines(cluster: Cluster) -> list[OwnerLine]:
    """Pods that ask for a GPU, by owner and state; the largest first."""
    pods = PodRow.objects.filter(snapshot=cluster.current_snapshot_id, gpu_units__gt=0)
    grouped = (
        pods.values("namespace", "owner", "state", "gpu_resource")
        .annotate(pods=Count("pk"), units=Sum("gpu_units"))
        .order_by("-units", "namespace", "owner", "state")
    )
    return [
        OwnerLine(
            row["namespace"],
            row["owner"],
            row["state"],
            row["pods"],
            row["units"],
            row["gpu_resource"],
        )
        for row in grouped
    ]


@dataclass(frozen=True, slots=True)
class ChosenOwner:
    """The owner whose pods are shown."""

    namespace: str
    owner: str


def chosen_owner(query: Mapping[str, str]) -> ChosenOwner | None:
    """The owner that the address names; None when it names none."""
    namespace, owner = query.get("namespace", ""), query.get("owner", "")
    if not namespace or "\0" in namespace + owner:
        return None
    return ChosenOwner(namespace, owner)


def pods_of_owner(cluster: Cluster, chosen: ChosenOwner) -> list[PodRow]:
    """The pods of one owner, at most ``MOST_PODS``."""
    pods = PodRow.objects.filter(
        snapshot=cluster.current_snapshot_id, namespace=chosen.namespace, owner=chosen.owner
    )
    return list(pods.order_by("name")[:MOST_PODS])
