from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.catalogue.models import Model, models
from fleet.sizing.cards import STANDARD, Card, StatedCard, resolve
from fleet.sizing.llm import judge
from fleet.sizing.parallelism import Split
from fleet.sizing.requirement import Fit, Shape
from fleet.sizing.size import size
from fleet.workloads import Constraints, LlmWorkload

SERVED = [entry for entry in models().values() if entry.kind in ("llm", "vlm")]
CARDS = [resolve(name) for name in STANDARD]
ENGINES = ["vllm", "sglang", "tensorrt-llm"]


def llm(model: str = "meta-llama/Meta-Llama-3.1-8B", **fields: object) -> LlmWorkload:
    return LlmWorkload(name="chat", model=model, **fields)  # type: ignore[arg-type]


def smallest(workload: LlmWorkload, card: str) -> Shape:
    return size(workload, cards=[card]).shapes[0]


@pytest.mark.parametrize(
    ("model", "precision", "card", "gpus", "pods"),
    [
        ("meta-llama/Meta-Llama-3.1-8B", "bf16", "T4", 2, 1),
        ("meta-llama/Meta-Llama-3.1-8B", "bf16", "RTX-3090", 1, 1),
        ("meta-llama/Meta-Llama-3.1-70B", "bf16", "H100-SXM5-80GB", 4, 1),
        ("meta-llama/Meta-Llama-3.1-70B", "bf16", "H200-SXM-141GB", 2, 1),
        ("meta-llama/Meta-Llama-3.1-70B", "int4", "A100-SXM4-80GB", 1, 1),
        ("meta-llama/Meta-Llama-3.1-405B", "fp8", "H100-SXM5-80GB", 8, 1),
        ("meta-llama/Meta-Llama-3.1-405B", "bf16", "H100-SXM5-80GB", 8, 2),
        ("deepseek-ai/DeepSeek-V3", "fp8", "H200-SXM-141GB", 8, 1),
        ("deepseek-ai/DeepSeek-V3", "fp8", "H100-SXM5-80GB", 8, 2),
        ("openai/gpt-oss-120b", "mxfp4", "H200-SXM-141GB", 1, 1),
        ("openai/gpt-oss-20b", "mxfp4", "L4", 1, 1),
        ("Qwen/Qwen3-32B", "bf16", "A100-SXM4-80GB", 1, 1),
        ("Qwen/Qwen3-235B-A22B", "fp8", "H100-SXM5-80GB", 4, 1),
    ],
)
def test_well_known_models_take_the_gpus_that_people_use(
    model: str, precision: str, card: str, gpus: int, pods: int
) -> None:
    shapes = size(
        llm(model, precision=precision, constraints=Constraints(allow_mig=False)), cards=[card]
    ).shapes
    first = min(shapes, key=lambda shape: shape.gpus)
    assert (first.gpus_per_pod, first.pods) == (gpus, pods)


def test_memory_of_llama_8b_on_a_24_gib_card_agrees_with_a_calculation_by_hand() -> None:
    shape = smallest(llm(), "RTX-3090")
    assert shape.use.weights / 1024 == pytest.approx(14.958, abs=0.01)
    # 16 requests of 1,300 tokens at 131,072 bytes
    assert shape.use.kv_cache / 1024 == pytest.approx(2.539, abs=0.01)
    # 9.7 x 256 sequences x 128,256 x 4 bytes
    assert shape.use.activations / 1024 == pytest.approx(1.1865, abs=0.001)
    # 0.9 x 23.58 - 14.958 - 1.1865 - 0.6 = 4.477 GiB, 0.1587 a request
    assert shape.max_concurrency == 28


def test_a_long_context_that_does_not_fit_is_refused_with_its_numbers() -> None:
    # A report: 131,072 tokens asked on an A10G, 37,696 fit.
    found = size(llm(max_context=131_072, concurrency=1), cards=["A10G"])
    assert found.shapes[0].gpus > 1
    one = judge(
        models()["meta-llama/Meta-Llama-3.1-8B"],
        llm(max_context=131_072, concurrency=1),
        resolve("A10G"),
        Split(1, 1, 1),
    )
    assert one.fit is Fit.NO
    assert "131,072 tokens needs 16.0 GiB" in one.why


def test_the_next_larger_split_is_offered_only_beside_a_tight_one() -> None:
    for card in STANDARD:
        whole = [s for s in size(llm(), cards=[card]).shapes if s.mig_profile is None]
        by_gpus = sorted(whole, key=lambda shape: shape.gpus)
        assert [shape.fit for shape in by_gpus] in (
            [Fit.FITS],
            [Fit.TIGHT],
            [Fit.TIGHT, Fit.FITS],
        ), card


def test_nodes_of_four_gpus_are_offered_more_pods() -> None:
    shapes = size(llm("meta-llama/Meta-Llama-3.1-70B"), cards=["T4"]).shapes
    assert (8, 2) in [(s.gpus_per_pod, s.pods) for s in shapes]
    assert (4, 4) in [(s.gpus_per_pod, s.pods) for s in shapes]


def test_mig_devices_are_offered_only_for_models_that_one_of_them_holds() -> None:
    small = size(llm("Qwen/Qwen3-0.6B"), cards=["A100-SXM4-40GB"]).shapes
    assert {"1g.10gb", "2g.10gb", "3g.20gb"} <= {s.mig_profile for s in small if s.mig_profile}
    assert all(s.gpus == 1 for s in small if s.mig_profile)
    large = size(llm("meta-llama/Meta-Llama-3.1-70B"), cards=["A100-SXM4-40GB"]).shapes
    assert [s for s in large if s.mig_profile] == []
    forbidden = size(
        llm("Qwen/Qwen3-0.6B", constraints=Constraints(allow_mig=False)), cards=["A100-SXM4-40GB"]
    )
    assert [s for s in forbidden.shapes if s.mig_profile] == []


