"""Sums over what a cluster has, and how requests are counted.

Boards and units are different numbers. Sums over units of several kinds count what the scheduler
can hand out, and are never boards; ``units`` of the totals keeps each kind by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from fleet.device_names import DEVICE_KINDS, device_name, is_for_machines
from fleet.inventory import (
    DeviceGroup,
    Inventory,
    Node,
    Pod,
    Sharing,
    UnitKind,
    Units,
)
from fleet.other_accelerators import other_accelerators


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
    """What one cluster has; virtual and simulated nodes are counted apart.

    A sum over boards of which nobody knows the number or the memory is None where nothing of it
    is known; ``uncounted_nodes`` and ``gpus_of_unknown_memory`` say what a sum leaves out.
    """
    real = [n for n in inventory.nodes if is_counted(n)]
    pairs = [(node, group) for node in real for group in node.groups]
    found: dict[str, Any] = {
        "nodes": len(inventory.nodes),
        "real_nodes": len(real),
        "gpu_nodes": sum(node.is_gpu_node for node in real),
        "uncounted_nodes": sum(
            any(g.physical is None for g in node.counted_groups) for node in real
        ),
        "physical_gpus": _known([group.physical for _, group in pairs]),
        "unhealthy_gpus": sum(group.unhealthy or 0 for _, group in pairs),
        "free_whole_gpus": sum(whole_free(node, group) for node, group in pairs),
        "whole_free_nodes": sum(_is_idle(node) for node in real),
        "memory_mib": _known([_memory_mib(group) for _, group in pairs]),
        "gpus_of_unknown_memory": sum(
            group.physical or 0 for _, group in pairs if _memory_mib(group) is None
        ),
        "cpu_cores": sum(node.cpu_allocatable for node in real) // 1000,
        "memory_gib": sum(node.memory_allocatable_mib for node in real) // 1024,
        "shared_boards_in_use": sum(int(g.details.get("shared_gpus", 0)) for _, g in pairs),
        "by_model": _by_model(pairs),
    }
    found["real_physical_gpus"] = found["physical_gpus"]
    found["simulated_gpus"] = sum(
        group.physical or 0 for n in inventory.nodes if n.is_simulated for group in n.groups
    )
    return _with_attached(found | _units(pairs) | _others(real), inventory)


def _with_attached(found: dict[str, Any], inventory: Inventory) -> dict[str, Any]:
    """The sums with the devices that several nodes reach: they are of no node, and count once."""
    groups = [pool.group for pool in inventory.attached]
    found["attached_gpus"] = _known([group.physical for group in groups])
    if not groups:
        return found
    found["physical_gpus"] = _known([found["physical_gpus"], *(g.physical for g in groups)])
    found["real_physical_gpus"] = found["physical_gpus"]
    found["memory_mib"] = _known([found["memory_mib"], *map(_memory_mib, groups)])
    found["unhealthy_gpus"] += sum(group.unhealthy or 0 for group in groups)
    found["free_whole_gpus"] += sum(group.whole_free or 0 for group in groups)
    sums: Counter[str] = Counter(found["units"].get(UnitKind.DRA.value, {}))
    for group in groups:
        row = found["by_model"].setdefault(group.model or "unknown", {"total": 0, "free": 0})
        row["total"] = _known([row["total"], group.physical])
        row["free"] += group.whole_free or 0
        for unit in group.units:
            free = max(0, unit.allocatable - unit.requested)
            for key, number in (
                ("capacity", unit.capacity),
                ("allocatable", unit.allocatable),
                ("requested", unit.requested),
                ("free", free),
            ):
                sums[key] += number
            found["advertised"] += unit.capacity
            found["dra_gpu_devices"] += unit.capacity
            for key in ("allocatable", "usable_gpus", "for_containers"):
                found[key] += unit.allocatable
            for key in ("requested", "requested_units"):
                found[key] += unit.requested
            for key in ("free_units", "free_units_by_count"):
                found[key] += free
    found["units"][UnitKind.DRA.value] = dict(sums)
    return found


def is_counted(node: Node) -> bool:
    """Whether the node is a machine: virtual and simulated ones invent what they offer."""
    return not (node.is_virtual or node.is_simulated)


def _known(numbers: list[int | None]) -> int | None:
    """The sum of what is known; None where there is something and nothing of it is known."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known or not numbers else None


def _memory_mib(group: DeviceGroup) -> int | None:
    """Memory of all boards of a group; None when their number or memory is not known."""
    if group.physical is None:
        return None
    if group.memory_mib is not None:
        return group.physical * group.memory_mib
    return None if group.memory_gib is None else group.physical * group.memory_gib * 1024


def _is_idle(node: Node) -> bool:
    units = [u for g in node.groups for u in g.units if u.kind in DEVICE_KINDS]
    return (
        node.schedulable
        and any(u.allocatable for u in units)
        and not any(u.requested for u in units)
        and any(whole_free(node, group) for group in node.groups)
    )


def _by_model(pairs: list[tuple[Node, DeviceGroup]]) -> dict[str, dict[str, int | None]]:
    """Boards by model; ``total`` None where no node says how many it has."""
    boards: dict[str, list[int | None]] = {}
    free: Counter[str] = Counter()
    for node, group in pairs:
        name = group.model or "unknown"
        boards.setdefault(name, []).append(group.physical)
        free[name] += whole_free(node, group)
    return {name: {"total": _known(counts), "free": free[name]} for name, counts in boards.items()}


