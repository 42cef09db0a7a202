"""Sums over an inventory. Units of different kinds are never added into one number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from fleet.device_names import DEVICE_KINDS, device_name
from fleet.inventory import (
    DeviceGroup,
    Inventory,
    Node,
    Pod,
    Sharing,
    UnitKind,
    Units,
)


def whole_free(node: Node, group: DeviceGroup) -> int:
    """Idle boards of a group that can be had whole: not time-sliced, not cut, not held."""
    if not node.schedulable:
        return 0
    if group.whole_free is not None:
        return group.whole_free
    if group.sharing == Sharing.PASSTHROUGH:
        return 0  # for virtual machines only
    return sum(node.free(unit) for unit in group.units_of(UnitKind.WHOLE))


def totals(inventory: Inventory) -> dict[str, Any]:
    """The totals of one cluster; virtual and simulated nodes are counted apart."""
    real = [n for n in inventory.nodes if not (n.is_virtual or n.is_simulated)]
    pairs = [(node, group) for node in real for group in node.groups]
    found: dict[str, Any] = {
        "nodes": len(inventory.nodes),
        "real_nodes": len(real),
        "gpu_nodes": sum(node.is_gpu_node for node in real),
        "uncounted_nodes": sum(any(g.physical is None for g in node.groups) for node in real),
        "physical_gpus": sum(group.physical or 0 for _, group in pairs),
        "unhealthy_gpus": sum(group.unhealthy or 0 for _, group in pairs),
        "free_whole_gpus": sum(whole_free(node, group) for node, group in pairs),
        "whole_free_nodes": sum(_is_idle(node) for node in real),
        "memory_mib": sum((g.physical or 0) * (g.memory_mib or 0) for _, g in pairs),
        "cpu_cores": sum(node.cpu_allocatable for node in real) // 1000,
        "memory_gib": sum(node.memory_allocatable_mib for node in real) // 1024,
        "shared_boards_in_use": sum(int(g.details.get("shared_gpus", 0)) for _, g in pairs),
        "by_model": _by_model(pairs),
    }
    found["real_physical_gpus"] = found["physical_gpus"]
    found["simulated_gpus"] = sum(
        group.physical or 0 for n in inventory.nodes if n.is_simulated for group in n.groups
    )
    return found | _units(pairs) | _others(real) | _demand(inventory)


def _is_idle(node: Node) -> bool:
    units = [u for g in node.groups for u in g.units if u.kind in DEVICE_KINDS]
    return (
        node.schedulable
        and any(u.allocatable for u in units)
        and not any(u.requested for u in units)
        and any(whole_free(node, group) for group in node.groups)
    )


def _by_model(pairs: list[tuple[Node, DeviceGroup]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for node, group in pairs:
        row = found.setdefault(group.model or "unknown", {"total": 0, "free": 0})
        row["total"] += group.physical or 0
        row["free"] += whole_free(node, group)
    return found


def _units(pairs: list[tuple[Node, DeviceGroup]]) -> dict[str, int]:
    def total(kinds: Iterable[UnitKind], what: str) -> int:
        wanted = frozenset(kinds)
        return sum(
            node.free(unit) if what == "free" else getattr(unit, what)
            for node, group in pairs
            for unit in _once(group)
            if unit.kind in wanted
        )

    usable = sum(
        unit.allocatable
        for node, group in pairs
        if node.schedulable
        for unit in _once(group)
        if unit.kind in DEVICE_KINDS
    )
    containers = sum(
        unit.allocatable
        for _, group in pairs
        for unit in _once(group)
        if unit.kind in DEVICE_KINDS
        and group.sharing != Sharing.PASSTHROUGH
        and not unit.resource.startswith(("nvidia.com/GRID_", "nvidia.com/NVIDIA_"))
    )
    dra_parts = sum(g.cuts_possible for _, g in pairs if g.sharing == Sharing.AMD_PARTITION)
    return {
        "advertised": total(DEVICE_KINDS, "capacity"),
        "allocatable": total(DEVICE_KINDS, "allocatable"),
        "usable_gpus": usable,
        "requested": total(DEVICE_KINDS, "requested"),
        "requested_units": total(DEVICE_KINDS, "requested"),
        "free_units": total(DEVICE_KINDS, "free"),
        "free_units_by_count": total(DEVICE_KINDS, "free"),
        "gpu_devices": total((UnitKind.WHOLE, UnitKind.VGPU), "capacity"),
        "dra_gpu_devices": sum(
            u.capacity for _, group in pairs for u in group.units_of(UnitKind.DRA)
        ),
        "for_containers": containers,
        "mig_devices": total((UnitKind.MIG,), "capacity"),
        "free_mig_devices": total((UnitKind.MIG,), "free"),
        "partitions": total((UnitKind.PARTITION,), "capacity") + dra_parts,
        "free_gib": total((UnitKind.MEMORY,), "free"),
    }


def free_units(inventory: Inventory) -> dict[UnitKind, int]:
    """Units that can still be had, by kind, for what is not a whole board; in that order.

    Kinds that no node offers are left out, and so are memory and core units: no devices.
    """
    found: Counter[UnitKind] = Counter()
    for node in inventory.nodes:
        if node.is_virtual or node.is_simulated:
            continue
        for group in node.groups:
            for unit in _once(group):
                if unit.kind in DEVICE_KINDS - {UnitKind.WHOLE} and unit.allocatable:
                    found[unit.kind] += node.free(unit)
    return {kind: found[kind] for kind in UnitKind if kind in found}


def _once(group: DeviceGroup) -> list[Units]:
    """A group's units without DRA devices that the device plugin offers as well."""
    plain = [unit for unit in group.units if unit.kind is not UnitKind.DRA]
    return plain if any(unit.capacity for unit in plain) else list(group.units)


