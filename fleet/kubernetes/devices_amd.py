"""AMD GPUs of a node: labels of the node labeller in both its forms, boards and partitions.

A board in a compute partition mode shows as several devices (CPX: one per die), and labels then
speak of the partition. Sources for the number of boards, best first: ResourceSlices, the
labeller's counts on an unpartitioned node, capacity divided by the partitions of a board, the
cloud's word, capacity as it stands.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fleet.catalogue.accelerators import Accelerator
from fleet.catalogue.card_names import Cards, candidates, from_pci_id
from fleet.inventory import DeviceGroup, Sharing, UnitKind, Units
from fleet.kubernetes.cloud_labels import cloud_count, cloud_models, model_text, named_maker
from fleet.kubernetes.device_facts import NodeFacts, decide_model
from fleet.kubernetes.device_health import HELD_SICK, WITHDRAWN, most_sick
from fleet.kubernetes.pci_labels import pci_gpus
from fleet.units import plain_count

# One value per node, or with several values the value in the key and a count as the value.
_IN_KEY = re.compile(r"(?:beta\.)?amd\.com/gpu\.(?P<what>[a-z-]+)\.(?P<value>.+)")
_PLAIN = ("amd.com/gpu.", "beta.amd.com/gpu.")
_SICK = re.compile(r"metricsexporter\.amd\.com\.gpu\.([0-9]{1,3})\.state")
_MODE = "amd.com/compute-memory-partition"
_PARTS = {"spx": 1, "dpx": 2, "tpx": 3, "qpx": 4, "cpx": 8}
_VRAM = re.compile(r"([0-9]{1,4})Gi?B?")
_PER_MODEL = ("product-name", "device-id", "vram")  # differ where boards do
_TWO_DIES = "2 GCDs"  # each die is a device of its own, with half of the memory


@dataclass(frozen=True, slots=True)
class _Cut:
    """How boards are cut: ``parts`` devices per board, and how that is known."""

    mode: str  # "cpx_nps4", "" when no label names it
    parts: int
    is_estimated: bool
    why: str


def amd_group(facts: NodeFacts) -> DeviceGroup | None:
    """The node's AMD GPUs, or None when nothing speaks for any."""
    units = facts.units("amd")
    dra = tuple(d for d in facts.dra if d.vendor == "amd" and d.devices)
    counts = _counts_in_keys(facts)
    model = decide_model(list(_sources(facts, counts)), None)
    if not (units or dra or model.name or _is_labelled(facts) or facts.unreadable_of("amd")):
        return None
    card = model.cards[0] if len(model.cards) == 1 else None
    vram = _vram(facts, counts)
    cut = _cut(facts, units, card, vram)
    boards, source, estimated = _boards(facts, units, sum(d.boards for d in dra), counts, cut, card)
    is_cut = (
        cut.parts > 1
        or any(u.kind is UnitKind.PARTITION for u in units)
        or any(d.parts for d in dra)
    )
    missing = sum(math.ceil((u.capacity - u.allocatable) / _per_board(u, cut, card)) for u in units)
    # A part of a board that is sick does not condemn the board.
    held = 0 if is_cut else facts.sick_boards("amd")
    unhealthy, unhealthy_source = most_sick(
        (missing, WITHDRAWN),
        (held, HELD_SICK),
        (_sick_labels(facts), "labels of AMD's exporter"),
    )
    return DeviceGroup(
        vendor="amd",
        model=model.name,
        model_source=model.source,
        physical=boards,
        physical_source=source,
        physical_estimated=estimated,
        memory_mib=next((d.memory_mib for d in dra if d.memory_mib), None),
        sharing=_sharing(units, is_cut=is_cut, is_dra=bool(dra)),
        replicas=None,
        units=(*(_finished(u, cut, vram) for u in units), *facts.dra_units("amd")),
        unhealthy=unhealthy,
        unhealthy_source=unhealthy_source,
        notes=_notes(facts, units, cut, card, vram),
        memory_gib=vram if vram is not None and not is_cut else _catalogue_gib(card),
        whole_free=sum(d.whole_free for d in dra) if dra and not is_cut else None,
        cuts_possible=sum(d.parts for d in dra),
        total_memory_mib=_differing_memory(facts, counts),
        model_certain=all(len(counts.get(what, {})) < 2 for what in _PER_MODEL),
        model_label=_model_label(facts, counts)[:253],
    )


