"""What training keeps on a GPU: weights, gradients and optimiser states, and activations.

Formulas, sources and measured error: docs/sizing.md, "Training".
"""

from __future__ import annotations

from dataclasses import dataclass

from fleet.catalogue.models import Model
from fleet.sizing.requirement import Line
from fleet.sizing.weights import MIB
from fleet.words import say
from fleet.workloads import TrainingWorkload

SOURCE = "docs/sizing.md, Training"
LORA_RANK = 16
_NF4 = 0.516  # bytes a parameter with double quantisation
_ADAPTER_BYTES = 16.0
_LOGIT_BYTES = 10.0  # 16-bit logits, fp32 copy and fp32 gradient


@dataclass(frozen=True, slots=True)
class Recipe:
    """Bytes per parameter."""

    weights: float
    gradients: float
    states: float
    temporaries: float  # on top, while the optimiser steps

    @property
    def resident(self) -> float:
        return self.weights + self.gradients + self.states


RECIPES = {
    "mixed": Recipe(2.0, 2.0, 12.0, 4.0),
    "bf16": Recipe(2.0, 2.0, 4.0, 2.0),
    "adam8bit": Recipe(2.0, 2.0, 2.0, 1.0),
}


@dataclass(frozen=True, slots=True)
class States:
    """MiB on one GPU."""

    weights: float
    optimizer: float  # gradients and optimiser states
    temporaries: float
    gathered: float  # whole layers collected by ZeRO-3, or de-quantised by QLoRA
    lines: tuple[Line, ...]


def adapter_params(entry: Model) -> float:
    """Parameters of a LoRA adapter: rank x (in + out) of each linear matrix."""
    hidden = entry.width
    query = entry.num_heads * entry.head_dim
    pairs = 2 * (hidden + query) + 2 * (hidden + entry.num_kv_heads * entry.head_dim)
    if not entry.is_moe:
        pairs += 3 * (hidden + (entry.intermediate_size or 4 * hidden))
    return float(LORA_RANK * pairs * entry.num_layers)


def states(entry: Model, workload: TrainingWorkload, gpus: int) -> States:
    """What does not depend on the batch, on each of ``gpus`` data-parallel GPUs."""
    if workload.method == "full":
        return _full(entry, workload, gpus)
    return _adapters(entry, workload, gpus)


def _shards(sharding: str, gpus: int) -> tuple[int, int, int]:
    """Over how many GPUs weights, gradients and optimiser states are divided."""
    weights = gpus if sharding == "zero3" else 1
    gradients = gpus if sharding in ("zero2", "zero3") else 1
    optimizer = gpus if sharding in ("zero1", "zero2", "zero3") else 1
    return weights, gradients, optimizer


def _full(entry: Model, workload: TrainingWorkload, gpus: int) -> States:
    recipe = RECIPES[workload.recipe]
    params = entry.total_params_b * 1e9 / MIB
    by_w, by_g, by_o = _shards(workload.sharding, gpus)
    weights = params * recipe.weights / by_w
    gradients = params * recipe.gradients / by_g
    optimizer = params * recipe.states / by_o
    temporaries = params * recipe.temporaries / by_o
    gathered = 2 * _layer_mib(entry) if by_w > 1 else 0.0
    count = f"{entry.total_params_b:.4g} B"
    lines = [
        Line(say("Weights"), f"{count} × {recipe.weights:g} B / {by_w}", weights, _source(entry)),
        Line(say("Gradients"), f"{count} × {recipe.gradients:g} B / {by_g}", gradients, SOURCE),
        Line(say("Optimiser states"), f"{count} × {recipe.states:g} B / {by_o}", optimizer, SOURCE),
        Line(
            say("Optimiser temporaries"),
            say("{sum}, while stepping", sum=f"{count} × {recipe.temporaries:g} B / {by_o}"),
            temporaries,
            SOURCE,
        ),
    ]
    if gathered:
        lines.append(Line(say("Gathered layers"), say("2 whole layers × 2 B"), gathered, SOURCE))
    return States(weights, gradients + optimizer, temporaries, gathered, tuple(lines))


