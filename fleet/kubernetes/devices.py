"""The device groups of a node: each vendor by its own rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fleet.device_names import device_name
from fleet.inventory import DeviceGroup, Sharing, UnitKind
from fleet.kubernetes.cloud_labels import part_of_board, unnamed_gpu
from fleet.kubernetes.device_facts import NodeFacts
from fleet.kubernetes.devices_amd import amd_group
from fleet.kubernetes.devices_intel import intel_group
from fleet.kubernetes.devices_nvidia import nvidia_group
from fleet.kubernetes.dra_groups import by_model, with_dra

MOST_BOARDS = 1024
"""More than any machine has; pages draw every board as a square."""


def device_groups(facts: NodeFacts) -> tuple[DeviceGroup, ...]:
    """All GPUs of a node, one group per vendor and, where ResourceSlices tell them apart, per
    model; empty for a node that shows no GPU at all."""
    if not _says_anything(facts):
        return ()
    return tuple(group for part in by_model(facts) for group in _groups(part))


def _says_anything(facts: NodeFacts) -> bool:
    """Most nodes of most clusters have no device and no word about any: passed over quickly."""
    notes = facts.notes
    return bool(
        facts.labels
        or facts.dra
        or facts.instance_type
        or notes.hami_register
        or notes.volcano_register
        or any(device_name(name) for name in (*facts.capacity, *facts.allocatable))
        or any(device_name(name) for name in (*facts.requested, *facts.unreadable))
        or facts.capacity.get("aliyun.com/gpu-count")
    )


def _groups(facts: NodeFacts) -> Iterator[DeviceGroup]:
    known = [g for g in (nvidia_group(facts), amd_group(facts), intel_group(facts)) if g]
    other = _unclassified(facts) or (None if known else _unnamed(facts))
    for group in with_dra([*known, other] if other else known, facts.dra):
        yield _bounded(_uncounted(_part(_plausible(group), facts), facts))


def _part(group: DeviceGroup, facts: NodeFacts) -> DeviceGroup:
    """A machine that has a part of a board has no board, whatever its plugin and labels count."""
    kind = part_of_board(facts, group.vendor)
    if not kind:
        return group
    units = (
        replace(unit, kind=UnitKind.VGPU) if unit.kind is UnitKind.WHOLE else unit
        for unit in group.units
    )
    return replace(
        group,
        physical=None,
        physical_source=f"instance type {kind}: a part of a board",
        physical_estimated=False,
        sharing=Sharing.VGPU if group.sharing == Sharing.WHOLE else group.sharing,
        units=tuple(units),
        unhealthy=None,
        unhealthy_source="",
        whole_free=None,
    )


def _bounded(group: DeviceGroup) -> DeviceGroup:
    """No more boards are sick than there are."""
    if group.physical is None or (group.unhealthy or 0) <= group.physical:
        return group
    return replace(group, unhealthy=group.physical)


def _plausible(group: DeviceGroup) -> DeviceGroup:
    """A count of boards that no machine has is no count: labels may hold anything."""
    if group.physical is None or group.physical <= MOST_BOARDS:
        return group
    return replace(
        group,
        physical=None,
        physical_source=f"{group.physical_source}: {group.physical:,} is more than a machine has",
        unhealthy=None,
        whole_free=None,
    )


def _uncounted(group: DeviceGroup, facts: NodeFacts) -> DeviceGroup:
    """A group that is offered in a number that cannot be read: unknown, not 0.

    Boards that can be counted stay counted where only their cuts cannot.
    """
    unreadable = facts.unreadable_of(group.vendor)
    if not unreadable:
        return group
    units = tuple(unit for unit in group.units if unit.resource not in unreadable)
    kept = replace(group, units=units, unreadable=unreadable)
    kinds = {kind.kind for name in unreadable if (kind := device_name(name)) is not None}
    if UnitKind.WHOLE not in kinds and any(unit.capacity for unit in units):
        return kept
    return replace(
        kept,
        physical=None,
        physical_source=f"{', '.join(unreadable)[:300]}: the count cannot be read",
        physical_estimated=False,
        unhealthy=None,
        whole_free=None,
    )


def _unclassified(facts: NodeFacts) -> DeviceGroup | None:
    """Resources that look like accelerators of nobody we know: shown, never summed."""
    units = tuple(u for u in facts.units("unknown") if u.capacity)
    dra = facts.dra_units("unknown")
    if not units and not dra:
        return None
    found = [d for d in facts.dra if d.vendor == "unknown" and d.devices]
    return DeviceGroup(
        vendor="unknown",
        model=None,
        model_source="no object names the model",
        physical=sum(d.boards for d in found) if found else None,
        physical_source="ResourceSlices" if found else "unknown kind of unit",
        physical_estimated=False,
        memory_mib=None,
        sharing=Sharing.DRA if found and not units else Sharing.NONE,
        replicas=None,
        units=(*units, *dra),
        notes=("a resource that we do not know: not counted",) if units else (),
    )


def _unnamed(facts: NodeFacts) -> DeviceGroup | None:
    """A node group says that its nodes have GPUs, and nothing tells whose, or offers any."""
    label = unnamed_gpu(facts)
    if not label or facts.capacity.get("google.com/tpu"):
        return None
    return DeviceGroup(
        vendor="unknown",
        model=None,
        model_source="no object names the model",
        physical=None,
        physical_source=f"label {label} only says that there are GPUs",
        physical_estimated=False,
        memory_mib=None,
        sharing=Sharing.NONE,
        replicas=None,
        units=(),
        model_label=facts.labels[label][:253],
    )
