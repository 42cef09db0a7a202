"""What a pod takes from a node: the scheduler's own arithmetic.

Per resource: containers add up. Init containers run one after the other, so only their peak
counts, beside the sidecars (``restartPolicy: Always``) started before them; sidecars run on
beside the containers. The pod takes the larger of both. Pod-level resources then replace CPU,
memory and huge pages (never devices), and the overhead of the runtime comes on top.
Source: kubernetes/component-helpers resource/helpers.go, PodRequests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache

from fleet.device_names import accelerators_only
from fleet.kubernetes.objects_core import (
    Container,
    ContainerStatus,
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
    and limit differ can never exist: the limit is taken, and the difference is a problem.
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
    resized = _resized(status, problems) if status is not None else {}
    infeasible = status is not None and any(
        c.type == "PodResizePending" and c.reason == "Infeasible" for c in status.conditions or ()
    )

    def of(container: Container) -> Amounts:
        found = container_amounts(container.resources, problems)
        actual = resized.get(container.name)
        if actual:
            for name in ("cpu", "memory"):
                if name in actual:
                    spec_says = _ZERO if infeasible else found.get(name, _ZERO)
                    found[name] = max(spec_says, actual[name])
        return found

    containers = [of(c) for c in spec.containers or ()]
    init = [(of(c), c.restartPolicy == "Always") for c in spec.initContainers or ()]
    total = combine(containers, init, {})
    if spec.resources is not None:
        for name, amount in container_amounts(spec.resources, problems).items():
            if name in ("cpu", "memory") or name.startswith("hugepages-"):
                total[name] = amount
    _add(total, amounts(spec.overhead, problems))
    return PodRequest(
        cpu_milli=_up(total.get("cpu", _ZERO) * 1000),
        memory_mib=_up(total.get("memory", _ZERO) / _MIB),
        devices=accelerators_only({n: _up(a) for n, a in total.items() if "/" in n}),
        problems=tuple(dict.fromkeys(problems)),
    )


def _resized(status: PodStatus, problems: list[str]) -> dict[str, Amounts]:
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


def _up(amount: Decimal) -> int:
    return int(amount.to_integral_value(rounding=ROUND_CEILING))
