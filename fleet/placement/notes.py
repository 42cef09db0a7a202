"""The words of the notes that an answer carries: what is left out, and how the search went.

They are made from facts that are kept, so that they can be said anew in another language.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fleet.placement.phrases import gpus_text
from fleet.placement.problem import NodeCapacity
from fleet.placement.result import SearchNote
from fleet.words import say, say_many


def problem_notes(
    nodes: Sequence[NodeCapacity], currency: str, quotas_left_out: int
) -> tuple[str, ...]:
    """What the placement leaves out."""
    notes: list[str] = []
    unknown = [node for node in nodes if node.unknown_cards]
    if unknown:
        notes.append(
            say_many(
                "Unknown model: {gpus} on {n} node. They cannot be proved to fit and are not used.",
                "Unknown model: {gpus} on {n} nodes. They cannot be proved to fit and are not "
                "used.",
                len(unknown),
                gpus=gpus_text(sum(n.unknown_cards for n in unknown)),
            )
        )
    unusable = sum(bool(node.unusable) for node in nodes)
    if unusable:
        notes.append(
            say_many(
                "Shared, partitioned, passed-through or DRA devices on {n} node are not used: "
                "this version places on whole GPUs and MIG devices only.",
                "Shared, partitioned, passed-through or DRA devices on {n} nodes are not used: "
                "this version places on whole GPUs and MIG devices only.",
                unusable,
            )
        )
    if quotas_left_out:
        notes.append(
            say_many(
                "{n} quota with scopes left out: such a quota covers only some pods.",
                "{n} quotas with scopes left out: such a quota covers only some pods.",
                quotas_left_out,
            )
        )
    unpriced = sorted(
        {s.gpu_model for n in nodes for s in n.slots if s.price_per_unit_hour is None}
    )
    if unpriced:
        notes.append(
            say(
                "No price in {currency} for {cards}: such cards rank after those with a price, "
                "the one with the least computing power first.",
                currency=currency,
                cards=", ".join(unpriced),
            )
        )
    return tuple(notes)


def search_notes(notes: Iterable[tuple[SearchNote, str]]) -> tuple[str, ...]:
    """How the search went."""
    return tuple(_search_note(note, value) for note, value in notes)


def _search_note(note: SearchNote, value: str) -> str:
    if note is SearchNote.TOO_LARGE:
        return say(
            "Too large for the exact part ({choices} choices): the bound is a simple one.",
            choices=value,
        )
    if note is SearchNote.CUT:
        return say(
            "The search was cut by its time budget or by hand: the answer is valid, its distance "
            "to the bound is stated, and another run may find another answer."
        )
    return say(
        "The exact answer failed its check ({fault}); the first answer is shown.", fault=value
    )
