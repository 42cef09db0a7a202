"""Which NVIDIA model a node has, and by whose word; and what tells that it has any."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fleet.catalogue.card_names import (
    Cards,
    candidates,
    described,
    fits_memory,
    mig_suffix,
    vgpu_profile,
)
from fleet.device_names import device_name
from fleet.inventory import UnitKind
from fleet.kubernetes.cloud_labels import cloud_memory, cloud_models, model_text, named_maker
from fleet.kubernetes.device_facts import ModelGuess, NodeFacts, decide_model
from fleet.kubernetes.hami import Register
from fleet.kubernetes.pci_labels import pci_gpus

PRODUCT = "nvidia.com/gpu.product"
_MEMORY = "nvidia.com/gpu.memory"
_MIG_PRODUCT = re.compile(r"nvidia\.com/mig-(.+)\.product")
_CONFIG = "nvidia.com/gpu.workload.config"


def is_labelled(facts: NodeFacts) -> bool:
    """Whether a label says that the node has NVIDIA GPUs, whatever is offered."""
    labels = facts.labels
    return bool(
        labels.get("nvidia.com/gpu.present") == "true"
        or facts.number("nvidia.com/gpu.count")
        or PRODUCT in labels
        or vm_use(facts)
        or named_maker(facts) == "nvidia"
        or pci_gpus(facts, "nvidia")
    )


def vm_use(facts: NodeFacts) -> str:
    """What the GPU operator prepares the node's boards for: "passthrough" or "vgpu" of virtual
    machines; "" for containers."""
    value = facts.labels.get(_CONFIG, "")
    return value.removeprefix("vm-") if value in ("vm-passthrough", "vm-vgpu") else ""


def nvidia_model(facts: NodeFacts, register: Register | None) -> tuple[ModelGuess, str]:
    """The model, and the vGPU profile when the devices are slices of a board ("A100 40C")."""
    for where, text in _texts(facts, register):
        found = vgpu_profile(text)
        if found is not None:
            return ModelGuess(f"{found[0]} vGPU {found[1]}", where), found[1]
    memory = board_memory(facts)
    sources = [(where, _only_nvidia(cards)) for where, cards in _sources(facts, register)]
    return decide_model(sources, memory), ""


def _only_nvidia(cards: Cards) -> Cards:
    return tuple(card for card in cards if card.vendor == "NVIDIA")


def _texts(facts: NodeFacts, register: Register | None) -> Iterator[tuple[str, str]]:
    for found in facts.dra:
        if found.vendor == "nvidia":
            yield f"ResourceSlice of {found.driver}", found.product
    if register is not None:
        for kind in register.types:
            yield register.source, kind
    yield f"label {PRODUCT}", facts.labels.get(PRODUCT, "")
    for key, value in facts.labels.items():
        if _MIG_PRODUCT.fullmatch(key):
            yield f"label {key[:100]}", value
    for name in facts.capacity:
        unit = device_name(name)
        if unit is None or unit.vendor != "nvidia" or not name.startswith("nvidia.com/"):
            continue
        if unit.kind in (UnitKind.WHOLE, UnitKind.SHARE, UnitKind.VGPU):
            yield f"resource {name}", name.partition("/")[2].removesuffix(".shared")


def _sources(facts: NodeFacts, register: Register | None) -> Iterator[tuple[str, Cards]]:
    stated = board_memory(facts)
    if register is not None:
        stated = register.memory_mib or stated
    named: list[tuple[str, Cards]] = []
    for where, text in _texts(facts, register):
        if register is not None and where == register.source and len(register.types) > 1:
            continue  # boards of several models: none of them is the node's
        cards = described(text, stated) if text else ()
        named.append((where, cards))
    if register is not None and len(register.types) > 1:
        every = tuple(dict.fromkeys(c for kind in register.types for c in candidates(kind)))
        named.insert(0, (register.source, every))
    yield from named
    yield from cloud_models(facts, "nvidia")
    yield from pci_gpus(facts, "nvidia")


def model_label(facts: NodeFacts, register: Register | None) -> str:
    """What the node calls its model, from the sources that hold nothing but models."""
    return (
        facts.dra_product("nvidia")
        or ", ".join(register.types if register is not None else ())
        or facts.first_text(PRODUCT, *(key for key in facts.labels if _MIG_PRODUCT.fullmatch(key)))
        or (model_text(facts) if named_maker(facts) in ("", "nvidia") else "")
    )[:253]


def board_memory(facts: NodeFacts) -> int | None:
    """MiB of one board as a label states it; None where the label speaks of a MIG device."""
    if mig_suffix(facts.labels.get(PRODUCT, "")):
        return None
    return facts.number(_MEMORY) or cloud_memory(facts)


def disagreements(facts: NodeFacts, model: ModelGuess) -> Iterator[str]:
    """Where memory or machine type do not fit the model that was read."""
    if len(model.cards) != 1:
        return
    card = model.cards[0]
    memory = board_memory(facts)
    if memory is not None and not fits_memory(card, memory):
        size = f"{card.memory_gib:g} GiB" if card.memory_gib else "no known size"
        yield f"the labels state {memory:,} MiB per GPU; {card.name} has {size}"
    kind = facts.instance_type
    if kind is None or model.source.startswith("instance type"):
        return
    expected = candidates(kind.gpu_model)
    if expected and card not in expected:
        yield f"{model.source} says {card.name}, the instance type {kind.name} has {kind.gpu_model}"
