"""Sums over what a cluster has, and how requests are counted.

Boards and units are different numbers. Sums over units of several kinds count what the scheduler
can hand out, and are never boards; ``units`` of the totals keeps each kind by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from fleet.device_names import DEVICE_KINDS, device_name, is_for_machines, unit_size
from fleet.inventory import (
    DeviceGroup,
    Inventory,
    Node,
    Pod,
    PodRole,
    Sharing,
    UnitKind,
    Units,
)
from fleet.other_accelerators import other_accelerators


def whole_free(node: Node, group: DeviceGroup) -> int:
    """Idle boards of a group that can surely be had whole: not time-sliced, not cut, not held,
    and none where nobody knows which are held."""
    if not node.schedulable or group.use_unknown:
        return 0
    if group.whole_free is not None:
        return group.whole_free
    if group.sharing == Sharing.PASSTHROUGH:
        return 0  # for virtual machines only
    free = sum(node.free(unit) for unit in group.units_of(UnitKind.WHOLE))
    if group.physical is None:
        return free
    held = sum(unit.requested or 0 for unit in group.units_of(UnitKind.WHOLE))
    return min(free, max(0, group.physical - held))  # a plugin may offer more than there is


def _whole_free(node: Node, group: DeviceGroup) -> int | None:
    """As ``whole_free``; None where nobody knows it."""
    return None if node.schedulable and group.use_unknown else whole_free(node, group)


def totals(inventory: Inventory) -> dict[str, Any]:
    """What one cluster has; virtual and simulated nodes are counted apart.

    A sum over what nobody knows everywhere (boards, memory, who holds them) is None where nothing
    of it is known; ``uncounted_nodes``, ``gpus_of_unknown_memory``, ``gpus_of_unknown_use`` and
    ``uncounted`` say what a sum leaves out.
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
        "physical_gpus": _known(
            [*(group.physical for _, group in pairs), *([None] if inventory.uncounted else ())]
        ),
        "uncounted": inventory.uncounted,
        "other_attached_devices": dict(inventory.others_attached),
        "gpus_of_unknown_use": sum(g.physical or 0 for _, g in pairs if g.use_unknown),
        "unhealthy_gpus": _sick([*(g for _, g in pairs), *(p.group for p in inventory.attached)]),
        "uncounted_unhealthy_nodes": sum(
            any(group.has_untold_sick for group in node.groups) for node in real
        ),
        "free_whole_gpus": _known([_whole_free(node, group) for node, group in pairs]),
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
    found = _with_attached(found | _units(pairs) | _others(real), inventory)
    if inventory.uncounted:  # a sum of nothing that was counted says nothing
        found |= {key: found[key] or None for key in _OF_GPUS}
    return found


def _with_attached(found: dict[str, Any], inventory: Inventory) -> dict[str, Any]:
    """The sums with the devices that several nodes reach: they are of no node, and count once."""
    groups = [pool.group for pool in inventory.attached]
    found["attached_gpus"] = _known([group.physical for group in groups])
    if not groups:
        return found
    boards = [group.physical for group in groups]
    found["physical_gpus"] = _more(found, "physical_gpus", boards)
    found["real_physical_gpus"] = found["physical_gpus"]
    found["memory_mib"] = _more(found, "memory_mib", list(map(_memory_mib, groups)))
    found["gpus_of_unknown_use"] += sum(g.physical or 0 for g in groups if g.use_unknown)
    free_boards = [None if g.use_unknown else g.whole_free or 0 for g in groups]
    found["free_whole_gpus"] = _more(found, "free_whole_gpus", free_boards)
    sums: dict[str, Any] = dict(found["units"].get(UnitKind.DRA.value, {}))
    for group in groups:
        row = found["by_model"].setdefault(group.model or "unknown", {"total": 0, "free": 0})
        row["total"] = _more(row, "total", [group.physical])
        row["free"] = _more(row, "free", [None if group.use_unknown else group.whole_free or 0])
        for unit in group.units:
            for key, number in (
                ("capacity", unit.capacity),
                ("allocatable", unit.allocatable),
                ("requested", unit.requested),
                ("free", unit.free),
            ):
                sums[key] = _more(sums, key, [number])
            found["advertised"] += unit.capacity
            found["dra_gpu_devices"] += unit.capacity
            for key in ("allocatable", "usable_gpus", "for_containers"):
                found[key] += unit.allocatable
            for key in ("requested", "requested_units"):
                found[key] = _more(found, key, [unit.requested])
            for key in ("free_units", "free_units_by_count"):
                found[key] = _more(found, key, [unit.free])
    found["units"][UnitKind.DRA.value] = sums
    return found


