"""Sizing of LLM inference: which splits of a model fit on a card, with the arithmetic.

Formulas, sources and measured error: docs/sizing.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fleet.catalogue.models import Model
from fleet.sizing import kv_cache, overhead, parallelism, precision
from fleet.sizing.cards import Card, mig_cards
from fleet.sizing.errors import SizingError
from fleet.sizing.host import serving_host
from fleet.sizing.kv_cache import KvCost, kv_cost
from fleet.sizing.load_time import load_time
from fleet.sizing.overhead import Overhead, default_sequences, engine_overhead
from fleet.sizing.parallelism import Split, splits
from fleet.sizing.requirement import Fit, Line, MemoryUse, Shape
from fleet.sizing.verdict import SOURCE, Options, margin_line, verdict
from fleet.sizing.weights import MIB, checkpoint_bytes, weight_format, weights_per_gpu
from fleet.units import gib_text
from fleet.words import say
from fleet.workloads import LlmWorkload

KINDS = ("llm", "vlm")
_TRT_UNEXPLAINED = 512.0
_SMALL_NODE = 4


def check(entry: Model, workload: LlmWorkload) -> tuple[str, ...]:
    """Refuse what contradicts itself; return what was assumed. Raises ``SizingError``."""
    if entry.kind not in KINDS:
        raise SizingError(
            "model",
            say(
                "{model} is a model of kind {kind}, not one that generates text.",
                model=entry.name,
                kind=entry.kind,
            ),
        )
    mean = workload.input_tokens + workload.output_tokens
    if mean > workload.max_context:
        raise SizingError(
            "max_context",
            say(
                "A mean request has {mean:,} tokens (input + output), more than max_context "
                "{longest:,}. Raise max_context.",
                mean=mean,
                longest=workload.max_context,
            ),
        )
    found = []
    if entry.max_context is not None and workload.max_context > entry.max_context:
        found.append(
            say(
                "max_context {wanted:,} is beyond the {published:,} tokens that {model} was "
                "published with: needs RoPE scaling.",
                wanted=workload.max_context,
                published=entry.max_context,
                model=entry.name,
            )
        )
    form = weight_format(entry, workload.precision)
    if form.note is not None:
        found.append(say("Weights: {note}.", note=form.note()))
    elif workload.precision in ("fp8", "nvfp4") and not entry.native_dtype.startswith("fp8"):
        found.append(
            say(
                "{precision} for all linear layers; checkpoints that keep some in 16 bits take up "
                "to a quarter more.",
                precision=workload.precision,
            )
        )
    if not kv_cost(entry).certain:
        found.append(
            say(
                "The KV cache of {model} is compressed; its size is a rough estimate.",
                model=entry.name,
            )
        )
    if entry.kind == "vlm":
        found.append(say("Vision tower loaded; text-only serving would need less."))
    found.append(
        say(
            "Mean request of {mean:,} tokens for the concurrency; one request of max_context "
            "{longest:,} tokens must fit as well.",
            mean=mean,
            longest=workload.max_context,
        )
    )
    return tuple(found)


def options(entry: Model, workload: LlmWorkload, card: Card) -> Options:
    """The shapes of one replica on that card: the fewest GPUs that fit, the next larger split
    when those are merely tight, and the MIG devices that hold the model alone."""
    rule = precision.inference_rule(card, workload.precision)
    group = weight_format(entry, workload.precision).group
    tries = splits(entry, group, card.max_per_node)
    if not rule.works:
        why = precision.about(card.name, rule.note)
        return Options((), replace(judge(entry, workload, card, tries[0]), fit=Fit.NO, why=why))
    working, last = _smallest(entry, workload, card, tries)
    if working and working[0].gpus_per_pod > _SMALL_NODE:
        # Nodes with four GPUs may hold it as well, in more pods.
        least = working[0].gpus
        spread = [s for s in splits(entry, group, _SMALL_NODE) if s.pods > 1 and s.gpus >= least]
        working.extend(_smallest(entry, workload, card, spread)[0])
    if workload.constraints.allow_mig and working and working[0].gpus == 1:
        devices = (judge(entry, workload, cut, tries[0]) for cut in mig_cards(card))
        working.extend(shape for shape in devices if shape.fit is not Fit.NO)
    if card.accelerator is None:
        # What the card computes is not known: memory alone does not make it a safe choice.
        working = [replace(shape, fit=Fit.TIGHT) for shape in working]
    return Options(tuple(working), None if working else last)


def _smallest(
    entry: Model, workload: LlmWorkload, card: Card, tries: Iterable[Split]
) -> tuple[list[Shape], Shape | None]:
    """The first split that works, and the next that fits when that one is merely tight; and the
    last one tried."""
    working: list[Shape] = []
    last = None
    for split in tries:
        last = judge(entry, workload, card, split)
        if last.fit is Fit.NO or (last.fit is Fit.TIGHT and working):
            continue
        working.append(last)
        if last.fit is Fit.FITS:
            break
    return working, last


def judge(
    entry: Model,
    workload: LlmWorkload,
    card: Card,
    split: Split,
    *,
    sequences: int | None = None,
    batched_tokens: int | None = None,
) -> Shape:
    """One split on one card: memory of the fullest GPU, verdict and arithmetic.

    ``sequences`` and ``batched_tokens`` override the engine's defaults for its batch limits.
    """
    tp, pp = split.tp, split.pp
    weights, weights_line = weights_per_gpu(entry, workload.precision, tp, pp)
    taken = engine_overhead(
        entry,
        card,
        workload.engine,
        tp,
        pp,
        sequences=sequences or max(default_sequences(card), workload.concurrency),
        batched_tokens=batched_tokens,
    )
    budget, budget_line = _budget(workload, card, weights, taken)
    left = budget - weights - taken.activations - taken.runtime
    cost = kv_cost(entry, value_bytes=_value_bytes(workload, card), tp=tp, pp=pp)
    mean = workload.input_tokens + workload.output_tokens
    longest = cost.sequence_bytes(workload.max_context) / MIB
    wanted = workload.concurrency * cost.sequence_bytes(mean) / MIB
    need = max(longest, wanted)
    fit = verdict(left - need, weights, card.usable_mib)
    checkpoint = checkpoint_bytes(entry, workload.precision)
    cpu, memory, host_line = serving_host(checkpoint, split.gpus_per_pod, split.pods, light=False)
    ready = load_time(checkpoint / 1e9, "moe" if entry.is_moe else "dense", split.pods)
    concurrency = max(int(left / (cost.sequence_bytes(mean) / MIB)), 0) if left > 0 else 0
    lines = (
        Line(
            say("Usable memory"),
            say("what engines see of one {card}", card=card.unit),
            card.usable_mib,
            SOURCE,
        ),
        budget_line,
        weights_line,
        *taken.lines,
        Line(
            say("Left for KV cache"),
            say("budget − weights − activations − runtime"),
            left,
            SOURCE,
        ),
        _kv_line(workload, cost, longest, wanted, mean),
        margin_line(weights, card.usable_mib),
        Line(
            say("Concurrency"),
            say(
                "{requests:,} requests of {mean:,} tokens at once", requests=concurrency, mean=mean
            ),
            None,
            SOURCE,
        ),
        Line(say("Split"), split.label, None, parallelism.SOURCE),
        ready.line,
        host_line,
    )
    return Shape(
        gpu_model=card.name,
        mig_profile=card.mig_profile,
        gpus_per_pod=split.gpus_per_pod,
        pods=split.pods,
        parallelism=split.label,
        cpu_milli=cpu,
        memory_mib=memory,
        usable_mib=card.usable_mib,
        use=MemoryUse(weights, need, taken.activations, 0.0, taken.runtime),
        fit=fit,
        why=_why(fit, card, weights, taken, left, longest, wanted, workload),
        lines=lines,
        max_concurrency=concurrency,
        load_seconds=(ready.low, ready.high),
    )


def _value_bytes(workload: LlmWorkload, card: Card) -> int:
    if workload.kv_precision == "fp8" and precision.has_fp8_kv(card):
        return 1
    if workload.kv_precision == "auto" and workload.precision == "fp32":
        return 4
    return 2


def _budget(
    workload: LlmWorkload, card: Card, weights: float, taken: Overhead
) -> tuple[float, Line]:
    """MiB that weights, activations, runtime and KV cache may take together."""
    share, total = workload.memory_utilization, card.usable_mib
    if workload.engine == "tensorrt-llm":
        # The share applies to what is free after everything else is loaded.
        fixed = weights + taken.activations + taken.runtime + _TRT_UNEXPLAINED
        free = max(total - fixed, 0.0)
        budget = min(fixed, total) - _TRT_UNEXPLAINED + share * free
        formula = say(
            "{share:g} of the memory free after loading, beside what is loaded", share=share
        )
        return budget, Line(say("Budget"), formula, budget, overhead.SOURCE)
    if workload.engine == "sglang":
        formula = say(
            "memory fraction {share:g} for weights and KV, less when the reserve is larger",
            share=share,
        )
        static = min(share * total, total - taken.activations - taken.runtime)
        budget = static + taken.activations + taken.runtime
        return budget, Line(say("Budget"), formula, budget, overhead.SOURCE)
    budget = share * total
    return budget, Line(say("Budget"), f"{share:g} × {gib_text(total)}", budget, overhead.SOURCE)


def _kv_line(workload: LlmWorkload, cost: KvCost, longest: float, wanted: float, mean: int) -> Line:
    parts = [
        say("per token {formula} = {token:,.0f} B", formula=cost.formula, token=cost.per_token)
    ]
    if cost.per_window_token:
        parts.append(
            say(
                "{token:,.0f} B a token in sliding layers up to {window:,}",
                token=cost.per_window_token,
                window=cost.window,
            )
        )
    if cost.per_sequence:
        parts.append(say("state {state:,.0f} MiB a request", state=cost.per_sequence / MIB))
    parts.append(
        say(
            "larger of {requests} requests × {mean:,} tokens = {wanted} and one of {most:,} = "
            "{longest}",
            requests=workload.concurrency,
            mean=mean,
            wanted=gib_text(wanted),
            most=workload.max_context,
            longest=gib_text(longest),
        )
    )
    return Line(say("KV cache"), "; ".join(parts), max(longest, wanted), kv_cache.SOURCE)


def _why(
    fit: Fit,
    card: Card,
    weights: float,
    taken: Overhead,
    left: float,
    longest: float,
    wanted: float,
    workload: LlmWorkload,
) -> str:
    if left <= 0 and weights < max(taken.activations, taken.runtime):
        return _crowded(card, taken, workload)
    if left <= 0:
        return say(
            "Weights of {weights} a GPU and the engine leave nothing of the {usable} for a KV "
            "cache.",
            weights=gib_text(weights),
            usable=gib_text(card.usable_mib),
        )
    if fit is Fit.NO and left < longest:
        return say(
            "{left} a GPU is left for the KV cache; one request of {tokens:,} tokens needs {need}.",
            left=gib_text(left),
            tokens=workload.max_context,
            need=gib_text(longest),
        )
    if fit is Fit.NO:
        return say(
            "{left} a GPU is left for the KV cache; {requests:,} requests at once need {need}. "
            "Take more replicas with fewer requests at once each.",
            left=gib_text(left),
            requests=workload.concurrency,
            need=gib_text(wanted),
        )
    sizes = {"weights": gib_text(weights), "left": gib_text(left)}
    sizes["need"] = gib_text(max(longest, wanted))
    if fit is Fit.FITS:
        return say(
            "Weights {weights} a GPU; {left} left for a KV cache of {need}: enough to spare.",
            **sizes,
        )
    return say(
        "Weights {weights} a GPU; {left} left for a KV cache of {need}: little to spare.", **sizes
    )


def _crowded(card: Card, taken: Overhead, workload: LlmWorkload) -> str:
    """Why activations and the engine, not the weights, leave nothing. Activations of the sampler
    grow with the requests at once."""
    usable = gib_text(card.usable_mib)
    is_of_requests = (
        taken.activations > taken.runtime
        and workload.engine != "sglang"
        and workload.concurrency > default_sequences(card)
    )
    if is_of_requests:
        return say(
            "Activations for {requests:,} requests at once take {activations} a GPU and leave "
            "nothing of the {usable} for a KV cache. Take more replicas with fewer requests at "
            "once each.",
            requests=workload.concurrency,
            activations=gib_text(taken.activations),
            usable=usable,
        )
    return say(
        "Activations of {activations} and {runtime} of the engine's buffers a GPU leave nothing "
        "of the {usable} for a KV cache.",
        activations=gib_text(taken.activations),
        runtime=gib_text(taken.runtime),
        usable=usable,
    )
