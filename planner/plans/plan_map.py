"""The GPU map of a run: the squares of the pinned snapshots with this plan's GPUs on top."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from fleet.catalogue.prices import unit_share
from fleet.placement.result import Assignment
from planner.inventory.models import NodeRow
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
        )
    )
    groups: dict[tuple[str, str, str], list[MapNode]] = defaultdict(list)
    planned: dict[tuple[str, str, str], int] = defaultdict(int)
    for cluster, uuid, name, squares, model, topology, pool in rows:
        rack = topology.get("rack") or topology.get("block")
        place = f"{cluster} / {rack or pool}" if rack or pool else cluster
        key = (place, model, str(len(squares)))
        wanted = math.ceil(boards.get((cluster, name), Decimal(0)))
        planned[key] += wanted
        groups[key].append(MapNode(name, overlay(squares, wanted), node_url(uuid, name)))
    ordered = sorted(groups, key=lambda key: (not planned[key], key))
    shown: list[MapGroup] = []
    room = MAX_NODES
    for key in ordered:
        nodes = tuple(groups[key][:room])
        room -= len(nodes)
        if nodes:
            note = f"{key[2]} × {key[1]}" if key[1] and key[2] != "0" else key[1]
            shown.append(MapGroup(key[0], note, nodes, planned[key]))
    total = sum(len(nodes) for nodes in groups.values())
    return PlanMap(tuple(shown), total - (MAX_NODES - room))


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
