"""What the report says of each node: its device groups, with the numbers of each resource."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from fleet.inventory import AttachedDevices, DeviceGroup, Node, Sharing, UnitKind, Units
from fleet.other_accelerators import OtherAccelerators, other_accelerators
from fleet.units import known_sum

Report = dict[str, Any]
_KVM = "devices.kubevirt.io/kvm"


def node_report(node: Node) -> Report:
    """One node. Its first device group stands beside the node's own keys, more of them under
    ``further_groups``."""
    found: Report = {"gpu_node": node.is_gpu_node, "schedulable": node.schedulable}
    if node.not_schedulable_reason:
        found["not_schedulable_reason"] = node.not_schedulable_reason
    if node.arch:
        found["arch"] = node.arch
    if node.is_virtual:
        found["virtual"] = True
    if node.is_simulated:
        found["simulated"] = True
    if _is_spot(node):
        found["spot"] = True
    if node.others:
        found["other_accelerators"] = {unit.resource: unit.capacity for unit in node.others}
    makers = [_others(of_maker, node) for of_maker in other_accelerators(node)]
    if makers:
        found["other_accelerators_by_maker"] = makers
    if node.other_devices:
        found["other_devices"] = node.other_devices
    if _KVM in node.extended:
        found["kvm"] = node.extended[_KVM]
    if not node.groups:
        return found | {"physical_gpus": 0}
    first, *more = [_of_node(node, group) for group in node.groups]
    found |= first
    if more:
        found["further_groups"] = more
    return found


def _others(found: OtherAccelerators, node: Node) -> Report:
    shown: Report = {
        "vendor": found.vendor,
        "model": found.model,
        "devices": found.devices,
        "devices_source": found.source,
        "resources": {unit.resource: _amounts(unit, node.free_if_known) for unit in found.units},
    }
    if found.kind is not None:
        shown["unit"] = found.kind.value
    if found.topology:
        shown["topology"] = found.topology
    return shown


def _is_spot(node: Node) -> bool:
    labels = node.labels
    return (
        labels.get("karpenter.sh/capacity-type") == "spot"
        or labels.get("eks.amazonaws.com/capacityType") == "SPOT"
        or labels.get("kubernetes.azure.com/scalesetpriority") == "spot"
        or labels.get("cloud.google.com/gke-spot") == "true"
    )


def _of_node(node: Node, group: DeviceGroup) -> Report:
    return _group(group, node.free_if_known, can_be_had=node.schedulable)


def attached_report(pool: AttachedDevices) -> Report:
    """Devices that several nodes reach: counted on none of them."""
    return {
        "driver": pool.driver,
        "pool": pool.pool,
        "nodes": pool.nodes,
        "such_as": list(pool.node_names),
    } | _group(pool.group, lambda u: u.free, can_be_had=True)


def _group(group: DeviceGroup, free: Callable[[Units], int | None], *, can_be_had: bool) -> Report:
    found: Report = {
        "vendor": group.vendor,
        "model": group.model,
        "model_source": group.model_source,
        "model_label": group.model_label,
        "model_certain": group.model_certain,
        "physical_gpus": group.physical,
        "physical_source": group.physical_source,
        "physical_estimated": group.physical_estimated,
        "memory_mib_per_gpu": group.memory_mib,
        "sharing": group.sharing,
        "resources": {
            unit.resource: _amounts(unit, free)
            for unit in group.units
            if unit.kind is not UnitKind.DRA
        },
        "dra_devices": sum(u.capacity for u in group.units_of(UnitKind.DRA)),
        "dra_free": known_sum(free(u) for u in group.units_of(UnitKind.DRA)),
    }
    if group.physical is not None and group.memory_mib is not None:
        found["memory_mib_total"] = group.physical * group.memory_mib
    elif group.total_memory_mib is not None:
        found["memory_mib_total"] = group.total_memory_mib
    if group.replicas is not None:
        found["replicas"] = group.replicas
    if group.unhealthy:
        found["unhealthy"] = group.unhealthy
        found["unhealthy_source"] = group.unhealthy_source
    elif group.has_untold_sick:
        found["unhealthy"] = None
    if group.whole_free is not None:
        found["whole_free_gpus"] = group.whole_free if can_be_had else 0
    if group.use_unknown:
        found |= {"whole_free_gpus": None, "use_unknown": group.use_unknown}
    if group.memory_gib is not None:
        found["memory_gib_per_gpu"] = found["physical_memory_gib"] = group.memory_gib
    if group.unreadable:
        found["unreadable"] = list(group.unreadable)
    if group.notes:
        found["notes"] = list(group.notes)
    return found | _cuts(group) | _details(group) | _dra(group)


def _amounts(unit: Units, free: Callable[[Units], int | None]) -> Report:
    return {
        "capacity": unit.capacity,
        "allocatable": unit.allocatable,
        "requested": unit.requested,
        "free": free(unit),
    }


def _details(group: DeviceGroup) -> Report:
    found: Report = {}
    if "hami_mode" in group.details:
        found["hami_mode"] = group.details["hami_mode"]
    if group.details.get("stale"):
        found["stale"] = True
    if "shared_gpus" in group.details:
        found["shared_gpus"] = int(group.details["shared_gpus"])
    return found


def _dra(group: DeviceGroup) -> Report:
    """What only devices offered through DRA have; empty lists are left out."""
    found = {
        "incomplete": list(group.incomplete),
        "holders": [asdict(holder) for holder in group.holders],
        "partly_used": [asdict(part) for part in group.partly_used],
        "device_taints": [asdict(taint) for taint in group.device_taints],
    }
    return {key: value for key, value in found.items() if value}


def _cuts(group: DeviceGroup) -> Report:
    """Counts of whole boards and of cuts, where a node has both or only cuts."""
    found: Report = {}
    mig = group.mig_devices
    partitions = _capacity(group.units_of(UnitKind.PARTITION))
    if mig:
        found["mig_devices"] = mig
    if partitions:
        found["partitions"] = partitions
    if mig or partitions:
        found["whole_gpus"] = _capacity(group.units_of(UnitKind.WHOLE))
    if group.cuts_possible:
        found["mig_devices_possible"] = group.cuts_possible
    sizes = {u.memory_mib for u in _cut_units(group)}
    if len(sizes) == 1 and (size := sizes.pop()) is not None:
        found["device_memory_mib"] = size
        found["device_memory_gib"] = size // 1024
    if group.sharing == Sharing.MPS:
        found["unit_memory_mib"] = next((u.memory_mib for u in group.units if u.capacity), None)
    return found


def _cut_units(group: DeviceGroup) -> Iterable[Units]:
    kinds = (UnitKind.MIG, UnitKind.PARTITION)
    listed = [u for u in group.units if u.kind in kinds and u.capacity]
    return listed or [u for u in group.units_of(UnitKind.DRA) if u.profile is not None]


def _capacity(units: Iterable[Units]) -> int:
    return sum(unit.capacity for unit in units)
