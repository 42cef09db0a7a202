"""What the report says of topology: the levels that nodes can be told apart by, and the domains."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fleet.inventory import Inventory, Node
from fleet.inventory_totals import is_counted, whole_free
from fleet.slots import ModelSlots, slots

Report = dict[str, Any]

MOST_DOMAINS = 200
"""Domains that are listed for one level; ``domain_count`` says how many there are."""


def topology_report(inventory: Inventory) -> Report:
    """``levels`` (label keys, coarse to fine), ``level_names``, ``domains`` of each level with
    their GPU nodes and free whole GPUs, what all GPU nodes have in common, and how many gangs
    still fit (``fleet.slots``)."""
    nodes = [node for node in inventory.nodes if node.is_gpu_node and is_counted(node)]
    names = list(dict.fromkeys(name for name, _ in inventory.topology_keys))
    return {
        "levels": [key for _, key in inventory.topology_keys],
        "level_names": [name for name, _ in inventory.topology_keys],
        "domains": {name: _domains(nodes, name) for name in names},
        "domain_count": {
            name: len({node.domain(name) for node in nodes} - {None}) for name in names
        },
        "unplaced_nodes": {
            name: sum(node.domain(name) is None for node in nodes) for name in names
        },
        "common_ancestor_of_gpu_nodes": common_ancestor(nodes),
        "slots": [_slots(model) for model in slots(inventory)],
    }


def common_ancestor(nodes: Iterable[Node]) -> str | None:
    """The finest level whose domain holds all of these nodes: their distance in the network.
    None when they share no level, or one of them does not say where it stands."""
    listed = list(nodes)
    if not listed:
        return None
    shared = None
    for level in listed[0].topology:
        found = {node.domain(level.name) for node in listed}
        if len(found) == 1 and None not in found:
            shared = level.name
    return shared


def _slots(model: ModelSlots) -> Report:
    return {
        "model": model.model or None,
        "model_label": model.label,
        "gang_sizes": list(model.sizes),
        "place_count": len(model.places),
        "places": [
            {
                "path": list(place.path),
                "gpu_nodes": place.nodes,
                "uncounted": place.uncounted,
                "free": place.free,
                "largest_gang": place.largest,
                "behind_taints": place.tainted,
                "gangs": list(place.gangs),
                "pod_gpus": list(place.pod_gpus),
            }
            for place in model.places[:MOST_DOMAINS]
        ],
    }


def _domains(nodes: list[Node], name: str) -> Report:
    found: dict[str, list[Node]] = {}
    for node in nodes:
        path = node.domain(name)
        if path is not None:
            found.setdefault("/".join(path), []).append(node)
    return {
        path: {
            "gpu_nodes": len(found[path]),
            "free_whole_gpus": sum(whole_free(n, g) for n in found[path] for g in n.groups),
        }
        for path in sorted(found)[:MOST_DOMAINS]
    }
