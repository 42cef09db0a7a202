"""Where a node stands: zone, block, rack, NVLink domain.

No vendor-neutral keys exist, so levels are a choice: an ordered list of label keys. They are
proposed from what the cluster states (Kueue and KAI topologies, Volcano HyperNodes, keys that
PodGroups ask for) and else from the keys of clouds and tools that the nodes carry; a person may
choose others. Values are unique only below their parent (two blocks may both have a "rack-1"), so
a domain is the *path* of values: ``Node.domain``. A node that lacks the label of the block is
therefore in no known rack either, unless no node with such a rack label is in a block.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from fleet.inventory import Inventory, Node, TopologyLevel
from fleet.kubernetes.topology_keys import CLIQUE, CLIQUE_DOMAIN, OF_SOME_MACHINES, OLD_NAMES

Keys = tuple[tuple[str, str], ...]
Labels = Mapping[str, str]

LEVEL_NAME = r"[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?"
"""What a level may be called."""

RESERVED_NAMES = frozenset({"node", "any"})
"""What workloads call one machine and the whole cluster; no level may be called so."""

MOST_LEVELS = 8
"""Levels of one cluster; deeper hierarchies are not known to exist."""


def clique_places(labels: Labels) -> dict[str, str]:
    """The physical NVLink domain: a clique is "<cluster uuid>.<partition>"; what stands before
    the last dot is the domain, the whole value is the partition."""
    clique = labels.get(CLIQUE)
    return {CLIQUE_DOMAIN: clique.rpartition(".")[0] or clique} if clique else {}


def lay(inventory: Inventory, keys: Keys) -> Inventory:
    """The same inventory with these levels; without any, with the proposed ones."""
    keys = keys or tuple((level.name, level.key) for level in inventory.proposed_levels)
    places = [place_labels(node) for node in inventory.nodes]
    doubtful = _doubtful(places, keys)
    divided = _divided(places, keys)
    nodes = tuple(
        replace(node, topology=_placed(levels_of(known, keys, doubtful), divided))
        for node, known in zip(inventory.nodes, places, strict=True)
    )
    return replace(inventory, nodes=nodes, topology_keys=keys)


def levels_of(
    labels: Labels, keys: Keys, doubtful: frozenset[tuple[str, str]] = frozenset()
) -> tuple[TopologyLevel, ...]:
    """What the node says of every level; ``value`` None where it lacks the label.

    ``doubtful`` are the (key, value) pairs that say the same under two keys of one level: the key
    is added to them, so that "1" of one cloud is not "1" of another.
    """
    found: dict[str, TopologyLevel] = {}
    for name, key in keys:
        if name in found and found[name].value is not None:
            continue
        value = value_of(labels, key)
        if value is not None and (key, value) in doubtful:
            value = f"{value} ({key.replace('/', ':')})"  # "/" divides paths
        if value is not None or name not in found:
            carried = key if labels.get(key) or value is None else OLD_NAMES.get(key, key)
            found[name] = TopologyLevel(name, carried, value)
    return tuple(found.values())


def _divided(places: Sequence[Labels], keys: Keys) -> frozenset[tuple[str, str]]:
    """(label key, coarser level): nodes with that label are told apart by that level, since some
    carry both. Not by NVLink domains, which other machines simply do not have."""
    seen = {
        tuple((step.name, step.key) for step in levels_of(labels, keys) if step.value is not None)
        for labels in places
    }
    return frozenset(
        (key, name)
        for carried in seen
        for (name, coarser), (_, key) in combinations(carried, 2)
        if coarser not in OF_SOME_MACHINES
    )


def _placed(
    levels: tuple[TopologyLevel, ...], divided: frozenset[tuple[str, str]]
) -> tuple[TopologyLevel, ...]:
    """The levels without values below a level that the node lacks and that divides nodes like it:
    two nodes that only say "rack-1" may stand in the "rack-1" of two blocks."""
    if all(level.value is not None for level in levels):
        return levels
    found: list[TopologyLevel] = []
    for level in levels:
        is_lost = any((level.key, above.name) in divided for above in found if above.value is None)
        found.append(replace(level, value=None) if is_lost else level)
    return tuple(found)


def unknown_keys(inventory: Inventory, keys: Keys) -> tuple[str, ...]:
    """Those of the keys that no node carries: levels by them would tell nothing apart."""
    carried = {
        key for node in inventory.nodes for key, value in place_labels(node).items() if value
    }
    return tuple(key for _, key in keys if key not in carried and OLD_NAMES.get(key) not in carried)


def common_ancestor(nodes: Sequence[Node]) -> tuple[str, tuple[str, ...]] | None:
    """The finest domain that holds all of these nodes: (level name, path of values).

    None where they share no domain, or one of them lacks the label of every level they share.
    """
    if not nodes:
        return None
    for level in reversed(nodes[0].topology):
        paths = {node.domain(level.name) for node in nodes}
        if len(paths) == 1 and (path := paths.pop()) is not None:
            return level.name, path
    return None


def place_labels(node: Node) -> Labels:
    """The node's labels, and what is known of its place otherwise."""
    return {**node.labels, **node.places} if node.places else node.labels


def value_of(labels: Labels, key: str) -> str | None:
    """The value of the label, or of the deprecated one that it stands for."""
    return labels.get(key) or labels.get(OLD_NAMES.get(key, "")) or None


def _doubtful(places: Sequence[Labels], keys: Keys) -> frozenset[tuple[str, str]]:
    """Values that nodes carry under more than one of the keys of a level, but for the first."""
    by_level: dict[str, list[str]] = defaultdict(list)
    for name, key in keys:
        by_level[name].append(key)
    found = set()
    for several in by_level.values():
        taken: set[str] = set()
        for key in several if len(several) > 1 else ():
            values = {value for labels in places if (value := value_of(labels, key)) is not None}
            found |= {(key, value) for value in values & taken}
            taken |= values
    return frozenset(found)
