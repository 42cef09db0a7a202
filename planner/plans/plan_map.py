"""The GPU map of a run: the squares of the pinned snapshots with this plan's GPUs on top."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from django.utils.translation import gettext as _

from fleet.catalogue.prices import unit_share
from fleet.placement.result import Assignment
from planner.inventory.models import Cluster, NodeRow
from planner.inventory.queries import node_url
from planner.plans.models import PlanRun

MAX_NODES = 600


@dataclass(frozen=True, slots=True)
class MapNode:
    name: str
    squares: str
    url: str


@dataclass(frozen=True, slots=True)
class MapGroup:
    """Nodes of one rack or pool of a cluster."""

    label: str
    note: str
    nodes: tuple[MapNode, ...]
    planned: int


class _Key(NamedTuple):
    """What makes nodes one group."""

    cluster: str
    path: tuple[str, ...]  # block and rack, else the pool
    model: str
    gpus: int
    synthetic: bool


@dataclass(frozen=True, slots=True)
class PlanMap:
    groups: tuple[MapGroup, ...]
    hidden: int  # nodes left out


def plan_map(run: PlanRun, assignments: Iterable[Assignment]) -> PlanMap:
    """Groups where the plan lands come first; at most ``MAX_NODES`` nodes are drawn."""
    boards: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for a in assignments:
        boards[(a.cluster, a.node)] += unit_share(a.gpu_model, a.mig_profile) * a.gpus
    rows = (
        NodeRow.objects.filter(snapshot__pins__run=run, is_gpu_node=True)
        .order_by("snapshot__cluster__name", "gpu_model", "name")
        .values_list(
            "snapshot__cluster__name",
            "snapshot__cluster__uuid",
            "name",
            "squares",
            "gpu_model",
            "topology",
            "pool",
            "snapshot__cluster__source",
        )
    )
    groups: dict[_Key, list[MapNode]] = defaultdict(list)
    planned: dict[_Key, int] = defaultdict(int)
    for cluster, uuid, name, squares, model, topology, pool, source in rows:
        path = tuple(topology[level] for level in ("block", "rack") if topology.get(level))
        is_synthetic = source == Cluster.Source.DEMO
        key = _Key(cluster, path or ((pool,) if pool else ()), model, len(squares), is_synthetic)
        wanted = math.ceil(boards.get((cluster, name), Decimal(0)))
        planned[key] += wanted
        groups[key].append(MapNode(name, overlay(squares, wanted), node_url(uuid, name)))
    ordered = sorted(groups, key=lambda key: (not planned[key], key))
    labels = _labels(groups)
    shown: list[MapGroup] = []
    room = MAX_NODES
    for key in ordered:
        nodes = tuple(groups[key][:room])
        room -= len(nodes)
        if nodes:
            shown.append(MapGroup(labels[key], _note(key), nodes, planned[key]))
    total = sum(len(nodes) for nodes in groups.values())
    return PlanMap(tuple(shown), total - (MAX_NODES - room))


def _labels(keys: Collection[_Key]) -> dict[_Key, str]:
    """Cluster and the last part of the path; the whole path where another one ends alike."""
    paths = {(key.cluster, key.path) for key in keys}
    ends = Counter((cluster, path[-1:]) for cluster, path in paths)
    return {
        key: " / ".join(
            (key.cluster, *(key.path if ends[(key.cluster, key.path[-1:])] > 1 else key.path[-1:]))
        )
        for key in keys
    }


def _note(key: _Key) -> str:
    card = f"{key.gpus} × {key.model}" if key.model and key.gpus else key.model
    synthetic = _("synthetic") if key.synthetic else ""
    return " · ".join(part for part in (card, synthetic) if part)


def overlay(squares: str, planned: int) -> str:
    """Mark ``planned`` GPUs as this plan's: free squares first, then stranded, then the others
    (a MIG device can sit on a board that is partly in use)."""
    marked = list(squares)
    for state in "fsrx":
        for index, letter in enumerate(squares):
            if planned and letter == state and marked[index] != "p":
                marked[index] = "p"
                planned -= 1
    return "".join(marked)
