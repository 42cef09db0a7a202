"""Topology domains of a cluster: zones, blocks, racks, NVLink domains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from planner.inventory.models import Cluster, NodeRow, Snapshot
from planner.inventory.queries import node_list_url


@dataclass(frozen=True, slots=True)
class DomainLine:
    """One topology domain: a zone, a rack, an NVLink domain."""

    level: str
    value: str
    parents: str
    nodes: int
    physical: int
    free: int
    url: str


@dataclass(frozen=True, slots=True)
class DomainLevel:
    """One level of topology with its domains. ``unlabelled`` nodes name none."""

    name: str
    key: str
    domains: list[DomainLine]
    unlabelled: int


def domain_levels(cluster: Cluster, snapshot: Snapshot) -> list[DomainLevel]:
    """The domains of a cluster by level, coarse to fine, from the rows of its GPU nodes."""
    rows = list(
        NodeRow.objects.filter(snapshot=snapshot, is_gpu_node=True).values_list(
            "topology", "physical", "free"
        )
    )
    order = [level for level, _key in snapshot.topology_keys]
    return [
        _domain_level(cluster, level, key, order[: order.index(level)], rows)
        for level, key in snapshot.topology_keys
    ]


def _domain_level(
    cluster: Cluster, level: str, key: str, coarser: list[str], rows: list[tuple[Any, ...]]
) -> DomainLevel:
    sums: dict[str, list[int]] = {}
    parents: dict[str, str] = {}
    for topology, physical, free in rows:
        if (value := topology.get(level)) is None:
            continue
        line = sums.setdefault(value, [0, 0, 0])
        line[0] += 1
        line[1] += physical or 0
        line[2] += free or 0
        parents.setdefault(value, " / ".join(topology[c] for c in coarser if c in topology))
    domains = [
        DomainLine(
            level,
            value,
            parents[value],
            *numbers,
            url=node_list_url(cluster=cluster.name, domain=f"{level}:{value}"),
        )
        for value, numbers in sorted(sums.items())
    ]
    return DomainLevel(level, key, domains, len(rows) - sum(d.nodes for d in domains))
