"""Nodes: state, room, place and devices."""

from __future__ import annotations

from collections.abc import Mapping

from fleet.catalogue.instance_types import instance_type
from fleet.device_names import device_name
from fleet.inventory import DeviceGroup, Node
from fleet.kubernetes.device_facts import NodeFacts
from fleet.kubernetes.devices import device_groups
from fleet.kubernetes.dra_sums import DraDevices
from fleet.kubernetes.gathered import NodeUse
from fleet.kubernetes.objects_core import NodeObject, NodeSpec, NodeStatus, Quantities
from fleet.kubernetes.requests import bounded_quantity
from fleet.kubernetes.taints import not_schedulable_reason, taints_of
from fleet.kubernetes.times import time_of
from fleet.kubernetes.topology import Keys, levels_of
from fleet.units import QuantityError

_POOLS = (
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "karpenter.sh/nodepool",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "oci.oraclecloud.com/node-pool",
    "node.kubernetes.io/pool",
    "node-pool",
)
_TYPES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_REGIONS = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
_ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_VIRTUAL_TAINT = "virtual-kubelet.io/provider"


def node_value(
    node: NodeObject,
    use: NodeUse,
    dra: tuple[DraDevices, ...],
    topology: Keys = (),
    others: Mapping[str, int] | None = None,
) -> Node:
    """The node as the inventory holds it; ``use`` is what its pods take, ``others`` the devices
    that are no GPUs, by DRA driver."""
    spec, status = node.spec or NodeSpec(), node.status or NodeStatus()
    labels = dict(node.metadata.labels or {})
    taints = taints_of(node)
    ready = next((c.status for c in status.conditions or () if c.type == "Ready"), None)
    is_ready = None if ready is None else ready == "True"
    cordoned = bool(spec.unschedulable)
    reason = not_schedulable_reason(is_ready, cordoned, taints)
    problems: list[str] = []
    kind = _first(labels, _TYPES)
    info = status.nodeInfo
    allocatable = status.allocatable or status.capacity
    return Node(
        name=node.metadata.name,
        labels=labels,
        annotations=node.metadata.notes.kept(),
        taints=taints,
        ready=is_ready,
        cordoned=cordoned,
        schedulable=not reason,
        not_schedulable_reason=reason,
        kubelet_version=info.kubeletVersion if info else "",
        instance_type=kind,
        pool=_first(labels, _POOLS) or kind,
        region=_first(labels, _REGIONS),
        zone=_first(labels, _ZONES),
        arch=(info.architecture if info else "") or labels.get("kubernetes.io/arch", ""),
        os=(info.operatingSystem if info else "") or labels.get("kubernetes.io/os", ""),
        cpu_allocatable=_cpu(allocatable, problems),
        cpu_requested=use.cpu_milli,
        memory_allocatable_mib=_memory(allocatable, problems),
        memory_requested_mib=use.memory_mib,
        pods_allocatable=_counts(allocatable, problems).get("pods", 0),
        pods_count=use.pods,
        groups=groups_of(node, use, dra, problems),
        topology=levels_of(labels, topology),
        is_virtual=labels.get("type") == "virtual-kubelet"
        or any(t.key == _VIRTUAL_TAINT for t in taints)
        or "liqo.io/type" in labels,
        is_simulated=labels.get("type") == "kwok" or bool(node.metadata.notes.kwok_node),
        problems=tuple(dict.fromkeys(problems)),
        extended=_foreign(status, problems),
        created=time_of(node.metadata.creationTimestamp),
        other_devices=dict(others or {}),
    )


def groups_of(
    node: NodeObject, use: NodeUse, dra: tuple[DraDevices, ...], problems: list[str]
) -> tuple[DeviceGroup, ...]:
    """The device groups of a node; unreadable quantities go to ``problems``."""
    status = node.status or NodeStatus()
    labels = {key: value for key, value in (node.metadata.labels or {}).items() if value}
    offered = status.allocatable if status.allocatable is not None else status.capacity
    capacity, allocatable = _counts(status.capacity, problems), _counts(offered, problems)
    named = {**(status.capacity or {}), **(offered or {})}
    groups = device_groups(
        NodeFacts(
            labels=labels,
            notes=node.metadata.notes,
            capacity=capacity,
            allocatable=allocatable,
            requested=use.devices,
            instance_type=instance_type(kind) if (kind := _first(labels, _TYPES)) else None,
            dra=dra,
            used=frozenset(use.used_boards),
            unreadable=tuple(
                name
                for name in named
                if (name in (status.capacity or {}) and name not in capacity)
                or (name in (offered or {}) and name not in allocatable)
            ),
        )
    )
    if use.shared_boards and groups:
        groups[0].details["shared_gpus"] = str(len(use.shared_boards))
    return groups


def _first(labels: dict[str, str], keys: tuple[str, ...]) -> str:
    return next((labels[key] for key in keys if labels.get(key)), "")


def _counts(quantities: Quantities | None, problems: list[str]) -> dict[str, int]:
    """Counts of extended resources and pods; "1k" is 1,000."""
    found = {}
    for name, text in (quantities or {}).items():
        if "/" in name or name == "pods":
            try:
                found[name] = int(bounded_quantity(name, text))
            except QuantityError as error:
                problems.append(f"{name[:100]}: {error}")
    return found


def _cpu(quantities: Quantities | None, problems: list[str]) -> int:
    try:
        return int(bounded_quantity("cpu", (quantities or {}).get("cpu", 0)) * 1000)
    except QuantityError as error:
        problems.append(f"cpu: {error}")
        return 0


def _memory(quantities: Quantities | None, problems: list[str]) -> int:
    try:
        return int(bounded_quantity("memory", (quantities or {}).get("memory", 0))) // 2**20
    except QuantityError as error:
        problems.append(f"memory: {error}")
        return 0


def _foreign(status: NodeStatus, problems: list[str]) -> dict[str, int]:
    """Extended resources that are no GPUs: NICs, TPU chips, handles of virtual machines."""
    found = {}
    for name, amount in _counts(status.capacity, problems).items():
        if "/" not in name:
            continue
        kind = device_name(name)
        if kind is None or not kind.is_gpu:
            found[name] = amount
    return found
