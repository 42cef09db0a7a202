"""Sizing: from a declared workload to the shapes that work, with their arithmetic.

    >>> size(LlmWorkload(name="chat", model="Qwen/Qwen3-8B")).sentence

Method and measured error: docs/sizing.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from fleet.catalogue.models import Model
from fleet.sizing import embedding, llm, load_time, precision, training
from fleet.sizing.cards import STANDARD, Card, StatedCard, resolve
from fleet.sizing.errors import SizingError
from fleet.sizing.kv_cache import kv_cost
from fleet.sizing.requirement import Fit, Requirement, Shape
from fleet.sizing.shape import assumptions_of, model_of
from fleet.sizing.verdict import Options
from fleet.units import gib_text
from fleet.words import say
from fleet.workloads import EmbeddingWorkload, LlmWorkload, Workload, kind_of

__all__ = ["STANDARD", "SizingError", "StatedCard", "size"]

_NAMED = 3  # alternatives in the sentence


def size(workload: Workload, *, cards: Sequence[str | StatedCard] | None = None) -> Requirement:
    """What one replica of the workload needs.

    ``cards``: catalogue names to judge; a family name ("H100") is judged as its smallest member;
    a ``StatedCard`` by the memory that its node states. None: the workload's ``gpu_models``, else
    the cards seen in Kubernetes fleets.
    Raises ``SizingError`` (``field``, ``message``) for a model or card that is not known and for
    a workload that contradicts itself. A workload that fits nowhere is an answer, not an error.
    """
    entry = model_of(workload)
    options, assumed, confidence = _by_kind(entry, workload)
    wanted = cards if cards is not None else workload.constraints.gpu_models or STANDARD
    judged = [resolve(card) for card in dict.fromkeys(wanted)]
    shapes: list[Shape] = []
    refused: list[Shape] = []
    for card in judged:
        found = options(card)
        shapes.extend(found.working)
        if found.refused is not None:
            refused.append(found.refused)
    shapes.sort(key=_order)
    refused.sort(key=lambda shape: (-shape.usable_mib, shape.gpu_model))
    working = {shape.gpu_model for shape in shapes}
    return Requirement(
        workload=workload.name,
        kind=kind_of(workload),
        shapes=tuple(shapes),
        refused=tuple(refused),
        sentence=_sentence(shapes, refused),
        assumptions=(
            *assumptions_of(entry),
            *assumed,
            *(card.note for card in judged if card.note),
            *_precision_notes(workload, [card for card in judged if card.name in working]),
            load_time.assumption(),
        ),
        confidence=confidence,
    )


def _by_kind(
    entry: Model, workload: Workload
) -> tuple[Callable[[Card], Options], tuple[str, ...], str]:
    if isinstance(workload, EmbeddingWorkload):
        assumed = embedding.check(entry, workload)
        text = say("calculated; batch activations are rough, at most a few GiB")
        return lambda card: embedding.options(entry, workload, card), assumed, text
    if isinstance(workload, LlmWorkload):
        assumed = llm.check(entry, workload)
        text = say(
            "calculated; weights within {weights} and KV cache within {cache} of half the "
            "measured runs",
            weights="2 %",
            cache="1 %",
        )
        if not kv_cost(entry).certain:
            text = say("low: the KV cache of this model is a rough estimate")
        return lambda card: llm.options(entry, workload, card), assumed, text
    assumed = training.check(entry, workload)
    text = say("calculated; typical error of the peak {low} to {high}", low="6", high="11 %")
    return lambda card: training.options(entry, workload, card), assumed, text


def _order(shape: Shape) -> tuple[bool, int, float, str, str, int]:
    return (
        shape.fit is not Fit.FITS,
        shape.gpus,
        shape.usable_mib,
        shape.gpu_model,
        shape.mig_profile or "",
        shape.pods,
    )


def _sentence(shapes: Sequence[Shape], refused: Sequence[Shape]) -> str:
    if not shapes:
        if not refused:
            return say("No card was given to judge.")
        best = refused[0]
        return say("Fits no card that was judged. {card}: {why}", card=best.unit, why=best.why)
    return in_words([shape for shape in shapes if shape.mig_profile is None])


def in_words(shapes: Sequence[Shape]) -> str:
    """The first shapes in one phrase, in their order, of each number of units one: "1 × H100 or
    2 × A100 in one node". At least one shape."""
    named: dict[int, Shape] = {}
    for shape in shapes:
        named.setdefault(shape.gpus, shape)
    texts = [_text(shape) for shape in list(named.values())[:_NAMED]]
    return reduce(lambda most, last: say("{shapes} or {shape}", shapes=most, shape=last), texts)


def _text(shape: Shape) -> str:
    card = f"{shape.gpus} × {shape.unit} ({gib_text(shape.usable_mib, 0)})"
    if shape.pods > 1:
        card = say(
            "{cards} in {pods} pods of {gpus}",
            cards=card,
            pods=shape.pods,
            gpus=shape.gpus_per_pod,
        )
    elif shape.gpus > 1:
        card = say("{cards} in one node", cards=card)
    return say("{shape}, tight", shape=card) if shape.fit is Fit.TIGHT else card


def _precision_notes(workload: Workload, cards: Sequence[Card]) -> list[str]:
    """What cards use instead of the stated number format, one sentence for each reason."""
    names: dict[str, list[str]] = {}
    for card in cards:
        if isinstance(workload, EmbeddingWorkload | LlmWorkload):
            rule = precision.inference_rule(card, workload.precision)
        else:
            rule = precision.training_rule(card, workload.recipe, workload.method)
        if rule.note:
            names.setdefault(rule.note, []).append(card.name)
        kv8 = isinstance(workload, LlmWorkload) and workload.kv_precision == "fp8"
        if kv8 and not precision.has_fp8_kv(card):
            names.setdefault(say("no fp8, the KV cache keeps 16 bits"), []).append(card.name)
    return [precision.about(", ".join(cards_so), note) for note, cards_so in names.items()]
