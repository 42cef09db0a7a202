"""The device groups of a node: each vendor by its own rules."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

from fleet.catalogue.accelerators import Accelerator
from fleet.catalogue.card_names import candidates, from_pci_id
from fleet.device_names import device_name
from fleet.inventory import DeviceGroup, Sharing, UnitKind, Units
from fleet.kubernetes.device_facts import NodeFacts, decide_model
from fleet.kubernetes.devices_nvidia import nvidia_group
from fleet.kubernetes.dra_groups import by_model, with_dra
from fleet.units import plain_count

MOST_BOARDS = 1024
"""More than any machine has; pages draw every board as a square."""
_BETA = re.compile(r"beta\.amd\.com/gpu\.(?P<what>[a-z-]+)\.(?P<value>.+)")
_PARTS = {"spx": 1, "dpx": 2, "tpx": 3, "qpx": 4, "cpx": 8}
_INTEL_DEVICE = re.compile(r"gpu\.intel\.com/device-id\.[0-9a-f]{4}-([0-9a-f]{4})\.count")
_VRAM = re.compile(r"([0-9]{1,4})Gi?B?")


def device_groups(facts: NodeFacts) -> tuple[DeviceGroup, ...]:
    """All GPUs of a node, one group per vendor and, where ResourceSlices tell them apart, per
    model; empty for a node that shows no GPU at all."""
    return tuple(group for part in by_model(facts) for group in _groups(part))


def _groups(facts: NodeFacts) -> Iterator[DeviceGroup]:
    groups = (nvidia_group(facts), _amd(facts), _intel(facts), _unclassified(facts))
    for group in with_dra((group for group in groups if group is not None), facts.dra):
        yield _uncounted(_plausible(group), facts)


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


def _amd(facts: NodeFacts) -> DeviceGroup | None:
    units = facts.units("amd")
    dra = tuple(d for d in facts.dra if d.vendor == "amd" and d.devices)
    beta: dict[str, dict[str, int]] = {}
    for key, value in facts.labels.items():
        match = _BETA.fullmatch(key)
        counted = plain_count(value)
        if match is not None and counted is not None:
            beta.setdefault(match["what"], {})[match["value"]] = counted
    sources = [(f"ResourceSlice of {d.driver}", candidates(d.product)) for d in dra]
    for label in ("amd.com/gpu.product-name", "beta.amd.com/gpu.product-name"):
        sources.append((f"label {label}", candidates(facts.labels.get(label, ""))))
    sources.extend(
        ("label beta.amd.com/gpu.product-name", candidates(name))
        for name in beta.get("product-name", {})
    )
    ids = [facts.labels.get("amd.com/gpu.device-id", ""), *beta.get("device-id", {})]
    sources.extend(("label amd.com/gpu.device-id", from_pci_id(i)) for i in ids if i)
    if facts.instance_type is not None:
        name = facts.instance_type.gpu_model
        sources.append((f"instance type {facts.instance_type.name}", candidates(name)))
    only_amd = [(w, tuple(c for c in cards if c.vendor == "AMD")) for w, cards in sources]
    model = decide_model(only_amd, None)
    labelled = any(k.startswith(("amd.com/gpu.", "beta.amd.com/gpu.")) for k in facts.labels)
    if not (units or dra or labelled or model.name or facts.unreadable_of("amd")):
        return None
    mode = facts.labels.get("amd.com/compute-memory-partition", "").lower()
    card = model.cards[0] if len(model.cards) == 1 else None
    parts = _parts(mode, card)
    cut = parts > 1 or any(u.kind is UnitKind.PARTITION for u in units) or any(d.parts for d in dra)
    boards, source = _amd_boards(facts, units, sum(d.boards for d in dra), beta, parts, card)
    vram = _VRAM.fullmatch(
        facts.labels.get("amd.com/gpu.vram", "") or next(iter(beta.get("vram", {})), "")
    )
    stated = int(vram[1]) if vram else None
    catalogue = int(card.memory_gib) if card is not None and card.memory_gib else None
    advertised = any(u.capacity for u in units)
    finished = tuple(
        replace(
            u,
            kind=UnitKind.PARTITION if parts > 1 and u.resource == "amd.com/gpu" else u.kind,
            profile=u.profile or (mode if parts > 1 else None),
            memory_mib=stated * 1024 if stated and parts > 1 else None,
        )
        for u in units
    )
    if cut:
        sharing: str = Sharing.AMD_PARTITION
    elif advertised:
        sharing = Sharing.WHOLE
    else:
        sharing = Sharing.DRA if dra else Sharing.NONE
    return DeviceGroup(
        vendor="amd",
        model=model.name,
        model_source=model.source,
        physical=boards,
        physical_source=source,
        physical_estimated=False,
        memory_mib=next((d.memory_mib for d in dra if d.memory_mib), None),
        sharing=sharing,
        replicas=None,
        units=(*finished, *facts.dra_units("amd")),
        unhealthy=math.ceil(sum(u.capacity - u.allocatable for u in units) / parts),
        memory_gib=stated if stated is not None and not cut else catalogue,
        whole_free=sum(d.whole_free for d in dra) if dra and not cut else None,
        cuts_possible=sum(d.parts for d in dra),
        model_label=facts.dra_product("amd")
        or facts.first_text("amd.com/gpu.product-name", "beta.amd.com/gpu.product-name")
        or next(iter(beta.get("product-name", {})), ""),
    )


def _parts(mode: str, card: Accelerator | None) -> int:
    """Partitions of one board in that mode ("cpx_nps4"); CPX depends on the board's dies."""
    name = mode.partition("_")[0]
    if name == "cpx" and card is not None and card.mig_max:
        return card.mig_max
    return _PARTS.get(name, 1)


