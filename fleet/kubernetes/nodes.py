"""Nodes: state, room, place and devices."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from fleet.catalogue.instance_types import InstanceType, instance_type
from fleet.device_names import DEVICE_KINDS, DeviceName, device_name
from fleet.inventory import DeviceGroup, Node, Taint, UnitKind, Units
from fleet.kubernetes.device_facts import NodeFacts, speaks_of_devices
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
_VIRTUAL_TAINTS = ("virtual-kubelet.io/provider", "virtual-node.liqo.io/not-allowed")
_SIMULATED_TAINT = "kwok.x-k8s.io/node"
_FAKE_GPUS = "run.ai/simulated-gpu-node-pool"  # Run:ai's fake GPU operator acts on these nodes


def node_value(
    node: NodeObject,
    use: NodeUse,
    dra: tuple[DraDevices, ...],
    topology: Keys = (),
    others: Mapping[str, int] | None = None,
    now: datetime | None = None,
) -> Node:
    """The node as the inventory holds it; ``use`` is what its pods take, ``others`` the devices
    that are no GPUs, by DRA driver; ``now`` when it was read."""
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
    groups = groups_of(node, use, dra, problems, now)
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
        groups=groups,
        topology=levels_of(labels, topology),
        is_virtual=_is_virtual(labels, taints),
        is_simulated=_is_simulated(node, labels, taints),
        problems=tuple(dict.fromkeys(problems)),
        extended=_foreign(status, groups, problems),
        others=_others(status, use, problems),
        created=time_of(node.metadata.creationTimestamp),
        other_devices=dict(others or {}),
    )


def _is_virtual(labels: Mapping[str, str], taints: tuple[Taint, ...]) -> bool:
    """A door to another cluster or to a cloud's containers, with the capacity that it claims."""
    return (
        labels.get("type") in ("virtual-kubelet", "virtual-node")
        or "liqo.io/type" in labels
        or any(taint.key in _VIRTUAL_TAINTS for taint in taints)
    )


def _is_simulated(node: NodeObject, labels: Mapping[str, str], taints: tuple[Taint, ...]) -> bool:
    """A node of KWOK, or one whose GPUs Run:ai's fake GPU operator pretends."""
    provider = (node.spec.providerID if node.spec else None) or ""
    return (
        labels.get("type") == "kwok"
        or bool(labels.get(_FAKE_GPUS))
        or bool(node.metadata.notes.kwok_node)
        or provider.startswith("kwok://")
        or any(taint.key == _SIMULATED_TAINT for taint in taints)
    )


def groups_of(
    node: NodeObject,
    use: NodeUse,
    dra: tuple[DraDevices, ...],
    problems: list[str],
    now: datetime | None = None,
) -> tuple[DeviceGroup, ...]:
    """The device groups of a node; unreadable quantities go to ``problems``."""
    status = node.status or NodeStatus()
    stated = node.metadata.labels or {}
    labels = {key: value for key, value in stated.items() if value and speaks_of_devices(key)}
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
            instance_type=_machine(stated),
            dra=dra,
            used=frozenset(use.used_boards),
            unnamed=use.unnamed_boards,
            sick=frozenset(use.sick_devices),
            now=now,
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


def _machine(labels: dict[str, str]) -> InstanceType | None:
    """What the catalogue knows of the machine; SageMaker puts "ml." before EC2's name."""
    name = _first(labels, _TYPES)
    return instance_type(name) or instance_type(name.removeprefix("ml.")) if name else None


def _first(labels: dict[str, str], keys: tuple[str, ...]) -> str:
    return next((labels[key] for key in keys if labels.get(key)), "")


def _counts(quantities: Quantities | None, problems: list[str]) -> dict[str, int]:
    """Counts of extended resources and pods; "1k" is 1,000."""
    found = {}
    for name, text in (quantities or {}).items():
        if "/" in name or name == "pods":
            try:
                amount = bounded_quantity(name, text)
                if amount != int(amount):
                    raise QuantityError(f"not a whole number: {str(text)[:40]}")
                found[name] = int(amount)
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


def _foreign(
    status: NodeStatus, groups: tuple[DeviceGroup, ...], problems: list[str]
) -> dict[str, int]:
    """Extended resources that are no GPUs: NICs, TPU chips, handles of virtual machines."""
    found = {}
    shown = {unit.resource for group in groups for unit in group.units}
    for name, amount in _counts(status.capacity, problems).items():
        if "/" not in name:
            continue
        kind = device_name(name)
        if kind is None or not kind.is_gpu or (_may_be_no_gpu(kind) and name not in shown):
            found[name] = amount
    return found


def _others(status: NodeStatus, use: NodeUse, problems: list[str]) -> tuple[Units, ...]:
    """Accelerators that are no GPUs, with what pods hold of them. What pods hold and the node no
    longer offers stays, with a capacity of 0."""
    capacity = _counts(status.capacity, problems)
    offered = status.allocatable if status.allocatable is not None else status.capacity
    allocatable = _counts(offered, problems)
    found = []
    for name in dict.fromkeys((*capacity, *allocatable, *use.devices)):
        kind = device_name(name)
        if kind is None or kind.is_gpu:
            continue
        if name not in capacity and name not in allocatable and kind.kind not in DEVICE_KINDS:
            continue  # memory and core requests of a scheduler that advertises none
        can_be_had = allocatable.get(name, 0)
        found.append(
            Units(
                resource=name,
                kind=kind.kind,
                capacity=max(capacity.get(name, can_be_had), can_be_had),
                allocatable=can_be_had,
                requested=use.devices.get(name, 0),
                profile=kind.profile,
            )
        )
    return tuple(found)


def _may_be_no_gpu(kind: DeviceName) -> bool:
    """Names that only the rest of the node explains: "nvidia.com/big" may be a network port."""
    return kind.vendor == "nvidia" and kind.kind is UnitKind.UNCLASSIFIED