def _is_labelled(facts: NodeFacts) -> bool:
    if any(key.startswith(_PLAIN) for key in facts.labels) or pci_gpus(facts, "amd"):
        return True
    return named_maker(facts) == "amd"


def _counts_in_keys(facts: NodeFacts) -> dict[str, dict[str, int]]:
    """``…gpu.device-id.74b5=8`` as {"device-id": {"74b5": 8}}. Both prefixes carry the same."""
    found: dict[str, dict[str, int]] = {}
    for key, value in facts.labels.items():
        match = _IN_KEY.fullmatch(key)
        counted = plain_count(value)
        if match is not None and counted is not None:
            found.setdefault(match["what"], {})[match["value"][:100]] = counted
    return found


def _label(facts: NodeFacts, what: str) -> str:
    return facts.first_text(*(prefix + what for prefix in _PLAIN))


def _sources(facts: NodeFacts, counts: dict[str, dict[str, int]]) -> Iterator[tuple[str, Cards]]:
    for found in facts.dra:
        yield f"ResourceSlice of {found.driver}", _only_amd(candidates(found.product))
    names = [_label(facts, "product-name"), *counts.get("product-name", {})]
    ids = [_label(facts, "device-id"), *counts.get("device-id", {})]
    yield "label amd.com/gpu.product-name", _only_amd(_any_of(map(candidates, filter(None, names))))
    yield "label amd.com/gpu.device-id", _only_amd(_any_of(map(from_pci_id, filter(None, ids))))
    yield from cloud_models(facts, "amd")
    yield from pci_gpus(facts, "amd")


def _any_of(found: Iterator[Cards]) -> Cards:
    """Of a node with several models all that they may be: none is the model of the node."""
    return tuple(dict.fromkeys(card for cards in found for card in cards))


def _only_amd(cards: Cards) -> Cards:
    return tuple(card for card in cards if card.vendor == "AMD")


def _model_label(facts: NodeFacts, counts: dict[str, dict[str, int]]) -> str:
    return (
        facts.dra_product("amd")
        or _label(facts, "product-name")
        or next(iter(counts.get("product-name", {})), "")
        or (model_text(facts) if named_maker(facts) == "amd" else "")
    )


def _vram(facts: NodeFacts, counts: dict[str, dict[str, int]]) -> int | None:
    """GiB of one device as the labeller states it; of a partition on a partitioned board. None
    where the devices differ."""
    stated = _label(facts, "vram")
    sizes = {_gib(stated)} if stated else set(map(_gib, counts.get("vram", {})))
    return sizes.pop() if len(sizes) == 1 else None


def _gib(text: str) -> int | None:
    match = _VRAM.fullmatch(text)
    return int(match[1]) or None if match is not None else None


def _differing_memory(facts: NodeFacts, counts: dict[str, dict[str, int]]) -> int | None:
    """MiB of all devices together, where the labeller counts them by several sizes."""
    sizes = [(_gib(text), number) for text, number in counts.get("vram", {}).items()]
    if _label(facts, "vram") or len(sizes) < 2:
        return None
    known = [gib * 1024 * number for gib, number in sizes if gib is not None]
    return sum(known) if len(known) == len(sizes) else None


