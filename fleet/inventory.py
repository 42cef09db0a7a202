"""What a cluster holds, as frozen values: the one language between reading, judging and placing.

Three numbers are kept apart everywhere. *Physical*: boards in the machine. *Schedulable*: units
that the scheduler can hand out (allocatable). *Requested*: units that pods ask for. Cost divides
by physical, placement fits on schedulable.

``None`` means "the objects do not say" and is shown as unknown, never as 0.
Everything here can be encoded and decoded with msgspec (``encode`` / ``decode`` below).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import batched

import msgspec


class UnitKind(StrEnum):
    """What one unit of a schedulable resource is."""

    WHOLE = "whole"  # one board (or one passed-through device)
    MIG = "mig"  # one MIG device
    SHARE = "share"  # one time slice, MPS client or vendor share of a board
    PARTITION = "partition"  # one AMD compute partition
    VGPU = "vgpu"
    MEMORY = "memory"  # memory units (Aliyun, HAMi, Volcano): not devices
    CORE = "core"  # core percentage units: not devices
    DRA = "dra"  # devices offered through ResourceSlices
    UNCLASSIFIED = "unclassified"  # shown, never summed


class Sharing:
    """Values of ``DeviceGroup.sharing``; ``shared-xN`` and sums with ``+`` are formed from them."""

    WHOLE = "whole"
    TIME_SLICING = "time-slicing"
    MPS = "mps"
    MIG_SINGLE = "mig-single"
    MIG_MIXED = "mig-mixed"
    VGPU = "vgpu"
    PASSTHROUGH = "passthrough"
    FRACTIONAL = "fractional"
    AMD_PARTITION = "amd-partition"
    DRA = "dra"
    NONE = "none"  # GPU evidence, nothing advertised


@dataclass(frozen=True, slots=True)
class Units:
    """One resource of a device group, in that resource's own unit."""

    resource: str  # "nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "dra:gpu.nvidia.com"
    kind: UnitKind
    capacity: int
    allocatable: int
    requested: int | None = 0  # None: who holds them could not be read
    memory_mib: int | None = None  # of one unit
    profile: str | None = None  # "1g.5gb", "cpx_nps4"
    per_device: int = 1  # units handed out of one MIG device: it is shared

    @property
    def free(self) -> int | None:
        """What nobody holds, whether or not the node takes pods; None where that is unknown."""
        return None if self.requested is None else max(0, self.allocatable - self.requested)

    @property
    def is_of_mig(self) -> bool:
        """Whether one unit is a MIG device or a share of one."""
        return self.kind is UnitKind.MIG or (
            self.kind is UnitKind.SHARE and self.profile is not None
        )


@dataclass(frozen=True, slots=True)
class DeviceHolder:
    """Who holds one device through a ResourceClaim. A claim may serve several pods."""

    driver: str
    pool: str
    device: str
    claim: str  # "team-a/train"
    request: str  # of the claim; "main/small" names the choice of a prioritised list
    consumers: tuple[str, ...]  # "pod train-0", "podgroup train": in the claim's namespace
    consumed: dict[str, str] = field(default_factory=dict)  # of a device that claims share
    idle: str = ""  # why nobody uses it; "" when somebody does


@dataclass(frozen=True, slots=True)
class PartlyUsed:
    """A device that several claims may share, and what is left of it, in base units."""

    driver: str
    pool: str
    device: str
    left: dict[str, int]  # "memory": bytes
    of: dict[str, int]
    more: int | None  # further claims of the smallest amount; None: no policy states one
    open: bool = False  # one more claim fits that states no amount


@dataclass(frozen=True, slots=True)
class DeviceTaint:
    """One taint on devices offered through DRA. Only NoSchedule and NoExecute block."""

    key: str
    value: str
    effect: str
    source: str  # "ResourceSlice", "DeviceTaintRule maintenance"
    devices: int  # that carry it
    hit: int  # of those, held by claims that do not tolerate it: NoExecute evicts their pods
    is_sick: bool  # the driver's own verdict on a device, not a person's wish
    example: str  # one of the devices


