"""Workload objects, their roles, queues and quotas."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from fleet.inventory.nodes import NodeAffinity, Toleration
from fleet.inventory.pods import ContainerProbes, Gang, Owner, api_group


@dataclass(frozen=True, slots=True)
class PodRole:
    """The pods of one template of a workload object: its leaders, its workers, its head."""

    pods: int  # of all groups together
    requests: dict[str, int]  # accelerators of one pod
    cpu_milli: int
    memory_mib: int
    tolerations: tuple[Toleration, ...] = ()
    node_selector: dict[str, str] = field(default_factory=dict)
    node_affinity: NodeAffinity = ()
    claims: int = 0  # ResourceClaims of one pod
    claim_devices: int = 0  # GPU devices that claim templates give to one pod
    done: int = 0  # of ``pods``: have succeeded and do not come again
    gpu_fraction: float | None = None  # of one board, as of pods
    gpu_memory_mib: int | None = None  # device memory, as of pods
    priority_class: str = ""

    @property
    def left(self) -> int:
        """Pods that are wanted now."""
        return self.pods - self.done

    @property
    def wants_gpu(self) -> bool:
        """Whether its pods ask for an accelerator in any way: a resource, a claim, or a part of
        a board by the annotations of a sharing system."""
        return bool(
            self.requests
            or self.claims
            or self.gpu_fraction is not None
            or self.gpu_memory_mib is not None
        )


@dataclass(frozen=True, slots=True)
class Controller:
    """A workload object with a pod template: Deployment, Job, JobSet, LWS, PyTorchJob …"""

    api_version: str
    kind: str
    namespace: str
    name: str
    pods_wanted: int | None  # replicas or parallelism, summed over roles
    gang_size: int | None  # pods needed at the same time; None: unknown; 1: not distributed
    requests: dict[str, int]  # accelerators of one pod (the largest role)
    total_requests: dict[str, int]  # of all pods wanted
    suspended: bool
    gang: Gang | None
    scheduler: str
    labels: dict[str, str]
    tolerations: tuple[Toleration, ...]
    node_selector: dict[str, str]
    topology_keys: tuple[str, ...]  # constraint keys it asks for
    probes: tuple[ContainerProbes, ...] = ()
    progress_deadline_s: int | None = None
    problems: tuple[str, ...] = ()
    groups: int = 1  # gangs of ``gang_size`` pods (LeaderWorkerSet groups, replicas of a service)
    total_cpu_milli: int = 0  # of all pods wanted
    total_memory_mib: int = 0
    roles: tuple[PodRole, ...] = ()
    preferred_topology_keys: tuple[str, ...] = ()  # those of topology_keys that are only a wish
    queue: str = ""  # of Kueue or Volcano, by the object's own words
    top: Owner | None = None
    """The workload that its pods are known by, where that is an object that was not read."""

    @property
    def itself(self) -> Owner:
        """The object as its pods name it."""
        return Owner(self.kind, self.name, api_group(self.api_version))

    @property
    def known_as(self) -> Owner:
        """The workload that its pods are known by."""
        return self.top or self.itself

    @property
    def wants_gpu(self) -> bool:
        """Whether pods of any of its templates ask for an accelerator in any way."""
        return bool(self.requests) or any(role.wants_gpu for role in self.roles)


@dataclass(frozen=True, slots=True)
class Quota:
    namespace: str
    name: str
    hard: dict[str, str]  # as written
    used: dict[str, str]
    scopes: tuple[str, ...]
    created: datetime | None


@dataclass(frozen=True, slots=True)
class PriorityClass:
    name: str
    value: int
    preemption_policy: str
    is_default: bool


@dataclass(frozen=True, slots=True)
class GangObject:
    """A PodGroup, Kueue queue or similar: kept by group, since four kinds share one plural."""

    api_version: str
    kind: str
    namespace: str
    name: str
    minimum: int | None
    topology_keys: tuple[str, ...]
    conditions: dict[str, str]  # type -> status
    details: dict[str, str] = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()  # that Kueue gives to pods of a ResourceFlavor
