"""How a board can be cut: the MIG profiles of NVIDIA boards, by catalogue name.

The table names boards by memory size ("H100-80GB (SXM5, PCIe)"); PCI device ids tie its rows to
the accelerator catalogue, so that a new board needs no code.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from fleet.catalogue.accelerators import Accelerator, accelerator, usable_mib
from fleet.catalogue.tables import integer, rows

_RESOURCE = "nvidia.com/mig-"
# Measured on A30 and A100 boards: a device has 0.95 to 0.98 of its even share of the memory.
_SHARE_KEPT = 0.95


@dataclass(frozen=True, slots=True)
class MigProfile:
    """One way to cut a board, and how many such devices one board can hold."""

    name: str  # "1g.10gb", "1g.10gb+me"
    memory_gib: int  # as the name says
    memory_mib: int | None  # as the driver reports it, when somebody has measured it
    compute_slices: int
    compute_slices_total: int
    memory_slices: int
    memory_slices_total: int
    max_instances: int  # of this profile alone on one board
    resource: str  # "nvidia.com/mig-1g.10gb" (strategy mixed)
    verified: str  # "yes", "partly", "inferred"
    notes: str

    @property
    def is_variant(self) -> bool:
        """A profile with media engines, graphics or the like: same size, another use."""
        return re.fullmatch(r"[0-9]+g\.[0-9]+gb", self.name) is None


@cache
def _table() -> tuple[tuple[str, frozenset[str], MigProfile], ...]:
    found = []
    for row in rows("mig_profiles.csv"):
        if not row["resource_name"].startswith(_RESOURCE):
            continue  # AMD compute partitions live in the same table
        found.append(
            (
                row["gpu"],
                frozenset(part for part in row["pci_device_ids"].split(";") if part),
                MigProfile(
                    name=row["profile"],
                    memory_gib=integer(row["memory_gib"]) or 0,
                    memory_mib=integer(row["nvml_memory_mib"]),
                    compute_slices=integer(row["compute_slices"]) or 0,
                    compute_slices_total=integer(row["compute_slices_total"]) or 0,
                    memory_slices=integer(row["memory_slices"]) or 0,
                    memory_slices_total=integer(row["memory_slices_total"]) or 0,
                    max_instances=integer(row["max_instances"]) or 0,
                    resource=row["resource_name"],
                    verified=row["verified"],
                    notes=row["notes"],
                ),
            )
        )
    return tuple(found)


@cache
def _boards(model: str) -> tuple[tuple[str, tuple[MigProfile, ...]], ...]:
    board = accelerator(model)
    if board is None or not board.mig_max:
        return ()
    # "1E30 (10DE 129E)": the subsystem ids do not matter here.
    ids = {pci.split(" ")[0] for pci in board.pci_ids}
    groups: dict[str, list[MigProfile]] = {}
    for gpu, pci_ids, profile_row in _table():
        if ids & pci_ids:
            groups.setdefault(gpu, []).append(profile_row)
    return tuple((gpu, tuple(found)) for gpu, found in groups.items())


def profiles(model: str) -> tuple[MigProfile, ...]:
    """The profiles of a board of that catalogue name, smallest first; empty when it has none.

    A model sold with two memory sizes (GB200) gives those of the first size in the table.
    """
    boards = _boards(model)
    return boards[0][1] if boards else ()


def profile(model: str, name: str) -> MigProfile | None:
    """The profile ``name`` of that board, written "1g.10gb", "1g.10gb+me", "mig-1g.10gb.me" or
    as the whole resource name; None when the board has no such profile."""
    wanted = canonical_profile(name)
    for _, found in _boards(model):
        for candidate in found:
            if canonical_profile(candidate.name) == wanted:
                return candidate
    return None


def agreed_profile(models: Collection[str], name: str) -> MigProfile | None:
    """The profile of that name where all boards that have it are cut alike; None where it means
    different cuts, or nothing. Without ``models`` any board may be meant."""
    wanted = canonical_profile(name)
    known = [found for model in models if (found := profile(model, name)) is not None]
    if not models:
        known = [row for _, _, row in _table() if canonical_profile(row.name) == wanted]
    cuts = {(p.max_instances, p.memory_slices, p.memory_slices_total) for p in known}
    return known[0] if len(cuts) == 1 else None


def profile_usable_mib(board: Accelerator, cut: MigProfile) -> float:
    """MiB that an engine can use on one such device: measured, else an even share less 5 %."""
    if cut.memory_mib is not None:
        return float(cut.memory_mib)
    share = cut.memory_slices / cut.memory_slices_total if cut.memory_slices_total else 0.0
    return usable_mib(board) * share * _SHARE_KEPT


def canonical_profile(name: str) -> str:
    """ "1g.10gb" out of "nvidia.com/mig-1g.10gb" or "MIG-1g.10gb"; variants keep a ``+``."""
    short = re.sub(r"^(nvidia\.com/)?mig-", "", name, flags=re.IGNORECASE)
    match = re.fullmatch(r"([0-9]+c\.)?([0-9]+g\.[0-9]+gb)[.+]?([a-z0-9.]*)", short)
    if match is None:
        return short
    compute, base, variant = match.groups()
    return f"{compute or ''}{base}" + (f"+{variant}" if variant else "")