def test_fp8_on_a_t4_is_refused_and_on_an_a100_explained() -> None:
    found = size(llm(precision="fp8"), cards=["T4", "A100-SXM4-80GB"])
    assert [s.gpu_model for s in found.refused] == ["T4"]
    assert "fp8" in found.refused[0].why
    assert any("A100-SXM4-80GB: stores fp8" in text for text in found.assumptions)


def test_a_card_of_unknown_kind_is_never_called_a_safe_fit() -> None:
    found = size(llm(), cards=[StatedCard("Frobnicator-9000", 81_920)])
    assert found.shapes
    assert {shape.fit for shape in found.shapes} == {Fit.TIGHT}


def test_host_memory_holds_the_part_of_the_checkpoint_that_a_pod_loads() -> None:
    shape = smallest(llm("meta-llama/Meta-Llama-3.1-70B"), "H100-SXM5-80GB")
    assert shape.memory_mib >= 1.1 * 141.1e9 / 2**20
    low, high = shape.load_seconds or (0, 0)
    assert low == pytest.approx(141.107 / 2.0 + 38, abs=1)
    assert high == pytest.approx(141.107 / 0.31 + 110 + 180, abs=1)


cards = st.sampled_from(CARDS)
precisions = st.sampled_from(["bf16", "fp8", "int4"])
entries = st.sampled_from(SERVED)


@given(
    entries, cards, st.sampled_from(ENGINES), precisions, st.integers(1, 500), st.integers(0, 500)
)
def test_more_requests_at_once_never_need_less_memory(
    entry: Model, card: Card, engine: str, precision: str, few: int, more: int
) -> None:
    workload = llm(entry.name, engine=engine, precision=precision, concurrency=few)
    split = Split(1, 1, 1)
    small = judge(entry, workload, card, split)
    large = judge(entry, _with(workload, concurrency=few + more), card, split)
    assert large.use.total >= small.use.total
    assert _rank(large.fit) >= _rank(small.fit)


@given(entries, cards, st.integers(1_300, 10**6), st.integers(0, 10**6))
def test_more_context_never_needs_less_memory(
    entry: Model, card: Card, short: int, more: int
) -> None:
    workload = llm(entry.name, max_context=short)
    split = Split(1, 1, 1)
    small = judge(entry, workload, card, split)
    large = judge(entry, _with(workload, max_context=short + more), card, split)
    assert large.use.total >= small.use.total
    assert _rank(large.fit) >= _rank(small.fit)


@given(
    entries,
    st.sampled_from(ENGINES),
    precisions,
    st.integers(1, 2_000),
    st.sampled_from([2_048, 8_192, 131_072]),
    st.sampled_from(STANDARD),
)
def test_a_shape_that_fits_stays_within_memory_and_serves_what_was_asked(
    entry: Model, engine: str, precision: str, concurrency: int, context: int, card: str
) -> None:
    workload = llm(
        entry.name,
        engine=engine,
        precision=precision,
        concurrency=concurrency,
        max_context=context,
    )
    found = size(workload, cards=[card])
    for shape in found.shapes:
        assert shape.use.total <= shape.usable_mib
        assert shape.max_concurrency is not None
        assert shape.max_concurrency >= concurrency
        assert shape.fit is not Fit.NO
        assert shape.memory_mib > 0
        assert shape.cpu_milli > 0
    assert all(shape.fit is Fit.NO for shape in found.refused)
    assert found.shapes or found.refused


def _rank(fit: Fit) -> int:
    return [Fit.FITS, Fit.TIGHT, Fit.NO].index(fit)


def _with(workload: LlmWorkload, **fields: object) -> LlmWorkload:
    values = {name: getattr(workload, name) for name in workload.__struct_fields__}
    return LlmWorkload(**{**values, **fields})


def test_kv_cache_in_fp8_serves_about_twice_as_many() -> None:
    plain = smallest(llm(), "L40S").max_concurrency or 0
    halved = smallest(llm(kv_precision="fp8"), "L40S").max_concurrency or 0
    assert plain * 1.9 < halved < plain * 2.1


def test_a_larger_batch_limit_of_the_engine_takes_more_activation_memory() -> None:
    entry = models()["meta-llama/Meta-Llama-3.1-8B"]
    split, card = Split(1, 1, 1), resolve("L40S")
    few = judge(entry, llm(), card, split, sequences=16)
    many = judge(entry, llm(), card, split, sequences=1024)
    assert few.use.activations < many.use.activations
    assert replace(few, use=many.use).use.total > few.use.total


def test_too_many_requests_at_once_are_named_as_what_leaves_nothing() -> None:
    found = size(LlmWorkload(name="x", model="meta-llama/Meta-Llama-3.1-8B", concurrency=100_000))

    assert not found.shapes
    for shape in found.refused:
        assert shape.use.activations > shape.use.weights
        assert "Activations for 100,000 requests at once" in shape.why
        assert "more replicas with fewer requests" in shape.why


def test_large_activations_are_not_put_down_to_requests_that_are_few() -> None:
    workload = LlmWorkload(name="x", model="Qwen/Qwen3-0.6B", concurrency=1, engine="vllm")
    refused = size(workload, cards=[StatedCard("tiny card", 2048)]).refused

    assert refused[0].why.startswith("Activations of ")
    assert "at once" not in refused[0].why
