"""DRA objects as served by v1, v1beta2 and v1beta1: one shape for all three."""

from __future__ import annotations

from msgspec import field

from fleet.kubernetes.objects_core import Int32, Int64, Name, Object, Part, Quantity


class Attribute(Part):
    """A text value; the other types say nothing that is used here."""

    string: Name | None = None


class Capacity(Part):
    value: Quantity | None = None


class DeviceTaint(Part):
    key: Name = ""
    effect: Name = ""


class Basic(Part):
    attributes: dict[str, Attribute] | None = None
    capacity: dict[str, Capacity | Quantity] | None = None
    taints: list[DeviceTaint] | None = None
    nodeName: Name | None = None


class Device(Basic):
    name: Name = ""
    basic: Basic | None = None  # v1beta1 wraps the fields

    @property
    def facts(self) -> Basic:
        return self.basic if self.basic is not None else self


class Pool(Part):
    name: Name = ""
    generation: Int64 = 0
    resourceSliceCount: Int32 = 0


class SliceSpec(Part):
    driver: Name = ""
    pool: Pool = field(default_factory=Pool)
    nodeName: Name | None = None
    devices: list[Device] | None = None


class ResourceSliceObject(Object):
    spec: SliceSpec = field(default_factory=SliceSpec)


class SubRequest(Part):
    name: Name = ""
    deviceClassName: Name = ""
    allocationMode: Name | None = None
    count: Int32 | None = None


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


class Allocation(Part):
    class Devices(Part):
        results: list[AllocationResult] | None = None

    devices: Devices | None = None


class Consumer(Part):
    resource: Name = ""
    name: Name = ""
    uid: Name = ""


class ClaimStatusBody(Part):
    allocation: Allocation | None = None
    reservedFor: list[Consumer] | None = None


class ResourceClaimObject(Object):
    spec: ClaimSpec | None = None
    status: ClaimStatusBody | None = None


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
