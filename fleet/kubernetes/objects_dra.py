"""DRA objects as served by v1, v1beta2 and v1beta1: one shape for all three."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated

from msgspec import DecodeError, Meta, Raw, Struct, field, json

from fleet.kubernetes.objects_core import (
    Int32,
    LabelValue,
    Metadata,
    Name,
    Object,
    Part,
    Quantity,
    TolerationObject,
)

_Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_KEPT_ATTRIBUTES = frozenset(
    {
        "type",
        "uuid",
        "parentUUID",
        "pciAddr",
        "parentPciAddr",
        "pciBusID",
        "productName",
        "model",
        "product",
        "profile",
        "partitionProfile",
    }
)
_KEPT_CAPACITIES = frozenset({"memory", "addressableMemory"})


class Attribute(Struct, frozen=True, gc=False):
    """A text value; the other types say nothing that is used here."""

    string: Name | None = None


@lru_cache(maxsize=4096)
def _same_attribute(value: Attribute) -> Attribute:
    return value


class CapacityRange(Part):
    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class RequestPolicy(Part):
    default: Quantity | None = None
    validValues: list[Quantity] | None = None
    validRange: CapacityRange | None = None


class Capacity(Part):
    value: Quantity | None = None
    requestPolicy: RequestPolicy | None = None


class Counter(Struct, frozen=True, gc=False):
    value: Quantity | None = None


@lru_cache(maxsize=4096)
def _same_counters(counters: tuple[tuple[str, Counter], ...]) -> dict[str, Counter]:
    return dict(counters)


class CounterSet(Part):
    name: Name = ""
    counters: dict[Name, Counter] | None = None


class CounterUse(Part):
    counterSet: Name = ""
    counters: dict[Name, Counter] | None = None

    def __post_init__(self) -> None:
        """Cuts of one kind take the same of every board: kept once."""
        if self.counters:
            self.counters = _same_counters(tuple(self.counters.items()))


class SelectorRequirement(Part):
    key: Annotated[str, Meta(max_length=512)] = ""
    operator: Name = ""
    values: list[LabelValue] | None = None


class SelectorTerm(Part):
    matchExpressions: list[SelectorRequirement] | None = None
    matchFields: list[SelectorRequirement] | None = None


class NodeSelector(Part):
    nodeSelectorTerms: list[SelectorTerm] | None = None


class Taint(Part):
    key: Name = ""
    value: LabelValue | None = None
    effect: Name = ""


class Basic(Part):
    attributes: dict[Name, Attribute] | None = None
    capacity: dict[Name, Capacity | Quantity] | None = None
    consumesCounters: list[CounterUse] | None = None
    nodeName: Name | None = None
    nodeSelector: NodeSelector | None = None
    allNodes: bool | None = None
    taints: list[Taint] | None = None
    allowMultipleAllocations: bool | None = None

    def __post_init__(self) -> None:
        """Forget what no rule reads, and keep once what devices have in common: a cluster may
        publish hundreds of thousands of them."""
        if self.attributes:
            self.attributes = {
                name: _same_attribute(value)
                for name, value in self.attributes.items()
                if value.string and name.rpartition("/")[2] in _KEPT_ATTRIBUTES
            }
        if self.capacity and not self.allowMultipleAllocations:
            self.capacity = {
                name: value
                for name, value in self.capacity.items()
                if name.rpartition("/")[2] in _KEPT_CAPACITIES
            }


class Device(Basic):
    name: Name = ""
    basic: Basic | None = None  # v1beta1 wraps the fields

    @property
    def facts(self) -> Basic:
        return self.basic if self.basic is not None else self


class SlicePool(Part):
    name: Name = ""
    generation: _Int64 = 0
    resourceSliceCount: _Int64 = 0


class SliceSpec(Part):
    driver: Name = ""
    pool: SlicePool = field(default_factory=SlicePool)
    nodeName: Name | None = None
    nodeSelector: NodeSelector | None = None
    allNodes: bool | None = None
    perDeviceNodeSelection: bool | None = None
    devices: list[Device] | None = None
    sharedCounters: list[CounterSet] | None = None


class ResourceSliceObject(Object):
    spec: SliceSpec = field(default_factory=SliceSpec)


class SubRequest(Part):
    name: Name = ""
    deviceClassName: Name = ""
    allocationMode: Name | None = None
    count: Int32 | None = None
    adminAccess: bool | None = None
    tolerations: list[TolerationObject] | None = None


class DeviceRequest(SubRequest):
    exactly: SubRequest | None = None
    firstAvailable: list[SubRequest] | None = None

    @property
    def wanted(self) -> SubRequest:
        """The request itself; of a prioritised list, the first choice."""
        if self.exactly is not None:
            return self.exactly
        return self.firstAvailable[0] if self.firstAvailable else self


class DeviceClaim(Part):
    requests: list[DeviceRequest] | None = None


class ClaimSpec(Part):
    devices: DeviceClaim | None = None


class AllocationResult(Part):
    request: Name = ""
    driver: Name = ""
    pool: Name = ""
    device: Name = ""
    adminAccess: bool | None = None
    shareID: Name | None = None
    consumedCapacity: dict[Name, Quantity] | None = None
    tolerations: list[TolerationObject] | None = None


class Allocation(Part):
    class Devices(Part):
        results: list[AllocationResult] | None = None

    devices: Devices | None = None


class Consumer(Part):
    apiGroup: Name | None = None
    resource: Name = ""
    name: Name = ""
    uid: Name = ""


class ClaimStatusBody(Part):
    allocation: Allocation | None = None
    reservedFor: list[Consumer] | None = None


class ResourceClaimObject(Object):
    spec: ClaimSpec | None = None
    status: ClaimStatusBody | None = None


class UnreadClaimObject(ResourceClaimObject):
    """A claim of which not even the devices that it holds can be read: it may hold any."""


class _RemnantName(Part):
    name: Name
    namespace: Name = ""


class _RemnantResult(Part):
    driver: Name
    pool: Name
    device: Name
    adminAccess: bool | None = None


class _RemnantDevices(Part):
    results: list[_RemnantResult] | None = None


class _RemnantAllocation(Part):
    devices: _RemnantDevices | None = None


class _RemnantStatus(Part):
    allocation: _RemnantAllocation | None = None


class _Named(Part):
    metadata: _RemnantName


class _Remnant(_Named):
    """As much of an odd claim as says what it holds. A share counts as the whole device, since
    how much it took is not to be trusted."""

    status: _RemnantStatus | None = None


def claim_remnant(raw: Raw | bytes | memoryview) -> ResourceClaimObject:
    """What is left of a claim that cannot be read as a whole: its devices are held all the same."""
    try:
        found = json.decode(raw, type=_Remnant)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return UnreadClaimObject(metadata=_name_of(raw))
    allocation = found.status.allocation if found.status else None
    results = (allocation.devices.results if allocation and allocation.devices else None) or ()
    held = [
        AllocationResult(driver=r.driver, pool=r.pool, device=r.device, adminAccess=r.adminAccess)
        for r in results
    ]
    devices = Allocation.Devices(results=held)
    return ResourceClaimObject(
        metadata=Metadata(name=found.metadata.name, namespace=found.metadata.namespace),
        status=ClaimStatusBody(allocation=Allocation(devices=devices) if held else None),
    )


def _name_of(raw: Raw | bytes | memoryview) -> Metadata:
    try:
        meta = json.decode(raw, type=_Named).metadata
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return Metadata(name="(no readable name)")
    return Metadata(name=meta.name or "(no name)", namespace=meta.namespace)


class ClaimTemplateSpec(Part):
    spec: ClaimSpec | None = None


class ClaimTemplateObject(Object):
    spec: ClaimTemplateSpec | None = None


class Selector(Part):
    class Cel(Part):
        expression: str = ""

    cel: Cel | None = None


class DeviceClassSpec(Part):
    extendedResourceName: Name | None = None
    selectors: list[Selector] | None = None


class DeviceClassObject(Object):
    spec: DeviceClassSpec | None = None


class DeviceTaintSelector(Part):
    driver: Name | None = None
    pool: Name | None = None
    device: Name | None = None
    deviceClassName: Name | None = None  # before 1.36
    selectors: list[Selector] | None = None  # before 1.36


class DeviceTaintRuleSpec(Part):
    deviceSelector: DeviceTaintSelector | None = None
    taint: Taint = field(default_factory=Taint)


class DeviceTaintRuleObject(Object):
    spec: DeviceTaintRuleSpec = field(default_factory=DeviceTaintRuleSpec)
