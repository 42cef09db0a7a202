"""Topology domains of a cluster: zones, blocks, racks, NVLink domains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from planner.inventory.models import Cluster, NodeRow, Snapshot
from planner.inventory.queries import node_list_url


@dataclass(frozen=True, slots=True)
class DomainLine:
    """One topology domain: a zone, a rack, an NVLink domain."""

    level: str
    value: str
    parents: str
    nodes: int
    physical: int | None  # None: none of its nodes says how many
    free: int | None
    uncounted: int
    url: str
    free_url: str
    uncounted_url: str


@dataclass(frozen=True, slots=True)
class DomainLevel:
    """One level of topology with its domains. ``unlabelled`` nodes name none."""

    name: str
    key: str
    domains: list[DomainLine]
    unlabelled: int

    @property
    def word(self) -> str:
        return level_word(self.name)


def level_word(name: str) -> str:
    """A level as people call it: "NVLink domain"."""
    words = {
        "zone": _("Zone"),
        "block": _("Block"),
        "rack": _("Rack"),
        "nvlink": _("NVLink domain"),
    }
    return words.get(name, name)


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
    # Names repeat: rack 1 of block a is not rack 1 of block b. A domain is its whole path.
    sums: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for topology, boards, unheld in rows:
        if level not in topology:
            continue
        path = tuple((name, topology[name]) for name in (*coarser, level) if name in topology)
        line = sums.setdefault(path, [0, 0, 0, 0])
        line[0] += 1
        line[3] += boards is None
        line[1] += boards or 0
        line[2] += unheld or 0
    domains = [_line(cluster, path, *counts) for path, counts in sorted(sums.items())]
    return DomainLevel(level, key, domains, len(rows) - sum(d.nodes for d in domains))


def _line(
    cluster: Cluster,
    path: tuple[tuple[str, str], ...],
    nodes: int,
    physical: int,
    free: int,
    uncounted: int,
) -> DomainLine:
    place = {"cluster": cluster.name, "domain": "/".join(f"{name}:{value}" for name, value in path)}
    is_known = uncounted < nodes
    return DomainLine(
        level=path[-1][0],
        value=path[-1][1],
        parents=" / ".join(value for _level, value in path[:-1]),
        nodes=nodes,
        physical=physical if is_known else None,
        free=free if is_known else None,
        uncounted=uncounted,
        url=node_list_url(**place),
        free_url=node_list_url(**place, state="free"),
        uncounted_url=node_list_url(**place, state="unknown"),
    )
