from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.catalogue.models import Model, models
from fleet.sizing.cards import StatedCard, resolve
from fleet.sizing.embedding import judge, tokens_per_second
from fleet.sizing.errors import SizingError
from fleet.sizing.requirement import Fit
from fleet.sizing.size import size
from fleet.workloads import EmbeddingWorkload

SMALL = [
    entry
    for entry in models().values()
    if entry.kind in ("embedding", "reranker") and entry.total_params_b <= 0.6
]


def embedding(model: str = "BAAI/bge-m3", **fields: object) -> EmbeddingWorkload:
    return EmbeddingWorkload(name="search", model=model, **fields)  # type: ignore[arg-type]


def test_every_embedding_model_up_to_600_million_fits_a_t4() -> None:
    assert len(SMALL) >= 24
    for entry in SMALL:
        found = size(embedding(entry.name), cards=["T4"])
        assert found.shapes, entry.name
        assert found.shapes[0].fit is Fit.FITS, entry.name


def test_large_embedders_need_a_24_gib_card() -> None:
    found = size(embedding("Qwen/Qwen3-Embedding-8B"), cards=["T4", "L4"])
    assert [shape.gpu_model for shape in found.shapes] == ["L4"]
    assert [shape.gpu_model for shape in found.refused] == ["T4"]


def test_memory_of_bge_m3_agrees_with_a_calculation_by_hand() -> None:
    shape = size(embedding(), cards=["L4"]).shapes[0]
    assert shape.use.weights / 1024 == pytest.approx(0.5678e9 * 2 / 2**30, abs=0.001)
    # 16,384 tokens x 1,024 x 20 x 2 bytes
    assert shape.use.activations / 1024 == pytest.approx(0.625, abs=0.001)
    assert shape.use.kv_cache == 0
    assert shape.max_concurrency is None


def test_without_flash_attention_the_score_matrix_counts() -> None:
    # Seen: bge-m3 with 64 texts of 8,192 tokens asked for 128 GiB; and a T4 whose server
    # warmed up with 32k tokens ran out of memory.
    long = embedding(max_batch_tokens=64 * 8_192, max_sequence_tokens=8_192)
    entry = models()["BAAI/bge-m3"]
    extra = judge(entry, long, resolve("T4")).use.activations
    extra -= judge(entry, long, resolve("L4")).use.activations
    assert extra / 1024 == pytest.approx(128)
    qwen = embedding(
        "Qwen/Qwen3-Embedding-0.6B", max_batch_tokens=32_768, max_sequence_tokens=32_768
    )
    found = size(qwen, cards=["T4", "L4"])
    assert [shape.gpu_model for shape in found.refused] == ["T4"]
    assert [shape.gpu_model for shape in found.shapes] == ["L4"]


def test_a_mig_device_is_a_unit_for_a_small_model() -> None:
    shapes = size(embedding(), cards=["A100-SXM4-40GB"]).shapes
    assert shapes[0].mig_profile == "1g.5gb"
    assert shapes[0].unit == "A100-SXM4-40GB MIG 1g.5gb"


def test_speed_is_a_share_of_the_peak_and_of_the_mig_device() -> None:
    entry = models()["BAAI/bge-large-en-v1.5"]
    speed = tokens_per_second(entry, resolve("L4"), "fp16")
    assert speed is not None
    assert 55_000 < speed < 65_000  # 62 thousand measured
    assert tokens_per_second(entry, resolve(StatedCard("Frobnicator", 24_000)), "fp16") is None


def test_wanted_speed_is_answered_in_replicas() -> None:
    shape = size(
        embedding("BAAI/bge-large-en-v1.5", tokens_per_second=150_000), cards=["L4"]
    ).shapes[0]
    speed = next(line for line in shape.lines if line.label == "Speed")
    assert "3 replicas" in speed.formula


@given(st.sampled_from(SMALL), st.integers(512, 10**6), st.integers(0, 10**6))
def test_a_larger_batch_never_needs_less_memory(entry: Model, tokens: int, more: int) -> None:
    card = resolve("T4")
    small = judge(entry, embedding(max_batch_tokens=tokens), card)
    large = judge(entry, embedding(max_batch_tokens=tokens + more), card)
    assert large.use.total >= small.use.total


@pytest.mark.parametrize(
    ("workload", "field"),
    [
        (embedding(max_batch_tokens=256, max_sequence_tokens=512), "max_batch_tokens"),
        (embedding("intfloat/e5-base-v2", max_sequence_tokens=1_024), "max_sequence_tokens"),
        (embedding("openai/whisper-large-v3"), "model"),
    ],
)
def test_a_workload_that_contradicts_itself_names_the_field(
    workload: EmbeddingWorkload, field: str
) -> None:
    with pytest.raises(SizingError) as caught:
        size(workload)
    assert caught.value.field == field
