"""What a published device is: a whole board, a cut of one, or its passthrough twin; which board.

Devices are not boards. With dynamic MIG a slice lists the whole GPU and every possible cut of it,
and a passthrough twin repeats the GPU's uuid. Boards are told apart by uuid, else by PCI address,
else by the counter set that devices of one board draw on.
Source: reference/resourceslice-attributes of the NVIDIA DRA driver; AMD's attribute list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fleet.catalogue.mig_profiles import canonical_profile
from fleet.kubernetes.dra_counters import amount, capacities
from fleet.kubernetes.dra_taints import Tainted
from fleet.kubernetes.dra_use import Hold
from fleet.kubernetes.objects_dra import Basic, Device
from fleet.units import QuantityError

_PARTS = ("mig", "amdgpu-partition")
_STANDARD = "resource.kubernetes.io"
_PRODUCTS = ("productName", "model", "product")
_MEMORY = ("memory", "addressableMemory")
_MOST_MEMORY = 2**50  # bytes; more than any board has


@dataclass(slots=True)
class Entry:
    """One device of a counted pool, with its state now.

    ``open``: the scheduler could give it to a claim that asks for one device and nothing more.
    """

    pool: str
    device: Device
    texts: dict[str, str]  # attributes by their local name
    open: bool
    draws_all: bool  # of the counter sets that it consumes; True without counters
    holds: Sequence[Hold] = ()
    tainted: Sequence[Tainted] = ()
    board: str = ""
    is_cut: bool = False  # of a board that only counters tell of

    @property
    def is_part(self) -> bool:
        return self.is_cut or self.texts.get("type") in _PARTS or bool(self.parent)

    @property
    def is_nameless(self) -> bool:
        """Whether nothing but its name and its counters tells the device from others."""
        known = self.parent or self.address or self.texts.get("uuid") or self.texts.get("type")
        return not known

    @property
    def counter_set(self) -> str:
        """The one counter set that the device draws on; "" for none and for several."""
        sets = {use.counterSet for use in self.device.facts.consumesCounters or ()}
        return f"{self.pool}/{sets.pop()}" if len(sets) == 1 else ""

    @property
    def parent(self) -> str:
        return self.texts.get("parentUUID") or self.texts.get("parentPciAddr", "")

    @property
    def address(self) -> str:
        return self.texts.get("pciBusID") or self.texts.get("pciAddr", "")

    @property
    def product(self) -> str:
        return next((self.texts[key] for key in _PRODUCTS if self.texts.get(key)), "")

    @property
    def profile(self) -> str:
        """Of a cut: "1g.10gb", "dpx_nps1"."""
        name = self.texts.get("profile", "")
        return (canonical_profile(name) if name else "") or self.texts.get("partitionProfile", "")


def texts_of(driver: str, facts: Basic) -> dict[str, str]:
    """A device's text attributes by local name. A name without a domain is the driver's own."""
    found = {}
    for name, value in (facts.attributes or {}).items():
        domain, _, local = name.rpartition("/")
        if domain in ("", driver, _STANDARD) and value.string:
            found[local] = value.string
    return found


def memory_mib(driver: str, facts: Basic) -> int | None:
    """A device's memory in MiB; None when it does not say."""
    if not facts.capacity:
        return None
    stated = capacities(facts)
    for name in _MEMORY:
        found = stated.get(name) or stated.get(f"{driver}/{name}")
        if found is not None and found.value is not None:
            try:
                size = int(amount(found.value))
            except QuantityError:
                return None
            return size // 2**20 if size <= _MOST_MEMORY else None
    return None


def name_boards(entries: Iterable[Entry]) -> None:
    """Give each device the board that it is, or is a part of."""
    entries = tuple(entries)
    # A set that one device takes entirely stands for a board; others may be a budget of power.
    whole_sets = {e.counter_set for e in entries if e.is_nameless and e.draws_all} - {""}
    by_address = {
        e.address: e.texts["uuid"]
        for e in entries
        if e.address and e.texts.get("uuid") and not e.is_part
    }
    for entry in entries:
        if entry.is_nameless and entry.counter_set in whole_sets:
            entry.board, entry.is_cut = entry.counter_set, not entry.draws_all
        else:
            entry.board = _board(entry, by_address)


def _board(entry: Entry, by_address: dict[str, str]) -> str:
    parent, address = entry.parent, entry.address
    if parent:
        return by_address.get(parent, parent)
    if not entry.is_part and entry.texts.get("uuid"):
        return entry.texts["uuid"]
    if address:
        return by_address.get(address, address)
    return entry.texts.get("uuid") or f"{entry.pool}/{entry.device.name}"


@dataclass(slots=True)
class Board:
    """The devices of one board."""

    entries: list[Entry] = field(default_factory=list)

    @property
    def is_whole_free(self) -> bool:
        """Whether the board can be had whole: nothing of it is held, a whole device is open."""
        return not any(e.holds for e in self.entries) and any(
            e.open and not e.is_part for e in self.entries
        )

    def close_taken(self) -> None:
        """Cuts of a held board cannot be had, nor can a board of which a cut is held.

        Counters say this better, so only devices without any follow this rule.
        """
        whole_held = any(e.holds and not e.is_part for e in self.entries)
        if not whole_held and not any(e.holds for e in self.entries):
            return
        for entry in self.entries:
            if entry.holds or entry.device.facts.consumesCounters:
                continue
            if whole_held or not entry.is_part:
                entry.open = False


def boards_of(entries: Iterable[Entry]) -> dict[str, Board]:
    """Boards by identity, in the order of their first device."""
    found: dict[str, Board] = {}
    for entry in entries:
        found.setdefault(entry.board, Board()).entries.append(entry)
    return found
