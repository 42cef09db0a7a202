"""What all pods of a cluster come to: the sums of each node, and the pods that may be kept.

150,000 pods are too many to hold as they are sent. They are reduced while they are read; this is
what is left of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from fleet.inventory import Pod
from fleet.kubernetes.device_health import SickDevice


@dataclass(slots=True)
class NodeUse:
    """What the pods bound to one node take together."""

    cpu_milli: int = 0
    memory_mib: int = 0
    pods: int = 0
    devices: dict[str, int] = field(default_factory=dict)
    used_boards: set[str] = field(default_factory=set)
    unnamed_boards: int = 0  # the most that pods hold which do not name their boards
    shared_boards: set[str] = field(default_factory=set)  # KAI groups
    sick_devices: set[SickDevice] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class BoardUse:
    """What a pod says of boards beside its request."""

    mapped: frozenset[str]  # extended resources that the scheduler turned into a claim
    boards: frozenset[str]  # boards that it names as its own
    shared_board: str  # the group of a reservation pod, "" for others
    sick: frozenset[SickDevice]  # devices that it holds and that are not healthy


@dataclass(frozen=True, slots=True)
class GatheredPods:
    """All pods of a cluster, reduced. ``total`` counts those that are not kept as well."""

    total: int = 0
    use: Mapping[str, NodeUse] = field(default_factory=dict)  # by node name
    pods: tuple[Pod, ...] = ()  # those that ask for devices, and all that are not finished
    asking: bytes = b""  # for each of ``pods``: 1 when it asks for devices or is of a gang
    orphans: int = 0  # bound to nodes that are not there
    namespaces: frozenset[str] = frozenset()

    def kept(self, gpu_nodes: Collection[str]) -> tuple[Pod, ...]:
        """Pods that hold or ask for devices, are of a gang, share a GPU node, or wait for any."""
        return tuple(
            pod
            for pod, asks in zip(self.pods, self.asking, strict=True)
            if asks or not pod.node or pod.node in gpu_nodes
        )


NO_PODS = GatheredPods()
