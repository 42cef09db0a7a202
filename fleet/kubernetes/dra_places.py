"""From which nodes a device can be reached: by node name, by node selector, or from all nodes.

Selectors are matched as the scheduler matches them: terms are alternatives, an empty term selects
nothing, and a term with an operator that nobody knows selects nothing either.
Source: kubernetes/component-helpers scheduling/corev1/nodeaffinity, apimachinery labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import msgspec

from fleet.kubernetes.objects_core import NodeObject
from fleet.kubernetes.objects_dra import (
    Basic,
    NodeSelector,
    SelectorRequirement,
    SelectorTerm,
    SliceSpec,
)

MOST_SCANS = 500
"""Distinct selectors that may look at every node; more than any driver publishes."""

_ENCODER = msgspec.json.Encoder()


class UnknownPlaceError(ValueError):
    """Objects do not say from where a device can be reached, or say it in too many ways."""


class Places:
    """The nodes of a cluster, by what selectors look at."""

    def __init__(self, nodes: Iterable[NodeObject]) -> None:
        self._labels: dict[str, Mapping[str, str]] = {
            node.metadata.name: node.metadata.labels or {} for node in nodes
        }
        self._known: dict[bytes, tuple[str, ...]] = {}
        self._scans = 0

    @cached_property
    def all(self) -> tuple[str, ...]:
        """Every node."""
        return tuple(self._labels)

    @cached_property
    def _by_label(self) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        for name, labels in self._labels.items():
            for label in labels.items():
                found.setdefault(label, []).append(name)
        return found

    def of(self, where: SliceSpec | Basic) -> tuple[str, ...]:
        """Nodes that reach the devices of a slice, or one device.

        Raises ``UnknownPlaceError`` when nothing is said.
        """
        if where.nodeName:
            return (where.nodeName,)
        if where.allNodes:
            return self.all
        if where.nodeSelector is not None:
            return self.selected(where.nodeSelector)
        raise UnknownPlaceError("names no node")

    def selected(self, selector: NodeSelector) -> tuple[str, ...]:
        """The nodes that a selector selects, in the order of the cluster's list."""
        key = _ENCODER.encode(selector)
        found = self._known.get(key)
        if found is None:
            terms = selector.nodeSelectorTerms or ()
            sets = [self._term(term) for term in terms]
            if len(sets) == 1:
                found = tuple(sets[0])
            else:
                chosen = {name for names in sets for name in names}
                found = tuple(name for name in self._labels if name in chosen)
            self._known[key] = found
        return found

    def _term(self, term: SelectorTerm) -> list[str]:
        expressions, fields = term.matchExpressions or (), term.matchFields or ()
        if not expressions and not fields:
            return []
        return [
            name
            for name in self._candidates(expressions, fields)
            if all(_label_matches(rule, self._labels[name]) for rule in expressions)
            and all(_field_matches(rule, name) for rule in fields)
        ]

    def _candidates(
        self, expressions: Sequence[SelectorRequirement], fields: Sequence[SelectorRequirement]
    ) -> Iterable[str]:
        """Nodes that could match: by one label or name where the term states one, else all."""
        for rule in fields:
            if rule.operator == "In":
                return [name for name in rule.values or () if name in self._labels]
        lists = [self._labelled(rule) for rule in expressions if rule.operator == "In"]
        if lists:
            return min(lists, key=len)
        self._scans += 1
        if self._scans > MOST_SCANS:
            raise UnknownPlaceError("has one node selector too many")
        return self._labels

    def _labelled(self, rule: SelectorRequirement) -> list[str]:
        values = dict.fromkeys(rule.values or ())
        return [name for value in values for name in self._by_label.get((rule.key, value), ())]


def _label_matches(rule: SelectorRequirement, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(rule.key), rule.values or ()
    match rule.operator:
        case "In":
            return value is not None and value in values
        case "NotIn":
            return value is None or value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            mine, limit = _integer(value), _integer(values[0]) if len(values) == 1 else None
            if mine is None or limit is None:
                return False
            return mine > limit if rule.operator == "Gt" else mine < limit
    return False


def _field_matches(rule: SelectorRequirement, name: str) -> bool:
    """Nodes have one field, ``metadata.name``; another one is empty."""
    value, values = name if rule.key == "metadata.name" else "", rule.values or ()
    if len(values) != 1 or rule.operator not in ("In", "NotIn"):
        return False
    return (value == values[0]) is (rule.operator == "In")


def _integer(text: str | None) -> int | None:
    """A whole number as Go reads it: a sign and digits, nothing else."""
    if text is None or len(text) > 20 or not text.isascii():
        return None
    return int(text) if text.removeprefix("-").removeprefix("+").isdigit() else None
