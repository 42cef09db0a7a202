"""Machines, their taints and where they stand."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from fleet.inventory.devices import DeviceGroup, UnitKind, Units


@dataclass(frozen=True, slots=True)
class Taint:
    key: str
    value: str
    effect: str  # NoSchedule, PreferNoSchedule, NoExecute


@dataclass(frozen=True, slots=True)
class Toleration:
    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    seconds: int | None = None


@dataclass(frozen=True, slots=True)
class NodeRule:
    """One condition of a required node affinity. ``is_field``: about the node's own name."""

    key: str
    operator: str  # In, NotIn, Exists, DoesNotExist, Gt, Lt
    values: tuple[str, ...] = ()
    is_field: bool = False


NodeAffinity = tuple[tuple[NodeRule, ...], ...]
"""Terms of which one must hold; all rules of a term must hold; an empty term holds nowhere."""


@dataclass(frozen=True, slots=True)
class TopologyLevel:
    """One level of a node's place, coarse to fine. ``value`` None: not known, since the node
    lacks the label, or that of a coarser level that divides nodes like it."""

    name: str  # "zone", "block", "rack", "nvlink"
    key: str  # the label key, or where it was taken from
    value: str | None


@dataclass(frozen=True, slots=True)
class DeclaredTopology:
    """A hierarchy that an object of the cluster states: label keys, coarse to fine."""

    source: str  # "Kueue Topology default"
    keys: tuple[str, ...]
    names: tuple[str, ...] = ()  # what the object calls each level, "" where it gives no name
    flavors: tuple[str, ...] = ()  # the Kueue ResourceFlavors that use it


@dataclass(frozen=True, slots=True)
class ProposedLevel:
    """One level of topology that the nodes can be told apart by, and why it is proposed."""

    name: str
    key: str
    source: str  # "label on 26 of 28 GPU nodes", "Kueue Topology default"


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    labels: dict[str, str]
    annotations: dict[str, str]  # an allow-list only
    taints: tuple[Taint, ...]
    ready: bool | None
    cordoned: bool
    schedulable: bool  # Ready, not cordoned, no start-up or removal taint
    not_schedulable_reason: str  # "" when schedulable
    kubelet_version: str
    instance_type: str
    pool: str  # node pool by the provider's label, else instance type, else ""
    region: str
    zone: str
    arch: str
    os: str
    cpu_allocatable: int  # millicores
    cpu_requested: int
    memory_allocatable_mib: int
    memory_requested_mib: int
    pods_allocatable: int
    pods_count: int
    groups: tuple[DeviceGroup, ...]
    topology: tuple[TopologyLevel, ...]
    is_virtual: bool = False
    is_simulated: bool = False
    problems: tuple[str, ...] = ()  # odd values, in words
    extended: dict[str, int] = field(default_factory=dict)
    """Capacity of extended resources that are no GPUs: NICs, TPU chips, KVM handles."""
    created: datetime | None = None
    other_devices: dict[str, int] = field(default_factory=dict)
    """Devices offered through DRA that are no GPUs, by driver: IMEX channels, NICs, TPUs."""
    places: dict[str, str] = field(default_factory=dict)
    """Where it stands by what is no label: HyperNodes by tier, the NVLink domain of a clique."""
    others: tuple[Units, ...] = ()
    """Accelerators that are no GPUs, and their shares: Gaudi, TPU, Neuron, NPU."""

    @property
    def is_gpu_node(self) -> bool:
        return bool(self.groups)

    @property
    def counted_groups(self) -> tuple[DeviceGroup, ...]:
        """Groups whose boards are the node's boards. A resource of a maker that nobody knows is
        shown beside them; it makes no number unknown unless it is all that there is."""
        known = tuple(
            group
            for group in self.groups
            if not group.units or any(u.kind is not UnitKind.UNCLASSIFIED for u in group.units)
        )
        return known or self.groups

    def free(self, units: Units) -> int:
        """Units that can surely be had: never negative, 0 on a node that takes no pods, and 0
        where nobody knows what is held (``free_if_known`` tells the two apart)."""
        return self.free_if_known(units) or 0

    def free_if_known(self, units: Units) -> int | None:
        """Units that can still be had; None where nobody knows what is held."""
        return units.free if self.schedulable else 0

    def domain(self, level: str) -> tuple[str, ...] | None:
        """The identity of the node's domain on a level ("rack"): the path of values down to it.

        The path, since "rack-1" of one block is not "rack-1" of another. None when the node lacks
        the label of that level (its place is unknown) or the cluster has no such level.
        """
        path: list[str] = []
        for step in self.topology:
            if step.name == level:
                return (*path, step.value) if step.value is not None else None
            path.append(step.value if step.value is not None else "?")
        return None
