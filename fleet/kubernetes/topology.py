"""Where a node stands: zone, block, rack, NVLink domain.

No vendor-neutral keys exist, so levels are a choice: an ordered list of label keys. They are
proposed from what the cluster states (Kueue and KAI topologies, Volcano HyperNodes, keys that
PodGroups ask for) and else from the keys of clouds and tools that the nodes carry; a person may
choose others. Values are unique only below their parent (two blocks may both have a "rack-1"), so
a domain is the *path* of values: ``Node.domain``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fleet.inventory import DeclaredTopology, Inventory, Node, ProposedLevel, TopologyLevel
from fleet.kubernetes.topology_keys import (
    CLIQUE,
    CLIQUE_DOMAIN,
    FAMILIES,
    HOSTNAME,
    NVLINK,
    OLD_NAMES,
    PARTITIONS,
    REGION,
    TIER,
    ULTRA_SERVERS,
    ZONE,
    level_name,
)

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
    places = [_known(node) for node in inventory.nodes]
    doubtful = _doubtful(places, keys)
    nodes = tuple(
        replace(node, topology=levels_of(known, keys, doubtful))
        for node, known in zip(inventory.nodes, places, strict=True)
    )
    return replace(inventory, nodes=nodes, topology_keys=keys)


def levels_of(
    labels: Labels, keys: Keys, doubtful: frozenset[tuple[str, str]] = frozenset()
) -> tuple[TopologyLevel, ...]:
    """The node's place on every level; ``value`` None where it lacks the label.

    ``doubtful`` are the (key, value) pairs that say the same under two keys of one level: the key
    is added to them, so that "1" of one cloud is not "1" of another.
    """
    found: dict[str, TopologyLevel] = {}
    for name, key in keys:
        if name in found and found[name].value is not None:
            continue
        value = _value(labels, key)
        if value is not None and (key, value) in doubtful:
            value = f"{value} ({key.replace('/', ':')})"  # "/" divides paths
        if value is not None or name not in found:
            carried = key if labels.get(key) or value is None else OLD_NAMES.get(key, key)
            found[name] = TopologyLevel(name, carried, value)
    return tuple(found.values())


def unknown_keys(inventory: Inventory, keys: Keys) -> tuple[str, ...]:
    """Those of the keys that no node carries: levels by them would tell nothing apart."""
    carried = {key for node in inventory.nodes for key, value in _known(node).items() if value}
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


def _known(node: Node) -> Labels:
    return {**node.labels, **node.places} if node.places else node.labels


def _value(labels: Labels, key: str) -> str | None:
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
            values = {value for labels in places if (value := _value(labels, key)) is not None}
            found |= {(key, value) for value in values & taken}
            taken |= values
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class _Nodes:
    """What the nodes carry: labels and places, of GPU nodes where there are any."""

    labels: tuple[Labels, ...]
    types: tuple[str, ...]  # instance types
    word: str  # "GPU nodes", or "nodes" where no node has GPUs
    counts: Counter[str]  # label key -> nodes that carry it

    def values(self, key: str) -> list[str | None]:
        return [_value(labels, key) for labels in self.labels]

    def carriers(self, key: str) -> int:
        if key in OLD_NAMES:
            return sum(value is not None for value in self.values(key))
        return self.counts[key]

    def why(self, key: str) -> str:
        return f"label on {self.carriers(key)} of {len(self.labels)} {self.word}"

    def lacking(self, keys: Iterable[str]) -> _Nodes:
        """Those that carry none of the keys."""
        wanted = tuple(keys)
        kept = [
            (labels, kind)
            for labels, kind in zip(self.labels, self.types, strict=True)
            if all(_value(labels, key) is None for key in wanted)
        ]
        return _nodes([k[0] for k in kept], [k[1] for k in kept], self.word)


def _nodes(labels: Sequence[Labels], types: Sequence[str], word: str) -> _Nodes:
    counts = Counter(key for known in labels for key, value in known.items() if value)
    return _Nodes(tuple(labels), tuple(types), word, counts)


def propose(
    nodes: Sequence[Node],
    declared: Sequence[DeclaredTopology] = (),
    asked: Sequence[tuple[str, str]] = (),
) -> tuple[ProposedLevel, ...]:
    """The levels that these nodes can be told apart by, coarse to fine, each with its reason.

    ``declared`` are the topologies that the cluster states; ``asked`` are (label key, who asks)
    of gangs that want to stay within one domain. What no node carries is passed over.
    """
    gpu = [node for node in nodes if node.is_gpu_node]
    chosen = gpu or list(nodes)
    have = _nodes(
        [_known(node) for node in chosen],
        [node.instance_type for node in chosen],
        "GPU nodes" if gpu else "nodes",
    )
    levels = _declared(have, declared) or _network(have)
    levels = [*_zones(have, levels), *levels]
    for key, who in asked:
        if key != HOSTNAME and have.carriers(key) and key not in {level.key for level in levels}:
            levels = _inserted(have, levels, ProposedLevel(level_name(key), key, f"{who} asks"))
    for level in _nvlink(have, levels):
        levels = _inserted(have, levels, level)
    return tuple(_named(levels)[:MOST_LEVELS])


def _zones(have: _Nodes, levels: Sequence[ProposedLevel]) -> list[ProposedLevel]:
    """Region and zone above all else; a region only where there are several."""
    taken = {level.key for level in levels}
    found = []
    if REGION not in taken and len(set(have.values(REGION)) - {None}) > 1:
        found.append(ProposedLevel("region", REGION, have.why(REGION)))
    if ZONE not in taken and have.carriers(ZONE):
        found.append(ProposedLevel("zone", ZONE, have.why(ZONE)))
    return found


def _declared(have: _Nodes, declared: Sequence[DeclaredTopology]) -> list[ProposedLevel]:
    """The levels of all stated topologies whose keys nodes carry, the widest carried first.

    One that repeats a level's name with another key (a topology of another flavor) adds its key
    to that level: each node is told by the first key that it carries.
    """
    usable = []
    for topology in declared:
        names = topology.names or ("",) * len(topology.keys)
        pairs = [
            (name or level_name(key), key)
            for name, key in zip(names, topology.keys, strict=True)
            if key != HOSTNAME
        ]
        if pairs and all(have.carriers(key) for _, key in pairs):
            usable.append((topology, pairs))
    usable.sort(key=lambda found: -have.carriers(found[1][-1][1]))
    levels: list[ProposedLevel] = []
    for topology, pairs in usable:
        flavors = f" of flavor {', '.join(topology.flavors)}" if topology.flavors else ""
        place = 0
        for name, key in pairs:
            known = next((n for n, level in enumerate(levels) if level.key == key), None)
            if known is None:
                same = [n for n, level in enumerate(levels) if level.name == name]
                place = same[-1] + 1 if same else place
                levels.insert(place, ProposedLevel(name, key, f"{topology.source}{flavors}"))
                known = place
            place = known + 1
    return levels


def _network(have: _Nodes) -> list[ProposedLevel]:
    """Keys of clouds and tools: the family that most nodes carry; for nodes without any of its
    keys, the next one."""
    levels: list[ProposedLevel] = []
    rest = have
    while rest.labels:
        found = max(
            (_carried(rest, family) for family in _families(rest)),
            key=lambda pairs: max((rest.carriers(key) for _, key in pairs), default=0),
            default=(),
        )
        if not found:
            break
        place = 0
        for name, key in found:
            same = [n for n, level in enumerate(levels) if level.name == name]
            place = same[-1] + 1 if same else place
            levels.insert(place, ProposedLevel(name, key, have.why(key)))
            place += 1
        rest = rest.lacking(key for _, key in found)
    return levels


def _carried(have: _Nodes, family: Keys) -> Keys:
    """The levels of the family that nodes carry, each by the key that most of them carry."""
    best: dict[str, tuple[int, str]] = {}
    for name, key in family:
        count = have.carriers(key)
        if count > best.get(name, (0, ""))[0]:
            best[name] = (count, key)
    return tuple((name, key) for name, (_, key) in best.items())


def _families(have: _Nodes) -> list[Keys]:
    """Families of keys, the surest first: topograph's tiers, clouds, keys named after a level."""
    present = have.counts
    tiers = sorted((int(m.group(1)) for m in map(TIER.fullmatch, present) if m), reverse=True)
    topograph = tuple(  # tier 0 is nearest the node, higher is wider
        ("rack" if tier == 0 else f"tier-{tier}", f"fabric.topograph.run/tier-{tier}")
        for tier in tiers
    )
    named = {level_name(key): key for key in sorted(present, reverse=True) if _is_generic(key)}
    generic = tuple((name, named[name]) for name in ("block", "rack") if name in named)
    return [topograph, *FAMILIES, generic]