def _more(sums: Mapping[str, Any], key: str, numbers: list[int | None]) -> int | None:
    """The sum under ``key`` with further numbers. An empty sum is one of nothing, and known only
    where nothing unknown is added to it."""
    so_far = sums.get(key)
    return _known([so_far or None, *numbers]) if numbers else so_far


def is_counted(node: Node) -> bool:
    """Whether the node is a machine: virtual and simulated ones invent what they offer."""
    return not (node.is_virtual or node.is_simulated)


def _known(numbers: list[int | None]) -> int | None:
    """The sum of what is known; None where there is something and nothing of it is known."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known or not numbers else None


def _sick(groups: list[DeviceGroup]) -> int | None:
    """Boards that are surely sick; None where none is, and withdrawn parts of boards may be."""
    found = sum(group.unhealthy or 0 for group in groups)
    return None if not found and any(group.has_untold_sick for group in groups) else found


def _memory_mib(group: DeviceGroup) -> int | None:
    """Memory of all boards of a group; None when their number or memory is not known."""
    if group.physical is None:
        return None
    if group.total_memory_mib is not None:
        return group.total_memory_mib
    if group.memory_mib is not None:
        return group.physical * group.memory_mib
    return None if group.memory_gib is None else group.physical * group.memory_gib * 1024


def _is_idle(node: Node) -> bool:
    units = [u for g in node.groups for u in g.units if u.kind in DEVICE_KINDS]
    return (
        node.schedulable
        and any(u.allocatable for u in units)
        and not any(u.requested != 0 for u in units)
        and any(whole_free(node, group) for group in node.groups)
    )


def _by_model(pairs: list[tuple[Node, DeviceGroup]]) -> dict[str, dict[str, int | None]]:
    """Boards by model; ``total`` None where no node says how many it has."""
    boards: dict[str, list[int | None]] = {}
    free: dict[str, list[int | None]] = {}
    for node, group in pairs:
        name = group.model or "unknown"
        boards.setdefault(name, []).append(group.physical)
        free.setdefault(name, []).append(_whole_free(node, group))
    return {
        name: {"total": _known(counts), "free": _known(free[name])}
        for name, counts in boards.items()
    }


_OF_GPUS = (
    "free_whole_gpus",
    "advertised",
    "allocatable",
    "usable_gpus",
    "requested",
    "requested_units",
    "free_units",
    "free_units_by_count",
    "dra_gpu_devices",
    "for_containers",
)
_KEYS = ("capacity", "allocatable", "requested", "free")
_Row = dict[str, list[int | None]]


def _units(pairs: list[tuple[Node, DeviceGroup]]) -> dict[str, Any]:
    """Units that are devices or shares of devices: all kinds in one sum, as the scheduler hands
    them out, and each kind by itself under ``units``."""
    kinds: dict[UnitKind, _Row] = {}
    usable = containers = 0
    for node, group in pairs:
        for unit in _once(group):
            size = unit_size(unit.resource) if unit.kind is UnitKind.MEMORY else 1
            if unit.kind is UnitKind.UNCLASSIFIED or size is None:
                continue
            row = kinds.setdefault(unit.kind, {key: [] for key in _KEYS})
            free = node.free_if_known(unit)
            row["capacity"].append(unit.capacity * size)
            row["allocatable"].append(unit.allocatable * size)
            row["requested"].append(None if unit.requested is None else unit.requested * size)
            row["free"].append(None if free is None else free * size)
            if unit.kind in DEVICE_KINDS:
                usable += unit.allocatable if node.schedulable else 0
                containers += 0 if is_for_machines(unit.resource) else unit.allocatable

    def total(what: str) -> int | None:
        listed = [row[what] for kind, row in kinds.items() if kind in DEVICE_KINDS]
        return _known([number for numbers in listed for number in numbers])

    def of(kind: UnitKind, what: str) -> int:
        return _known(kinds[kind][what]) or 0 if kind in kinds else 0

    dra_parts = sum(g.cuts_possible for _, g in pairs if g.sharing == Sharing.AMD_PARTITION)
    return {
        "advertised": total("capacity"),
        "allocatable": total("allocatable"),
        "usable_gpus": usable,
        "requested": total("requested"),
        "requested_units": total("requested"),
        "free_units": total("free"),
        "free_units_by_count": total("free"),
        "units": {
            kind.value: {key: _known(numbers) for key, numbers in kinds[kind].items()}
            for kind in UnitKind
            if kind in kinds
        },
        "gpu_devices": of(UnitKind.WHOLE, "capacity") + of(UnitKind.VGPU, "capacity"),
        "dra_gpu_devices": sum(
            u.capacity for _, group in pairs for u in group.units_of(UnitKind.DRA)
        ),
        "for_containers": containers,
        "mig_devices": sum(group.mig_devices for _, group in pairs),
        "free_mig_devices": sum(_free_mig(node, group) for node, group in pairs),
        "partitions": of(UnitKind.PARTITION, "capacity") + dra_parts,
        "free_gib": of(UnitKind.MEMORY, "free") // 1024,
    }


def _free_mig(node: Node, group: DeviceGroup) -> int:
    """MIG devices of which surely no part is held: which of the shared ones pods hold is not
    told, so that each may be on a device of its own."""
    if not node.schedulable:
        return 0
    return sum(
        max(0, unit.allocatable // unit.per_device - (unit.requested or 0))
        for unit in group.units
        if unit.is_of_mig
    )


def free_units(inventory: Inventory) -> dict[UnitKind, int | None]:
    """Units that can still be had, by kind, for what is not a whole board; in that order.

    Kinds that no node offers are left out, and so are memory and core units: no devices. None
    where nothing is known.
    """
    found: dict[UnitKind, list[int | None]] = {}
    for node in inventory.nodes:
        if not is_counted(node):
            continue
        for group in node.groups:
            for unit in _once(group):
                if unit.kind in DEVICE_KINDS - {UnitKind.WHOLE} and unit.allocatable:
                    found.setdefault(unit.kind, []).append(node.free_if_known(unit))
    return {kind: _known(found[kind]) for kind in UnitKind if kind in found}


def _once(group: DeviceGroup) -> list[Units]:
    """A group's units without DRA devices that the device plugin offers as well."""
    plain = [unit for unit in group.units if unit.kind is not UnitKind.DRA]
    return plain if any(unit.capacity for unit in plain) else list(group.units)