def _units(pairs: list[tuple[Node, DeviceGroup]]) -> dict[str, Any]:
    """Units that are devices or shares of devices: all kinds in one sum, as the scheduler hands
    them out, and each kind by itself under ``units``."""
    kinds: dict[UnitKind, Counter[str]] = {}
    usable = containers = gib = 0
    for node, group in pairs:
        for unit in _once(group):
            row = kinds.setdefault(unit.kind, Counter())
            row["capacity"] += unit.capacity
            row["allocatable"] += unit.allocatable
            row["requested"] += unit.requested
            row["free"] += node.free(unit)
            if unit.kind is UnitKind.MEMORY:
                gib += node.free(unit)
            if unit.kind in DEVICE_KINDS:
                usable += unit.allocatable if node.schedulable else 0
                containers += 0 if is_for_machines(unit.resource) else unit.allocatable

    def total(what: str) -> int:
        return sum(row[what] for kind, row in kinds.items() if kind in DEVICE_KINDS)

    def of(kind: UnitKind, what: str) -> int:
        return kinds[kind][what] if kind in kinds else 0

    dra_parts = sum(g.cuts_possible for _, g in pairs if g.sharing == Sharing.AMD_PARTITION)
    return {
        "advertised": total("capacity"),
        "allocatable": total("allocatable"),
        "usable_gpus": usable,
        "requested": total("requested"),
        "requested_units": total("requested"),
        "free_units": total("free"),
        "free_units_by_count": total("free"),
        "units": {kind.value: dict(kinds[kind]) for kind in UnitKind if kind in kinds},
        "gpu_devices": of(UnitKind.WHOLE, "capacity") + of(UnitKind.VGPU, "capacity"),
        "dra_gpu_devices": sum(
            u.capacity for _, group in pairs for u in group.units_of(UnitKind.DRA)
        ),
        "for_containers": containers,
        "mig_devices": of(UnitKind.MIG, "capacity"),
        "free_mig_devices": of(UnitKind.MIG, "free"),
        "partitions": of(UnitKind.PARTITION, "capacity") + dra_parts,
        "free_gib": gib,
    }


def free_units(inventory: Inventory) -> dict[UnitKind, int]:
    """Units that can still be had, by kind, for what is not a whole board; in that order.

    Kinds that no node offers are left out, and so are memory and core units: no devices.
    """
    found: Counter[UnitKind] = Counter()
    for node in inventory.nodes:
        if not is_counted(node):
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
    """Accelerators that are no GPUs, in devices; shares and partitions are none."""
    found: Counter[str] = Counter()
    for node in nodes:
        for group in other_accelerators(node):
            if group.kind in (None, UnitKind.WHOLE):
                found[group.vendor] += group.devices or 0
                found["uncounted"] += group.devices is None
            else:
                found["uncounted"] += 1
    return {
        "tpu_chips": found["google"],
        "neuron_devices": found["aws"],
        "gaudi_devices": found["habana"],
        "uncounted_other_accelerators": found["uncounted"],
    }


Kinds = Mapping[str, UnitKind]
_BY_NAME: Kinds = {}


def kinds_on(node: Node | None) -> Kinds:
    """What a unit of each resource is on a node: under one name a node may offer whole boards,
    time slices or MIG devices. Left out where pods say themselves how much a unit is."""
    return {
        unit.resource: unit.kind
        for group in (node.groups if node is not None else ())
        if group.sharing != Sharing.FRACTIONAL
        for unit in group.units
        if unit.kind in DEVICE_KINDS
    }


def by_kind(requests: Mapping[str, int], known: Kinds = _BY_NAME) -> dict[UnitKind, int]:
    """GPU devices and shares in a request, each kind by itself; memory, cores and resources of an
    unknown kind are none. ``known``: what units are on the pod's node; else the name says it."""
    found: dict[UnitKind, int] = {}
    for name, number in requests.items():
        kind = device_name(name)
        if kind is not None and kind.is_gpu and kind.kind in DEVICE_KINDS and number:
            unit = known.get(name, kind.kind)
            found[unit] = found.get(unit, 0) + number
    return found


def whole_asked(requests: Mapping[str, int]) -> int:
    """Whole boards in a request, by the names of its resources."""
    return by_kind(requests).get(UnitKind.WHOLE, 0)


def units_asked(requests: Mapping[str, int]) -> int:
    """GPU devices and shares in a request, whatever their kind: how many things, not boards."""
    return sum(by_kind(requests).values())


def takes_part_of_a_board(pod: Pod) -> bool:
    """Whether the pod says that its units are parts of boards (HAMi's memory or percentages)."""
    whole = whole_asked(pod.requests)
    return bool(whole) and (
        "nvidia.com/gpumem" in pod.requests
        or (pod.gpu_fraction is not None and pod.gpu_fraction < whole)
    )


def whole_gpus(pod: Pod, known: Kinds = _BY_NAME) -> int:
    """Whole boards that a pod asks for or holds; claims are counted apart."""
    if takes_part_of_a_board(pod):
        return 0
    return by_kind(pod.requests, known).get(UnitKind.WHOLE, 0)


def holds_devices(pod: Pod) -> bool:
    """Whether what the pod asks for is taken from a node now: bound and not finished. A pod that
    is being deleted holds what it has until it is gone."""
    return bool(pod.node) and pod.state in ("running", "terminating")