@dataclass(frozen=True, slots=True)
class DeviceGroup:
    """The GPUs of one model on one node, with how they are shared."""

    vendor: str  # "nvidia", "amd", "intel", "habana", "google", "aws", or "unknown"
    model: str | None  # a name of the accelerator catalogue
    model_source: str  # where the model was read: "label nvidia.com/gpu.product"
    physical: int | None
    physical_source: str
    physical_estimated: bool
    memory_mib: int | None  # of one board, as the object states it
    sharing: str
    replicas: int | None  # sharing factor, None when unknown or not shared
    units: tuple[Units, ...]
    unhealthy: int | None = None  # boards withdrawn or sick, whoever says so
    notes: tuple[str, ...] = ()  # "labels name one model, the node may hold several"
    memory_gib: int | None = None  # of one board, where only whole GiB are known
    whole_free: int | None = None  # idle boards, where units are not boards and holders are known
    cuts_possible: int = 0  # cuts of boards published through DRA, whether or not they exist yet
    model_certain: bool = True  # False: one label stands for a node that may hold several models
    details: dict[str, str] = field(default_factory=dict)  # of sharing systems: "hami_mode" …
    model_label: str = ""  # the words of the node for its model, known to the catalogue or not
    unreadable: tuple[str, ...] = ()  # resources whose count is no number: nothing is counted
    incomplete: tuple[str, ...] = ()  # DRA pools that cannot be counted now, and why
    holders: tuple[DeviceHolder, ...] = ()  # of devices offered through DRA
    partly_used: tuple[PartlyUsed, ...] = ()
    device_taints: tuple[DeviceTaint, ...] = ()
    unhealthy_source: str = ""  # what says so: "capacity minus allocatable"; "" without any
    use_unknown: str = ""  # why nobody can tell which boards are held; ``whole_free`` is None then
    boards_held: int = 0  # where ``use_unknown``: boards that are surely held
    total_memory_mib: int | None = None  # of all boards, where they differ

    def units_of(self, kind: UnitKind) -> Iterator[Units]:
        return (u for u in self.units if u.kind == kind)

    @property
    def mig_devices(self) -> int:
        """MIG devices that are offered, each once however many pods share it."""
        return sum(-(-u.capacity // u.per_device) for u in self.units if u.is_of_mig)

    @property
    def has_untold_sick(self) -> bool:
        """Whether parts of boards are withdrawn, which do not say how many boards are sick."""
        return any(
            unit.capacity > unit.allocatable
            and (unit.is_of_mig or (unit.kind is UnitKind.VGPU and self.physical is None))
            for unit in self.units
        )


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
class DeviceClass:
    name: str
    extended_resource: str  # "" when it maps none
    drivers: tuple[str, ...]
    created: datetime | None = None


@dataclass(frozen=True, slots=True)
class AttachedDevices:
    """GPUs that several nodes can reach (over a network or a fabric): counted here, once, and on
    no node."""

    driver: str
    pool: str
    group: DeviceGroup
    nodes: int  # that can reach them
    node_names: tuple[str, ...]  # the first of them


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


class ReadStatus(StrEnum):
    """What became of reading one resource. Four different answers."""

    READ = "read"
    FORBIDDEN = "forbidden"  # 403
    NOT_SERVED = "not-served"  # 404: not installed
    NOT_IN_FILE = "not-in-file"  # a file import that does not hold it
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ReadResult:
    resource: str  # "nodes", "resourceslices.resource.k8s.io"
    status: ReadStatus
    count: int
    reason: str = ""  # a code of fleet.read_words, where the status does not say all
    seconds: float = 0.0
    resource_version: str = ""
    is_consistent: bool = True  # all of it is of one moment
    number: int = 0  # of the reason: a status of HTTP, or how often the list expired


@dataclass(frozen=True, slots=True)
class ServerVersion:
    git_version: str  # "v1.36.3-gke.1", "" when unknown
    major: int | None
    minor: int | None
    source: str  # "GET /version", "kubelet versions (the file has no server version)"
    emulation_minor: int | None = None

    @property
    def is_known(self) -> bool:
        return self.minor is not None


@dataclass(frozen=True, slots=True)
class Inventory:
    """Everything read from one cluster in one sync. Immutable."""

    version: ServerVersion
    provider: str  # gke, eks, aks, oke, k3s, rke2, openshift, kubeadm …, "" unknown
    apis: dict[str, tuple[str, ...]] | None
    """"group/version" -> resources served; None when discovery was not read (files)."""
    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    controllers: tuple[Controller, ...]
    quotas: tuple[Quota, ...]
    namespaces: tuple[str, ...]
    priority_classes: tuple[PriorityClass, ...]
    device_classes: tuple[DeviceClass, ...]
    gang_objects: tuple[GangObject, ...]
    topology_keys: tuple[tuple[str, str], ...]
    """(level name, label key), coarse to fine; one name twice: the first key a node carries."""
    reads: tuple[ReadResult, ...]
    problems: tuple[str, ...]  # one line for each odd object
    taken_at: datetime | None
    other_pods: int = 0  # pods kept only in node sums
    proposed_levels: tuple[ProposedLevel, ...] = ()  # what we would choose, whoever has chosen
    topologies: tuple[DeclaredTopology, ...] = ()
    attached: tuple[AttachedDevices, ...] = ()
    others_attached: dict[str, int] = field(default_factory=dict)
    """Devices offered through DRA that are no GPUs and of no single node, by driver: each once."""
    uncounted: str = ""  # why GPUs may be missing from every count; "" when none are

    def read(self, resource: str) -> ReadResult | None:
        """How reading ``resource`` went; None when it was never asked for."""
        return next((r for r in self.reads if r.resource == resource), None)

    def serves(self, group_version: str, resource: str) -> bool | None:
        """Whether discovery lists the resource; None when discovery was not read."""
        if self.apis is None:
            return None
        return resource in self.apis.get(group_version, ())


def encode(inventory: Inventory) -> bytes:
    """The value as bytes (msgpack), for a snapshot."""
    return msgspec.msgpack.encode(inventory)


def encode_parts(inventory: Inventory) -> Iterator[bytes]:
    """What ``encode`` gives, in parts of bounded size: of a large cluster, the whole is too much
    to hold beside the value. Headers are those of the msgpack specification, map 32 and array 32.
    """
    pack = msgspec.msgpack.Encoder().encode
    fields = dataclasses.fields(inventory)
    yield b"\xdf" + len(fields).to_bytes(4)
    for each in fields:
        value = getattr(inventory, each.name)
        yield pack(each.name)
        if not isinstance(value, tuple):
            yield pack(value)
            continue
        yield b"\xdd" + len(value).to_bytes(4)
        for some in batched(value, 500):
            yield b"".join(map(pack, some))


def decode(data: bytes) -> Inventory:
    """Inverse of ``encode``. Raises ``msgspec.ValidationError`` on foreign bytes."""
    return msgspec.msgpack.decode(data, type=Inventory)
