"""Sizing of training: memory per GPU of full fine-tuning, LoRA and QLoRA, and how many GPUs.

Formulas, sources and measured error: docs/sizing.md, "Training".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fleet.catalogue.models import Model
from fleet.sizing import precision
from fleet.sizing.cards import Card, mig_cards
from fleet.sizing.errors import SizingError
from fleet.sizing.host import training_host
from fleet.sizing.load_time import load_time
from fleet.sizing.overhead import GIB
from fleet.sizing.requirement import Fit, Line, MemoryUse, Shape
from fleet.sizing.training_states import States, activations, states
from fleet.sizing.verdict import Options
from fleet.sizing.weights import MIB, checkpoint_bytes
from fleet.units import gib_text
from fleet.words import say
from fleet.workloads import TrainingWorkload

SOURCE = "docs/sizing.md, Training"
KINDS = ("llm", "vlm", "embedding", "reranker")
MAX_GPUS = 1024  # of a job whose GPU count is not stated
_MANY = 10**9  # GPUs: what is divided by them vanishes
_RUNTIME = 1.5 * GIB
_RESERVED_TIGHT = 1.05  # memory that the allocator holds over what tensors use
_RESERVED_FITS = 1.15
_SHARDING = {"ddp": "DDP", "zero1": "ZeRO-1", "zero2": "ZeRO-2", "zero3": "ZeRO-3"}


def check(entry: Model, workload: TrainingWorkload) -> tuple[str, ...]:
    """Refuse what contradicts itself; return what was assumed. Raises ``SizingError``."""
    if entry.kind not in KINDS:
        raise SizingError(
            "model", say("Training of models of kind {kind} is not modelled.", kind=entry.kind)
        )
    if workload.gpus and workload.gpus_per_worker and workload.gpus % workload.gpus_per_worker:
        raise SizingError(
            "gpus_per_worker",
            say(
                "{gpus} GPUs cannot be divided into workers of {worker} GPUs.",
                gpus=workload.gpus,
                worker=workload.gpus_per_worker,
            ),
        )
    found = [
        say(
            "Data parallel only (no tensor or pipeline split); loss over the whole vocabulary, "
            "not chunked or fused."
        )
    ]
    if entry.max_context is not None and workload.sequence_tokens > entry.max_context:
        found.append(
            say(
                "Sequences of {wanted:,} tokens are longer than the {published:,} that {model} "
                "was published with.",
                wanted=workload.sequence_tokens,
                published=entry.max_context,
                model=entry.name,
            )
        )
    if workload.method != "full":
        found.append(
            say("LoRA of rank 16 on all linear layers (attention only where experts route).")
        )
    if not workload.gpus_per_worker:
        found.append(say("Workers of 8, 4, 2 or 1 GPUs, as the nodes have."))
    return tuple(found)


def options(entry: Model, workload: TrainingWorkload, card: Card) -> Options:
    """The fewest GPUs of that card that hold the job, or the wanted number judged."""
    rule = precision.training_rule(card, workload.recipe, workload.method)
    reason = "" if rule.works else precision.about(card.name, rule.note)
    if not reason and not workload.gpus:
        reason = _never(entry, workload, card)
    last = None
    working: list[Shape] = []
    for count in _counts(workload, card):
        last = judge(entry, workload, card, count)
        if reason:
            last = replace(last, fit=Fit.NO, why=reason)
            break
        if last.fit is Fit.NO or (last.fit is Fit.TIGHT and working):
            continue
        working.extend(
            judge(entry, workload, card, count, size)
            for size in worker_sizes(workload, count, card.max_per_node)
        )
        if last.fit is Fit.FITS:
            break
    if working and working[0].gpus == 1 and workload.constraints.allow_mig:
        devices = (judge(entry, workload, cut, 1) for cut in mig_cards(card))
        working.extend(shape for shape in devices if shape.fit is not Fit.NO)
    if card.accelerator is None:
        working = [replace(shape, fit=Fit.TIGHT) for shape in working]
    return Options(tuple(working), None if working else last)


def _never(entry: Model, workload: TrainingWorkload, card: Card) -> str:
    """Why no number of GPUs is enough, or "": what sharding cannot divide."""
    found = _peak(entry, workload, _MANY)
    least = found.peak * _RESERVED_TIGHT + _RUNTIME
    if least <= card.usable_mib:
        return ""
    return say(
        "{sharding} leaves {least} on each GPU however many share the states, of {usable}: a "
        "smaller micro-batch, checkpointing or stronger sharding is needed.",
        sharding=_SHARDING[workload.sharding],
        least=gib_text(least),
        usable=gib_text(card.usable_mib),
    )


def _counts(workload: TrainingWorkload, card: Card) -> Iterator[int]:
    """Total GPU counts to try, fewest first."""
    worker = workload.gpus_per_worker
    if workload.gpus:
        yield workload.gpus
        return
    if worker:
        # DDP gains nothing from more GPUs: one worker tells all.
        most = 1 if workload.sharding == "ddp" else MAX_GPUS // worker
        yield from (worker * count for count in range(1, most + 1))
        return
    if workload.sharding == "ddp":
        yield 1
        return
    node = card.max_per_node
    yield from (count for count in (1, 2, 4, 8) if count <= node)
    yield from range(2 * node, MAX_GPUS + 1, node)


def worker_sizes(workload: TrainingWorkload, gpus: int, node: int) -> tuple[int, ...]:
    """GPUs of one worker: as stated, else the largest equal part that a node holds, and the
    smaller parts for fleets whose nodes hold fewer."""
    if workload.gpus_per_worker:
        return (workload.gpus_per_worker,)
    parts = [size for size in range(1, min(gpus, node) + 1) if gpus % size == 0]
    smaller = {size for size in (1, 2, 4) if size in parts}
    return tuple(sorted({parts[-1], *smaller}, reverse=True))


@dataclass(frozen=True, slots=True)
class _Peak:
    """MiB of the fullest GPU at its fullest moment."""

    use: MemoryUse
    peak: float
    lines: tuple[Line, ...]


def judge(
    entry: Model, workload: TrainingWorkload, card: Card, gpus: int, worker: int | None = None
) -> Shape:
    """``gpus`` GPUs of that card: memory of one, verdict and arithmetic.

    ``worker``: GPUs of one pod; None for as stated, else the largest part that a node holds.
    """
    found = _peak(entry, workload, gpus)
    usable = card.usable_mib
    if found.peak * _RESERVED_FITS + _RUNTIME <= usable:
        fit = Fit.FITS
    elif found.peak * _RESERVED_TIGHT + _RUNTIME <= usable:
        fit = Fit.TIGHT
    else:
        fit = Fit.NO
    worker = worker or worker_sizes(workload, gpus, card.max_per_node)[0]
    pods = gpus // worker
    too_large = worker > card.max_per_node
    if too_large:
        fit = Fit.NO
    checkpoint = checkpoint_bytes(entry, "bf16")
    cpu, memory, host_line = training_host(checkpoint, worker)
    ready = load_time(checkpoint / 1e9, "dense")
    if too_large:
        why = say(
            "A node with {card} holds up to {most} GPUs, not {worker}.",
            card=card.name,
            most=card.max_per_node,
            worker=worker,
        )
    else:
        why = _why(fit, found.use.total, gpus, usable)
    sharding = _SHARDING[workload.sharding]
    return Shape(
        gpu_model=card.name,
        mig_profile=card.mig_profile,
        gpus_per_pod=worker,
        pods=pods,
        parallelism=f"{sharding} × {gpus}" if gpus > 1 else say("one GPU"),
        cpu_milli=cpu,
        memory_mib=memory,
        usable_mib=usable,
        use=found.use,
        fit=fit,
        why=why,
        lines=(
            Line(
                say("Usable memory"),
                say("what a process sees of one {card}", card=card.unit),
                usable,
                SOURCE,
            ),
            *found.lines,
            Line(
                say("Reserved by the allocator"),
                say(
                    "{tight} of the peak; {fits} for a verdict of fits",
                    tight=f"{_RESERVED_TIGHT - 1:.0%}",
                    fits=f"{_RESERVED_FITS - 1:.0%}",
                ),
                found.peak * (_RESERVED_TIGHT - 1),
                SOURCE,
            ),
            Line(say("Runtime"), say("CUDA context, NCCL buffers"), _RUNTIME, SOURCE),
            ready.line,
            host_line,
        ),
        load_seconds=(ready.low, ready.high),
    )


def _why(fit: Fit, needed: float, gpus: int, usable: float) -> str:
    sizes = {"peak": gib_text(needed), "gpus": gpus, "usable": gib_text(usable)}
    if fit is Fit.FITS:
        return say("Peak of {peak} a GPU over {gpus} of {usable} each: fits.", **sizes)
    if fit is Fit.TIGHT:
        return say("Peak of {peak} a GPU over {gpus} of {usable} each: little to spare.", **sizes)
    return say("Peak of {peak} a GPU over {gpus} of {usable} each: too much.", **sizes)


def _peak(entry: Model, workload: TrainingWorkload, gpus: int) -> _Peak:
    held: States = states(entry, workload, gpus)
    act, act_lines = activations(entry, workload)
    # Activations and gathered layers are gone when the optimiser steps: the larger counts.
    moment = max(act + held.gathered, held.temporaries)
    peak = held.weights + held.optimizer + moment
    use = MemoryUse(
        weights=held.weights,
        kv_cache=0.0,
        activations=moment,
        optimizer=held.optimizer,
        overhead=peak * (_RESERVED_TIGHT - 1) + _RUNTIME,
    )
    lines = (
        *held.lines,
        *act_lines,
        Line(
            say("Peak"),
            say(
                "weights + optimiser + larger of activations with whole layers {activations} and "
                "optimiser temporaries {temporaries}",
                activations=gib_text(act + held.gathered),
                temporaries=gib_text(held.temporaries),
            ),
            peak,
            SOURCE,
        ),
    )
    return _Peak(use, peak, lines)


def peak_gib(entry: Model, workload: TrainingWorkload, gpus: int) -> float:
    """Peak of tensors on one GPU in GiB, before allocator reserve and runtime."""
    return _peak(entry, workload, gpus).peak * MIB / 2**30
