"""Pods, who owns them and how they are probed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from fleet.inventory.nodes import NodeAffinity, Toleration


@dataclass(frozen=True, slots=True)
class ProbeTimes:
    kind: str  # httpGet, tcpSocket, grpc, exec
    initial_delay_s: int
    period_s: int
    failure_threshold: int
    timeout_s: int


@dataclass(frozen=True, slots=True)
class ContainerProbes:
    container: str
    startup: ProbeTimes | None
    readiness: ProbeTimes | None
    liveness: ProbeTimes | None
    wants_gpu: bool
    ports: int = 0  # number of declared ports: a hint that it serves


def api_group(api_version: str) -> str:
    """ "batch" of "batch/v1"; "" for the core group."""
    return api_version.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Owner:
    """The object that a person knows a pod by: a Deployment, a JobSet, a RayCluster …"""

    kind: str
    name: str
    group: str = ""  # of its API: two groups have a kind Job; "" when nothing says it

    def may_be(self, other: Owner) -> bool:
        """Whether both may be one object of a namespace: a group that is not known denies
        nothing."""
        alike = (self.kind, self.name) == (other.kind, other.name)
        return alike and (not self.group or not other.group or self.group == other.group)


@dataclass(frozen=True, slots=True)
class Gang:
    """Which gang machinery holds a pod or a workload together."""

    system: str  # native, kueue, volcano, kai, coscheduling, lws, none
    group: str  # name of the PodGroup or queue
    minimum: int | None


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod that asks for a GPU, or runs on a GPU node. Others live only in their node's sums."""

    namespace: str
    name: str
    uid: str
    node: str  # "" when not bound
    phase: str
    owner: Owner
    requests: dict[str, int]  # accelerator resources only, the scheduler's arithmetic
    cpu_milli: int
    memory_mib: int
    priority: int
    priority_class: str
    preemption_policy: str
    scheduler: str
    tolerations: tuple[Toleration, ...]
    node_selector: dict[str, str]
    gang: Gang | None
    state: str  # running, pending, gated, terminating, orphaned, finished
    claims: tuple[str, ...] = ()  # ResourceClaims by name
    is_daemon: bool = False
    is_infrastructure: bool = False  # reservation pods, device plugins …
    created: datetime | None = None
    started: datetime | None = None
    ready: datetime | None = None
    restarts: int = 0
    waiting_reason: str = ""  # of PodScheduled=False or a container
    probes: tuple[ContainerProbes, ...] = ()
    notes: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()  # scheduling gates: who holds it back
    claim_devices: int = 0  # GPU devices asked for through ResourceClaims
    claim_counts: tuple[int, ...] = ()  # GPU devices of each of ``claims``, which pods may share
    claim_classes: dict[str, int] = field(default_factory=dict)  # devices asked, by DeviceClass
    gpu_fraction: float | None = None  # of one board, by the sharing system's own words
    gpu_memory_mib: int | None = None  # device memory asked for, all units together
    labels: dict[str, str] = field(default_factory=dict)  # those of gang and queue systems
    node_affinity: NodeAffinity = ()  # of a pod that waits for a node
    state_reason: str = ""  # why it does not simply run: "queued by Kueue"
    terminating_since: datetime | None = None  # when its deletion was asked for
    nominated_node: str = ""  # where room is kept for a pod that waits
    is_unanswered: bool = False  # waits, and no scheduler has said a word about it
    stands_for: tuple[str, ...] = ()  # of a reservation: "namespace/name" of who shares its device

    @property
    def wants_gpu(self) -> bool:
        """Whether it asks for an accelerator in any way: a resource, a claim, or a part of a
        board by the annotations of a sharing system."""
        return bool(
            self.requests
            or self.claims
            or self.claim_devices
            or self.gpu_fraction is not None
            or self.gpu_memory_mib is not None
        )

    @property
    def is_demand(self) -> bool:
        """Waits for a node: counts as demand, not as use."""
        return not self.node and self.state in ("pending", "gated")
