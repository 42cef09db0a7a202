from __future__ import annotations

import pytest

from fleet.catalogue.accelerators import accelerators
from fleet.catalogue.models import models
from fleet.sizing.requirement import Fit, Requirement
from fleet.sizing.size import SizingError, size
from fleet.workloads import (
    Constraints,
    EmbeddingWorkload,
    LlmWorkload,
    ModelShape,
    TrainingWorkload,
    Workload,
)

LLAMA_8B = ModelShape(
    total_params_b=8.03,
    hidden_size=4096,
    num_layers=32,
    num_heads=32,
    num_kv_heads=8,
    intermediate_size=14336,
    max_context=131_072,
)
EXAMPLES: list[Workload] = [
    EmbeddingWorkload(name="search", model="BAAI/bge-m3"),
    LlmWorkload(name="chat", model="Qwen/Qwen3-8B"),
    TrainingWorkload(name="tune", model="meta-llama/Meta-Llama-3.1-8B"),
]


def ordered(found: Requirement) -> bool:
    keys = [(shape.fit is not Fit.FITS, shape.gpus) for shape in found.shapes]
    return keys == sorted(keys)


@pytest.mark.parametrize("workload", EXAMPLES, ids=lambda workload: workload.name)
def test_each_kind_is_sized_on_every_card_with_its_arithmetic(workload: Workload) -> None:
    found = size(workload)
    assert found.workload == workload.name
    assert found.shapes
    assert ordered(found)
    assert found.sentence[0].isdigit()
    assert found.assumptions
    for shape in found.shapes:
        labels = {line.label for line in shape.lines}
        assert {"Usable memory", "Load time", "Host, per pod"} <= labels
        assert all(line.formula and line.source for line in shape.lines)
        assert shape.load_seconds is not None
        assert 0 < shape.load_seconds[0] < shape.load_seconds[1]


@pytest.mark.parametrize("workload", EXAMPLES, ids=lambda workload: workload.name)
def test_every_accelerator_of_the_catalogue_is_either_offered_or_refused(
    workload: Workload,
) -> None:
    found = size(workload, cards=tuple(accelerators()))
    offered = {shape.gpu_model for shape in found.shapes}
    refused = {shape.gpu_model for shape in found.refused}
    assert offered | refused == set(accelerators())
    assert not offered & refused
    assert all(shape.why for shape in found.refused)


def test_every_model_with_a_shape_can_be_sized_for_its_kind() -> None:
    for entry in models().values():
        if entry.hidden_size is None or entry.kind == "asr":
            continue
        kind = LlmWorkload if entry.kind in ("llm", "vlm") else EmbeddingWorkload
        found = size(kind(name="x", model=entry.name), cards=["H200-SXM-141GB"])
        assert found.shapes, entry.name


def test_the_same_workload_gives_the_same_answer() -> None:
    assert size(EXAMPLES[1]) == size(EXAMPLES[1])


def test_a_shape_by_hand_gives_what_the_catalogue_gives() -> None:
    named = size(LlmWorkload(name="a", model="meta-llama/Meta-Llama-3.1-8B"), cards=["L40S"])
    by_hand = size(LlmWorkload(name="a", shape=LLAMA_8B), cards=["L40S"])
    assert by_hand.shapes[0].use.total == pytest.approx(named.shapes[0].use.total, rel=0.001)
    assert by_hand.shapes[0].gpus == named.shapes[0].gpus
    assert any("given by hand" in text for text in by_hand.assumptions)


def test_gpu_models_of_the_constraints_are_judged_when_no_card_is_given() -> None:
    wanted = Constraints(gpu_models=("L4", "H100"))
    found = size(LlmWorkload(name="a", model="Qwen/Qwen3-0.6B", constraints=wanted))
    assert {shape.gpu_model for shape in found.shapes} == {"L4", "H100"}
    assert any("H100 is sized as" in text for text in found.assumptions)


def test_a_model_that_fits_nowhere_is_an_answer_with_the_reason() -> None:
    found = size(LlmWorkload(name="a", model="deepseek-ai/DeepSeek-V3"), cards=["T4"])
    assert found.shapes == ()
    assert found.sentence.startswith("Fits no card")
    assert found.refused[0].fit is Fit.NO


def test_no_cards_at_all_is_said_so() -> None:
    assert size(EXAMPLES[0], cards=[]).sentence == "No card was given to judge."


@pytest.mark.parametrize(
    ("workload", "field", "words"),
    [
        (LlmWorkload(name="a"), "model", "Name a model"),
        (LlmWorkload(name="a", model="Qwen/Qwen3-9B"), "model", "Qwen/Qwen3-8B"),
        (LlmWorkload(name="a", model="<script>" * 500), "model", "no model"),
        (LlmWorkload(name="a", model="BAAI/bge-m3"), "model", "not one that generates"),
        (LlmWorkload(name="a", model="black-forest-labs/FLUX.1-dev"), "model", "by hand"),
        (
            LlmWorkload(name="a", model="Qwen/Qwen3-8B", input_tokens=9_000),
            "max_context",
            "9,300 tokens",
        ),
        (
            LlmWorkload(
                name="a",
                model="Qwen/Qwen3-8B",
                constraints=Constraints(gpu_models=("Frobnicator",)),
            ),
            "constraints.gpu_models",
            "Frobnicator",
        ),
    ],
)
def test_bad_input_names_the_field_and_the_way_out(
    workload: Workload, field: str, words: str
) -> None:
    with pytest.raises(SizingError) as caught:
        size(workload)
    assert caught.value.field == field
    assert words in caught.value.message
    assert len(caught.value.message) < 500


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"num_kv_heads": 7}, "shape.num_kv_heads"),
        ({"active_params_b": 9.0}, "shape.active_params_b"),
        ({"num_heads": 5_000, "num_kv_heads": 5_000}, "shape.num_heads"),
        ({"vocab_size": 10_000_000}, "shape.total_params_b"),
    ],
)
def test_a_shape_that_contradicts_itself_names_the_figure(
    fields: dict[str, float], field: str
) -> None:
    values = {name: getattr(LLAMA_8B, name) for name in LLAMA_8B.__struct_fields__}
    with pytest.raises(SizingError) as caught:
        size(LlmWorkload(name="a", shape=ModelShape(**{**values, **fields})))
    assert caught.value.field == field


def test_a_context_beyond_the_published_one_is_an_assumption() -> None:
    found = size(LlmWorkload(name="a", model="Qwen/Qwen3-8B", max_context=131_072), cards=["L40S"])
    assert any("RoPE scaling" in text for text in found.assumptions)


def test_a_cache_of_unknown_form_lowers_the_confidence() -> None:
    found = size(
        LlmWorkload(name="a", model="deepseek-ai/DeepSeek-V4-Flash", precision="fp8"),
        cards=["H200-SXM-141GB"],
    )
    assert found.confidence.startswith("low")
