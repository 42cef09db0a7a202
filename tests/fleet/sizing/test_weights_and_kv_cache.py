"""Hand-computed memory of weights and KV cache."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.catalogue.models import Model, models
from fleet.sizing.kv_cache import kv_cost
from fleet.sizing.weights import checkpoint_bytes, weights_per_gpu

GIB = 2**30
SHAPED = [entry for entry in models().values() if entry.hidden_size and entry.num_layers]
DECODERS = [entry for entry in SHAPED if entry.kind in ("llm", "vlm")]
PRECISIONS = ["fp32", "bf16", "fp16", "fp8", "int8", "int4", "nvfp4", "mxfp4"]


@pytest.mark.parametrize(
    ("name", "precision", "tp", "gib"),
    [
        # 8.0303 B x 2
        ("meta-llama/Meta-Llama-3.1-8B", "bf16", 1, 14.958),
        # 70.5537 B x 2 / 8
        ("meta-llama/Meta-Llama-3.1-70B", "bf16", 8, 16.427),
        # (401.6508 B x 1.0003 + 4.2026 B x 2) / 8
        ("meta-llama/Meta-Llama-3.1-405B", "fp8", 8, 47.750),
        # 31.2063 B x 0.5195 + 1.5558 B x 2: the embedding is not quantised
        ("Qwen/Qwen3-32B", "int4", 1, 17.996),
        # 669.173 B x 1.0003 / 8 + 1.8534 B x 2 / 8 + 61 x 7168 x 576 x 7/8 (latent projection)
        ("deepseek-ai/DeepSeek-V3", "fp8", 8, 78.563),
        # experts 114.7016 B x 0.53125 x 3072/2880 + 2.1276 B x 2; logged 64.38
        ("openai/gpt-oss-120b", "mxfp4", 1, 64.497),
        # 0.5678 B x 2
        ("BAAI/bge-m3", "fp16", 1, 1.0576),
        # 0.5958 B x 2
        ("Qwen/Qwen3-Embedding-0.6B", "bf16", 1, 1.1098),
        # gemma-3-27b: (27.4324 - 0.4231) B x 2 / 4 + 0.4231 B x 2 on each GPU; logged 13.17
        ("google/gemma-3-27b-it", "bf16", 4, 13.366),
    ],
)
def test_weights_agree_with_a_calculation_by_hand(
    name: str, precision: str, tp: int, gib: float
) -> None:
    mib, line = weights_per_gpu(models()[name], precision, tp)
    assert mib / 1024 == pytest.approx(gib, rel=1e-3)
    assert line.mib == mib


@pytest.mark.parametrize(
    ("name", "gib"),
    [
        ("meta-llama/Meta-Llama-3.1-8B", 1.0),
        ("Qwen/Qwen3-32B", 2.0),
        ("meta-llama/Meta-Llama-3.1-70B", 2.5),
        ("meta-llama/Llama-2-13b-hf", 6.25),
        ("CohereLabs/c4ai-command-r-v01", 10.0),
        ("Qwen/Qwen3-235B-A22B", 1.469),
        ("deepseek-ai/DeepSeek-V3", 0.536),
        # 8,192 x 36,864 B + 128 x 36,864 B in the sliding layers
        ("openai/gpt-oss-120b", 0.2856),
        # 8,192 x 30,720 B + a state of 97.7 MB
        ("Qwen/Qwen3.5-397B-A17B", 0.3254),
        # 10 global layers with 4 KV heads of 512, K = V; 50 layers see 1,024 tokens
        ("google/gemma-4-31B-it", 1.0938),
    ],
)
def test_kv_cache_of_one_request_of_8192_tokens_agrees_with_a_calculation_by_hand(
    name: str, gib: float
) -> None:
    assert kv_cost(models()[name]).sequence_bytes(8192) / GIB == pytest.approx(gib, rel=1e-3)


def test_fp8_halves_the_kv_cache_and_keeps_the_layout_of_latent_attention() -> None:
    llama = models()["meta-llama/Meta-Llama-3.1-8B"]
    assert kv_cost(llama, value_bytes=1).per_token * 2 == kv_cost(llama).per_token
    deepseek = models()["deepseek-ai/DeepSeek-V3"]
    assert kv_cost(deepseek, value_bytes=1).per_token == 61 * 656


def test_kv_heads_are_replicated_when_more_gpus_than_heads_share_a_layer() -> None:
    entry = models()["Qwen/Qwen3-235B-A22B"]  # 4 KV heads
    assert kv_cost(entry, tp=8).per_token == kv_cost(entry, tp=4).per_token
    latent = models()["deepseek-ai/DeepSeek-V3"]
    assert kv_cost(latent, tp=8).per_token == kv_cost(latent).per_token


def test_the_fullest_pipeline_stage_counts() -> None:
    entry = models()["deepseek-ai/DeepSeek-V3"]  # 61 layers: 16 in the fullest of 4 stages
    whole, _ = weights_per_gpu(entry, "fp8", 1, 1)
    stage, _ = weights_per_gpu(entry, "fp8", 1, 4)
    tables = (entry.embedding_params_b + entry.head_params_b) * 2e9 / 2**20
    assert stage == pytest.approx((whole - tables) * 16 / 61 + tables / 2, rel=1e-6)


def test_experts_alone_are_four_bits_wide_where_the_checkpoint_ships_so() -> None:
    kimi = models()["moonshotai/Kimi-K2.5"]
    rest = kimi.total_params_b - kimi.routed_params_b
    expected = (kimi.routed_params_b * 0.5625 + rest * 2) * 1e9
    assert checkpoint_bytes(kimi, "int4") == pytest.approx(expected)


@given(st.sampled_from(SHAPED), st.sampled_from(PRECISIONS), st.sampled_from([1, 2, 4, 8]))
def test_more_tensor_parallelism_never_puts_more_weights_on_a_gpu(
    entry: Model, precision: str, tp: int
) -> None:
    assert weights_per_gpu(entry, precision, 2 * tp)[0] <= weights_per_gpu(entry, precision, tp)[0]


@given(st.sampled_from(DECODERS), st.integers(1, 10**6), st.integers(0, 10**6))
def test_a_longer_sequence_never_takes_less_cache(entry: Model, tokens: int, more: int) -> None:
    cost = kv_cost(entry)
    assert cost.sequence_bytes(tokens + more) >= cost.sequence_bytes(tokens) > 0


@given(st.sampled_from(SHAPED), st.sampled_from(PRECISIONS))
def test_fewer_bits_never_take_more_memory_than_bf16(entry: Model, precision: str) -> None:
    if precision != "fp32":
        assert checkpoint_bytes(entry, precision) <= checkpoint_bytes(entry, "bf16") * 1.0001


def test_keys_and_values_of_different_width_are_both_counted() -> None:
    # MiMo-V2: 9 global layers, 4 KV heads, keys of 192 and values of 128.
    entry = models()["XiaomiMiMo/MiMo-V2-Flash"]
    assert kv_cost(entry).per_token == 9 * 4 * (192 + 128) * 2
    assert kv_cost(entry, tp=4).per_token == 9 * (192 + 128) * 2
