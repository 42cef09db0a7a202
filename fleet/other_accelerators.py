"""Accelerators that are no GPUs: TPUs, Neuron chips, Gaudi, Qualcomm, and those of makers in
China, on one node. They stand beside the GPUs and are in no sum of GPUs.

A chip and its cores are the same silicon, and so are a card and its memory or core units: the
devices of one maker are counted by the resource that counts devices, and never added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fleet.board_registers import registered_boards
from fleet.catalogue.accelerators import Accelerator
from fleet.catalogue.card_names import Cards, candidates, from_gke_label, from_karpenter
from fleet.catalogue.instance_types import InstanceType, instance_type
from fleet.device_names import DEVICE_KINDS, device_name
from fleet.inventory import Node, UnitKind, Units
from fleet.units import plain_count

_GKE_TPU = "cloud.google.com/gke-tpu-accelerator"
_GKE_TOPOLOGY = "cloud.google.com/gke-tpu-topology"
_GKE_COUNT = "cloud.google.com/gke-accelerator-count"
_KARPENTER = (
    "karpenter.k8s.aws/instance-accelerator-name",
    "karpenter.k8s.aws/instance-gpu-name",  # Gaudi is a GPU to Karpenter
    "eks.amazonaws.com/instance-gpu-name",
)
_KARPENTER_COUNTS = (
    "karpenter.k8s.aws/instance-accelerator-count",
    "karpenter.k8s.aws/instance-gpu-count",
    "eks.amazonaws.com/instance-gpu-count",
)
_REGISTERS = {
    "cambricon": "hami.io/node-mlu-register",
    "hygon": "hami.io/node-dcu-register",
}
_MAKERS = {
    "AWS": "aws",
    "Google": "google",
    "Qualcomm": "qualcomm",
    "Tenstorrent": "tenstorrent",
}


@dataclass(frozen=True, slots=True)
class OtherAccelerators:
    """The accelerators of one maker on one node. ``devices`` None: no object says how many."""

    vendor: str
    model: str | None
    devices: int | None
    source: str
    kind: UnitKind | None  # what one unit of the device resource is; None where none is offered
    units: tuple[Units, ...]  # what is offered and held, each resource in its own unit
    topology: str = ""  # of the slice that the node belongs to: "2x4"


def other_accelerators(node: Node) -> tuple[OtherAccelerators, ...]:
    """What the node has besides GPUs, by maker."""
    cards = _cards(node)
    offered: dict[str, list[Units]] = {}
    for unit in node.others:
        kind = device_name(unit.resource)
        if kind is not None:
            offered.setdefault(kind.vendor, []).append(unit)
    makers = dict.fromkeys((*offered, *filter(None, (maker_of(card) for card in cards))))
    return tuple(
        _of_maker(node, maker, tuple(offered.get(maker, ())), _mine(cards, maker))
        for maker in makers
    )


def maker_of(card: Accelerator) -> str:
    """Our word for the maker of an accelerator that is no GPU; "" for GPUs."""
    if card.name.startswith("Gaudi"):
        return "habana"
    return _MAKERS.get(card.vendor, "")


def _mine(cards: Cards, maker: str) -> Cards:
    return tuple(card for card in cards if maker_of(card) == maker)


def _cards(node: Node) -> Cards:
    """What labels or the machine type name; the first that names anything."""
    labels = node.labels
    for found in (
        from_gke_label(labels.get(_GKE_TPU, "")),
        *(from_karpenter(labels[key]) for key in _KARPENTER if labels.get(key)),
        _of_machine(node),
    ):
        others = tuple(card for card in found if maker_of(card))
        if others:
            return others
    return ()


def _machine(node: Node) -> InstanceType | None:
    return instance_type(node.instance_type) if node.instance_type else None


def _of_machine(node: Node) -> Cards:
    kind = _machine(node)
    return candidates(kind.gpu_model) if kind is not None else ()


def _of_maker(node: Node, maker: str, units: tuple[Units, ...], cards: Cards) -> OtherAccelerators:
    unknown = (None, "no object says how many", None)
    devices, source, kind = next(_counts(node, maker, units, cards), unknown)
    return OtherAccelerators(
        vendor=maker,
        model=cards[0].name if len(cards) == 1 else None,
        devices=devices,
        source=source,
        kind=kind,
        units=units,
        topology=node.labels.get(_GKE_TOPOLOGY, "")[:63] if maker == "google" else "",
    )


def _counts(
    node: Node, maker: str, units: tuple[Units, ...], cards: Cards
) -> Iterator[tuple[int, str, UnitKind | None]]:
    """Ways to count devices, best first: a sharing system's register, whole devices offered,
    labels, the machine type. Shares and partitions are counted as what they are."""
    register = _REGISTERS.get(maker, "")
    boards, _ = registered_boards(node.annotations.get(register, ""))
    if boards:
        yield len(boards), f"annotation {register}", None
    for unit in units:
        if unit.kind is UnitKind.WHOLE and unit.capacity:
            yield unit.capacity, f"resource {unit.resource}", unit.kind
    keys = (_GKE_COUNT,) if maker == "google" else _KARPENTER_COUNTS if cards else ()
    for key in keys:
        counted = plain_count(node.labels.get(key))
        if counted:
            yield counted, f"label {key}", None
    machine = _machine(node)
    if machine is not None and cards and _of_machine(node) == cards and machine.gpu_count >= 1:
        yield int(machine.gpu_count), f"instance type {machine.name}", None
    for unit in units:
        if unit.kind in DEVICE_KINDS and unit.kind is not UnitKind.WHOLE and unit.capacity:
            how = f"resource {unit.resource}: {unit.kind} units, not devices"
            yield unit.capacity, how, unit.kind
