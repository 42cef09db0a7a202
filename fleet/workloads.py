"""What users declare: embedding, LLM inference and distributed training, as frozen values.

The same values are read from a workload file (``fleet.workload_file``), from the web forms and
from Python. They are msgspec structs, so that unknown fields, wrong types and values out of
range are refused with the place named (``$.workloads[2].replicas``).
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from fleet.words import say

Name = Annotated[str, Meta(min_length=1, max_length=63, pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
Count = Annotated[int, Meta(ge=1, le=10_000)]
Tokens = Annotated[int, Meta(ge=1, le=10_000_000)]
Domain = Literal["node", "nvlink", "rack", "zone", "any"]
Precision = Literal["fp32", "bf16", "fp16", "fp8", "int8", "int4", "nvfp4", "mxfp4"]


class ModelShape(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model given by hand, for one that the catalogue lacks. Parameters in billions (10^9)."""

    total_params_b: Annotated[float, Meta(gt=0, le=100_000)]
    active_params_b: Annotated[float, Meta(gt=0, le=100_000)] | None = None  # MoE; None: dense
    hidden_size: Annotated[int, Meta(ge=1, le=1_000_000)]
    num_layers: Annotated[int, Meta(ge=1, le=10_000)]
    num_heads: Annotated[int, Meta(ge=1, le=10_000)]
    num_kv_heads: Annotated[int, Meta(ge=1, le=10_000)] | None = None  # None: as num_heads
    head_dim: Annotated[int, Meta(ge=1, le=10_000)] | None = None  # None: hidden / heads
    intermediate_size: Annotated[int, Meta(ge=1, le=10_000_000)] | None = None
    vocab_size: Annotated[int, Meta(ge=1, le=10_000_000)] = 128_256
    max_context: Tokens | None = None


class Constraints(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a workload may go. Empty tuples mean "any"."""

    clusters: tuple[str, ...] = ()
    gpu_models: tuple[str, ...] = ()  # catalogue names
    node_selector: dict[str, str] = {}
    tolerations: tuple[TolerationSpec, ...] = ()
    tolerate_gpu_taints: bool = True
    """Tolerate the usual taints that keep other pods off GPU nodes (key = resource name)."""
    topology: Domain = "any"
    """All pods of one replica within one such domain."""
    gang: bool = True
    """Pods of one replica are useful only all together (all-or-nothing)."""
    allow_mig: bool = True


class TolerationSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    key: str = ""
    operator: Literal["Equal", "Exists"] = "Equal"
    value: str = ""
    effect: Literal["", "NoSchedule", "PreferNoSchedule", "NoExecute"] = ""


class _Common(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Name
    model: str = ""  # catalogue name; "" when ``shape`` is given
    shape: ModelShape | None = None
    replicas: Count = 1
    namespace: Name = "default"
    priority: Annotated[int, Meta(ge=-1_000_000_000, le=1_000_000_000)] = 0
    preemptible: bool = False
    constraints: Constraints = Constraints()


class EmbeddingWorkload(_Common, frozen=True, kw_only=True, tag_field="kind", tag="embedding"):
    """Text embedding or reranking. Memory is set by the batch, not by concurrency."""

    precision: Literal["fp32", "bf16", "fp16"] = "fp16"
    max_batch_tokens: Tokens = 16_384
    max_sequence_tokens: Tokens = 512
    tokens_per_second: Annotated[float, Meta(ge=0)] = 0.0  # wanted per workload; 0: not stated


class LlmWorkload(_Common, frozen=True, kw_only=True, tag_field="kind", tag="llm"):
    """LLM inference. Concurrency is per replica."""

    precision: Precision = "bf16"
    kv_precision: Literal["auto", "bf16", "fp8"] = "auto"
    engine: Literal["vllm", "sglang", "tensorrt-llm"] = "vllm"
    input_tokens: Tokens = 1_000  # mean
    output_tokens: Tokens = 300  # mean
    max_context: Tokens = 8_192  # longest sequence that must be served
    concurrency: Annotated[int, Meta(ge=1, le=100_000)] = 16
    memory_utilization: Annotated[float, Meta(gt=0, le=1)] = 0.9


class TrainingWorkload(_Common, frozen=True, kw_only=True, tag_field="kind", tag="training"):
    """Distributed training or fine-tuning. One replica is one job: a gang of workers."""

    method: Literal["full", "lora", "qlora"] = "full"
    recipe: Literal["mixed", "bf16", "adam8bit"] = "mixed"  # optimiser states
    sharding: Literal["ddp", "zero1", "zero2", "zero3"] = "zero3"
    sequence_tokens: Tokens = 4_096
    micro_batch: Annotated[int, Meta(ge=1, le=4_096)] = 1
    checkpointing: bool = True  # activation recomputation
    gpus: Annotated[int, Meta(ge=0, le=100_000)] = 0  # total wanted; 0: the fewest that fit
    gpus_per_worker: Annotated[int, Meta(ge=0, le=16)] = 0  # 0: as many as the node model has
    total_tokens_b: Annotated[float, Meta(ge=0, le=1_000_000)] = 0.0  # to train on; 0: not stated


Workload = EmbeddingWorkload | LlmWorkload | TrainingWorkload

KINDS = ("embedding", "llm", "training")


def kind_of(workload: Workload) -> str:
    """The stable short name: "embedding", "llm" or "training"."""
    if isinstance(workload, EmbeddingWorkload):
        return "embedding"
    if isinstance(workload, LlmWorkload):
        return "llm"
    return "training"


def kind_name(kind: str) -> str:
    """The kind in words; what is none of ``KINDS`` stays as it is."""
    match kind:
        case "embedding":
            return say("Embedding")
        case "llm":
            return say("LLM inference")
        case "training":
            return say("Distributed training")
    return kind