def _is_generic(key: str) -> bool:
    return re.search(r"(?:^|[/._-])(?:block|rack)$", key) is not None


def _nvlink(have: _Nodes, levels: Sequence[ProposedLevel]) -> list[ProposedLevel]:
    """The NVLink domain, and its partitions where some domain has several."""
    taken = {level.key for level in levels}
    counts = [(have.carriers(key), key) for key in NVLINK]
    most = max((count for count, _ in counts), default=0)
    domain = next((key for count, key in counts if count and count == most), None)
    if domain is None and not any(level.name == "nvlink" for level in levels):
        domain = _ultra_server(have)
    if domain is None or domain in taken or (domain == CLIQUE_DOMAIN and CLIQUE in taken):
        return []
    label = CLIQUE if domain == CLIQUE_DOMAIN else domain
    found = [ProposedLevel("nvlink", domain, have.why(label))]
    part = PARTITIONS.get(domain, "")
    whole, parts = have.values(domain), have.values(part)
    pairs = {(w, p) for w, p in zip(whole, parts, strict=True) if w is not None and p is not None}
    if len(pairs) > len({w for w, _ in pairs}):
        found.append(ProposedLevel("nvlink-partition", part, have.why(part)))
    return found


def _ultra_server(have: _Nodes) -> str | None:
    """AWS: the capacity block of an UltraServer is its NVLink domain; of other machines it is
    only a reservation."""
    key = "topology.k8s.aws/capacity-block-id"
    carried = [
        kind for kind, value in zip(have.types, have.values(key), strict=True) if value is not None
    ]
    return key if carried and all(ULTRA_SERVERS.match(kind) for kind in carried) else None


