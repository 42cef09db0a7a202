"""Units of schedulable resources, and the GPUs that they are cut from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


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
