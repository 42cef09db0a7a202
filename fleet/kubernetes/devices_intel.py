"""Intel GPUs of a node: i915 and xe devices, and the labels of Intel's node labeller.

The plugin can hand out each GPU several times (``-shared-dev-num``), and no label says so: only a
count of devices beside the capacity shows it. Monitoring resources are handles, no GPUs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

from fleet.catalogue.card_names import Cards, candidates, from_pci_id
from fleet.inventory import DeviceGroup, Sharing, UnitKind, Units
from fleet.kubernetes.cloud_labels import cloud_count, cloud_models, model_text, named_maker
from fleet.kubernetes.device_facts import NodeFacts, decide_model
from fleet.kubernetes.device_health import HELD_SICK, WITHDRAWN, most_sick
from fleet.kubernetes.pci_labels import pci_gpus
from fleet.units import plain_count

_DEVICE = re.compile(r"gpu\.intel\.com/device-id\.[0-9a-f]{4}-([0-9a-f]{4})\.(?:count|present)")
_PRODUCT = "gpu.intel.com/product"
_COUNT = "gpu.intel.com/device.count"


def intel_group(facts: NodeFacts) -> DeviceGroup | None:
    """The node's Intel GPUs, or None when nothing speaks for any."""
    units = facts.units("intel")
    dra = tuple(d for d in facts.dra if d.vendor == "intel" and d.devices)
    model = decide_model(list(_sources(facts)), None)
    if not (units or dra or model.name or _is_labelled(facts) or facts.unreadable_of("intel")):
        return None
    offered = sum(u.capacity for u in units)
    physical: int | None
    if dra:
        physical, source = sum(d.boards for d in dra), "ResourceSlices"
    else:
        physical, source = _counted(facts) or (
            (offered, "capacity, which the plugin may multiply without saying so")
            if offered
            else (None, "no object says how many")
        )
    shared = not dra and bool(physical) and offered > (physical or 0)
    factor = max(1, round(offered / physical)) if physical and shared else None
    notes = [*facts.health_notes("intel")]
    if shared:
        notes.append(f"{offered} units on {physical} GPUs: the plugin shares them")
    elif offered and source.startswith("capacity"):
        notes.append("no label says whether the units are shared")
    missing = sum(u.capacity - u.allocatable for u in units)
    unhealthy, unhealthy_source = most_sick(
        (math.ceil(missing / (factor or 1)), WITHDRAWN), (facts.sick_boards("intel"), HELD_SICK)
    )
    return DeviceGroup(
        vendor="intel",
        model=model.name,
        model_source=model.source,
        physical=physical,
        physical_source=source,
        physical_estimated=False,
        memory_mib=next((d.memory_mib for d in dra if d.memory_mib), None),
        sharing=_sharing(offered, factor, is_dra=bool(dra)),
        replicas=factor,
        units=(*_finished(units, factor), *facts.dra_units("intel")),
        unhealthy=unhealthy,
        unhealthy_source=unhealthy_source,
        notes=tuple(notes),
        model_label=(
            facts.dra_product("intel")
            or facts.labels.get(_PRODUCT, "")
            or (model_text(facts) if named_maker(facts) == "intel" else "")
        )[:253],
    )


def _sources(facts: NodeFacts) -> Iterator[tuple[str, Cards]]:
    for found in facts.dra:
        yield f"ResourceSlice of {found.driver}", _only_gpus(candidates(found.product))
    if _PRODUCT in facts.labels:
        yield f"label {_PRODUCT}", _only_gpus(candidates(facts.labels[_PRODUCT]))
    for device in _device_ids(facts):
        yield "label gpu.intel.com/device-id", _only_gpus(from_pci_id(device))
    yield from cloud_models(facts, "intel")
    yield from ((where, _only_gpus(cards)) for where, cards in pci_gpus(facts, "intel"))


def _only_gpus(cards: Cards) -> Cards:
    return tuple(c for c in cards if c.vendor == "Intel" and not c.name.startswith("Gaudi"))


def _device_ids(facts: NodeFacts) -> dict[str, int]:
    """Device ids by label, and how many there are of each (0 when only presence is told)."""
    found: dict[str, int] = {}
    for key, value in facts.labels.items():
        match = _DEVICE.fullmatch(key)
        if match is None or value == "false":
            continue
        counted = plain_count(value, 5) if key.endswith(".count") else 0
        found[match[1]] = max(found.get(match[1], 0), counted or 0)
    return found


def _is_labelled(facts: NodeFacts) -> bool:
    return bool(
        _PRODUCT in facts.labels
        or facts.number(_COUNT)
        or _device_ids(facts)
        or named_maker(facts) == "intel"
        or pci_gpus(facts, "intel")
    )


def _counted(facts: NodeFacts) -> tuple[int, str] | None:
    stated = facts.number(_COUNT)
    if stated:
        return stated, f"label {_COUNT}"
    ids = sum(_device_ids(facts).values())
    if ids:
        return ids, "labels gpu.intel.com/device-id.*.count"
    return cloud_count(facts, "intel")


def _sharing(offered: int, factor: int | None, *, is_dra: bool) -> str:
    if factor is not None:
        return f"shared-x{factor}"
    if offered:
        return Sharing.WHOLE
    return Sharing.DRA if is_dra else Sharing.NONE


def _finished(units: tuple[Units, ...], factor: int | None) -> tuple[Units, ...]:
    if factor is None:
        return units
    return tuple(replace(u, kind=UnitKind.SHARE) for u in units)
