"""Memory of model weights for inference: what each number format takes, and on which GPU.

Formula, formats and measured error: docs/sizing.md, "Weights".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from fleet.catalogue.models import Model
from fleet.sizing.requirement import Line
from fleet.words import say

MIB = 2**20
SOURCE = "docs/sizing.md, Weights"

_SIXTEEN_BIT = 2.0


@dataclass(frozen=True, slots=True)
class Format:
    """Bytes per parameter of the parts of a model. Embedding and head keep 16 bits."""

    linear: float
    experts: float
    embedding: float
    group: int  # feed-forward width per GPU must be a multiple of it; 1: no rule
    pad_hidden_to: int = 1  # kernels round the width of the experts up to it
    note: Callable[[], str] | None = None  # what is particular about it, in words


_FORMATS = {
    "fp32": Format(4.0, 4.0, 4.0, 1),
    "bf16": Format(2.0, 2.0, 2.0, 1),
    "fp16": Format(2.0, 2.0, 2.0, 1),
    "fp8": Format(1.0003, 1.0003, 2.0, 128),
    "int8": Format(1.0, 1.0, 2.0, 1),
    "int4": Format(0.5195, 0.5195, 2.0, 128),
    "nvfp4": Format(0.5625, 0.5625, 2.0, 16),
    "mxfp4": Format(0.53125, 0.53125, 2.0, 1, pad_hidden_to=256),
}
# Checkpoints that ship quantised in parts: only the experts are 4 bits wide.
_NATIVE = {
    ("mxfp4 experts + bf16", "mxfp4"): Format(
        2.0,
        0.53125,
        2.0,
        1,
        256,
        lambda: say("published checkpoint: MXFP4 experts, the rest 16 bits"),
    ),
    ("int4 experts + bf16", "int4"): Format(
        2.0,
        0.5625,
        2.0,
        32,
        1,
        lambda: say("published checkpoint: int4 experts (groups of 32), rest 16 bits"),
    ),
    ("fp8 + fp4 experts", "fp8"): Format(
        1.0003, 0.53125, 2.0, 128, 1, lambda: say("published checkpoint: FP4 experts, the rest FP8")
    ),
}


def weight_format(entry: Model, precision: str) -> Format:
    """How the weights of that model are stored at that precision."""
    native = _NATIVE.get((entry.native_dtype, precision))
    if native is not None:
        return native
    if precision == "mxfp4" and entry.is_moe:
        return Format(2.0, 0.53125, 2.0, 1, 256, lambda: say("MXFP4 is used for the experts only"))
    return _FORMATS[precision]


def checkpoint_bytes(entry: Model, precision: str) -> float:
    """Bytes of the whole checkpoint on disk."""
    form = weight_format(entry, precision)
    return 1e9 * (
        entry.linear_params_b * form.linear
        + entry.routed_params_b * form.experts
        + (entry.embedding_params_b + entry.head_params_b) * form.embedding
        + entry.vision_params_b * max(form.linear, _SIXTEEN_BIT)
    )


def weights_per_gpu(entry: Model, precision: str, tp: int = 1, pp: int = 1) -> tuple[float, Line]:
    """MiB of weights on the fullest GPU, and the arithmetic.

    ``tp`` splits every layer, ``pp`` the layers (the fullest stage counts). Expert parallelism
    over the same GPUs takes the same memory: whole experts instead of parts of each.
    """
    form = weight_format(entry, precision)
    stage = math.ceil(entry.num_layers / pp) / entry.num_layers
    padding = _padding(entry, form)
    tables = (
        entry.embedding_params_b + entry.head_params_b
        if pp == 1
        else max(entry.embedding_params_b, entry.head_params_b)
    )
    linear = entry.linear_params_b * form.linear * stage / tp
    experts = entry.routed_params_b * form.experts * padding * stage / tp
    replicated = _replicated_b(entry, tp) * form.linear * stage
    table_bytes = tables * form.embedding / tp
    # Vision towers keep 16 bits and sit whole on each GPU of the first stage.
    vision = entry.vision_params_b * max(form.linear, _SIXTEEN_BIT)
    mib = 1e9 * (linear + experts + replicated + table_bytes + vision) / MIB

    share = f"{math.ceil(entry.num_layers / pp)}/{entry.num_layers}" if pp > 1 else ""
    split = f" / TP {tp}" if tp > 1 else ""
    parts = [_staged(f"{entry.linear_params_b:.4g} B × {form.linear:g} B", share) + split]
    if entry.routed_params_b:
        product = f"{entry.routed_params_b:.4g} B × {form.experts:g} B"
        if padding > 1:
            product = say(
                "{product} × {factor:.4g} (padded width)", product=product, factor=padding
            )
        parts.append(say("experts {product}", product=_staged(product, share) + split))
    product = f"{tables:.4g} B × {form.embedding:g} B{split}"
    parts.append(say("embedding and head {product}", product=product))
    if replicated:
        parts.append(say("replicated K/V projections {size:.3g} GB", size=replicated))
    if vision:
        product = f"{entry.vision_params_b:.3g} B × 2 B"
        parts.append(say("vision tower {product} on each GPU", product=product))
    return mib, Line(say("Weights"), " + ".join(parts), mib, f"{entry.source}; {SOURCE}")


def _staged(product: str, share: str) -> str:
    return say("{product} × {share} layers", product=product, share=share) if share else product


def _padding(entry: Model, form: Format) -> float:
    width = entry.width
    return math.ceil(width / form.pad_hidden_to) * form.pad_hidden_to / width


def _replicated_b(entry: Model, tp: int) -> float:
    """Billions of parameters that each GPU holds beyond its even share of ``tp``."""
    if entry.is_mla:
        latent = (entry.kv_lora_rank or 0) + (entry.rope_dim or 0)
        return entry.num_layers * entry.width * latent * (1 - 1 / tp) / 1e9
    if tp <= entry.num_kv_heads:
        return 0.0
    layers = entry.full_layers + entry.sliding_layers
    even = entry.num_kv_heads / tp
    return layers * 2 * entry.width * entry.head_dim * (1 - even) / 1e9
