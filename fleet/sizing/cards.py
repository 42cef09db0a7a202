"""The cards that a workload is judged on: catalogue names, family names and stated memory."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace

from fleet.catalogue.accelerators import (
    Accelerator,
    accelerator,
    accelerators,
    usable_mib,
)
from fleet.catalogue.card_names import candidates
from fleet.catalogue.mig_profiles import profile_usable_mib, profiles
from fleet.sizing.errors import SizingError, with_near
from fleet.words import say

STANDARD = (
    "T4",
    "V100-PCIe-16GB",
    "V100-SXM2-16GB",
    "V100-PCIe-32GB",
    "V100-SXM2-32GB",
    "A10",
    "A10G",
    "A30",
    "A40",
    "A100-PCIe-40GB",
    "A100-SXM4-40GB",
    "A100-PCIe-80GB",
    "A100-SXM4-80GB",
    "L4",
    "L40",
    "L40S",
    "RTX-3090",
    "RTX-4090",
    "RTX-5090",
    "RTX-A6000",
    "RTX-6000-Ada",
    "RTX-PRO-6000-Blackwell-Server",
    "H100-PCIe-80GB",
    "H100-SXM5-80GB",
    "H100-NVL-94GB",
    "H200-SXM-141GB",
    "H200-NVL-141GB",
    "B200",
    "B300",
    "MI210",
    "MI300X",
    "MI325X",
    "MI355X",
)
"""The cards seen in Kubernetes fleets, judged when the caller names none."""

_NODE_GPUS = 8
# Boards that no server holds eight of.
_NODE_GPUS_OF = {"GB200": 4, "GB300": 4, "GH200-96GB": 1, "GH200-144GB": 1, "GB10": 1, "MI300A": 4}
# Engines see a little less than the node states: 0.973 (T4) to 0.995 (H100).
_OF_STATED = 0.97
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class StatedCard:
    """A card that a node describes by memory only: its name is no catalogue name."""

    name: str
    memory_mib: int


@dataclass(frozen=True, slots=True)
class Card:
    """One kind of unit to judge: a whole GPU, or a MIG device when ``mig_profile`` is set."""

    name: str  # as it was asked for; the ``gpu_model`` of shapes
    accelerator: Accelerator | None  # None: nothing is known but the memory
    usable_mib: float
    max_per_node: int
    mig_profile: str | None = None
    compute_share: float = 1.0  # of the board; below 1 for MIG devices
    note: str = ""

    @property
    def nvlink(self) -> bool:
        """Whether more than two GPUs of a node are joined by a fast link."""
        if self.accelerator is None or self.mig_profile:
            return False
        return (self.accelerator.nvlink_domain_size or 0) >= 4

    @property
    def unit(self) -> str:
        return f"{self.name} MIG {self.mig_profile}" if self.mig_profile else self.name


def resolve(wanted: str | StatedCard) -> Card:
    """The card of a catalogue name, of a family name ("H100") or with stated memory.

    A family name stands for its member with the least memory, so that what fits on it fits on
    each of them. Raises ``SizingError`` for a name that is neither.
    """
    if isinstance(wanted, StatedCard):
        return _stated(wanted)
    exact = accelerator(wanted)
    if exact is not None:
        return _card(wanted, exact, "")
    member = _family_member(wanted)
    if member is not None:
        note = say(
            "{family} is sized as {card}, the smallest so named.",
            family=wanted[:_SHOWN],
            card=member.name,
        )
        return _card(wanted, member, note)
    near = difflib.get_close_matches(wanted[:_SHOWN], accelerators(), n=3, cutoff=0.4)
    unknown = say("The catalogue has no GPU model {name!r}.", name=wanted[:_SHOWN])
    raise SizingError("constraints.gpu_models", with_near(unknown, near))


def mig_cards(card: Card) -> tuple[Card, ...]:
    """The MIG devices that the card can be cut into, smallest first; variants left out."""
    if card.accelerator is None or card.mig_profile:
        return ()
    return tuple(
        replace(
            card,
            mig_profile=cut.name,
            usable_mib=profile_usable_mib(card.accelerator, cut),
            max_per_node=1,
            compute_share=cut.compute_slices / cut.compute_slices_total,
        )
        for cut in profiles(card.accelerator.name)
        if not cut.is_variant
    )


def _card(name: str, board: Accelerator, note: str) -> Card:
    return Card(
        name, board, usable_mib(board), _NODE_GPUS_OF.get(board.name, _NODE_GPUS), note=note
    )


def _stated(wanted: StatedCard) -> Card:
    if wanted.memory_mib <= 0:
        raise SizingError(
            "constraints.gpu_models",
            say("{card!r} states no memory to size with.", card=wanted.name[:_SHOWN]),
        )
    member = accelerator(wanted.name) or _family_member(wanted.name)
    note = say("{card} is sized by the memory that its node states.", card=wanted.name[:_SHOWN])
    if member is None:
        note += " " + say("What it can compute is not known.")
    return Card(
        wanted.name,
        member,
        wanted.memory_mib * _OF_STATED,
        _NODE_GPUS if member is None else _NODE_GPUS_OF.get(member.name, _NODE_GPUS),
        note=note,
    )


def _family_member(name: str) -> Accelerator | None:
    """The card with the least memory among those that the name may mean."""
    found = candidates(name)
    return min(found, key=lambda board: (usable_mib(board), board.name), default=None)
