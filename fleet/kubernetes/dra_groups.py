"""Device groups as DRA completes them: holders, taints, incomplete pools, one group a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from fleet.catalogue.card_names import candidates
from fleet.inventory import AttachedDevices, DeviceGroup, Sharing, UnitKind
from fleet.kubernetes.device_facts import NodeFacts, decide_model
from fleet.kubernetes.device_health import most_sick
from fleet.kubernetes.dra import AttachedPool
from fleet.kubernetes.dra_sums import DraDevices
from fleet.kubernetes.objects_core import Annotations

_SOURCE = "ResourceSlices"
_TAINTED = "device taints of the driver"
_MOST_NAMES = 8


def by_model(facts: NodeFacts) -> Iterator[NodeFacts]:
    """The facts of a node, and apart from them those of each further model that a vendor's
    ResourceSlices tell apart: labels and resources speak for the first alone."""
    first: dict[str, tuple[str, str]] = {}
    further: dict[tuple[str, str], list[DraDevices]] = {}
    kept = []
    for devices in facts.dra:
        key = (devices.vendor, devices.product)
        if not devices.devices or first.setdefault(devices.vendor, key) == key:
            kept.append(devices)
        else:
            further.setdefault(key, []).append(devices)
    yield replace(facts, dra=tuple(kept)) if further else facts
    for found in further.values():
        yield NodeFacts(
            labels={},
            notes=Annotations(),
            capacity={},
            allocatable={},
            requested={},
            instance_type=None,
            dra=tuple(found),
        )


def with_dra(groups: Iterable[DeviceGroup], dra: Iterable[DraDevices]) -> Iterator[DeviceGroup]:
    """The groups of a node with what its DRA devices add, and a group for each vendor of which
    only pools are there that cannot be counted now."""
    left: dict[str, list[DraDevices]] = {}
    for devices in dra:
        left.setdefault(devices.vendor, []).append(devices)
    for group in groups:
        yield _completed(group, left.pop(group.vendor, []))
    for vendor, found in left.items():
        if any(devices.incomplete for devices in found):
            yield _completed(_nothing_counted(vendor), found)


def _completed(group: DeviceGroup, dra: list[DraDevices]) -> DeviceGroup:
    if not dra:
        return group
    incomplete = tuple(reason for devices in dra for reason in devices.incomplete)
    taints = tuple(taint for devices in dra for taint in devices.taints)
    sick = sum(devices.unhealthy for devices in dra)
    unhealthy, source = group.unhealthy, group.unhealthy_source
    if sick:
        unhealthy, source = most_sick((unhealthy or 0, source), (sick, _TAINTED))
    found = replace(
        group,
        unhealthy=unhealthy,
        unhealthy_source=source,
        whole_free=_whole_free(group, dra),
        cuts_possible=group.cuts_possible or sum(devices.parts for devices in dra),
        memory_mib=group.memory_mib or next((d.memory_mib for d in dra if d.memory_mib), None),
        notes=(*group.notes, *_notes(dra)),
        incomplete=incomplete,
        holders=tuple(h for devices in dra for h in devices.holders),
        partly_used=tuple(p for devices in dra for p in devices.partly_used),
        device_taints=taints,
        use_unknown=next((d.use_unknown for d in dra if d.use_unknown), ""),
        boards_held=sum(devices.held for devices in dra),
    )
    if not incomplete or found.physical_source not in (_SOURCE, ""):
        return found
    counted = f"{found.physical} counted, " if found.physical else ""
    return replace(
        found,
        physical=None,
        physical_source=f"{_SOURCE}: {counted}{'; '.join(incomplete)}"[:400],
    )


def _whole_free(group: DeviceGroup, dra: list[DraDevices]) -> int | None:
    """Whole boards that can be had: where nothing but DRA offers them, as its claims say; where
    the device plugin offers the same boards, those that neither pods nor claims hold."""
    if any(devices.use_unknown for devices in dra):
        return None
    free = sum(devices.whole_free for devices in dra)
    if group.whole_free is not None or not any(devices.devices for devices in dra):
        return group.whole_free
    if group.sharing == Sharing.DRA:
        return free
    plugin = [unit for unit in group.units_of(UnitKind.WHOLE) if unit.capacity]
    if group.sharing != Sharing.WHOLE or not plugin:
        return None
    asked = sum(unit.requested or 0 for unit in plugin)
    return max(0, min(sum(unit.allocatable for unit in plugin), free) - asked)


def _notes(dra: list[DraDevices]) -> Iterator[str]:
    idle = sum(devices.idle for devices in dra)
    if idle:
        yield f"{idle} devices are held by claims that no pod uses"
    for devices in dra:
        yield from devices.notes
        if devices.use_unknown:
            yield f"{devices.use_unknown}: who holds the devices of {devices.driver} is unknown"
        for reason in devices.incomplete:
            yield f"{reason}: its devices are not counted"
        for taint in devices.taints:
            value = f"={taint.value}" if taint.value else ""
            yield (
                f"{taint.devices} devices carry the taint {taint.key}{value}:{taint.effect} of "
                f"{taint.source} (such as {taint.example})"
            )[:400]
        if devices.partly_used:
            yield f"{len(devices.partly_used)} devices are held in part, by claims that share them"


def _nothing_counted(vendor: str) -> DeviceGroup:
    return DeviceGroup(
        vendor=vendor,
        model=None,
        model_source="no object names the model",
        physical=None,
        physical_source="",
        physical_estimated=False,
        memory_mib=None,
        sharing=Sharing.DRA,
        replicas=None,
        units=(),
    )


def attached_devices(pools: Iterable[AttachedPool]) -> tuple[AttachedDevices, ...]:
    """Devices that several nodes reach, as the inventory holds them."""
    return tuple(
        AttachedDevices(
            driver=devices.driver,
            pool=pool.pool,
            group=_completed(_of(devices), [devices]),
            nodes=len(pool.nodes),
            node_names=pool.nodes[:_MOST_NAMES],
        )
        for pool in pools
        for devices in pool.devices
    )


def _of(devices: DraDevices) -> DeviceGroup:
    model = decide_model(
        [(f"ResourceSlice of {devices.driver}", candidates(devices.product))], devices.memory_mib
    )
    return DeviceGroup(
        vendor=devices.vendor,
        model=model.name,
        model_source=model.source,
        physical=devices.boards,
        physical_source=_SOURCE,
        physical_estimated=False,
        memory_mib=devices.memory_mib,
        sharing=Sharing.DRA,
        replicas=None,
        units=(devices.units,),
        whole_free=devices.whole_free,
        cuts_possible=devices.parts,
        model_label=devices.product,
    )
