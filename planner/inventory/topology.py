"""Topology domains of a cluster: zones, blocks, racks, NVLink domains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Q, Sum
from django.utils.translation import gettext as _

from planner.inventory.models import Cluster, NodeRow, Snapshot
from planner.inventory.queries import node_list_url

MOST_DOMAINS = 60
"""Domains of one level on the page; the CSV has all of them."""


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
    place: dict[str, str]  # filters of the node table

    @property
    def url(self) -> str:
        return node_list_url(**self.place)

    @property
    def free_url(self) -> str:
        return node_list_url(**self.place, state="free")

    @property
    def uncounted_url(self) -> str:
        return node_list_url(**self.place, state="unknown")


@dataclass(frozen=True, slots=True)
class DomainLevel:
    """One level of topology with its domains. ``unlabelled`` nodes name none."""

    name: str
    key: str
    domains: list[DomainLine]
    unlabelled: int
    why: str = ""  # why it is proposed; "" for one that a person chose

    @property
    def word(self) -> str:
        return level_word(self.name)

    @property
    def shown(self) -> list[DomainLine]:
        return self.domains[:MOST_DOMAINS]

    @property
    def left_out(self) -> int:
        return max(0, len(self.domains) - MOST_DOMAINS)


def level_word(name: str) -> str:
    """A level as people call it: "NVLink domain"."""
    words = {
        "region": _("Region"),
        "zone": _("Zone"),
        "block": _("Block"),
        "rack": _("Rack"),
        "host": _("Physical host"),
        "nvlink": _("NVLink domain"),
        "nvlink-partition": _("NVLink partition"),
    }
    return words.get(name, name)


def level_names(snapshot: Snapshot) -> list[str]:
    """The levels of the snapshot, coarse to fine, each once."""
    return list(dict.fromkeys(name for name, _key in snapshot.topology_keys))


def domain_text(levels: Sequence[str], path: Sequence[str | None]) -> str:
    """A place as the address of the node table takes it: "block:a/rack:1".

    A level that its nodes lack is written without a value, so that the "rack-1" of no block is
    not the "rack-1" of every block.
    """
    return "/".join(f"{name}:{value or ''}" for name, value in zip(levels, path, strict=False))


def domain_levels(cluster: Cluster, snapshot: Snapshot) -> list[DomainLevel]:
    """The domains of a cluster by level, coarse to fine, from the rows of its GPU nodes."""
    # Added up by the database: one line a finest domain, not one a node.
    rows = list(
        NodeRow.objects.filter(snapshot=snapshot, is_gpu_node=True)
        .order_by()
        .values_list("topology")
        .annotate(
            n=Count("pk"), p=Sum("physical"), f=Sum("free"), u=Count("pk", filter=Q(physical=None))
        )
    )
    names = level_names(snapshot)
    keys = {
        name: ", ".join(key for other, key in snapshot.topology_keys if other == name)
        for name in names
    }
    reasons: dict[str, list[str]] = {}
    if not cluster.topology_levels:
        for name, _key, source, *_counts in snapshot.topology.get("proposal", []):
            reasons.setdefault(name, []).append(source)
    return [
        replace(
            _domain_level(cluster, names[: depth + 1], keys[name], rows),
            why="; ".join(dict.fromkeys(reasons.get(name, ()))),
        )
        for depth, name in enumerate(names)
    ]


def _domain_level(
    cluster: Cluster, levels: list[str], key: str, rows: list[tuple[Any, ...]]
) -> DomainLevel:
    # Names repeat: rack 1 of block a is not rack 1 of block b. A domain is its whole path.
    sums: dict[tuple[str, ...], list[int]] = {}
    for topology, *counts in rows:
        if levels[-1] not in topology:
            continue
        path = tuple(topology.get(name, "") for name in levels)
        line = sums.setdefault(path, [0, 0, 0, 0])
        for place, number in enumerate(counts):
            line[place] += number or 0
    domains = [_line(cluster, levels, path, *counts) for path, counts in sorted(sums.items())]
    unlabelled = sum(nodes for _topology, nodes, *_counts in rows) - sum(d.nodes for d in domains)
    return DomainLevel(levels[-1], key, domains, unlabelled)


def _line(
    cluster: Cluster,
    levels: list[str],
    path: tuple[str, ...],
    nodes: int,
    physical: int,
    free: int,
    uncounted: int,
) -> DomainLine:
    is_known = uncounted < nodes
    return DomainLine(
        level=levels[-1],
        value=path[-1],
        parents=" / ".join(value or "?" for value in path[:-1]),
        nodes=nodes,
        physical=physical if is_known else None,
        free=free if is_known else None,
        uncounted=uncounted,
        place={"cluster": cluster.name, "domain": domain_text(levels, path)},
    )


@dataclass(frozen=True, slots=True)
class ProposedLine:
    """One proposed level, and how far its label reaches."""

    name: str
    word: str
    key: str
    source: str
    nodes: int
    domains: int


@dataclass(frozen=True, slots=True)
class DeclaredLine:
    """One topology that the cluster states."""

    number: int
    source: str
    keys: list[str]
    flavors: list[str]


def choices(snapshot: Snapshot) -> dict[str, Any]:
    """What there is to choose levels from: the proposal, declared topologies, label keys with the
    number of GPU nodes that carry them and of values that they have."""
    facts = snapshot.topology
    carried = {key: (nodes, values) for key, nodes, values in facts.get("keys", [])}
    return {
        "gpu_nodes": facts.get("gpu_nodes", 0),
        "proposal": [
            ProposedLine(name, level_word(name), key, source, nodes, domains)
            for name, key, source, nodes, domains in facts.get("proposal", [])
        ],
        "declared": [
            DeclaredLine(number, source, keys, flavors)
            for number, (source, keys, _names, flavors) in enumerate(facts.get("declared", []))
        ],
        "keys": [(key, nodes, values) for key, (nodes, values) in sorted(carried.items())],
        "carried": carried,
    }