def _others(nodes: list[Node]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for node in nodes:
        found.update(node.extended)
    return {
        "tpu_chips": found["google.com/tpu"],
        "neuron_devices": found["aws.amazon.com/neuron"],
        "gaudi_devices": found["habana.ai/gaudi"],
    }


def gpus_asked(requests: dict[str, int]) -> int:
    """GPU devices or shares in a request; memory, cores and unknown units are none."""
    return sum(
        amount
        for name, amount in requests.items()
        if (kind := device_name(name)) is not None and kind.is_gpu and kind.kind in DEVICE_KINDS
    )


def _devices(pod: Pod) -> int:
    return gpus_asked(pod.requests) or pod.claim_devices


def _demand(inventory: Inventory) -> dict[str, Any]:
    gpu = [pod for pod in inventory.pods if _devices(pod)]
    running = [pod for pod in gpu if pod.state in ("running", "terminating")]
    pending = [pod for pod in gpu if pod.state == "pending"]
    gated = [pod for pod in gpu if pod.state == "gated"]
    # A template that no API server accepts makes no pods.
    possible = [c for c in inventory.controllers if not c.problems]
    suspended = [c for c in possible if c.suspended]
    needs = [gpus_asked(c.total_requests) for c in possible if (c.gang_size or 1) > 1]
    vcjobs = [c for c in possible if c.kind == "Job" and c.api_version.startswith("batch.volcano")]
    groups = [o.minimum for o in inventory.gang_objects if o.minimum is not None]
    wanted = sum(gpus_asked(c.total_requests) for c in possible)
    return {
        "running": len(running),
        "pending": len(pending),
        "running_gpus": sum(map(_devices, running)),
        "pending_gpus": sum(map(_devices, pending)),
        "queued_gpus": sum(map(_devices, gated)),
        "queued_units": sum(map(_devices, gated))
        + sum(gpus_asked(c.total_requests) for c in suspended),
        "fraction_in_use": sum(p.gpu_fraction or 0 for p in inventory.pods if p.state == "running"),
        "pods": sum(c.pods_wanted or 0 for c in possible),
        "gpus": wanted,
        "gpus_demand": wanted,
        "cpu": sum(c.total_cpu_milli for c in possible) // 1000,
        "gang_needs": max(needs, default=0),
        "gang_min": max(groups, default=0),
        "gang_pods_present": _members(inventory),
        "groups_complete": _groups_complete(inventory.pods),
        "quota": _queue_amount(inventory, "quota:"),
        "queue_gpu_capability": _queue_amount(inventory, "capability:"),
        "job_gpus": sum(gpus_asked(c.total_requests) for c in vcjobs),
        "rack_domains": _domains(inventory, "rack"),
    }


def _members(inventory: Inventory) -> int:
    groups = {(o.namespace, o.name) for o in inventory.gang_objects if o.kind == "PodGroup"}
    return sum(
        pod.gang is not None and (pod.namespace, pod.gang.group) in groups
        for pod in inventory.pods
        if pod.state != "finished"
    )


def _groups_complete(pods: Iterable[Pod]) -> int:
    """LeaderWorkerSet groups of which every pod is bound."""
    bound: Counter[tuple[str, str]] = Counter()
    sizes: dict[tuple[str, str], int] = {}
    for pod in pods:
        if pod.gang is not None and pod.gang.system == "lws" and pod.gang.minimum:
            key = (pod.namespace, pod.gang.group)
            sizes[key] = pod.gang.minimum
            bound[key] += bool(pod.node) and pod.state != "finished"
    return sum(bound[key] >= size for key, size in sizes.items())


def _queue_amount(inventory: Inventory, prefix: str) -> int:
    """GPUs that all queues together may hand out."""
    total = Decimal(0)
    for item in inventory.gang_objects:
        for key, amount in item.details.items():
            if key.startswith(prefix) and gpus_asked({key.removeprefix(prefix): 1}):
                total += Decimal(amount) if amount.isdigit() else Decimal(0)
    return int(total)


def _domains(inventory: Inventory, level: str) -> int:
    found = {node.domain(level) for node in inventory.nodes if node.is_gpu_node}
    return len(found - {None})
