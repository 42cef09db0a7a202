"""What sizing says is translated whole: sentences, assumptions, errors and every line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from fleet.sizing.cards import StatedCard
from fleet.sizing.errors import SizingError
from fleet.sizing.requirement import Requirement
from fleet.sizing.shape import model_of
from fleet.sizing.size import size
from fleet.workloads import (
    EmbeddingWorkload,
    LlmWorkload,
    ModelShape,
    TrainingWorkload,
    Workload,
)

CARDS = (
    "T4",
    "V100-SXM2-32GB",
    "A100-SXM4-40GB",
    "RTX-4090",
    "H100",
    "B200",
    "MI210",
    "MI300X",
    "P100-PCIe-16GB",
    StatedCard("Card-9", 40_000),
)
HAND: dict[str, Any] = {
    "total_params_b": 7.0,
    "hidden_size": 4096,
    "num_layers": 32,
    "num_heads": 32,
}
SMALL = re.compile(r"\b[a-z]{2,} [a-z]{2,}\b")
"""Two small words in a row: not a unit, not a name of a field or model."""

WORKLOADS: list[Workload] = [
    EmbeddingWorkload(name="w", model="BAAI/bge-m3", tokens_per_second=1e6),
    EmbeddingWorkload(name="w", model="BAAI/bge-m3", precision="fp32"),
    EmbeddingWorkload(name="w", model="Qwen/Qwen3-Embedding-8B", max_batch_tokens=900_000),
    LlmWorkload(name="w", model="Qwen/Qwen3-8B", max_context=90_000, engine="sglang"),
    LlmWorkload(name="w", model="Qwen/Qwen3-8B", precision="nvfp4", engine="tensorrt-llm"),
    LlmWorkload(name="w", model="Qwen/Qwen3-32B", precision="fp8", kv_precision="fp8"),
    LlmWorkload(name="w", model="Qwen/Qwen3-235B-A22B", concurrency=500),
    LlmWorkload(name="w", model="openai/gpt-oss-120b", precision="mxfp4"),
    LlmWorkload(name="w", model="deepseek-ai/DeepSeek-V3", precision="fp8"),
    LlmWorkload(name="w", model="google/gemma-3-27b-it"),
    LlmWorkload(name="w", shape=ModelShape(**HAND), precision="int8"),
    TrainingWorkload(name="w", model="Qwen/Qwen3-8B"),
    TrainingWorkload(name="w", model="Qwen/Qwen3-8B", recipe="bf16", sharding="ddp"),
    TrainingWorkload(name="w", model="Qwen/Qwen3-8B", gpus=16, gpus_per_worker=16),
    TrainingWorkload(name="w", model="Qwen/Qwen3-8B", method="qlora", checkpointing=False),
]


def said(found: Requirement) -> Iterator[str]:
    yield from (found.sentence, found.confidence, *found.assumptions)
    for shape in (*found.shapes, *found.refused):
        yield from (shape.why, shape.parallelism)
        for line in shape.lines:
            yield from (line.label, line.formula)


@pytest.mark.usefixtures("shouting")
@pytest.mark.parametrize("workload", WORKLOADS, ids=range(len(WORKLOADS)))
def test_everything_that_sizing_says_is_translated(workload: Workload) -> None:
    found = size(workload, cards=CARDS)
    source = model_of(workload).source  # where the figures are from: a fact of the catalogue
    texts = {text.replace(source, "") for text in said(found)}
    assert [text for text in texts if SMALL.search(text)] == []
    labels = {line.label for shape in (*found.shapes, *found.refused) for line in shape.lines}
    assert {"WEIGHTS", "RUNTIME"} & labels
    assert all(label == label.upper() for label in labels)


@pytest.mark.parametrize(
    ("workload", "card"),
    [
        (LlmWorkload(name="w"), "T4"),
        (LlmWorkload(name="w", model="Qwen/Qwen3-9B"), "T4"),
        (LlmWorkload(name="w", model="BAAI/bge-m3"), "T4"),
        (LlmWorkload(name="w", model="openai/whisper-large-v3"), "T4"),
        (LlmWorkload(name="w", model="Qwen/Qwen3-8B"), "T5"),
        (LlmWorkload(name="w", model="Qwen/Qwen3-8B"), StatedCard("Card-9", 0)),
        (LlmWorkload(name="w", model="Qwen/Qwen3-8B", input_tokens=9_000), "T4"),
        (LlmWorkload(name="w", shape=ModelShape(**HAND, num_kv_heads=5)), "T4"),
        (LlmWorkload(name="w", shape=ModelShape(**HAND, active_params_b=9)), "T4"),
        (LlmWorkload(name="w", shape=ModelShape(**HAND | {"hidden_size": 16})), "T4"),
        (LlmWorkload(name="w", shape=ModelShape(**HAND | {"total_params_b": 0.1})), "T4"),
        (EmbeddingWorkload(name="w", model="openai/whisper-large-v3"), "T4"),
        (EmbeddingWorkload(name="w", model="BAAI/bge-m3", max_batch_tokens=10), "T4"),
        (EmbeddingWorkload(name="w", model="BAAI/bge-m3", max_sequence_tokens=9_000), "T4"),
        (TrainingWorkload(name="w", model="openai/whisper-large-v3"), "T4"),
        (TrainingWorkload(name="w", model="Qwen/Qwen3-8B", gpus=3, gpus_per_worker=2), "T4"),
    ],
)
def test_every_error_of_sizing_is_translated(
    shouting: None, workload: Workload, card: str | StatedCard
) -> None:
    with pytest.raises(SizingError) as caught:
        size(workload, cards=[card])
    assert not SMALL.search(caught.value.message), caught.value.message
    assert re.search(r"[A-Z]{2,} [A-Z]{2,}", caught.value.message)


def test_a_workload_that_fits_nowhere_is_told_in_the_readers_language(shouting: None) -> None:
    workload = LlmWorkload(name="w", model="deepseek-ai/DeepSeek-V3", precision="bf16")
    assert size(workload, cards=["T4"]).sentence.startswith("FITS NO CARD THAT WAS JUDGED. T4: ")
    assert size(workload, cards=[]).sentence == "NO CARD WAS GIVEN TO JUDGE."
