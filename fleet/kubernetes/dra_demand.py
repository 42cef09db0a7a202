"""What ResourceClaims ask for: GPU devices, and devices of each DeviceClass.

An allocated claim has what it got; one that waits has its requests, of a prioritised list the
first choice. Admin access takes nothing. Mode ``All`` of a claim that waits is counted as one
device, since nobody knows yet how many there will be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fleet.kubernetes.dra_drivers import driver_vendor, may_hold_gpus
from fleet.kubernetes.dra_use import results_of
from fleet.kubernetes.objects import RawCluster
from fleet.kubernetes.objects_core import PodObject
from fleet.kubernetes.objects_dra import (
    AllocationResult,
    ClaimSpec,
    ClaimTemplateObject,
    DeviceClassObject,
    ResourceClaimObject,
    SubRequest,
)

_DRIVER = "device.driver =="
_MOST_DEVICES = 4096  # of one request; a claim is never given more than 32
_Name = tuple[str, str]  # namespace, name


@dataclass(frozen=True, slots=True)
class Ask:
    """What one claim asks for, or has."""

    gpus: int = 0
    classes: Mapping[str, int] = field(default_factory=dict)  # devices by DeviceClass


_NOTHING = Ask()


@dataclass(frozen=True, slots=True)
class PodClaims:
    """The claims of one pod; ``counts`` are the GPU devices of each of ``names``."""

    names: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    gpus: int = 0
    classes: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Claims:
    """Claims and claim templates of a cluster, by (namespace, name)."""

    claims: Mapping[_Name, Ask] = field(default_factory=dict)
    templates: Mapping[_Name, Ask] = field(default_factory=dict)

    def of_pod(self, pod: PodObject) -> PodClaims:
        """What a pod asks for through claims, by name or by template.

        The claim that the scheduler made for its extended resources is named and adds nothing:
        the resources are in the pod's own requests.
        """
        extended = pod.status.extendedResourceClaimStatus
        if not pod.spec.resourceClaims and extended is None:
            return _NO_CLAIMS
        space = pod.metadata.namespace
        generated = {s.name: s.resourceClaimName for s in pod.status.resourceClaimStatuses or ()}
        found: list[tuple[str, Ask]] = []
        for item in pod.spec.resourceClaims or ():
            name = item.resourceClaimName or generated.get(item.name) or ""
            ask = self.claims.get((space, name))
            if ask is None:
                ask = self.templates.get((space, item.resourceClaimTemplateName or ""), _NOTHING)
            found.append((name, ask))
        if extended is not None and extended.resourceClaimName:
            found.append((extended.resourceClaimName, _NOTHING))
        classes: dict[str, int] = {}
        for _, ask in found:
            for name, number in ask.classes.items():
                classes[name] = classes.get(name, 0) + number
        named = [(name, ask.gpus) for name, ask in found if name]
        return PodClaims(
            names=tuple(name for name, _ in named),
            counts=tuple(gpus for _, gpus in named),
            gpus=sum(ask.gpus for _, ask in found),
            classes=classes,
        )


_NO_CLAIMS = PodClaims()


def claims_of(
    claims: Iterable[ResourceClaimObject],
    templates: Iterable[ClaimTemplateObject],
    classes: Iterable[DeviceClassObject] = (),
) -> Claims:
    """What each claim and template asks for. ``classes`` tell GPUs from other devices."""
    drivers = {item.metadata.name: class_drivers(item) for item in classes}
    return Claims(
        {(c.metadata.namespace, c.metadata.name): _ask_of(c, drivers) for c in claims},
        {
            (t.metadata.namespace, t.metadata.name): _asked(
                t.spec.spec if t.spec else None, drivers
            )
            for t in templates
        },
    )


def claims_in(raw: RawCluster) -> Claims:
    """What the claims and templates of a cluster ask for."""
    return claims_of(
        raw.of(ResourceClaimObject, "resourceclaims.resource.k8s.io"),
        raw.of(ClaimTemplateObject, "resourceclaimtemplates.resource.k8s.io"),
        raw.of(DeviceClassObject, "deviceclasses.resource.k8s.io"),
    )


def class_drivers(item: DeviceClassObject) -> tuple[str, ...]:
    """The drivers that the selectors of a DeviceClass name."""
    found = []
    for selector in (item.spec.selectors if item.spec else None) or ():
        text = selector.cel.expression if selector.cel else ""
        _, named, rest = text.partition(_DRIVER)
        parts = rest.replace('"', "'").split("'", 2) if named else []
        found.append(parts[1][:253] if len(parts) > 1 else "")
    return tuple(dict.fromkeys(filter(None, found)))


def _ask_of(claim: ResourceClaimObject, drivers: Mapping[str, tuple[str, ...]]) -> Ask:
    asked = _asked(claim.spec, drivers)
    results = [result for result in results_of(claim) if not result.adminAccess]
    if not results:
        return asked if not results_of(claim) else _NOTHING
    held = {(r.driver, r.pool, r.device) for r in results if driver_vendor(r.driver) is not None}
    return Ask(len(held), _got(claim.spec, results))


def _got(spec: ClaimSpec | None, results: Iterable[AllocationResult]) -> dict[str, int]:
    """Devices by class of an allocated claim, by the request that each was given for."""
    names: dict[str, str] = {}
    for request in (spec.devices.requests if spec and spec.devices else None) or ():
        names[request.name] = request.wanted.deviceClassName
        for choice in request.firstAvailable or ():
            names[f"{request.name}/{choice.name}"] = choice.deviceClassName
    found: dict[str, int] = {}
    for result in results:
        name = names.get(result.request, "")
        if name:
            found[name] = found.get(name, 0) + 1
    return found


def _asked(spec: ClaimSpec | None, drivers: Mapping[str, tuple[str, ...]]) -> Ask:
    classes: dict[str, int] = {}
    gpus = 0
    for request in (spec.devices.requests if spec and spec.devices else None) or ():
        wanted = request.wanted
        if wanted.adminAccess:
            continue
        name, number = wanted.deviceClassName, _number(wanted)
        classes[name] = classes.get(name, 0) + number
        gpus += number if may_hold_gpus(name, drivers.get(name, ())) else 0
    return Ask(gpus, classes)


def _number(wanted: SubRequest) -> int:
    if wanted.allocationMode == "All" or wanted.count is None:
        return 1
    return min(max(0, wanted.count), _MOST_DEVICES)
