"""Short ways to say an inventory: one node with one group of GPUs."""

from __future__ import annotations

from typing import Any

from fleet.inventory import (
    DeviceGroup,
    Inventory,
    Node,
    Quota,
    ServerVersion,
    Sharing,
    Taint,
    TopologyLevel,
    UnitKind,
    Units,
)


def units(
    resource: str = "nvidia.com/gpu",
    count: int = 8,
    requested: int = 0,
    *,
    kind: UnitKind = UnitKind.WHOLE,
    profile: str | None = None,
) -> Units:
    return Units(resource, kind, count, count, requested, None, profile)


def group(
    model: str | None,
    *of: Units,
    physical: int | None = 8,
    sharing: str = Sharing.WHOLE,
) -> DeviceGroup:
    return DeviceGroup(
        "nvidia", model, "label", physical, "label", False, None, sharing, None, of or (units(),)
    )


def gpu_node(name: str, *groups: DeviceGroup, **more: Any) -> Node:
    values: dict[str, Any] = {
        "labels": {},
        "annotations": {},
        "taints": (Taint("nvidia.com/gpu", "present", "NoSchedule"),),
        "ready": True,
        "cordoned": False,
        "schedulable": True,
        "not_schedulable_reason": "",
        "kubelet_version": "v1.35.1",
        "instance_type": "",
        "pool": "gpu",
        "region": "",
        "zone": "",
        "arch": "amd64",
        "os": "linux",
        "cpu_allocatable": 96_000,
        "cpu_requested": 0,
        "memory_allocatable_mib": 1_000_000,
        "memory_requested_mib": 0,
        "pods_allocatable": 110,
        "pods_count": 10,
        "topology": (),
    }
    values.update(more)
    return Node(name=name, groups=groups, **values)


def levels(**values: str | None) -> tuple[TopologyLevel, ...]:
    """``levels(zone="z1", rack="r1")``: coarse to fine."""
    return tuple(TopologyLevel(name, f"label/{name}", value) for name, value in values.items())


def inventory(*nodes: Node, quotas: tuple[Quota, ...] = ()) -> Inventory:
    return Inventory(
        version=ServerVersion("v1.35.1", 1, 35, "test"),
        provider="",
        apis=None,
        nodes=nodes,
        pods=(),
        controllers=(),
        quotas=quotas,
        namespaces=(),
        priority_classes=(),
        device_classes=(),
        gang_objects=(),
        topology_keys=(),
        reads=(),
        problems=(),
        taken_at=None,
    )
