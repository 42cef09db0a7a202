"""How labels say that NVIDIA boards are shared or cut: GFD's, and GKE's where GFD is missing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fleet.catalogue.card_names import mig_suffix
from fleet.catalogue.mig_profiles import canonical_profile
from fleet.inventory import Sharing
from fleet.kubernetes.device_facts import NodeFacts

INVALID = "INVALID"
"""What GFD writes under strategy ``single`` when boards are cut unevenly, or not at all."""
UNNAMED = "?"
"""Boards are cut and all alike, and no label names the profile."""

_GKE_STRATEGY = "cloud.google.com/gke-gpu-sharing-strategy"
_GKE_CLIENTS = "cloud.google.com/gke-max-shared-clients-per-gpu"
_GKE_PARTITION = "cloud.google.com/gke-gpu-partition-size"
_PRODUCT = "nvidia.com/gpu.product"
_CONFIG = re.compile(r"all-([0-9]+g\..+)")
_MOST_WHOLE = 16  # no NVIDIA machine shows more whole boards
_STRATEGIES = {
    "time-slicing": Sharing.TIME_SLICING,
    "time-sharing": Sharing.TIME_SLICING,  # GKE's word for it
    "mps": Sharing.MPS,
}


@dataclass(frozen=True, slots=True)
class SharingLabels:
    """``replicas``: the factor, None when no label says; 1 means not shared, 0 not applicable.
    ``profile``: of MIG strategy ``single``, "" when boards are not cut that way."""

    replicas: int | None
    strategy: str  # a value of ``Sharing``, "" when no label says
    profile: str
    source: str  # the label of ``replicas``

    @property
    def is_cut(self) -> bool:
        """Whether each unit of the plain resource is a MIG device."""
        return self.profile not in ("", INVALID)


def sharing_labels(facts: NodeFacts) -> SharingLabels:
    """What the node's labels say about sharing."""
    labels = facts.labels
    strategy = labels.get("nvidia.com/gpu.sharing-strategy", "") or labels.get(_GKE_STRATEGY, "")
    replicas, source = facts.number("nvidia.com/gpu.replicas"), "nvidia.com/gpu.replicas"
    if replicas is None and labels.get(_GKE_STRATEGY):
        replicas, source = facts.number(_GKE_CLIENTS), _GKE_CLIENTS
    return SharingLabels(
        replicas=replicas,
        strategy=strategy_of(strategy),
        profile=_single_profile(facts),
        source=source,
    )


def strategy_of(value: str) -> str:
    """The value of ``Sharing`` that a label means; "" for "none" and what nobody knows."""
    return _STRATEGIES.get(value.lower(), "")


def _single_profile(facts: NodeFacts) -> str:
    labels = facts.labels
    product = labels.get(_PRODUCT, "")
    suffix = mig_suffix(product) or labels.get(_GKE_PARTITION, "")
    if suffix:
        return canonical_profile(suffix)[:63]
    if product or labels.get("nvidia.com/mig.strategy") != "single":
        return ""
    # The product label, which would tell, is missing.
    configured = _CONFIG.fullmatch(labels.get("nvidia.com/mig.config", ""))
    if configured is not None:
        return canonical_profile(configured[1])[:63]
    many = (facts.number("nvidia.com/gpu.count") or 0) > _MOST_WHOLE
    return UNNAMED if many or "nvidia.com/gpu.slices.gi" in labels else ""
