from __future__ import annotations

import pytest

from fleet.catalogue.accelerators import accelerator, accelerators
from fleet.sizing.cards import STANDARD, StatedCard, mig_cards, resolve
from fleet.sizing.errors import SizingError
from fleet.sizing.precision import (
    has_flash_attention,
    has_fp8_kv,
    inference_rule,
    training_rule,
)


def test_every_standard_card_is_in_the_catalogue() -> None:
    assert [name for name in STANDARD if accelerator(name) is None] == []


def test_a_catalogue_name_is_sized_by_what_engines_see() -> None:
    card = resolve("A100-SXM4-80GB")
    assert card.usable_mib == pytest.approx(79.1 * 1024)
    assert card.nvlink
    assert card.note == ""


@pytest.mark.parametrize(
    ("family", "smallest"),
    [("A100", 39.4), ("V100", 15.4), ("H100", 79.1), ("H100-NVL-94GB", 93.0)],
)
def test_a_family_name_is_sized_as_its_smallest_member(family: str, smallest: float) -> None:
    card = resolve(family)
    assert card.name == family
    assert card.usable_mib / 1024 == pytest.approx(smallest, abs=0.05)


def test_an_unknown_card_is_sized_by_the_memory_that_its_node_states() -> None:
    card = resolve(StatedCard("Frobnicator-9000", 24_576))
    assert card.accelerator is None
    assert card.usable_mib == pytest.approx(24_576 * 0.97)
    assert "states" in card.note


def test_a_family_with_stated_memory_keeps_what_the_family_computes() -> None:
    card = resolve(StatedCard("H100", 81_559))
    assert card.accelerator is not None
    assert card.accelerator.architecture == "Hopper"
    assert card.usable_mib == pytest.approx(81_559 * 0.97)


@pytest.mark.parametrize("wanted", ["Frobnicator-9000", "", "x" * 5_000])
def test_a_name_that_means_no_card_is_refused_with_the_field(wanted: str) -> None:
    with pytest.raises(SizingError) as caught:
        resolve(wanted)
    assert caught.value.field == "constraints.gpu_models"
    assert len(caught.value.message) < 400


def test_a_misspelt_card_is_answered_with_the_right_name() -> None:
    with pytest.raises(SizingError, match="L40S"):
        resolve("L4OS")


def test_stated_memory_of_nothing_is_refused() -> None:
    with pytest.raises(SizingError, match="no memory"):
        resolve(StatedCard("Frobnicator-9000", 0))


def test_mig_devices_are_smaller_than_their_board() -> None:
    for name in ("A30", "A100-SXM4-40GB", "H100-SXM5-80GB", "B200"):
        board = resolve(name)
        devices = mig_cards(board)
        assert devices, name
        for device in devices:
            assert device.usable_mib <= board.usable_mib
            assert 0 < device.compute_share <= 1
    assert mig_cards(resolve("T4")) == ()


@pytest.mark.parametrize(
    ("card", "precision", "works"),
    [
        ("T4", "bf16", True),  # in fp16
        ("T4", "fp8", False),
        ("T4", "int4", True),
        ("T4", "nvfp4", False),
        ("V100-SXM2-16GB", "int8", False),
        ("A100-SXM4-80GB", "fp8", True),  # weights only
        ("L4", "fp8", True),
        ("H100-SXM5-80GB", "nvfp4", True),  # weights only
        ("B200", "nvfp4", True),
        ("MI300X", "fp8", True),
        ("MI300X", "nvfp4", False),
        ("MI210", "fp8", False),
        ("P100-PCIe-16GB", "fp16", False),
        ("Gaudi2", "bf16", False),
        ("TPU-v5e", "bf16", False),
    ],
)
def test_number_formats_follow_the_architecture(card: str, precision: str, works: bool) -> None:
    assert inference_rule(resolve(card), precision).works is works


def test_what_is_used_instead_is_said() -> None:
    assert "fp16" in inference_rule(resolve("T4"), "bf16").note
    assert "bf16" in inference_rule(resolve("A100-SXM4-80GB"), "fp8").note
    assert inference_rule(resolve("H100-SXM5-80GB"), "fp8").note == ""


def test_cards_without_bf16_train_in_fp16_or_not_at_all() -> None:
    assert training_rule(resolve("V100-SXM2-32GB"), "mixed", "full").works
    assert training_rule(resolve("T4"), "bf16", "lora").works
    assert not training_rule(resolve("T4"), "bf16", "full").works
    assert training_rule(resolve("A100-SXM4-80GB"), "bf16", "full").note == ""


def test_flash_attention_and_fp8_cache_need_ampere() -> None:
    assert not has_flash_attention(resolve("T4"))
    assert has_flash_attention(resolve("A10"))
    assert not has_fp8_kv(resolve("T4"))
    assert has_fp8_kv(resolve("L4"))
    assert not has_flash_attention(resolve(StatedCard("Frobnicator-9000", 24_576)))


def test_every_accelerator_of_the_catalogue_gets_a_verdict() -> None:
    for name in accelerators():
        rule = inference_rule(resolve(name), "bf16")
        assert rule.works or rule.note, name
