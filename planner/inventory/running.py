"""Who uses the GPUs of a cluster: pods by the owner that a person knows them by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.urls import reverse

from planner.frame.search import LONGEST
from planner.inventory.models import Cluster, PodRow
from planner.inventory.pod_lines import state_word


@dataclass(frozen=True, slots=True)
class OwnerLine:
    """The pods of one owner: what a person knows them by."""

    namespace: str
    owner: str
    state: str
    pods: int
    gpu_units: int
    gpu_resource: str

    @property
    def state_word(self) -> str:
        """The state in the reader's language."""
        return state_word(self.state)


def owner_groups(cluster: Cluster, text: str = "") -> QuerySet[PodRow, Any]:
    """Pods that ask for a GPU, by owner, state and resource; the largest first. ``text`` narrows
    them to names of owners and namespaces that hold it. Lazy, so that a page takes only its part;
    ``owner_lines`` makes lines of them."""
    pods = PodRow.objects.filter(snapshot=cluster.current_snapshot_id, gpu_units__gt=0)
    if text:
        pods = pods.filter(Q(owner__icontains=text) | Q(namespace__icontains=text))
    return (
        pods.values("namespace", "owner", "state", "gpu_resource")
        .annotate(pods=Count("pk"), units=Sum("gpu_units"))
        .order_by("-units", "namespace", "owner", "state", "gpu_resource")
    )


def owner_lines(groups: Iterable[Mapping[str, Any]]) -> list[OwnerLine]:
    """Lines of a table out of ``owner_groups``."""
    return [
        OwnerLine(
            row["namespace"],
            row["owner"],
            row["state"],
            row["pods"],
            row["units"],
            row["gpu_resource"],
        )
        for row in groups
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


def owner_url(cluster: Cluster, namespace: str, owner: str) -> str:
    """The address of the pods of one owner."""
    query = {"namespace": namespace, "owner": owner}
    return reverse("inventory:cluster-running", args=[cluster.uuid], query=query) + "#pods"


def pods_of_owner(cluster: Cluster, chosen: ChosenOwner) -> QuerySet[PodRow]:
    """The pods of one owner by name, lazy."""
    return PodRow.objects.filter(
        snapshot=cluster.current_snapshot_id, namespace=chosen.namespace, owner=chosen.owner
    ).order_by("name", "pk")


def searched(query: Mapping[str, str]) -> str:
    """The text that the address searches owners for, "" for none."""
    return " ".join(query.get("text", "").replace("\0", "").split())[:LONGEST]
