from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.catalogue.models import models
from fleet.sizing.cards import STANDARD, resolve
from fleet.sizing.errors import SizingError
from fleet.sizing.requirement import Fit
from fleet.sizing.size import size
from fleet.sizing.training import judge, peak_gib, worker_sizes
from fleet.sizing.training_states import adapter_params
from fleet.workloads import Constraints, TrainingWorkload

LLAMA = models()["meta-llama/Meta-Llama-3.1-8B"]
NO_MIG = Constraints(allow_mig=False)


def training(model: str = LLAMA.name, **fields: object) -> TrainingWorkload:
    fields.setdefault("constraints", NO_MIG)
    return TrainingWorkload(name="tune", model=model, **fields)  # type: ignore[arg-type]


def test_states_agree_with_a_calculation_by_hand() -> None:
    # 8.0303 B x (16 resident + 4 temporaries) over 8, no activation that large
    assert peak_gib(LLAMA, training(sequence_tokens=16), 8) == pytest.approx(
        8.0303e9 * 20 / 8 / 2**30, rel=1e-6
    )
    # pure bf16: 8 + 2
    assert peak_gib(LLAMA, training(sequence_tokens=16, recipe="bf16"), 1) == pytest.approx(
        8.0303e9 * 10 / 2**30, rel=1e-6
    )


def test_zero_stages_divide_what_they_say() -> None:
    gib = 8.0303e9 / 2**30
    expected = {"ddp": 20.0, "zero1": 4 + 16 / 8, "zero2": 2 + 18 / 8, "zero3": 20 / 8}
    for sharding, bytes_a_param in expected.items():
        job = training(sequence_tokens=16, sharding=sharding)
        assert peak_gib(LLAMA, job, 8) == pytest.approx(gib * bytes_a_param, rel=1e-6), sharding


def test_an_adapter_of_rank_16_on_llama_8b_has_42_million_parameters() -> None:
    assert adapter_params(LLAMA) == pytest.approx(41.94e6, rel=1e-3)


def test_lora_and_qlora_need_far_less_than_full_training() -> None:
    peaks = [peak_gib(LLAMA, training(method=m), 1) for m in ("full", "lora", "qlora")]
    assert peaks[0] > 4 * peaks[1] > 4 * peaks[2]


def test_checkpointing_saves_memory_and_the_logits_stay() -> None:
    with_it = judge(LLAMA, training(method="lora"), resolve("A100-SXM4-80GB"), 1)
    without = judge(
        LLAMA, training(method="lora", checkpointing=False), resolve("A100-SXM4-80GB"), 1
    )
    assert without.use.activations > 2 * with_it.use.activations
    logits = [line.mib for line in with_it.lines if line.label == "Logits"]
    assert logits == [pytest.approx(4_096 * 128_256 * 10 / 2**20)]


@pytest.mark.parametrize(
    ("job", "card", "gpus"),
    [
        (training(), "H100-SXM5-80GB", 4),
        (training(method="lora"), "A10", 2),
        (training(method="lora"), "A100-SXM4-40GB", 1),
        (training(method="qlora", sequence_tokens=2_048), "T4", 1),
        (training("meta-llama/Meta-Llama-3.1-70B"), "H100-SXM5-80GB", 24),
        (training("meta-llama/Meta-Llama-3.1-70B", method="qlora"), "A100-SXM4-80GB", 1),
    ],
)
def test_the_fewest_gpus_that_hold_the_job_are_found(
    job: TrainingWorkload, card: str, gpus: int
) -> None:
    shapes = size(job, cards=[card]).shapes
    assert min(shape.gpus for shape in shapes) == gpus


def test_the_wanted_number_of_gpus_is_judged_as_it_is() -> None:
    found = size(training(gpus=16, gpus_per_worker=4), cards=["H100-SXM5-80GB", "T4"])
    assert {(s.gpus_per_pod, s.pods) for s in found.shapes} == {(4, 4)}
    assert [s.gpu_model for s in found.refused] == ["T4"]


