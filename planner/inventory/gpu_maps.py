"""Every GPU as a square: nodes by cluster and pool."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from fleet.model_names import model_words
from planner.inventory.models import NodeRow
from planner.inventory.queries import NO_POOL, node_list_url, node_url

FOLD_ABOVE = 200
"""A pool with more nodes is folded to its counts: squares would no longer be read."""


@dataclass(frozen=True, slots=True)
class NodeBox:
    """One node of the heat map."""

    name: str
    url: str
    squares: str
    text: str = ""  # instead of the squares in words


@dataclass(slots=True)
class PoolMap:
    """The nodes of one pool of one cluster, as squares; folded to counts when there are many."""

    cluster: str
    pool: str
    models: str
    url: str
    nodes: list[NodeBox] = field(default_factory=list)
    node_count: int = 0
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return f"{self.cluster} / {self.pool or _('no pool')}"

    @property
    def note(self) -> str:
        """Models and number of nodes: "H100 80 GB, 26 nodes"."""
        nodes = ngettext("%(count)d node", "%(count)d nodes", self.node_count)
        return f"{self.models or _('model unknown')}, {nodes % {'count': self.node_count}}"

    @property
    def is_folded(self) -> bool:
        return self.node_count > FOLD_ABOVE


def pool_maps(nodes: QuerySet[NodeRow]) -> list[PoolMap]:
    """Every GPU of ``nodes`` by cluster and pool: one statement, whatever their number."""
    rows = (
        nodes.filter(is_gpu_node=True)
        .order_by("snapshot__cluster__name", "pool", "gpu_model", "name")
        .values_list(
            "snapshot__cluster__name",
            "snapshot__cluster__uuid",
            "pool",
            "gpu_model",
            "name",
            "squares",
            "gpu_label",
            "physical",
        )
    )
    maps = []
    for (cluster, uuid, pool), members in groupby(rows, key=lambda row: row[:3]):
        found = list(members)
        models = dict.fromkeys(
            row[3] or model_words(None, row[6], "") for row in found if row[3] or row[6]
        )
        pool_map = PoolMap(
            cluster=cluster,
            pool=pool,
            models=", ".join(models),
            url=node_list_url(cluster=cluster, pool=pool or NO_POOL),
            node_count=len(found),
        )
        for row in found:
            for state in row[5]:
                pool_map.counts[state] = pool_map.counts.get(state, 0) + 1
        if not pool_map.is_folded:
            pool_map.nodes = [_box(row[4], node_url(uuid, row[4]), row[5], row[7]) for row in found]
        maps.append(pool_map)
    return sorted(maps, key=lambda m: (m.cluster, -sum(m.counts.values()), m.pool))


def _box(name: str, url: str, squares: str, physical: int | None) -> NodeBox:
    """A node that hides its number of GPUs is one unknown square, not an empty box."""
    if physical is None:
        return NodeBox(name, url, "x", _("number of GPUs unknown"))
    return NodeBox(name, url, squares)
