"""Every GPU as a square: nodes by cluster and pool. Of a large fleet the largest pools are drawn as
bars with their counts, since nobody reads ten thousand squares and no browser likes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Sum
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from fleet.model_names import model_words
from planner.inventory.models import NodeRow
from planner.inventory.queries import NO_POOL, node_list_url, node_url

MOST_BOXES = 400
"""Nodes that are drawn as boxes on one page; the largest pools are folded until the rest fits."""
FOLD_ABOVE = 200
"""A pool with more nodes is always folded: its squares would no longer be read."""
MOST_POOLS = 100
"""Pools of one map; nodes may name as many as there are nodes."""

_COUNTED = {
    "r": "requested",
    "f": "free",
    "s": "stranded",
    "u": "not_schedulable",
    "x": "partly_used",
}
_STATES = {"r": "requested", "f": "free", "s": "stranded", "u": "withheld", "x": ""}
"""Letter of a square -> the filter of the node table that shows such nodes."""


@dataclass(frozen=True, slots=True)
class NodeBox:
    """One node of the heat map."""

    name: str
    url: str
    squares: str
    text: str = ""  # instead of the squares in words


@dataclass(frozen=True, slots=True)
class CountLink:
    """GPUs of one state of a folded pool, and the nodes that have some."""

    state: str
    count: int
    url: str


@dataclass(slots=True)
class PoolMap:
    """The nodes of one pool of one cluster, as squares; folded to counts when there are many."""

    cluster: str
    uuid: UUID
    snapshot: int
    pool: str
    models: str
    node_count: int
    counts: dict[str, int]
    is_folded: bool = False
    nodes: list[NodeBox] = field(default_factory=list)

    @property
    def label(self) -> str:
        return f"{self.cluster} / {self.pool or _('no pool')}"

    @property
    def note(self) -> str:
        """Models and number of nodes: "H100 80 GB, 26 nodes"."""
        nodes = ngettext("%(count)d node", "%(count)d nodes", self.node_count)
        return f"{self.models or _('model unknown')}, {nodes % {'count': self.node_count}}"

    @property
    def url(self) -> str:
        return self._table()

    @property
    def gpus(self) -> int:
        return sum(self.counts.values())

    @property
    def links(self) -> list[CountLink]:
        """The counts of a folded pool, each with its door."""
        return [
            CountLink(state, number, self._table(_STATES[state]))
            for state, number in self.counts.items()
            if number
        ]

    def _table(self, state: str = "") -> str:
        return node_list_url(cluster=self.cluster, pool=self.pool or NO_POOL, state=state)


@dataclass(frozen=True, slots=True)
class Maps:
    """The pools of a map, how many more there are, and the nodes of all of them."""

    pools: list[PoolMap]
    more: int
    node_count: int

    @property
    def is_folded(self) -> bool:
        """Whether some pool is not drawn square by square."""
        return any(pool.is_folded for pool in self.pools)


def pool_maps(nodes: QuerySet[NodeRow]) -> Maps:
    """Every GPU of ``nodes`` by cluster and pool: two statements, whatever their number."""
    nodes = nodes.filter(is_gpu_node=True)
    pools = _pools(nodes)
    shown = pools[:MOST_POOLS]
    _fold(shown)
    _draw(nodes, [pool for pool in shown if not pool.is_folded])
    return Maps(shown, len(pools) - len(shown), sum(pool.node_count for pool in pools))


def _pools(nodes: QuerySet[NodeRow]) -> list[PoolMap]:
    place = ("snapshot__cluster__name", "snapshot__cluster__uuid", "snapshot", "pool")
    found = (
        nodes.values(*place, "gpu_model", "gpu_label")
        .annotate(
            nodes=Count("pk"), **{f"_{letter}": Sum(name) for letter, name in _COUNTED.items()}
        )
        .order_by(*place, "gpu_model", "gpu_label")
    )
    pools = [
        _pool(key, list(rows))
        for key, rows in groupby(found, key=lambda row: tuple(row[name] for name in place))
    ]
    return sorted(pools, key=lambda pool: (pool.cluster, -pool.gpus, pool.pool))


def _pool(key: tuple[Any, ...], rows: list[dict[str, Any]]) -> PoolMap:
    names = (row["gpu_model"] or _unlisted(row["gpu_label"]) for row in rows)
    cluster, uuid, snapshot, pool = key
    return PoolMap(
        cluster=cluster,
        uuid=uuid,
        snapshot=snapshot,
        pool=pool,
        models=", ".join(dict.fromkeys(name for name in names if name)),
        node_count=sum(row["nodes"] for row in rows),
        counts={letter: sum(row[f"_{letter}"] or 0 for row in rows) for letter in _COUNTED},
    )


def _unlisted(label: str) -> str:
    return model_words(None, label, "") if label else ""


def _fold(pools: Iterable[PoolMap]) -> None:
    """Fold the largest pools, until the boxes of the others fit on a page."""
    boxes = sum(pool.node_count for pool in pools)
    for pool in sorted(pools, key=lambda pool: -pool.node_count):
        if boxes <= MOST_BOXES and pool.node_count <= FOLD_ABOVE:
            break
        pool.is_folded = True
        boxes -= pool.node_count


def _draw(nodes: QuerySet[NodeRow], pools: Iterable[PoolMap]) -> None:
    by_place = {(pool.snapshot, pool.pool): pool for pool in pools}
    wanted = Q(pk__in=())
    for snapshot, places in groupby(sorted(by_place), key=lambda place: place[0]):
        wanted |= Q(snapshot=snapshot, pool__in=[pool for _snapshot, pool in places])
    rows = (
        nodes.filter(wanted)
        .order_by("gpu_model", "name")
        .values_list("snapshot", "pool", "name", "squares", "physical")
    )
    for snapshot, name, node, squares, physical in rows:
        pool = by_place[snapshot, name]
        pool.nodes.append(_box(node, node_url(pool.uuid, node), squares, physical))


def _box(name: str, url: str, squares: str, physical: int | None) -> NodeBox:
    """A node that hides its number of GPUs is one unknown square, not an empty box."""
    if physical is None:
        return NodeBox(name, url, "x", _("number of GPUs unknown"))
    return NodeBox(name, url, squares)
