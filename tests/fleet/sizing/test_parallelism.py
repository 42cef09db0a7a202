from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.catalogue.models import Model, models
from fleet.sizing.parallelism import splits, tensor_degrees

SERVED = [entry for entry in models().values() if entry.kind in ("llm", "vlm")]


@pytest.mark.parametrize(
    ("name", "group", "legal"),
    [
        ("Qwen/Qwen2.5-7B", 1, [1, 2, 4]),  # 28 heads, 4 KV heads: never 8
        ("Qwen/Qwen2.5-32B", 1, [1, 2, 4, 8]),
        ("microsoft/phi-4", 1, [1, 2, 5]),  # 40 heads, 10 KV heads
        ("tiiuae/falcon-7b", 1, [1]),  # 71 heads
        ("meta-llama/Llama-3.2-3B", 1, [1, 2, 4, 8]),
        ("Qwen/Qwen2.5-14B", 128, [1, 2, 4]),  # 13,824 / 8 is no multiple of 128
    ],
)
def test_legal_degrees_follow_from_heads_and_groups(
    name: str, group: int, legal: list[int]
) -> None:
    assert [tp for tp, _ in tensor_degrees(models()[name], group)] == legal


def test_experts_that_cannot_be_cut_stay_whole() -> None:
    # Expert width 1,536 / 8 = 192 is no multiple of the fp8 block of 128.
    degrees = dict(tensor_degrees(models()["Qwen/Qwen3-235B-A22B"], 128))
    assert degrees[8] is True
    assert degrees[4] is False


def test_one_node_is_tried_before_two() -> None:
    labels = [split.label for split in splits(models()["meta-llama/Meta-Llama-3.1-70B"], 1)]
    assert labels[:5] == ["TP1", "TP2", "TP4", "TP8", "TP8 × PP2"]


def test_pipeline_stages_stand_in_where_heads_cannot_be_divided() -> None:
    labels = [split.label for split in splits(models()["tiiuae/falcon-7b"], 1)]
    assert labels[:4] == ["TP1", "TP1 × PP2", "TP1 × PP4", "TP1 × PP8"]


@given(st.sampled_from(SERVED), st.sampled_from([1, 16, 32, 128]), st.sampled_from([1, 4, 8]))
def test_every_split_is_whole_and_within_its_nodes(entry: Model, group: int, node: int) -> None:
    found = splits(entry, group, node)
    assert found[0].gpus == 1
    assert [split.gpus for split in found] == sorted(split.gpus for split in found)
    for split in found:
        assert split.gpus == split.gpus_per_pod * split.pods
        assert split.gpus_per_pod <= node
        assert entry.num_heads % split.tp == 0
        assert split.pp <= entry.num_layers
