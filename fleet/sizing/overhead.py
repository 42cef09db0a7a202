"""Memory that an inference engine takes besides weights and KV cache.

Constants are fits to logged runs; their error is in docs/sizing.md, "Engine overhead".
"""

from __future__ import annotations

from dataclasses import dataclass

from fleet.catalogue.models import Model
from fleet.sizing.cards import Card
from fleet.sizing.requirement import Line
from fleet.sizing.weights import MIB
from fleet.words import say

SOURCE = "docs/sizing.md, Engine overhead"

GIB = 1024.0  # MiB
_SAMPLER = 9.7  # copies of the fp32 logits in the sampler warm-up
_LARGE_GIB = 70
_VISION_PROFILE = 2.5 * GIB
_NON_TORCH_ONE = 0.1 * GIB
_NON_TORCH_PCIE = 0.5 * GIB
_NON_TORCH_NVLINK = 1.6 * GIB
_GRAPHS_ONE = 0.5 * GIB
_GRAPHS_MANY = 1.3 * GIB
# SGLang 0.5: reserve outside the static pool.
_SGLANG_BASE = 512.0
_SGLANG_PER_CHUNK_TOKEN = 1.5
_SGLANG_GRAPHS = 2.0 * 160
_SGLANG_LEAST_LARGE = 10 * GIB


@dataclass(frozen=True, slots=True)
class Overhead:
    """MiB on one GPU, and the arithmetic."""

    activations: float
    runtime: float
    lines: tuple[Line, ...]


def is_large(card: Card) -> bool:
    """Whether vLLM takes its defaults for large GPUs: from 70 GiB, the A100 excepted."""
    return card.usable_mib >= _LARGE_GIB * GIB and not card.name.startswith(("A100", "A800"))


def default_sequences(card: Card) -> int:
    """How many sequences vLLM batches by default: 1,024 on large GPUs, else 256."""
    return 1024 if is_large(card) else 256


def engine_overhead(
    entry: Model,
    card: Card,
    engine: str,
    tp: int = 1,
    pp: int = 1,
    *,
    sequences: int | None = None,
    batched_tokens: int | None = None,
) -> Overhead:
    """Activation peak and runtime buffers of an engine on one GPU.

    ``sequences`` and ``batched_tokens`` are the engine's batch limits; None takes its defaults
    for the card (256 and 2,048; 1,024 and 8,192 on large GPUs).
    """
    if engine == "sglang":
        return _sglang(card, tp, pp)
    sequences = sequences or default_sequences(card)
    tokens = batched_tokens or (8192 if is_large(card) else 2048)
    activations, line = _activations(entry, tp, sequences, tokens)
    return _with_runtime(activations, line, card, tp * pp)


def _activations(entry: Model, tp: int, sequences: int, tokens: int) -> tuple[float, Line]:
    sampler = _SAMPLER * sequences * entry.vocab_size * 4 / MIB
    ffn = entry.intermediate_size or (entry.expert_size or 0) * max(entry.experts_per_token, 1)
    qkv = (entry.num_heads + 2 * entry.num_kv_heads) * entry.head_dim
    layer = tokens * (2 * ffn / tp + 6 * entry.width + qkv / tp) * 2 / MIB
    if entry.kind == "vlm" and max(sampler, layer) < _VISION_PROFILE:
        mib, formula = _VISION_PROFILE, say("profile run with images, at least")
    elif sampler >= layer:
        mib = sampler
        formula = say(
            "sampler: {copies} × {sequences} sequences × vocabulary {vocabulary} × 4 B",
            copies=_SAMPLER,
            sequences=sequences,
            vocabulary=entry.vocab_size,
        )
    else:
        mib = layer
        formula = say(
            "widest layer: {tokens} tokens × {values} × 2 B",
            tokens=tokens,
            values=f"(2 × {ffn} / {tp} + 6 × {entry.width} + {qkv} / {tp})",
        )
    return mib, Line(say("Activation peak"), formula, mib, SOURCE)


def _with_runtime(activations: float, line: Line, card: Card, gpus: int) -> Overhead:
    if gpus == 1:
        buffers, what = _NON_TORCH_ONE, say("CUDA context and libraries")
    elif card.nvlink:
        buffers, what = _NON_TORCH_NVLINK, say("context, NCCL and all-reduce buffers over NVLink")
    else:
        buffers, what = _NON_TORCH_PCIE, say("context and NCCL buffers over PCIe")
    graphs = _GRAPHS_ONE if gpus == 1 else _GRAPHS_MANY
    return Overhead(
        activations,
        buffers + graphs,
        (
            line,
            Line(say("Runtime"), what, buffers, SOURCE),
            Line(say("CUDA graphs"), say("captured decode batches"), graphs, SOURCE),
        ),
    )


def _sglang(card: Card, tp: int, pp: int) -> Overhead:
    gib = card.usable_mib / GIB
    chunk = 2048 if gib < 35 else 4096 if gib < 60 else 8192
    prefill = _SGLANG_PER_CHUNK_TOKEN * chunk
    runtime = _SGLANG_BASE + tp * pp * GIB / 8 + _SGLANG_GRAPHS
    if gib > 60:
        runtime = max(runtime, _SGLANG_LEAST_LARGE - prefill)
    return Overhead(
        prefill,
        runtime,
        (
            Line(
                say("Activation peak"),
                say("1.5 MiB × chunked prefill of {tokens} tokens", tokens=chunk),
                prefill,
                SOURCE,
            ),
            Line(
                say("Runtime"),
                say(
                    "512 MiB + {gpus} GPUs / 8 GiB + graphs of 160 sequences × 2 MiB", gpus=tp * pp
                ),
                runtime,
                SOURCE,
            ),
        ),
    )