def _inserted(
    have: _Nodes, levels: Sequence[ProposedLevel], level: ProposedLevel
) -> list[ProposedLevel]:
    """The levels with one more, below the finest level that its domains lie within."""
    values = have.values(level.key)
    place = len(levels)
    while place and not _lies_within(have, levels[:place], values):
        place -= 1
    return [*levels[:place], level, *levels[place:]]


def _lies_within(
    have: _Nodes, levels: Sequence[ProposedLevel], values: Sequence[str | None]
) -> bool:
    """Whether every value is found in one domain of the levels only."""
    keys = tuple((level.name, level.key) for level in levels)
    homes: dict[str, set[tuple[str | None, ...]]] = defaultdict(set)
    for labels, value in zip(have.labels, values, strict=True):
        if value is not None:
            homes[value].add(tuple(step.value for step in levels_of(labels, keys)))
    return all(len(found) == 1 for found in homes.values())


def _named(levels: Sequence[ProposedLevel]) -> list[ProposedLevel]:
    """Levels side by side that share a name are one level of several keys; others get a number."""
    found: list[ProposedLevel] = []
    for level in levels:
        if level.name in RESERVED_NAMES:
            level = replace(level, name=f"{level.name}-level")
        names = [known.name for known in found]
        if level.name in names and names[-1] != level.name:
            number = 2
            while f"{level.name}-{number}" in names:
                number += 1
            level = replace(level, name=f"{level.name}-{number}")
        found.append(level)
    return found
