"""What is unknown of DRA devices when slices or claims could not be read.

A claim that was not read may hold any device. Where claims may not be listed, nobody knows which
devices are free; where bound pods name claims that were not read, nobody knows it on their nodes.
A file without claims in which no pod names any is of a cluster where none is held.

Without slices nobody knows how many devices there are. That matters where anything speaks of GPUs
offered through DRA: a claim that holds one, a DeviceClass of a GPU driver, a pod that asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fleet.inventory import Pod, ReadStatus
from fleet.kubernetes.dra_demand import class_drivers
from fleet.kubernetes.dra_drivers import driver_vendor, may_hold_gpus
from fleet.kubernetes.dra_use import results_of
from fleet.kubernetes.objects import RawCluster
from fleet.kubernetes.objects_dra import DeviceClassObject, ResourceClaimObject, UnreadClaimObject

_CLAIMS = "resourceclaims.resource.k8s.io"
_SLICES = "resourceslices.resource.k8s.io"
_CLASSES = "deviceclasses.resource.k8s.io"
_WORDS = {
    ReadStatus.FORBIDDEN: "may not be listed (403)",
    ReadStatus.FAILED: "could not be read",
    ReadStatus.NOT_IN_FILE: "are not in the file",
}


@dataclass(frozen=True, slots=True)
class UnknownUse:
    """Where nobody can tell which devices are held, and why."""

    everywhere: str = ""
    nodes: Mapping[str, str] = field(default_factory=dict)

    def of(self, nodes: Iterable[str]) -> str:
        """Why the use of devices that these nodes reach is unknown; "" where it is known."""
        if self.everywhere or not self.nodes:
            return self.everywhere
        return next((self.nodes[node] for node in nodes if node in self.nodes), "")


KNOWN_USE = UnknownUse()


def unknown_use(raw: RawCluster) -> UnknownUse:
    """Where devices may be held by claims that were not read."""
    status = _status(raw, _CLAIMS)
    if status in (ReadStatus.FORBIDDEN, ReadStatus.FAILED):
        return UnknownUse(f"ResourceClaims {_WORDS[status]}")
    claims = raw.of(ResourceClaimObject, _CLAIMS)
    for claim in claims:
        if isinstance(claim, UnreadClaimObject):
            name = f"{claim.metadata.namespace}/{claim.metadata.name}"
            return UnknownUse(f"ResourceClaim {name[:200]} cannot be read and may hold any device")
    known = {(claim.metadata.namespace, claim.metadata.name) for claim in claims}
    nodes: dict[str, str] = {}
    for pod in raw.pods.pods:
        for name in _claims_held(pod):
            if (pod.namespace, name) not in known:
                claim_name = f"{pod.namespace}/{name}"[:200]
                reason = f"ResourceClaim {claim_name} of pod {pod.name[:100]} was not read"
                nodes.setdefault(pod.node, reason)
    return UnknownUse(nodes=nodes)


def _claims_held(pod: Pod) -> tuple[str, ...]:
    """Claims that a pod has by being bound and not finished: it got what they ask for."""
    return pod.claims if pod.node and pod.state != "finished" else ()


def unread_slices(raw: RawCluster) -> str:
    """Why GPUs offered through DRA are not counted, where something speaks of any; else ""."""
    words = _WORDS.get(_status(raw, _SLICES) or ReadStatus.READ)
    evidence = _evidence(raw) if words else ""
    return f"ResourceSlices {words}, and {evidence}" if evidence else ""


def _evidence(raw: RawCluster) -> str:
    for claim in raw.of(ResourceClaimObject, _CLAIMS):
        if any(driver_vendor(result.driver) is not None for result in results_of(claim)):
            name = f"{claim.metadata.namespace}/{claim.metadata.name}"
            return f"ResourceClaim {name[:200]} holds a GPU of a DRA driver"
    for item in raw.of(DeviceClassObject, _CLASSES):
        if may_hold_gpus(item.metadata.name, class_drivers(item)):
            return f"DeviceClass {item.metadata.name[:100]} offers GPUs through DRA"
    is_guess = _status(raw, _CLAIMS) in (ReadStatus.FORBIDDEN, ReadStatus.FAILED)
    for pod in raw.pods.pods:
        if pod.claim_devices or (is_guess and _claims_held(pod)):
            name = f"{pod.namespace}/{pod.name}"[:200]
            return f"pod {name} asks for devices through ResourceClaims"
    return ""


def _status(raw: RawCluster, key: str) -> ReadStatus | None:
    return next((read.status for read in raw.reads if read.resource == key), None)
