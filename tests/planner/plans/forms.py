"""What a browser sends for each form of the app."""

from __future__ import annotations

from typing import Any

COMMON: dict[str, Any] = {
    "model_source": "catalogue",
    "replicas": "2",
    "namespace": "default",
    "priority_level": "normal",
    "topology": "any",
    "gang": "on",
    "allow_mig": "on",
    "tolerate_gpu_taints": "on",
}

LLM: dict[str, Any] = COMMON | {
    "name": "chat-8b",
    "model": "meta-llama/Meta-Llama-3.1-8B",
    "precision": "bf16",
    "engine": "vllm",
    "kv_precision": "auto",
    "input_tokens": "2000",
    "output_tokens": "400",
    "max_context": "16384",
    "concurrency": "32",
}

EMBEDDING: dict[str, Any] = COMMON | {
    "name": "embed",
    "model": "BAAI/bge-m3",
    "precision": "fp16",
    "max_batch_tokens": "16384",
    "max_sequence_tokens": "512",
}

TRAINING: dict[str, Any] = COMMON | {
    "name": "finetune",
    "model": "meta-llama/Meta-Llama-3.1-8B",
    "replicas": "1",
    "method": "lora",
    "recipe": "mixed",
    "sharding": "zero3",
    "sequence_tokens": "4096",
    "micro_batch": "1",
    "gpus": "8",
    "checkpointing": "on",
}

WORKLOADS = {"llm": LLM, "embedding": EMBEDDING, "training": TRAINING}

PRICE: dict[str, Any] = {
    "match_by": "gpu_model",
    "match": "T4",
    "kind": "negotiated",
    "per_gpu_hour": "0.31",
    "currency": "USD",
    "source": "contract 17",
    "as_of": "2026-11-01",
}

OWNED: dict[str, Any] = {
    "gpu_model": "H100-SXM5-80GB",
    "node_price": "325000",
    "gpus": "8",
    "years": "4",
    "residual": "0.2",
    "yearly_share": "0.1",
    "gpu_watts": "1000",
    "host_watts": "2200",
    "load": "0.8",
    "pue": "1.4",
    "per_kwh": "0.10",
    "utilisation": "0.7",
    "currency": "USD",
    "source": "invoice",
    "as_of": "2026-11-01",
}
