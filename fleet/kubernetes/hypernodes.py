"""Volcano's HyperNodes: a tree of switches whose leaves choose nodes by name, pattern or label.

Membership is no label, so a node's HyperNode of every tier is kept in ``Node.places``. Tier 1 is
nearest the nodes, higher is wider. Source: volcano docs, "HyperNode", topology.volcano.sh/v1alpha1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from fleet.inventory import DeclaredTopology, Node
from fleet.kubernetes.objects_gangs import HyperNodeObject, LabelMatch, MemberSelector
from fleet.kubernetes.patterns import PatternError, pattern
from fleet.kubernetes.topology_keys import hyper_tier_key, level_name

MOST_HYPERNODES = 20_000
MOST_TIERS = 16


@dataclass(frozen=True, slots=True)
class HyperTree:
    """Where the HyperNodes put each node."""

    places: dict[str, dict[str, str]] = field(default_factory=dict)  # node -> key -> HyperNode
    topologies: tuple[DeclaredTopology, ...] = ()
    problems: tuple[str, ...] = ()


def hyper_tree(items: Sequence[HyperNodeObject], nodes: Sequence[Node]) -> HyperTree:
    """The place of every node. A node in two HyperNodes of one tier is in the first by name, with
    a line in ``problems``; so is a pattern that we do not understand."""
    if not items:
        return HyperTree()
    problems: list[str] = []
    known = {item.metadata.name: item for item in items[:MOST_HYPERNODES]}
    if len(items) > MOST_HYPERNODES:
        problems.append(f"hypernodes: only {MOST_HYPERNODES} of {len(items)} were looked at")
    parents = _parents(known, problems)
    by_name = {node.name: node for node in nodes}
    places: dict[str, dict[str, str]] = defaultdict(dict)
    twice: dict[str, str] = {}
    for name in sorted(known):
        line = _line(name, parents)
        for node in _members(known[name], nodes, by_name, problems):
            for step in line:
                key = hyper_tier_key(known[step].spec.tier or 0)
                if places[node].setdefault(key, step) != step:
                    twice.setdefault(node, f"{places[node][key]} and {step}")
    for node, both in sorted(twice.items())[:10]:
        problems.append(f"node {node} is in two HyperNodes of one tier: {both}")
    return HyperTree(dict(places), _topology(known, places), tuple(problems))


def _parents(known: dict[str, HyperNodeObject], problems: list[str]) -> dict[str, str]:
    """child HyperNode -> parent. A parent's tier is above its child's, so no circle can form."""
    parents: dict[str, str] = {}
    for name, item in sorted(known.items()):
        for member in item.spec.members or ():
            if member.type != "HyperNode" or member.selector is None:
                continue
            for child in _chosen_names(member.selector, known, name, problems):
                if (known[child].spec.tier or 0) >= (item.spec.tier or 0):
                    problems.append(f"hypernode {name}: {child} is not of a lower tier")
                elif parents.setdefault(child, name) != name:
                    problems.append(f"hypernode {child}: below {parents[child]} and below {name}")
    return parents


def _line(name: str, parents: dict[str, str]) -> list[str]:
    """The HyperNode and those above it."""
    line = [name]
    while line[-1] in parents and len(line) < MOST_TIERS:
        line.append(parents[line[-1]])
    return line


def _members(
    item: HyperNodeObject, nodes: Sequence[Node], by_name: dict[str, Node], problems: list[str]
) -> list[str]:
    """Names of the nodes that the HyperNode chooses itself."""
    found: list[str] = []
    for member in item.spec.members or ():
        selector = member.selector
        if member.type != "Node" or selector is None:
            continue
        if selector.labelMatch is not None:
            fits = _label_test(selector.labelMatch)
            found += [node.name for node in nodes if fits(node.labels)]
        else:
            found += _chosen_names(selector, by_name, item.metadata.name, problems)
    return found


def _chosen_names(
    selector: MemberSelector, names: Iterable[str], owner: str, problems: list[str]
) -> list[str]:
    if selector.exactMatch is not None:
        return [selector.exactMatch.name] if selector.exactMatch.name in names else []
    if selector.regexMatch is None:
        return []
    try:
        found = pattern(selector.regexMatch.pattern)
    except PatternError as error:
        problems.append(f"hypernode {owner}: pattern {selector.regexMatch.pattern[:80]}: {error}")
        return []
    return [name for name in names if found.search(name)]


def _label_test(match: LabelMatch) -> Callable[[dict[str, str]], bool]:
    """A label selector as Kubernetes reads it: all must hold, an empty one chooses everything."""
    exact = match.matchLabels or {}
    rules = [(r.key, r.operator, frozenset(r.values or ())) for r in match.matchExpressions or ()]

    def fits(labels: dict[str, str]) -> bool:
        return all(labels.get(key) == value for key, value in exact.items()) and all(
            _rule_holds(labels, *rule) for rule in rules
        )

    return fits


def _rule_holds(labels: dict[str, str], key: str, operator: str, values: frozenset[str]) -> bool:
    match operator:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return False


def _topology(
    known: dict[str, HyperNodeObject], places: dict[str, dict[str, str]]
) -> tuple[DeclaredTopology, ...]:
    """The tiers that nodes are found at, widest first, named by their HyperNodes where those
    agree."""
    used = {key for place in places.values() for key in place}
    names: dict[int, set[str]] = defaultdict(set)
    for item in known.values():
        names[item.spec.tier or 0].add(item.spec.tierName or "")
    tiers = sorted((tier for tier in names if hyper_tier_key(tier) in used), reverse=True)
    if not tiers:
        return ()
    return (
        DeclaredTopology(
            source="Volcano HyperNodes",
            keys=tuple(hyper_tier_key(tier) for tier in tiers),
            names=tuple(_name(names[tier]) for tier in tiers),
        ),
    )


def _name(found: set[str]) -> str:
    return level_name(name) if len(found) == 1 and (name := next(iter(found))) else ""