def _others(nodes: list[Node]) -> dict[str, Any]:
    """Accelerators that are no GPUs, in devices; shares and partitions are none."""
    found: Counter[str] = Counter()
    units: dict[str, dict[str, int]] = {}
    for node in nodes:
        for unit in node.others:
            row = units.setdefault(unit.resource, dict.fromkeys(_KEYS, 0))
            row["capacity"] += unit.capacity
            row["allocatable"] += unit.allocatable
            row["requested"] += unit.requested or 0
            row["free"] += node.free(unit)
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
        "other_units": units,
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


def takes_part_of_a_board(pod: Pod | PodRole) -> bool:
    """Whether the pod, or each pod of a template, says that its units are parts of boards
    (HAMi's memory or percentages)."""
    whole = whole_asked(pod.requests)
    return bool(whole) and (
        "nvidia.com/gpumem" in pod.requests
        or (pod.gpu_fraction is not None and pod.gpu_fraction < whole)
    )


def whole_gpus(pod: Pod | PodRole, known: Kinds = _BY_NAME) -> int:
    """Whole boards that a pod, or each pod of a template, asks for or holds; claims are counted
    apart."""
    if takes_part_of_a_board(pod):
        return 0
    return by_kind(pod.requests, known).get(UnitKind.WHOLE, 0)


def holds_devices(pod: Pod) -> bool:
    """Whether what the pod asks for is taken from a node now: bound and not finished. A pod that
    is being deleted holds what it has until it is gone."""
    return bool(pod.node) and pod.state in ("running", "terminating")