def test_workers_take_the_sizes_that_nodes_have() -> None:
    assert worker_sizes(training(), 16, 8) == (8, 4, 2, 1)
    assert worker_sizes(training(), 12, 8) == (6, 4, 2, 1)
    assert worker_sizes(training(), 7, 8) == (7, 1)
    assert worker_sizes(training(gpus_per_worker=2), 16, 8) == (2,)
    shapes = size(training(gpus=16), cards=["H100-SXM5-80GB"]).shapes
    assert [(s.gpus_per_pod, s.pods) for s in shapes] == [(8, 2), (4, 4), (2, 8), (1, 16)]


def test_a_worker_larger_than_a_node_is_refused_in_words() -> None:
    found = size(training(gpus=16, gpus_per_worker=16), cards=["H100-SXM5-80GB"])
    assert found.shapes == ()
    assert "holds up to 8 GPUs, not 16" in found.refused[0].why


def test_what_no_number_of_gpus_can_hold_is_refused_with_the_cure() -> None:
    found = size(training(micro_batch=64, sequence_tokens=8_192), cards=["T4"])
    assert found.shapes == ()
    assert "smaller micro-batch" in found.refused[0].why
    ddp = size(training("meta-llama/Meta-Llama-3.1-70B", sharding="ddp"), cards=["H100-SXM5-80GB"])
    assert "DDP leaves" in ddp.refused[0].why


def test_cards_without_bf16_say_what_they_train_in() -> None:
    found = size(training(method="lora"), cards=["V100-SXM2-32GB"])
    assert any("V100-SXM2-32GB: no bf16, trains in fp16" in text for text in found.assumptions)
    pure = size(training(recipe="bf16"), cards=["V100-SXM2-32GB"])
    assert pure.shapes == ()
    assert "recipe mixed" in pure.refused[0].why


def test_gpus_that_do_not_make_whole_workers_are_refused() -> None:
    with pytest.raises(SizingError) as caught:
        size(training(gpus=12, gpus_per_worker=8))
    assert caught.value.field == "gpus_per_worker"


@given(
    st.sampled_from(["full", "lora", "qlora"]),
    st.sampled_from(["mixed", "bf16", "adam8bit"]),
    st.sampled_from(["ddp", "zero1", "zero2", "zero3"]),
    st.integers(1, 8),
    st.sampled_from([512, 4_096, 32_768]),
    st.booleans(),
    st.sampled_from(STANDARD),
)
def test_a_shape_that_fits_stays_within_memory(
    method: str, recipe: str, sharding: str, batch: int, tokens: int, kept: bool, card: str
) -> None:
    job = training(
        method=method,
        recipe=recipe,
        sharding=sharding,
        micro_batch=batch,
        sequence_tokens=tokens,
        checkpointing=kept,
    )
    found = size(job, cards=[card])
    assert found.shapes or found.refused
    for shape in found.shapes:
        assert shape.use.total <= shape.usable_mib
        assert shape.gpus == shape.gpus_per_pod * shape.pods


@given(st.sampled_from(["full", "lora", "qlora"]), st.integers(1, 64), st.integers(1, 10))
def test_more_gpus_never_put_more_on_each(method: str, gpus: int, times: int) -> None:
    job = training(method=method)
    if gpus > 1:  # from one GPU to two, gathered layers come on top
        assert peak_gib(LLAMA, job, gpus * times) <= peak_gib(LLAMA, job, gpus) * (1 + 1e-9)


@given(st.integers(1, 64), st.integers(0, 64))
def test_a_larger_micro_batch_never_needs_less_memory(batch: int, more: int) -> None:
    small = judge(LLAMA, training(micro_batch=batch), resolve("B200"), 8)
    large = judge(LLAMA, training(micro_batch=batch + more), resolve("B200"), 8)
    assert large.use.total >= small.use.total
    assert [Fit.FITS, Fit.TIGHT, Fit.NO].index(large.fit) >= [Fit.FITS, Fit.TIGHT, Fit.NO].index(
        small.fit
    )
