"""Which nodes a pod may go to by its required node affinity, as the inventory holds it."""

from __future__ import annotations

from fleet.inventory import NodeRule
from fleet.kubernetes.objects_core import NodeTerm, PodSpec

_MOST_TERMS = 64
_MOST_VALUES = 1_000


def node_affinity_of(spec: PodSpec) -> tuple[tuple[NodeRule, ...], ...]:
    """The required terms, of which one must hold; () when nothing is required.

    Preferred terms only lower a node's score and are not read.
    """
    affinity = spec.affinity.nodeAffinity if spec.affinity is not None else None
    required = affinity.requiredDuringSchedulingIgnoredDuringExecution if affinity else None
    if required is None:
        return ()
    terms = (required.nodeSelectorTerms or ())[:_MOST_TERMS]
    # A selector without terms matches no node: one empty term says the same.
    return tuple(_term(term) for term in terms) or ((),)


def _term(term: NodeTerm) -> tuple[NodeRule, ...]:
    labels = (
        NodeRule(rule.key, rule.operator, tuple((rule.values or ())[:_MOST_VALUES]))
        for rule in term.matchExpressions or ()
    )
    fields = (
        NodeRule(rule.key, rule.operator, tuple((rule.values or ())[:_MOST_VALUES]), is_field=True)
        for rule in term.matchFields or ()
    )
    return (*labels, *fields)
