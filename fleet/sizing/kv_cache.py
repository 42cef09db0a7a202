"""Memory of the KV cache and of recurrent state: per token, per sequence, per GPU.

Formula and measured error: docs/sizing.md, "KV cache".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fleet.catalogue.models import Model
from fleet.words import say

SOURCE = "docs/sizing.md, KV cache"

_BF16 = 2
_FP8_MLA_LAYER = 656  # bytes of a token and layer: 512 fp8 + scales + 64 bf16 rope values
_INDEX_LAYER = 132  # bytes of a token and layer: index cache of sparse attention
_SPARSE_INDEX = ("DeepSeek-V3.2", "GLM-5", "MiniMax-M3")


@dataclass(frozen=True, slots=True)
class KvCost:
    """What sequences cost on one GPU, bytes."""

    per_token: float  # grows with the context
    per_window_token: float  # sliding layers: grows up to the window
    window: int  # tokens
    per_sequence: float  # recurrent state
    formula: str
    certain: bool  # False: the cache of this model does not follow a simple form

    def sequence_bytes(self, tokens: int) -> float:
        """Bytes of one sequence of ``tokens`` tokens."""
        return (
            self.per_token * tokens
            + self.per_window_token * min(tokens, self.window)
            + self.per_sequence
        )


def kv_cost(entry: Model, *, value_bytes: int = _BF16, tp: int = 1, pp: int = 1) -> KvCost:
    """What one token and one sequence cost on the fullest GPU.

    ``value_bytes`` of a key or value: 1 (fp8), 2 (16 bits) or 4 (fp32). Heads are split over
    ``tp`` (at least one KV head a GPU), layers over ``pp``; the latent vector of MLA is not
    split over ``tp``.
    """
    width = value_bytes
    stage = math.ceil(entry.num_layers / pp) / entry.num_layers
    certain = True
    if entry.is_mla:
        latent = (entry.kv_lora_rank or 0) + (entry.rope_dim or 0)
        layer = _FP8_MLA_LAYER if width == 1 else latent * width
        per_token = float(entry.full_layers * layer)
        formula = say(
            "{layers} layers × {layer} B (latent, the same on each GPU)",
            layers=entry.full_layers,
            layer=layer,
        )
    elif entry.kv_bytes_per_token is None:
        certain = False
        per_token = float(entry.num_layers * entry.head_dim * width)
        formula = say(
            "about {layers} layers × {product} B (compressed)",
            layers=entry.num_layers,
            product=f"{entry.head_dim} × {width}",
        )
    else:
        heads, one_head = _heads(entry, entry.kv_bytes_per_token)
        held = math.ceil(heads / tp)
        per_token = one_head * held * width / _BF16
        formula = say(
            "{layers} layers × {heads} KV heads × {values:g} values × {width} B",
            layers=entry.full_layers,
            heads=held,
            values=one_head / entry.full_layers / _BF16,
            width=width,
        )
    if any(mark in entry.name for mark in _SPARSE_INDEX):
        per_token += entry.full_layers * _INDEX_LAYER
        index = f"{entry.full_layers} × {_INDEX_LAYER} B"
        formula = say("{sum} + index {index}", sum=formula, index=index)
    if pp > 1:
        formula = say("{product} × {part:.3g} of the layers", product=formula, part=stage)
    sliding = 2 * entry.sliding_layers * math.ceil(entry.num_kv_heads / tp) * entry.head_dim * width
    return KvCost(
        per_token=per_token * stage,
        per_window_token=sliding * stage,
        window=entry.sliding_window,
        per_sequence=entry.state_bytes * max(width / _BF16, 1) / tp * stage,
        formula=formula,
        certain=certain,
    )


def _heads(entry: Model, token_bytes: int) -> tuple[int, float]:
    """KV heads of the global layers, and bytes of one head over these layers, in 16 bits.

    Global layers may have another head count than the sliding ones (Gemma 4): the bytes of a
    token tell it. Keys and values may differ in width (MiMo): then the head count stands.
    """
    one_head = 2 * entry.full_layers * entry.head_dim * _BF16
    if token_bytes % one_head == 0:
        return token_bytes // one_head, float(one_head)
    return entry.num_kv_heads, token_bytes / entry.num_kv_heads
