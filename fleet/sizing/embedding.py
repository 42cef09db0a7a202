"""Sizing of embedding and reranking: one GPU or MIG device, memory set by the batch.

Formulas and sources: docs/sizing.md, "Embedding".
"""

from __future__ import annotations

import math
from dataclasses import replace

from fleet.catalogue.models import Model
from fleet.sizing import precision
from fleet.sizing.cards import Card, mig_cards
from fleet.sizing.errors import SizingError
from fleet.sizing.host import serving_host
from fleet.sizing.load_time import load_time
from fleet.sizing.overhead import GIB
from fleet.sizing.requirement import Fit, Line, MemoryUse, Shape
from fleet.sizing.verdict import Options, margin_line, verdict
from fleet.sizing.weights import MIB, checkpoint_bytes, weights_per_gpu
from fleet.units import gib_text
from fleet.words import say
from fleet.workloads import EmbeddingWorkload

SOURCE = "docs/sizing.md, Embedding"
KINDS = ("embedding", "reranker", "llm")
_RUNTIME = 1.0 * GIB
_COPIES = 20  # hidden vectors of one token alive at the peak
_EFFICIENCY = 0.30  # of the peak matrix rate, batched server


def check(entry: Model, workload: EmbeddingWorkload) -> tuple[str, ...]:
    """Refuse what contradicts itself; return what was assumed. Raises ``SizingError``."""
    if entry.kind not in KINDS:
        raise SizingError(
            "model",
            say(
                "{model} is a model of kind {kind}, not one that embeds text.",
                model=entry.name,
                kind=entry.kind,
            ),
        )
    if workload.max_sequence_tokens > workload.max_batch_tokens:
        raise SizingError(
            "max_batch_tokens",
            say(
                "A batch of {batch:,} tokens cannot hold one text of {text:,} tokens "
                "(max_sequence_tokens).",
                batch=workload.max_batch_tokens,
                text=workload.max_sequence_tokens,
            ),
        )
    if entry.max_context is not None and workload.max_sequence_tokens > entry.max_context:
        raise SizingError(
            "max_sequence_tokens",
            say(
                "{model} takes at most {most:,} tokens a text, not {wanted:,}.",
                model=entry.name,
                most=entry.max_context,
                wanted=workload.max_sequence_tokens,
            ),
        )
    return (
        say(
            "The server bounds a batch to {batch:,} tokens (as TEI does); memory does not grow "
            "with concurrency.",
            batch=workload.max_batch_tokens,
        ),
        say(
            "Speed: {share} of the card's peak, as batched servers reach.",
            share=f"{_EFFICIENCY:.0%}",
        ),
    )


def options(entry: Model, workload: EmbeddingWorkload, card: Card) -> Options:
    """One whole GPU of that card, and the MIG devices that hold the model."""
    whole = judge(entry, workload, card)
    rule = precision.inference_rule(card, workload.precision)
    if not rule.works:
        return Options((), replace(whole, fit=Fit.NO, why=precision.about(card.name, rule.note)))
    if whole.fit is Fit.NO:
        return Options((), whole)
    working = [whole]
    if workload.constraints.allow_mig:
        devices = (judge(entry, workload, cut) for cut in mig_cards(card))
        working.extend(shape for shape in devices if shape.fit is not Fit.NO)
    if card.accelerator is None:
        working = [replace(shape, fit=Fit.TIGHT) for shape in working]
    return Options(tuple(working), None)


def judge(entry: Model, workload: EmbeddingWorkload, card: Card) -> Shape:
    """One unit of that card: memory, verdict, speed and arithmetic."""
    width = 4 if workload.precision == "fp32" else 2
    weights, weights_line = weights_per_gpu(entry, workload.precision)
    tokens = workload.max_batch_tokens
    layer = tokens * entry.width * _COPIES * width / MIB
    formula = say(
        "{tokens:,} tokens × {product} B",
        tokens=tokens,
        product=f"{entry.width} × {_COPIES} × {width}",
    )
    if not precision.has_flash_attention(card) or workload.precision == "fp32":
        scores = entry.num_heads * workload.max_sequence_tokens * tokens * width / MIB
        layer += scores
        formula += " + " + say(
            "scores without flash attention {heads} heads × {product} B",
            heads=entry.num_heads,
            product=f"{workload.max_sequence_tokens:,} × {tokens:,} × {width}",
        )
    left = card.usable_mib - weights - layer - _RUNTIME
    fit = verdict(left, weights, card.usable_mib)
    checkpoint = checkpoint_bytes(entry, workload.precision)
    cpu, memory, host_line = serving_host(checkpoint, 1, 1, light=True)
    ready = load_time(checkpoint / 1e9, "embedding")
    total = weights + layer + _RUNTIME
    return Shape(
        gpu_model=card.name,
        mig_profile=card.mig_profile,
        gpus_per_pod=1,
        pods=1,
        parallelism=say("one GPU") if card.mig_profile is None else say("one MIG device"),
        cpu_milli=cpu,
        memory_mib=memory,
        usable_mib=card.usable_mib,
        use=MemoryUse(weights, 0.0, layer, 0.0, _RUNTIME),
        fit=fit,
        why=_why(fit, gib_text(total), gib_text(card.usable_mib)),
        lines=(
            Line(
                say("Usable memory"),
                say("what engines see of one {card}", card=card.unit),
                card.usable_mib,
                SOURCE,
            ),
            weights_line,
            Line(say("Batch activations"), formula, layer, SOURCE),
            Line(say("Runtime"), say("CUDA context, server and libraries"), _RUNTIME, SOURCE),
            Line(say("Left"), say("usable − weights − batch − runtime"), left, SOURCE),
            margin_line(weights, card.usable_mib),
            _speed_line(entry, workload, card),
            ready.line,
            host_line,
        ),
        load_seconds=(ready.low, ready.high),
    )


def _why(fit: Fit, taken: str, usable: str) -> str:
    if fit is Fit.FITS:
        return say(
            "Weights, batch and runtime take {taken} of {usable}.", taken=taken, usable=usable
        )
    if fit is Fit.TIGHT:
        return say(
            "Weights, batch and runtime take {taken} of {usable}: little to spare.",
            taken=taken,
            usable=usable,
        )
    return say(
        "Weights, batch and runtime take {taken} of {usable}, too much.",
        taken=taken,
        usable=usable,
    )


def tokens_per_second(entry: Model, card: Card, number_format: str) -> float | None:
    """Tokens embedded in a second by one unit of that card; None when its speed is not known."""
    board = card.accelerator
    if board is None or board.bf16_tflops is None or number_format == "fp32":
        return None
    computed = max(entry.active_params_b - entry.embedding_params_b - entry.head_params_b, 1e-3)
    return _EFFICIENCY * card.compute_share * board.bf16_tflops * 1e3 / (2 * computed)


def _speed_line(entry: Model, workload: EmbeddingWorkload, card: Card) -> Line:
    speed = tokens_per_second(entry, card, workload.precision)
    if speed is None:
        text = say(
            "speed of one {card} in {precision} is not known",
            card=card.unit,
            precision=workload.precision,
        )
    elif workload.tokens_per_second:
        text = say(
            "about {speed:,.0f} tokens/s a unit; {wanted:,.0f} wanted: {replicas} replicas",
            speed=speed,
            wanted=workload.tokens_per_second,
            replicas=math.ceil(workload.tokens_per_second / speed),
        )
    else:
        text = say("about {speed:,.0f} tokens/s a unit", speed=speed)
    return Line(say("Speed"), text, None, SOURCE)
