"""One form per kind of workload, with the fields that its sizing needs."""

from __future__ import annotations

from functools import partial

from django import forms
from django.utils.translation import gettext_lazy

from fleet.workloads import EmbeddingWorkload, LlmWorkload, TrainingWorkload
from planner.plans.number_fields import number_field
from planner.plans.workload_common_form import TOKENS, WorkloadForm, radio, same

_embedding = partial(number_field, EmbeddingWorkload)
_llm = partial(number_field, LlmWorkload)
_training = partial(number_field, TrainingWorkload)


class EmbeddingForm(WorkloadForm):
    """Text embedding and reranking: memory is set by the batch."""

    kind = "embedding"
    struct = EmbeddingWorkload
    model_kinds = ("embedding", "reranker")
    own_fields = ("precision", "max_batch_tokens", "max_sequence_tokens", "tokens_per_second")

    precision = radio(
        same(("fp16", "bf16", "fp32")), label=gettext_lazy("Precision"), initial="fp16"
    )
    max_batch_tokens = _embedding(
        "max_batch_tokens",
        gettext_lazy("Batch"),
        unit=TOKENS,
        help_text=gettext_lazy("Sets the memory."),
    )
    max_sequence_tokens = _embedding(
        "max_sequence_tokens", gettext_lazy("Longest text"), unit=TOKENS
    )
    tokens_per_second = _embedding(
        "tokens_per_second",
        gettext_lazy("Wanted speed"),
        unit=gettext_lazy("tokens/s"),
        help_text=gettext_lazy("Of all replicas; 0: not stated."),
    )


class LlmForm(WorkloadForm):
    """LLM inference: weights, KV cache and the engine's share."""

    kind = "llm"
    struct = LlmWorkload
    model_kinds = ("llm", "vlm")
    own_fields = (
        "precision",
        "engine",
        "kv_precision",
        "input_tokens",
        "output_tokens",
        "max_context",
        "concurrency",
        "memory_utilization",
    )

    precision = forms.ChoiceField(
        label=gettext_lazy("Precision"),
        initial="bf16",
        choices=same(("bf16", "fp16", "fp8", "int8", "int4", "nvfp4", "mxfp4", "fp32")),
    )
    engine = forms.ChoiceField(
        label=gettext_lazy("Engine"),
        initial="vllm",
        choices=[("vllm", "vLLM"), ("sglang", "SGLang"), ("tensorrt-llm", "TensorRT-LLM")],
    )
    kv_precision = radio(
        same(("auto", "bf16", "fp8")), label=gettext_lazy("KV cache"), initial="auto"
    )
    input_tokens = _llm("input_tokens", gettext_lazy("Input tokens"), unit=gettext_lazy("mean"))
    output_tokens = _llm("output_tokens", gettext_lazy("Output tokens"), unit=gettext_lazy("mean"))
    max_context = _llm("max_context", gettext_lazy("Longest context"), unit=TOKENS)
    concurrency = _llm(
        "concurrency",
        gettext_lazy("At once"),
        help_text=gettext_lazy("Requests per replica."),
    )
    memory_utilization = _llm(
        "memory_utilization",
        gettext_lazy("Engine's share of memory"),
        help_text=gettext_lazy("vLLM's gpu-memory-utilization, 0 to 1."),
    )


class TrainingForm(WorkloadForm):
    """Distributed training: states, activations and how they are shared out."""

    kind = "training"
    struct = TrainingWorkload
    model_kinds = ("llm", "vlm", "embedding")
    own_fields = (
        "method",
        "recipe",
        "sharding",
        "sequence_tokens",
        "micro_batch",
        "gpus",
        "gpus_per_worker",
        "total_tokens_b",
        "checkpointing",
    )

    method = radio(
        [("full", gettext_lazy("full")), ("lora", "LoRA"), ("qlora", "QLoRA")],
        label=gettext_lazy("Method"),
        initial="full",
    )
    recipe = forms.ChoiceField(
        label=gettext_lazy("Optimizer states"),
        initial="mixed",
        choices=[
            ("mixed", gettext_lazy("mixed precision Adam")),
            ("bf16", gettext_lazy("pure bf16 AdamW")),
            ("adam8bit", gettext_lazy("8-bit Adam")),
        ],
    )
    sharding = forms.ChoiceField(
        label=gettext_lazy("Sharding"),
        initial="zero3",
        choices=[
            ("zero3", gettext_lazy("ZeRO-3 / FSDP")),
            ("zero2", "ZeRO-2"),
            ("zero1", "ZeRO-1"),
            ("ddp", "DDP"),
        ],
    )
    sequence_tokens = _training("sequence_tokens", gettext_lazy("Sequence"), unit=TOKENS)
    micro_batch = _training(
        "micro_batch", gettext_lazy("Micro-batch"), unit=gettext_lazy("per GPU")
    )
    gpus = _training(
        "gpus", gettext_lazy("GPUs in all"), help_text=gettext_lazy("0: the fewest that fit.")
    )
    gpus_per_worker = _training(
        "gpus_per_worker",
        gettext_lazy("GPUs per worker"),
        help_text=gettext_lazy("0: as many as a node has."),
    )
    total_tokens_b = _training(
        "total_tokens_b",
        gettext_lazy("To train on"),
        unit=gettext_lazy("B tokens"),
        help_text=gettext_lazy("0: not stated."),
    )
    checkpointing = forms.BooleanField(
        label=gettext_lazy("Recompute activations (checkpointing)"), required=False, initial=True
    )


FORMS: dict[str, type[WorkloadForm]] = {
    form.kind: form for form in (EmbeddingForm, LlmForm, TrainingForm)
}
