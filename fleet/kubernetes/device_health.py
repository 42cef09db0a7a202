"""Sick devices by the pods that hold them: ``containerStatuses[].allocatedResourcesStatus``.

Served with the feature ResourceHealthStatus (beta in Kubernetes 1.36). Only devices that a pod
holds are listed; the node's capacity less allocatable tells of the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fleet.device_names import device_name
from fleet.inventory import UnitKind
from fleet.kubernetes.objects_core import ContainerStatus

WITHDRAWN = "capacity minus allocatable"
HELD_SICK = "allocatedResourcesStatus of pods"
"""Where it was read that boards are sick."""

_BOARD_KINDS = (UnitKind.WHOLE, UnitKind.SHARE)


@dataclass(frozen=True, slots=True)
class SickDevice:
    """``health``: "Unhealthy", or "Unknown" when the plugin has stopped reporting."""

    resource: str
    device: str
    health: str


def sick_devices(statuses: Iterable[ContainerStatus]) -> frozenset[SickDevice]:
    """Devices of a pod that are not healthy; replicas of one board ("GPU-1::3") are one."""
    return frozenset(
        SickDevice(entry.name, item.resourceID.partition("::")[0], item.health)
        for status in statuses
        for entry in status.allocatedResourcesStatus or ()
        for item in entry.resources or ()
        if item.health in ("Unhealthy", "Unknown")
        and item.resourceID
        and device_name(entry.name) is not None
    )


def most_sick(*told: tuple[int, str]) -> tuple[int, str]:
    """The largest of several counts of sick boards of one node, with all that say so: they count
    the same boards in different ways. ``(0, "")`` where nothing is sick."""
    most = max((number for number, _ in told), default=0)
    return most, " and ".join(source for number, source in told if number == most) if most else ""


def sick_boards(found: Iterable[SickDevice], vendor: str) -> int:
    """Boards of a vendor that are Unhealthy. A cut of a board does not condemn the board."""
    return len(
        {
            item.device
            for item in found
            if item.health == "Unhealthy"
            and (kind := device_name(item.resource)) is not None
            and kind.vendor == vendor
            and kind.kind in _BOARD_KINDS
            and "/mig-" not in item.resource
        }
    )


def health_notes(found: Iterable[SickDevice], vendor: str) -> tuple[str, ...]:
    """One line for each state that devices of a vendor are in."""
    mine = [
        item
        for item in found
        if (kind := device_name(item.resource)) is not None and kind.vendor == vendor
    ]
    lines = []
    for health in ("Unhealthy", "Unknown"):
        ids = {item.device for item in mine if item.health == health}
        if ids:
            lines.append(f"pods hold {len(ids)} devices whose health is {health}")
    return tuple(lines)
