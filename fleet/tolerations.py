"""Taints and tolerations: which taint keeps a pod away, and which taints are only passing.

Matching follows the scheduler (core/v1 ``Toleration``), with the numeric operators Lt and Gt, which
are alpha up to Kubernetes 1.37: an API server without the gate refuses them.
"""

from __future__ import annotations

from collections.abc import Iterable

from fleet.inventory import Taint, Toleration

BLOCKING_EFFECTS = ("NoSchedule", "NoExecute")
"""``PreferNoSchedule`` only lowers a node's score."""

GPU_TAINT_KEYS = frozenset(
    {
        "nvidia.com/gpu",
        "amd.com/gpu",
        "gpu.intel.com/i915",
        "gpu.intel.com/xe",
        "habana.ai/gaudi",
        "google.com/tpu",
        "aws.amazon.com/neuron",
    }
)
"""Taint keys that mean "GPU pods only": the vendors' main resource names."""

LIFECYCLE_KEYS = frozenset(
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
"""Set and removed by controllers while a node starts, ails or leaves: not an owner's policy."""

LIFECYCLE_PREFIXES = (
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "readiness.node.x-k8s.io/",
)


def is_lifecycle(taint: Taint) -> bool:
    """Whether the taint says something about the node's state and not about its purpose."""
    return taint.key in LIFECYCLE_KEYS or taint.key.startswith(LIFECYCLE_PREFIXES)


def blocks(taint: Taint) -> bool:
    """Whether the taint keeps away pods that do not tolerate it."""
    return taint.effect in BLOCKING_EFFECTS


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether one toleration covers one taint."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    operator = toleration.operator or "Equal"
    if not toleration.key:
        return operator == "Exists"
    if toleration.key != taint.key:
        return False
    if operator == "Exists":
        return True
    if operator == "Equal":
        return toleration.value == taint.value
    return _compares(operator, toleration.value, taint.value)


def _compares(operator: str, ours: str, theirs: str) -> bool:
    """Lt and Gt compare the taint's integer against the toleration's."""
    try:
        limit, value = int(ours[:20]), int(theirs[:20])
    except ValueError:
        return False
    return (operator == "Lt" and value < limit) or (operator == "Gt" and value > limit)


def untolerated(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> tuple[Taint, ...]:
    """The blocking taints that none of the tolerations covers, in the order of the node."""
    held = tuple(tolerations)
    return tuple(
        taint for taint in taints if blocks(taint) and not any(tolerates(t, taint) for t in held)
    )


def evicted_later(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> tuple[Taint, ...]:
    """NoExecute taints that are tolerated only for a number of seconds."""
    held = tuple(tolerations)
    return tuple(
        taint
        for taint in taints
        if taint.effect == "NoExecute"
        and (matching := [t for t in held if tolerates(t, taint)])
        and all(t.seconds is not None for t in matching)
    )


def taint_text(taint: Taint) -> str:
    """As kubectl writes it: "nvidia.com/gpu=present:NoSchedule"."""
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"
