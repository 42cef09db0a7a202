"""What some pods have to say beyond their row: why they do not simply run, since when, which part
of a board they ask for, and who holds a device for whom.

Most pods of a large cluster have nothing of it, and store nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from fleet.device_names import DEVICE_KINDS, device_name
from fleet.inventory import Pod

BY_CLAIM = "devices by ResourceClaim"
"""Stands for a resource where devices are asked for through claims (DRA)."""

BY_PART = "parts of GPUs by annotation"
"""Stands for a resource where a pod asks for a part of a board in the words of a sharing system:
one a pod, whatever its size."""

MOST_NAMES = 50
_WAITS = ("pending", "gated")


@dataclass(frozen=True, slots=True)
class PodFacts:
    """``PodRow.facts``. Texts are facts in plain English."""

    reason: str = ""  # why it does not simply run: "queued by Kueue"
    since: datetime | None = None  # its deletion was asked for, or it was created and waits
    fraction: float | None = None  # boards, all parts together
    memory_mib: int | None = None  # device memory asked for
    held_by: str = ""  # "namespace/name" of the reservation that holds its device
    stands_for: tuple[str, ...] = ()  # of a reservation: "namespace/name" of who shares it
    more: int = 0  # beyond those


_NONE: dict[str, Any] = {}


def stored_facts(pod: Pod, held_by: str = "") -> dict[str, Any]:
    """As a row holds them, without what is not there."""
    if pod.state == "running" and not (
        pod.state_reason or pod.gpu_fraction or pod.gpu_memory_mib or pod.stands_for or held_by
    ):
        return _NONE
    since = pod.terminating_since
    if since is None and pod.state in _WAITS:
        since = pod.created
    found: dict[str, Any] = {
        "reason": pod.state_reason,
        "since": since.isoformat() if since is not None else None,
        "fraction": pod.gpu_fraction,
        "memory_mib": pod.gpu_memory_mib,
        "held_by": held_by,
        "stands_for": list(pod.stands_for[:MOST_NAMES]),
        "more": max(0, len(pod.stands_for) - MOST_NAMES),
    }
    return {name: value for name, value in found.items() if value}


def facts_of(stored: Any) -> PodFacts:
    """The facts of a row."""
    return msgspec.convert(stored, type=PodFacts)


def reservations(pods: Iterable[Pod]) -> dict[str, str]:
    """Pods that share a device, by "namespace/name", with the pod that holds it for them."""
    return {
        name: f"{pod.namespace}/{pod.name}"
        for pod in pods
        if pod.stands_for
        for name in pod.stands_for
    }


def requests_of(pod: Pod) -> Mapping[str, int]:
    """What the pod asks for, by resource, in that resource's own unit."""
    if pod.claim_devices:
        return {**pod.requests, BY_CLAIM: pod.claim_devices}
    if not pod.requests and (pod.gpu_fraction or pod.gpu_memory_mib):
        return {BY_PART: 1}
    return pod.requests


def units_of(pod: Pod, requests: Mapping[str, int]) -> tuple[int, str]:
    """How many devices or parts of devices the pod uses, and of what resource.

    Memory and cores beside a device say how much of it is taken and are never added to it; a pod
    that asks for nothing else is told in that one unit. A reservation uses nothing: those that
    share its device do.
    """
    if pod.stands_for:
        return 0, ""
    if len(requests) < 2:
        for name, units in requests.items():
            return units, name
        return 0, ""
    devices = {name: units for name, units in requests.items() if _is_device(name)}
    if not devices:
        most = max(requests, key=lambda name: (requests[name], name))
        return requests[most], most
    names = sorted(devices, key=lambda name: (-devices[name], name))
    return sum(devices.values()), " + ".join(names)


def _is_device(name: str) -> bool:
    kind = device_name(name)
    return name == BY_CLAIM or (kind is not None and kind.kind in DEVICE_KINDS)