def _amd_boards(
    facts: NodeFacts,
    units: tuple[Units, ...],
    published: int,
    beta: dict[str, dict[str, int]],
    parts: int,
    card: Accelerator | None,
) -> tuple[int | None, str]:
    if published:
        return published, "ResourceSlices"
    counted = sum(beta.get("device-id", {}).values()) or sum(beta.get("vram", {}).values())
    if counted and parts == 1:
        return counted, "labels beta.amd.com/gpu.*"
    capacity = sum(
        math.ceil(u.capacity / (_parts(u.profile, card) if u.profile else parts)) for u in units
    )
    if capacity:
        return capacity, "capacity" if parts == 1 else f"capacity / {parts} partitions per board"
    kind = facts.instance_type
    if kind is not None and kind.gpu_count >= 1:
        return int(kind.gpu_count), f"instance type {kind.name}"
    return None, "no object says how many"


def _intel(facts: NodeFacts) -> DeviceGroup | None:
    units = facts.units("intel")
    ids = {m[1]: v for k, v in facts.labels.items() if (m := _INTEL_DEVICE.fullmatch(k))}
    product = facts.labels.get("gpu.intel.com/product", "")
    dra = tuple(d for d in facts.dra if d.vendor == "intel" and d.devices)
    counted_label = facts.number("gpu.intel.com/device.count")
    if not (units or ids or product or dra or counted_label or facts.unreadable_of("intel")):
        return None
    sources = [("label gpu.intel.com/product", candidates(product))] if product else []
    sources.extend((f"ResourceSlice of {d.driver}", candidates(d.product)) for d in dra)
    sources.extend(("label gpu.intel.com/device-id", from_pci_id(i)) for i in ids)
    model = decide_model(
        [(w, tuple(c for c in cards if c.vendor == "Intel")) for w, cards in sources], None
    )
    counted = sum(plain_count(v, 5) or 0 for v in ids.values())
    physical: int | None
    if dra:
        physical, source = sum(d.boards for d in dra), "ResourceSlices"
    elif counted_label:
        physical = counted_label
        source = "label gpu.intel.com/device.count"
    elif counted:
        physical, source = counted, "labels gpu.intel.com/device-id.*.count"
    else:
        physical = sum(u.capacity for u in units) or None
        source = "capacity, which the plugin may multiply without saying so"
    advertised = any(u.capacity for u in units)
    return DeviceGroup(
        vendor="intel",
        model=model.name,
        model_source=model.source,
        physical=physical,
        physical_source=source,
        physical_estimated=False,
        memory_mib=next((d.memory_mib for d in dra if d.memory_mib), None),
        sharing=Sharing.WHOLE if advertised else (Sharing.DRA if dra else Sharing.NONE),
        replicas=None,
        units=(*units, *facts.dra_units("intel")),
        unhealthy=sum(u.capacity - u.allocatable for u in units),
        model_label=facts.dra_product("intel") or product,
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
