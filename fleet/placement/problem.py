"""The placement problem as plain values: capacity on one side, demand on the other.

``fleet.placement.capacity`` makes capacity from inventories, ``fleet.placement.demand`` makes
demand from workloads and their requirements. The solver sees only this module.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from fleet.inventory import Taint, Toleration
from fleet.sizing.requirement import Shape


@dataclass(frozen=True, slots=True)
class Slot:
    """Free units of one kind on one node: whole GPUs of a model, or MIG devices of a profile."""

    resource: str  # "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"
    gpu_model: str
    mig_profile: str | None
    free: int
    price_per_unit_hour: Decimal | None  # None: no price
    """In the currency of the problem. A MIG unit carries its share of the board."""


@dataclass(frozen=True, slots=True)
class NodeCapacity:
    """What can still be placed on one node."""

    cluster: str
    node: str
    schedulable: bool
    reason: str  # why not schedulable, "" otherwise
    slots: tuple[Slot, ...]
    cpu_free: int  # millicores
    memory_free_mib: int
    pods_free: int
    taints: tuple[Taint, ...]
    labels: dict[str, str]
    domains: dict[str, str | None]
    """Topology domain by kind ("node", "nvlink", "rack", "zone"): its path within the cluster,
    or None when the node does not say."""
    unknown_cards: int = 0
    """Schedulable units whose GPU model is unknown: cannot be proved to fit, never used."""
    unusable: tuple[str, ...] = ()
    """Units of other kinds that this version does not place on, in words."""


@dataclass(frozen=True, slots=True)
class Demand:
    """One declared workload with the shapes that one replica of it can take."""

    workload: str
    kind: str
    replicas: int
    priority: int
    shapes: tuple[Shape, ...]
    clusters: tuple[str, ...]  # () any
    gpu_models: tuple[str, ...]  # () any
    node_selector: dict[str, str]
    tolerations: tuple[Toleration, ...]
    tolerate_gpu_taints: bool
    domain: str  # node, nvlink, rack, zone, any
    gang: bool
    namespace: str = "default"
    sizing_refusals: tuple[str, ...] = ()  # why cards do not work, for the explanation


@dataclass(frozen=True, slots=True)
class QuotaRoom:
    """What a namespace may still ask of one resource: hard minus used of a ResourceQuota."""

    cluster: str
    namespace: str
    quota: str
    resource: str  # "nvidia.com/gpu"
    left: int


@dataclass(frozen=True, slots=True)
class Problem:
    nodes: tuple[NodeCapacity, ...]
    demands: tuple[Demand, ...]
    quotas: tuple[QuotaRoom, ...] = ()
    currency: str = "USD"
    notes: tuple[str, ...] = field(default=())
    quotas_left_out: int = 0  # with scopes: they cover only some pods
