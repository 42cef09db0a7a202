"""What one node says about devices, gathered once for the rules of the vendors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from fleet.catalogue.accelerators import Accelerator
from fleet.catalogue.card_names import common_name, narrowed
from fleet.catalogue.instance_types import InstanceType
from fleet.device_names import DEVICE_KINDS, DeviceName, device_name
from fleet.inventory import Units
from fleet.kubernetes.device_health import SickDevice, health_notes, sick_boards
from fleet.kubernetes.dra_sums import DraDevices
from fleet.kubernetes.objects_core import Annotations
from fleet.units import plain_count

_OF_DEVICES = re.compile(r"gpu|nvidia|amd\.com|intel\.com|accelerator|/pci-")


@lru_cache(maxsize=16_384)  # the nodes of a cluster share their keys
def speaks_of_devices(key: str) -> bool:
    """Whether a label of that key may say anything about devices: most labels do not."""
    return _OF_DEVICES.search(key) is not None


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """``requested``: by resource, of the pods bound here. ``used``: device ids that sharing
    systems say are taken (HAMi board uuids, Aliyun board numbers); ``unnamed``: boards at most
    that pods hold which do not say so. ``sick``: devices that pods
    hold and the kubelet does not call healthy. ``now``: when the node was read."""

    labels: dict[str, str]  # that speak of devices; empty values say nothing and are left out
    notes: Annotations
    capacity: Mapping[str, int]
    allocatable: Mapping[str, int]
    requested: Mapping[str, int]
    instance_type: InstanceType | None
    dra: tuple[DraDevices, ...] = ()
    used: frozenset[str] = frozenset()
    unnamed: int = 0
    unreadable: tuple[str, ...] = ()  # resources whose amounts are no counts
    sick: frozenset[SickDevice] = frozenset()
    now: datetime | None = None

    def number(self, label: str) -> int | None:
        """A label's value as a count; None when absent or not a plain number."""
        return plain_count(self.labels.get(label))

    def units(self, vendor: str) -> tuple[Units, ...]:
        """All units of a vendor's GPU resources; asked for but not offered counts as 0."""
        found = []
        names = dict.fromkeys((*self.capacity, *self.allocatable, *self.requested))
        for resource in names:
            kind = device_name(resource)
            if kind is None or not kind.is_gpu or kind.vendor != vendor:
                continue
            listed = resource in self.capacity or resource in self.allocatable
            if not listed and kind.kind not in DEVICE_KINDS:
                continue  # memory and core requests of a scheduler that advertises none
            allocatable = self.allocatable.get(resource, 0)
            found.append(_units(self, resource, kind, allocatable))
        return tuple(found)

    def unreadable_of(self, vendor: str) -> tuple[str, ...]:
        """Device resources of a vendor that are offered in a number that cannot be read."""
        names = {name: device_name(name) for name in self.unreadable}
        return tuple(
            name
            for name, kind in names.items()
            if kind is not None
            and kind.is_gpu
            and kind.vendor == vendor
            and kind.kind in DEVICE_KINDS
        )

    def sick_boards(self, vendor: str) -> int:
        """Boards of a vendor that pods hold and the kubelet calls Unhealthy."""
        return sick_boards(self.sick, vendor)

    def health_notes(self, vendor: str) -> tuple[str, ...]:
        return health_notes(self.sick, vendor)

    def first_text(self, *labels: str) -> str:
        """The value of the first of these labels that the node carries; "" for none."""
        return next((self.labels[key] for key in labels if key in self.labels), "")

    def dra_product(self, vendor: str) -> str:
        """What the ResourceSlices of a vendor call its boards; "" where they do not say."""
        return next((d.product for d in self.dra if d.vendor == vendor and d.product), "")

    def dra_units(self, vendor: str) -> tuple[Units, ...]:
        return tuple(d.units for d in self.dra if d.vendor == vendor and d.devices)


def _units(facts: NodeFacts, resource: str, kind: DeviceName, allocatable: int) -> Units:
    return Units(
        resource=resource,
        kind=kind.kind,
        capacity=max(facts.capacity.get(resource, allocatable), allocatable),
        allocatable=allocatable,
        requested=facts.requested.get(resource, 0),
        profile=kind.profile,
    )


@dataclass(frozen=True, slots=True)
class ModelGuess:
    """``cards``: what the model may be; ``name`` a catalogue name or the family's."""

    name: str | None
    source: str
    cards: tuple[Accelerator, ...] = ()


def decide_model(
    sources: list[tuple[str, tuple[Accelerator, ...]]], memory_mib: int | None
) -> ModelGuess:
    """The first source that means one card; else what several sources have in common.

    A cloud label may only know "V100"; the instance type beside it may know which.
    """
    known = [(where, narrowed(cards, memory_mib)) for where, cards in sources if cards]
    if not known:
        return ModelGuess(None, "no object names the model")
    where, cards = known[0]
    for other_where, other in known[1:]:
        if len(cards) == 1:
            break
        both = tuple(card for card in cards if card in other)
        if both and len(both) < len(cards):
            where, cards = f"{where} and {other_where}", both
    return ModelGuess(common_name(cards), where, cards)
