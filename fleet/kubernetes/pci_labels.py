"""PCI devices as node-feature-discovery labels them: that one is there, never how many.

``feature.node.kubernetes.io/pci-<fields>.present``: which fields, and in which order, is
configurable. Class and vendor by default; some clusters add the device id, which names the card.
"""

from __future__ import annotations

import re

from fleet.catalogue.card_names import Cards, from_pci_id
from fleet.kubernetes.device_facts import NodeFacts

_PCI = re.compile(r"feature\.node\.kubernetes\.io/pci-([0-9a-f_-]{4,60})\.present")
_VENDORS = {"nvidia": "10de", "amd": "1002", "intel": "8086"}
# NVIDIA also makes sound, USB, bridge, switch and network functions.
_OTHER_CLASSES = re.compile(r"0[124-9abcdef][0-9a-f]{2}")
# A plain display adapter (0300) of AMD or Intel is in every other server: no accelerator.
_COMPUTE_CLASSES = ("0302", "0380", "0b40", "1200")


def pci_gpus(facts: NodeFacts, vendor: str) -> tuple[tuple[str, Cards], ...]:
    """The labels that speak for a GPU of that vendor, each with the cards it may mean."""
    wanted = _VENDORS[vendor]
    found = []
    for key, value in facts.labels.items():
        match = _PCI.fullmatch(key) if value == "true" else None
        fields = re.split(r"[_-]", match[1]) if match is not None else []
        if wanted not in fields:
            continue
        before, after = _around(fields, wanted)
        classes = before or after
        if vendor == "nvidia":
            if any(map(_OTHER_CLASSES.fullmatch, before[:1])):
                continue
        elif not any(field in _COMPUTE_CLASSES for field in classes[:1]):
            continue
        found.append((f"label {key[:100]}", _cards(after)))
    return tuple(found)


def _around(fields: list[str], vendor: str) -> tuple[list[str], list[str]]:
    at = fields.index(vendor)
    return fields[:at], fields[at + 1 :]


def _cards(after_vendor: list[str]) -> Cards:
    """The device id follows the vendor; what comes later is the maker of the board."""
    return from_pci_id(after_vendor[0]) if after_vendor else ()
