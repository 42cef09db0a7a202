"""How labels say that NVIDIA boards are shared or cut: GFD's, and GKE's where GFD is missing."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.catalogue.card_names import mig_suffix
from fleet.catalogue.mig_profiles import canonical_profile
from fleet.inventory import Sharing
from fleet.kubernetes.device_facts import NodeFacts

_GKE_STRATEGY = "cloud.google.com/gke-gpu-sharing-strategy"
_GKE_CLIENTS = "cloud.google.com/gke-max-shared-clients-per-gpu"
_GKE_PARTITION = "cloud.google.com/gke-gpu-partition-size"
_STRATEGIES = {
    "time-slicing": Sharing.TIME_SLICING,
    "time-sharing": Sharing.TIME_SLICING,  # GKE's word for it
    "mps": Sharing.MPS,
}


@dataclass(frozen=True, slots=True)
class SharingLabels:
    """``replicas``: the factor, None when no label says; 1 means not shared, 0 not applicable.
    ``profile``: of MIG strategy ``single``, "" otherwise, "INVALID" as GFD writes it."""

    replicas: int | None
    strategy: str  # a value of ``Sharing``, "" when no label says
    profile: str
    source: str  # the label of ``replicas``


def sharing_labels(facts: NodeFacts) -> SharingLabels:
    """What the node's labels say about sharing."""
    labels = facts.labels
    strategy = labels.get("nvidia.com/gpu.sharing-strategy", "") or labels.get(_GKE_STRATEGY, "")
    replicas, source = facts.number("nvidia.com/gpu.replicas"), "nvidia.com/gpu.replicas"
    if replicas is None and labels.get(_GKE_STRATEGY):
        replicas, source = facts.number(_GKE_CLIENTS), _GKE_CLIENTS
    suffix = mig_suffix(labels.get("nvidia.com/gpu.product", "")) or labels.get(_GKE_PARTITION, "")
    return SharingLabels(
        replicas=replicas,
        strategy=_STRATEGIES.get(strategy.lower(), ""),
        profile=canonical_profile(suffix) if suffix else "",
        source=source,
    )
