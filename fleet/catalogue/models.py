"""The models that we know by name: their parameter counts and shapes, and how to find one.

Figures come from ``models.csv`` (config files and published counts, source in each row).
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cache

from fleet.catalogue.tables import integer, number, rows


@dataclass(frozen=True, slots=True)
class Model:
    """One model. Parameters in billions (10^9); None is unknown.

    ``hidden_size`` is None for models whose shape the table does not hold (image generators):
    they are known by name and parameter count only.
    """

    name: str
    family: str
    kind: str  # "llm", "vlm", "embedding", "reranker", "asr", "diffusion"
    total_params_b: float
    active_params_b: float  # of one token; equal to the total for dense models
    embedding_params_b: float  # input embedding
    head_params_b: float  # output head; 0 when tied to the embedding
    routed_params_b: float  # experts chosen per token
    vision_params_b: float
    hidden_size: int | None
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    kv_lora_rank: int | None  # multi-head latent attention (MLA)
    rope_dim: int | None
    intermediate_size: int | None  # of a dense layer
    expert_size: int | None  # feed-forward width of one expert
    num_experts: int
    experts_per_token: int
    shared_experts: int
    vocab_size: int
    max_context: int | None
    full_layers: int  # layers whose KV cache grows with the context
    sliding_layers: int
    sliding_window: int
    linear_layers: int  # with a state of fixed size
    state_bytes: int  # of one sequence over all layers, bf16
    kv_bytes_per_token: int | None  # all full layers, all heads, bf16; None: not of this form
    native_dtype: str
    verified: str  # "yes", "partly", "no"
    note: str
    source: str

    @property
    def width(self) -> int:
        """Hidden size of a model with a known shape. Raises ``ValueError`` for one without."""
        if self.hidden_size is None:
            raise ValueError(f"the catalogue does not hold the shape of {self.name}")
        return self.hidden_size

    @property
    def is_moe(self) -> bool:
        return self.num_experts > 1

    @property
    def is_mla(self) -> bool:
        """Latent attention: one compressed KV vector a token, the same on every GPU."""
        return self.kv_lora_rank is not None

    @property
    def linear_params_b(self) -> float:
        """What is neither embedding, head, routed expert nor vision tower."""
        rest = (
            self.total_params_b
            - self.embedding_params_b
            - self.head_params_b
            - self.routed_params_b
            - self.vision_params_b
        )
        return max(rest, 0.0)


@cache
def models() -> dict[str, Model]:
    """All models by catalogue name."""
    return {row["model"]: _model(row) for row in rows("models.csv")}


def _model(row: dict[str, str]) -> Model:
    total = number(row["total_params_b"]) or 0.0
    heads = integer(row["num_heads"]) or 0
    layers = integer(row["num_layers"]) or 0
    hidden = integer(row["hidden_size"])
    full = integer(row["full_attention_layers"])
    vocab = integer(row["vocab_size"]) or 0
    embedding = number(row["embedding_params_b"])
    if embedding is None:
        embedding = min(vocab * (hidden or 0) / 1e9, total)
    head = number(row["lm_head_params_b"])
    if head is None:
        untied = row["tied_embeddings"] == "no"
        head = embedding if untied else 0.0
    experts = integer(row["num_experts"]) or 0
    topk = integer(row["experts_per_token"]) or 0
    active = number(row["active_params_b"]) or total
    routed = number(row["routed_expert_params_b"])
    if routed is None:
        routed = routed_params(total, active, experts, topk)
    return Model(
        name=row["model"],
        family=row["family"],
        kind=row["kind"],
        total_params_b=total,
        active_params_b=active,
        embedding_params_b=embedding,
        head_params_b=head,
        routed_params_b=routed,
        vision_params_b=number(row["vision_params_b"]) or 0.0,
        hidden_size=hidden,
        num_layers=layers,
        num_heads=heads,
        num_kv_heads=integer(row["num_kv_heads"]) or heads,
        head_dim=integer(row["head_dim"]) or 0,
        kv_lora_rank=integer(row["kv_lora_rank"]),
        rope_dim=integer(row["qk_rope_head_dim"]),
        intermediate_size=integer(row["intermediate_size"]),
        expert_size=integer(row["moe_intermediate_size"]),
        num_experts=experts,
        experts_per_token=topk,
        shared_experts=integer(row["shared_experts"]) or 0,
        vocab_size=vocab,
        max_context=integer(row["max_context"]),
        full_layers=layers if full is None else full,
        sliding_layers=integer(row["sliding_layers"]) or 0,
        sliding_window=integer(row["sliding_window"]) or 0,
        linear_layers=integer(row["linear_layers"]) or 0,
        state_bytes=integer(row["state_bytes_per_seq_bf16"]) or 0,
        kv_bytes_per_token=integer(row["kv_bytes_per_token_bf16"]),
        native_dtype=row["native_dtype"],
        verified=row["verified"],
        note=row["note"],
        source=row["source"],
    )


def routed_params(total_b: float, active_b: float, experts: int, topk: int) -> float:
    """Parameters of the routed experts, billions: active = total - routed x (1 - topk/experts)."""
    if active_b >= total_b:
        return 0.0
    unused = 1 - topk / experts if experts > topk > 0 else 1.0
    return min((total_b - active_b) / unused, total_b)


def model(name: str) -> Model | None:
    """The model of that catalogue name, or of its part after the slash ("Qwen3-8B").

    Letter case does not matter, nor do marks of tuning ("-Instruct", "-it", "-hf"): tuned models
    have the shape of their base. A short name that two models share is not found.
    """
    return models().get(name) or _by_key().get(name.strip().lower()) or _by_key().get(_short(name))


_TUNED = re.compile(r"(-instruct|-chat|-base|-it|-hf)$")
_MAX_NAME = 200


def _short(name: str) -> str:
    short = name.strip().lower()[-_MAX_NAME:].rpartition("/")[2].removeprefix("meta-")
    return _TUNED.sub("", short)


@cache
def _by_key() -> dict[str, Model]:
    found: dict[str, Model | None] = {}
    for entry in models().values():
        short = _short(entry.name)
        found[short] = None if short in found else entry
    found.update({entry.name.lower(): entry for entry in models().values()})
    return {key: entry for key, entry in found.items() if entry is not None}


def matching_models(text: str) -> tuple[Model, ...]:
    """The models whose names hold every word of ``text``, in the order of the catalogue.

    Where a size ("8b") stands by itself in some names ("Qwen3-8B", not "Granite-38B"), only those
    count. No words: no models.
    """
    words = text[:_MAX_NAME].lower().split()
    found = [m for m in models().values() if all(word in m.name.lower() for word in words)]
    sizes = [
        re.compile(rf"(?<![0-9a-z.]){re.escape(word)}(?![0-9a-z])")
        for word in words
        if word[0].isdigit()
    ]
    exact = [m for m in found if all(size.search(m.name.lower()) for size in sizes)]
    return tuple(exact or found) if words else ()


def nearest_models(name: str, count: int = 3) -> tuple[str, ...]:
    """Catalogue names that look like ``name``, best first; for "did you mean"."""
    keys = {_short(entry.name): entry.name for entry in models().values()}
    close = difflib.get_close_matches(_short(name), keys, n=count, cutoff=0.5)
    return tuple(keys[key] for key in close)
