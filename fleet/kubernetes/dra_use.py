"""Which devices claims hold, for whom, and how much of those that claims share.

An allocated claim holds its devices whether or not a pod uses it: nobody else can have them.
Results with admin access hold nothing.
Source: kubernetes pkg/scheduler/framework/plugins/dynamicresources/allocateddevices.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fleet.inventory import DeviceHolder, Pod
from fleet.kubernetes.objects_core import Quantity, TolerationObject
from fleet.kubernetes.objects_dra import AllocationResult, Consumer, ResourceClaimObject

DeviceKey = tuple[str, str, str]  # driver, pool, device: names repeat across pools
PodStates = Mapping[tuple[str, str], bool]
"""Pods that are there, by (namespace, name); True for those that are finished."""

_MOST_CONSUMERS = 16


@dataclass(frozen=True, slots=True)
class Hold:
    """One result of one claim's allocation."""

    claim: ResourceClaimObject
    result: AllocationResult

    @property
    def is_shared(self) -> bool:
        """One share of a device, which leaves room for others."""
        return self.result.shareID is not None

    @property
    def tolerations(self) -> Sequence[TolerationObject]:
        """As copied to the result; of the request where the server is too old to copy them."""
        if self.result.tolerations is not None:
            return self.result.tolerations
        main, _, sub = self.result.request.partition("/")
        spec = self.claim.spec.devices if self.claim.spec else None
        for request in (spec.requests if spec else None) or ():
            if request.name == main:
                wanted = next((s for s in request.firstAvailable or () if s.name == sub), None)
                return (wanted or request.wanted).tolerations or ()
        return ()


@dataclass(slots=True)
class Use:
    """All that claims hold. ``whole``: devices held entirely; ``shares``: by device, in parts."""

    holds: dict[DeviceKey, list[Hold]] = field(default_factory=dict)
    whole: set[DeviceKey] = field(default_factory=set)

    def is_held(self, key: DeviceKey) -> bool:
        return key in self.holds

    def shares(self, key: DeviceKey) -> list[Mapping[str, Quantity]]:
        """What each share of the device took."""
        return [h.result.consumedCapacity or {} for h in self.holds.get(key, ()) if h.is_shared]


def use_of(claims: Iterable[ResourceClaimObject]) -> Use:
    """What the claims of a cluster hold."""
    use = Use()
    for claim in claims:
        for result in results_of(claim):
            if result.adminAccess:
                continue
            key = (result.driver, result.pool, result.device)
            hold = Hold(claim, result)
            use.holds.setdefault(key, []).append(hold)
            if not hold.is_shared:
                use.whole.add(key)
    return use


def results_of(claim: ResourceClaimObject) -> Sequence[AllocationResult]:
    """The devices that were allocated to a claim; none while it waits."""
    allocation = claim.status.allocation if claim.status else None
    devices = allocation.devices if allocation else None
    return (devices.results if devices else None) or ()


def pods_with_claims(pods: Iterable[Pod]) -> PodStates:
    """The pods that use claims, of all pods of a cluster."""
    return {(pod.namespace, pod.name): pod.state == "finished" for pod in pods if pod.claims}


def holder(hold: Hold, pods: PodStates | None) -> DeviceHolder:
    """Who holds a device. ``pods`` None: pods were not read."""
    claim, result = hold.claim, hold.result
    space = claim.metadata.namespace
    consumers = (claim.status.reservedFor if claim.status else None) or ()
    return DeviceHolder(
        driver=result.driver,
        pool=result.pool,
        device=result.device,
        claim=f"{space}/{claim.metadata.name}",
        request=result.request,
        consumers=tuple(_consumer(c) for c in consumers[:_MOST_CONSUMERS]),
        consumed={n: str(text)[:64] for n, text in (result.consumedCapacity or {}).items()},
        idle=_idle(claim, consumers, pods),
    )


def _consumer(consumer: Consumer) -> str:
    kind = consumer.resource.removesuffix("s") or "object"
    return f"{kind} {consumer.name}"


def _idle(claim: ResourceClaimObject, consumers: Sequence[Consumer], pods: PodStates | None) -> str:
    """Why nobody uses an allocated claim; "" when somebody does or nobody can tell."""
    if not consumers:
        return "no pod uses the claim"
    if pods is None or any(c.resource != "pods" or c.apiGroup for c in consumers):
        return ""
    states = [pods.get((claim.metadata.namespace, c.name)) for c in consumers]
    if any(state is False for state in states):
        return ""
    return "its pods are finished" if any(states) else "its pods are gone"