def _adapters(entry: Model, workload: TrainingWorkload, gpus: int) -> States:
    by_w, _, by_o = _shards(workload.sharding, gpus)
    tables = entry.embedding_params_b + entry.head_params_b
    frozen = entry.total_params_b - tables
    if workload.method == "qlora":
        held = (frozen * _NF4 + tables * 2) * 1e9 / MIB / by_w
        text = f"({frozen:.4g} B × {_NF4} B + {tables:.3g} B × 2 B) / {by_w}"
        gathered = _layer_mib(entry)
        what = say("one de-quantised layer × 2 B")
    else:
        held = entry.total_params_b * 2e9 / MIB / by_w
        text = f"{entry.total_params_b:.4g} B × 2 B / {by_w}"
        gathered = 2 * _layer_mib(entry) if by_w > 1 else 0.0
        what = say("2 whole layers × 2 B")
    adapter = adapter_params(entry)
    trained = adapter * _ADAPTER_BYTES / MIB / by_o
    lines = [
        Line(say("Frozen weights"), text, held, _source(entry)),
        Line(
            say("Adapter"),
            say(
                "{product} (rank {rank})",
                product=f"{adapter / 1e6:,.1f} M × {_ADAPTER_BYTES:g} B / {by_o}",
                rank=LORA_RANK,
            ),
            trained,
            SOURCE,
        ),
    ]
    if gathered:
        lines.append(Line(say("Whole layers"), what, gathered, SOURCE))
    return States(held, trained, 0.0, gathered, tuple(lines))


def _layer_mib(entry: Model) -> float:
    """One layer of the model in 16 bits."""
    tables = entry.embedding_params_b + entry.head_params_b + entry.vision_params_b
    return (entry.total_params_b - tables) / entry.num_layers * 2e9 / MIB


def _source(entry: Model) -> str:
    return f"{entry.source}; {SOURCE}"


def activations(entry: Model, workload: TrainingWorkload) -> tuple[float, tuple[Line, ...]]:
    """MiB of activations of one micro-batch on one GPU, logits included."""
    tokens = workload.micro_batch * workload.sequence_tokens
    hidden = entry.width
    ratio = entry.num_kv_heads / entry.num_heads
    ffn = _active_width(entry)
    layer = tokens * (16 * hidden + 4 * hidden * ratio + 8 * ffn) / MIB
    one = say(
        "{tokens:,} tokens × {bytes} B",
        tokens=tokens,
        bytes=f"(16 × {hidden} + 4 × {hidden} × {ratio:.3g} + 8 × {ffn})",
    )
    if workload.checkpointing:
        kept = 2 * tokens * hidden * entry.num_layers / MIB
        total = kept + layer
        formula = say(
            "checkpoints {layers} layers × {product} B + {one}",
            layers=entry.num_layers,
            product=f"{tokens:,} × {hidden} × 2",
            one=one,
        )
    else:
        total = layer * entry.num_layers
        formula = say("{layers} layers × {one}", layers=entry.num_layers, one=one)
    logits = tokens * entry.vocab_size * _LOGIT_BYTES / MIB
    return total + logits, (
        Line(say("Activations"), formula, total, SOURCE),
        Line(
            say("Logits"),
            say(
                "{tokens:,} tokens × vocabulary {vocabulary:,} × {width:g} B",
                tokens=tokens,
                vocabulary=entry.vocab_size,
                width=_LOGIT_BYTES,
            ),
            logits,
            SOURCE,
        ),
    )


def _active_width(entry: Model) -> int:
    """Feed-forward width that one token passes through."""
    if entry.is_moe and entry.expert_size:
        return entry.expert_size * (entry.experts_per_token + entry.shared_experts)
    return entry.intermediate_size or 4 * entry.width
