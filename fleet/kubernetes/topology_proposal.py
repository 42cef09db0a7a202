"""The levels of topology that the nodes of a cluster can be told apart by, each with its reason:
what objects of the cluster state, else the keys of clouds and tools that nodes carry.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fleet.inventory import DeclaredTopology, Node, ProposedLevel
from fleet.kubernetes.topology import (
    MOST_LEVELS,
    RESERVED_NAMES,
    Keys,
    Labels,
    levels_of,
    place_labels,
    value_of,
)
from fleet.kubernetes.topology_keys import (
    CAPACITY_BLOCK,
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


@dataclass(frozen=True, slots=True)
class _Nodes:
    """What the nodes carry: labels and places, of GPU nodes where there are any."""

    labels: tuple[Labels, ...]
    types: tuple[str, ...]  # instance types
    word: str  # "GPU nodes", or "nodes" where no node has GPUs
    counts: Counter[str]  # label key -> nodes that carry it

    def values(self, key: str) -> list[str | None]:
        return [value_of(labels, key) for labels in self.labels]

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
            if all(value_of(labels, key) is None for key in wanted)
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
        [place_labels(node) for node in chosen],
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


def uncarried(nodes: Sequence[Node], declared: Sequence[DeclaredTopology]) -> tuple[str, ...]:
    """One line for each stated topology with labels that no node carries, GPUs or not."""
    carried = {key for node in nodes for key, value in place_labels(node).items() if value}
    lines = []
    for topology in declared:
        lost = [
            key
            for key in topology.keys
            if key != HOSTNAME and key not in carried and OLD_NAMES.get(key) not in carried
        ]
        if lost:
            lines.append(f"{topology.source}: no node carries {_some(lost)}")
    return tuple(lines)


def _some(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - 3} more" if len(keys) > 3 else ""
    return ", ".join(key[:100] for key in keys[:3]) + more


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
    """The levels of all stated topologies by the keys that nodes carry, the widest carried first.
    What is missing of a topology is told with the rest of it.

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
        carried = [pair for pair in pairs if have.carriers(pair[1])]
        if carried:
            lost = [key for _, key in pairs if not have.carriers(key)]
            usable.append((topology, carried, lost))
    usable.sort(key=lambda found: -have.carriers(found[1][-1][1]))
    levels: list[ProposedLevel] = []
    for topology, pairs, lost in usable:
        source = topology.source
        if topology.flavors:
            source += f" of flavor {', '.join(topology.flavors)}"
        if lost:
            source += f" (none of the {have.word} carries {_some(lost)})"
        place = 0
        for name, key in pairs:
            known = next((n for n, level in enumerate(levels) if level.key == key), None)
            if known is None:
                same = [n for n, level in enumerate(levels) if level.name == name]
                place = same[-1] + 1 if same else place
                levels.insert(place, ProposedLevel(name, key, source))
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
    carried = [
        kind
        for kind, value in zip(have.types, have.values(CAPACITY_BLOCK), strict=True)
        if value is not None
    ]
    return (
        CAPACITY_BLOCK if carried and all(ULTRA_SERVERS.match(kind) for kind in carried) else None
    )


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
