"""Taints and tolerations, and whether a node takes pods at all."""

from __future__ import annotations

from collections.abc import Iterable

from fleet.inventory import Taint, Toleration
from fleet.kubernetes.objects_core import NodeObject, TolerationObject

_BLOCKING = ("NoSchedule", "NoExecute")
_LIFECYCLE = frozenset(
    {
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        "node.kubernetes.io/unschedulable",
        "node.kubernetes.io/memory-pressure",
        "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/pid-pressure",
        "node.kubernetes.io/network-unavailable",
        "node.kubernetes.io/out-of-service",
        "node.cloudprovider.kubernetes.io/uninitialized",
        "node.cloudprovider.kubernetes.io/shutdown",
        "ToBeDeletedByClusterAutoscaler",
        "DeletionCandidateOfClusterAutoscaler",
        "karpenter.sh/unregistered",
        "karpenter.sh/disrupted",
        "karpenter.sh/disruption",
        "karpenter.sh/not-ready",
        "node.cilium.io/agent-not-ready",
        "ebs.csi.aws.com/agent-not-ready",
    }
)
_LIFECYCLE_PREFIXES = (
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "readiness.node.x-k8s.io/",
)


def is_lifecycle(taint: Taint) -> bool:
    """A taint of a node that starts, is sick or goes away: state, not policy."""
    return taint.key in _LIFECYCLE or taint.key.startswith(_LIFECYCLE_PREFIXES)


def blocks(taint: Taint) -> bool:
    """Whether the taint keeps pods away (``PreferNoSchedule`` only makes a node less liked)."""
    return taint.effect in _BLOCKING


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """The scheduler's rule for one toleration and one taint."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if not toleration.key:
        return toleration.operator == "Exists"
    if toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return _compares(toleration, taint)


def _compares(toleration: Toleration, taint: Taint) -> bool:
    # Lt and Gt compare integers (alpha since 1.35): the taint's value against the toleration's.
    try:
        ours, theirs = int(toleration.value), int(taint.value)
    except ValueError:
        return False
    return theirs < ours if toleration.operator == "Lt" else (
        toleration.operator == "Gt" and theirs > ours
    )  # fmt: skip


def untolerated(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> tuple[Taint, ...]:
    """The taints that keep a pod with these tolerations off the node."""
    mine = tuple(tolerations)
    return tuple(t for t in taints if blocks(t) and not any(tolerates(m, t) for m in mine))


def taints_of(node: NodeObject) -> tuple[Taint, ...]:
    """The node's taints, as the API gives them."""
    listed = (node.spec.taints if node.spec else None) or ()
    return tuple(Taint(t.key, t.value or "", t.effect) for t in listed)


def tolerations_of(listed: Iterable[TolerationObject] | None) -> tuple[Toleration, ...]:
    """Tolerations with the API's defaults filled in."""
    return tuple(
        Toleration(
            key=t.key or "",
            operator=t.operator or "Equal",
            value=t.value or "",
            effect=t.effect or "",
            seconds=t.tolerationSeconds,
        )
        for t in listed or ()
    )


def not_schedulable_reason(ready: bool | None, cordoned: bool, taints: Iterable[Taint]) -> str:
    """Why the node takes no pods now, "" when it does. Ordinary taints are no reason."""
    if ready is None:
        return "no Ready condition"
    if not ready:
        return "NotReady"
    if cordoned:
        return "cordoned"
    held = next((t for t in taints if blocks(t) and is_lifecycle(t)), None)
    return f"taint {held.key}" if held is not None else ""