def _cut(
    facts: NodeFacts, units: tuple[Units, ...], card: Accelerator | None, vram: int | None
) -> _Cut:
    mode = facts.labels.get(_MODE, "").lower()
    name = mode.partition("_")[0]
    if name in _PARTS:
        parts = _parts_of(name, card)
        # How many dies a board has is only known of boards that the catalogue knows.
        return _Cut(mode, parts, name == "cpx" and not (card and card.mig_max), f"mode {mode}")
    plain = sum(u.capacity for u in units if u.resource == "amd.com/gpu")
    if plain and vram and card is not None and card.memory_gib and card.mig_max > 1:
        parts = round(card.memory_gib / vram)
        if parts in (2, 3, 4, 8) and plain % parts == 0 and parts <= card.mig_max:
            return _Cut("", parts, True, f"{vram} GiB of {card.memory_gib:g} per device")
    counted = cloud_count(facts, "amd")
    if counted is not None and plain > counted[0] and plain % counted[0] == 0:
        return _Cut("", plain // counted[0], True, f"{plain} devices on {counted[0]} boards")
    return _Cut("", 1, False, "")


def _parts_of(mode: str, card: Accelerator | None) -> int:
    """Partitions of one board in that mode ("cpx_nps4"); CPX depends on the board's dies."""
    name = mode.partition("_")[0]
    if name == "cpx" and card is not None and card.mig_max:
        return card.mig_max
    return _PARTS.get(name, 1)


def _per_board(unit: Units, cut: _Cut, card: Accelerator | None) -> int:
    """Units of that resource that one board gives."""
    return _parts_of(unit.profile, card) if unit.profile else cut.parts


def _boards(
    facts: NodeFacts,
    units: tuple[Units, ...],
    published: int,
    counts: dict[str, dict[str, int]],
    cut: _Cut,
    card: Accelerator | None,
) -> tuple[int | None, str, bool]:
    if published:
        return published, "ResourceSlices", False
    named = {_parts_of(u.profile, card) for u in units if u.profile and u.capacity}
    capacity = sum(math.ceil(u.capacity / _per_board(u, cut, card)) for u in units)
    counted = sum(counts.get("device-id", {}).values()) or sum(counts.get("vram", {}).values())
    if counted and cut.parts == 1 and named <= {1}:
        return counted, "labels of the AMD node labeller", False
    if capacity and (cut.parts > 1 or named - {1}):
        guessed = cut.is_estimated or any(
            u.profile.startswith("cpx") and not (card and card.mig_max)
            for u in units
            if u.profile and u.capacity
        )
        how = f" ({cut.why})" if cut.why else ""
        return capacity, f"capacity / partitions per board{how}", guessed
    cloud = cloud_count(facts, "amd")
    if cloud is not None:
        return cloud[0], cloud[1], False
    if capacity:
        return capacity, "capacity", False
    if counted:
        return counted, "labels of the AMD node labeller, which count partitions", True
    return None, "no object says how many", False


def _finished(unit: Units, cut: _Cut, vram: int | None) -> Units:
    if cut.parts < 2:
        return unit
    kind = UnitKind.PARTITION if unit.resource == "amd.com/gpu" else unit.kind
    size = vram * 1024 if vram else None
    return replace(unit, kind=kind, profile=unit.profile or cut.mode or None, memory_mib=size)


def _sharing(units: tuple[Units, ...], *, is_cut: bool, is_dra: bool) -> str:
    offered = any(u.capacity for u in units)
    if not offered and not is_dra:
        return Sharing.NONE
    if is_cut:
        return Sharing.AMD_PARTITION
    return Sharing.WHOLE if offered else Sharing.DRA


def _catalogue_gib(card: Accelerator | None) -> int | None:
    if card is None or not card.memory_gib:
        return None
    return int(card.memory_gib) // (2 if _TWO_DIES in card.form_factor else 1)


def _sick_labels(facts: NodeFacts) -> int:
    return sum(
        value.lower() == "unhealthy" and _SICK.fullmatch(key) is not None
        for key, value in facts.labels.items()
    )


def _notes(
    facts: NodeFacts,
    units: tuple[Units, ...],
    cut: _Cut,
    card: Accelerator | None,
    vram: int | None,
) -> tuple[str, ...]:
    found = list(facts.health_notes("amd"))
    mode = facts.labels.get(_MODE, "")
    if mode and not cut.mode:
        found.append(f"label {_MODE}={mode[:63]} names no partition mode that we know")
    elif (
        not mode
        and vram is None
        and cut.parts == 1
        and any(u.resource == "amd.com/gpu" for u in units)
    ):
        found.append("no label says whether the devices are partitions")
    gib = _catalogue_gib(card)
    if vram and gib and cut.parts == 1 and abs(vram / gib - 1) > 0.09:
        found.append(f"label amd.com/gpu.vram={vram}G is not the {gib} GiB of the model")
    return tuple(found)
