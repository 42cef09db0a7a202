"""What a snapshot keeps of its topology beside the rows of its nodes."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import msgspec

from fleet.inventory import Inventory
from fleet.kubernetes.topology import lay
from fleet.kubernetes.topology_keys import HOSTNAME
from fleet.slots import slots

MOST_KEYS = 1_000
"""Label keys of GPU nodes that are kept to choose from."""


def facts(inventory: Inventory) -> dict[str, Any]:
    """What the pages of a snapshot show of its topology, JSON-ready: the proposal, declared
    topologies, label keys to choose from, and the slots of each GPU model."""
    gpu = [node for node in inventory.nodes if node.is_gpu_node]
    carried: Counter[str] = Counter()
    values: dict[str, set[str]] = defaultdict(set)
    for node in gpu:
        for key, value in (*node.labels.items(), *node.places.items()):
            if value and key != HOSTNAME and (key in values or len(values) < MOST_KEYS):
                carried[key] += 1
                values[key].add(value)
    pairs = tuple((p.name, p.key) for p in inventory.proposed_levels)
    is_used = inventory.topology_keys == pairs
    proposed = (inventory if is_used else lay(inventory, ())).nodes
    domains = {
        p.name: len({node.domain(p.name) for node in proposed if node.is_gpu_node} - {None})
        for p in inventory.proposed_levels
    }
    return {
        "gpu_nodes": len(gpu),
        "proposal": [
            (p.name, p.key, p.source, carried[p.key], domains[p.name])
            for p in inventory.proposed_levels
        ],
        "declared": [
            (t.source, list(t.keys), list(t.names), list(t.flavors)) for t in inventory.topologies
        ],
        "keys": [(key, carried[key], len(values[key])) for key in sorted(values)],
        "slots": msgspec.to_builtins(slots(inventory)),
    }
