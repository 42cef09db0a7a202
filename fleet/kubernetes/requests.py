"""What a pod takes from a node: the scheduler's own arithmetic.

Per resource: containers add up. Init containers run one after the other, so only their peak
counts, beside the sidecars (``restartPolicy: Always``) started before them; sidecars run on
beside the containers. The pod takes the larger of both. Pod-level resources then replace CPU,
memory and huge pages (never devices), and the overhead of the runtime comes on top.

While a resize is under way a container counts with the largest of what is asked, given and
allotted. 1.37 takes the largest of the three sums instead; the two differ, by too much here, only
while two containers of one pod are resized in opposite directions.
Source: kubernetes/component-helpers resource/helpers.go (v0.36.3 and v0.37.2), PodRequests; where
limits stand for requests: SetDefaults_Pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache

from fleet.device_names import accelerators_only
from fleet.kubernetes.objects_core import (
    Container,
    ContainerStatus,
    NodeResourceClaim,
    PodSpec,
    PodStatus,
    Quantities,
    Quantity,
    Resources,
)
from fleet.units import QuantityError, parse_quantity

Amounts = dict[str, Decimal]
_MIB = Decimal(2**20)
_ZERO = Decimal(0)
_BYTES = frozenset({"memory", "ephemeral-storage"})
_RESIZABLE = ("cpu", "memory")
_MOST_BYTES = Decimal(2**60)
_MOST_COUNT = Decimal(10**9)  # cores, devices, pods; KubeVirt lists devices by the thousand


@dataclass(frozen=True, slots=True)
class PodRequest:
    """What one pod takes."""

    cpu_milli: int
    memory_mib: int
    devices: dict[str, int]  # accelerator resources
    problems: tuple[str, ...] = ()  # quantities that nobody can read, limits unlike requests


@lru_cache(maxsize=65_536)
def _amount(text: Quantity) -> Decimal:
    return parse_quantity(text)


def _add(total: Amounts, more: Mapping[str, Decimal]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, _ZERO) + amount


def _raise(total: Amounts, floor: Mapping[str, Decimal]) -> None:
    for name, amount in floor.items():
        if amount > total.get(name, _ZERO):
            total[name] = amount


def bounded_quantity(name: str, text: Quantity) -> Decimal:
    """A quantity of a size that any machine could have, in base units.

    Raises ``QuantityError`` for anything else: sums of what is left fit in 64 bits.
    """
    amount = _amount(text)
    most = _MOST_BYTES if name in _BYTES or name.startswith("hugepages-") else _MOST_COUNT
    if amount < 0:
        raise QuantityError("negative quantity")
    if amount > most:
        raise QuantityError(f"larger than any machine has: {str(text)[:40]}")
    return amount


def amounts(quantities: Quantities | None, problems: list[str]) -> Amounts:
    """Quantities in base units; what cannot be read is left out and named in ``problems``."""
    found: Amounts = {}
    for name, text in (quantities or {}).items():
        try:
            found[name] = bounded_quantity(name, text)
        except QuantityError as error:
            problems.append(f"{name[:100]}: {error}")
    return found


def container_amounts(resources: Resources | None, problems: list[str]) -> Amounts:
    """Requests of one container; where only a limit is written, the limit.

    The API server copies limits to requests on pods, never in templates. A device whose request
    and limit differ can never exist: the limit is taken, and the difference is a problem. Neither
    can a part of a device; it is counted as the next whole number, and is a problem.
    """
    if resources is None:
        return {}
    found = amounts(resources.requests, problems)
    for name, limit in amounts(resources.limits, problems).items():
        request = found.get(name)
        if request is None:
            found[name] = limit
        elif "/" in name and request != limit:
            problems.append(f"{name[:100]}: request {request} differs from limit {limit}")
            found[name] = max(request, limit)
    for name, amount in found.items():
        if "/" in name and amount != amount.to_integral_value():
            problems.append(f"{name[:100]}: {amount.normalize():f} is no whole number of devices")
    return found


def combine(
    containers: list[Amounts], init: list[tuple[Amounts, bool]], overhead: Amounts
) -> Amounts:
    """The arithmetic itself. ``init`` holds (amounts, is it a sidecar) in order."""
    running: Amounts = {}
    for amount in containers:
        _add(running, amount)
    sidecars: Amounts = {}
    peak: Amounts = {}
    for amount, is_sidecar in init:
        if is_sidecar:
            _add(running, amount)
            _add(sidecars, amount)
            _raise(peak, sidecars)
        else:
            step = dict(sidecars)
            _add(step, amount)
            _raise(peak, step)
    _raise(running, peak)
    _add(running, overhead)
    return running


def pod_request(spec: PodSpec, status: PodStatus | None = None) -> PodRequest:
    """What a pod (or, without ``status``, a pod of that template) takes from its node."""
    problems: list[str] = []
    held = _held(status, problems) if status is not None else {}
    infeasible = status is not None and _is_infeasible(status)

    def of(container: Container) -> Amounts:
        found = container_amounts(container.resources, problems)
        given = held.get(container.name)
        if given:
            _resize(found, given, infeasible)
        return found

    total = combine(
        [of(c) for c in spec.containers or ()],
        [(of(c), c.restartPolicy == "Always") for c in spec.initContainers or ()],
        {},
    )
    if status is not None and status.nodeAllocatableResourceClaimStatuses:
        _add(total, _through_claims(status.nodeAllocatableResourceClaimStatuses, problems))
    if spec.resources is not None:
        total.update(_pod_level(spec.resources, status, total, infeasible, problems))
    _add(total, amounts(spec.overhead, problems))
    return PodRequest(
        cpu_milli=_up(total.get("cpu", _ZERO) * 1000),
        memory_mib=_up(total.get("memory", _ZERO) / _MIB),
        devices=accelerators_only({n: _up(a) for n, a in total.items() if "/" in n}),
        problems=tuple(dict.fromkeys(problems)),
    )


def _is_infeasible(status: PodStatus) -> bool:
    """Whether the resize that ``spec`` asks for can never be: what is held counts alone."""
    pending = next((c for c in status.conditions or () if c.type == "PodResizePending"), None)
    return pending is not None and pending.reason == "Infeasible"


def _resize(asked: Amounts, given: Amounts, infeasible: bool) -> None:
    for name in _RESIZABLE:
        if name in given:
            asked[name] = given[name] if infeasible else max(asked.get(name, _ZERO), given[name])


def _held(status: PodStatus, problems: list[str]) -> dict[str, Amounts]:
    """CPU and memory that a running container really holds while a resize is under way."""
    found: dict[str, Amounts] = {}
    statuses: list[ContainerStatus] = [
        *(status.containerStatuses or ()),
        *(status.initContainerStatuses or ()),
    ]
    for container in statuses:
        if container.resources is None and container.allocatedResources is None:
            continue
        actual = amounts(container.resources.requests if container.resources else None, problems)
        _raise(actual, amounts(container.allocatedResources, problems))
        found[container.name] = actual
    return found


def _pod_level(
    asked: Resources,
    status: PodStatus | None,
    of_containers: Amounts,
    infeasible: bool,
    problems: list[str],
) -> Amounts:
    """What the pod asks for as a whole. A limit alone stands in where no container says more."""
    found = amounts(asked.requests, problems)
    for name, limit in amounts(asked.limits, problems).items():
        if name not in found and name not in of_containers:
            found[name] = limit
    if found and status is not None and status.resources is not None:
        given = amounts(status.resources.requests, problems)
        _raise(given, amounts(status.allocatedResources, problems))
        _resize(found, given, infeasible)
    return {n: a for n, a in found.items() if n in _RESIZABLE or n.startswith("hugepages-")}


def _through_claims(claims: Iterable[NodeResourceClaim], problems: list[str]) -> Amounts:
    """CPU and memory that the devices of claims bring along: they count with the pod."""
    total: Amounts = {}
    for claim in claims:
        _add(total, amounts(claim.resources, problems))
        for mapped in claim.mapping or ():
            _add(total, _one(mapped.name, mapped.quantity, 1, problems))
        for more in claim.overhead or ():
            _add(total, _one(more.name, more.perPod, 1, problems))
            _add(total, _one(more.name, more.perContainer, len(claim.containers or ()), problems))
    return total


def _one(name: str, text: Quantity | None, times: int, problems: list[str]) -> Amounts:
    found = amounts({name: text}, problems) if text is not None else {}
    return {n: amount * times for n, amount in found.items()}


def _up(amount: Decimal) -> int:
    return int(amount.to_integral_value(rounding=ROUND_CEILING))
