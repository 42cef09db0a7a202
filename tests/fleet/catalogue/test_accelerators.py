"""Finding a card by the names that nodes carry, and what it really offers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.catalogue.accelerators import accelerators, usable_mib
from fleet.catalogue.card_names import (
    candidates,
    common_name,
    from_gke_label,
    from_karpenter,
    from_pci_id,
    match_label,
    mig_suffix,
    narrowed,
    strip_suffixes,
    vgpu_profile,
)
from fleet.catalogue.mig_profiles import (
    canonical_profile,
    profile,
    profile_usable_mib,
    profiles,
)


@pytest.mark.parametrize("name", sorted(accelerators()))
def test_every_card_is_found_by_its_name_and_its_labels(name: str) -> None:
    card = accelerators()[name]
    for text in (name, *card.product_labels):
        assert card in candidates(text), text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NVIDIA-H100-80GB-HBM3", "H100-SXM5-80GB"),
        ("NVIDIA H100 80GB HBM3", "H100-SXM5-80GB"),
        ("NVIDIA-NVIDIA H100 NVL", "H100-NVL-94GB"),
        ("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED", "A100-SXM4-40GB"),
        ("Tesla-T4-SHARED", "T4"),
        ("NVIDIA-H200", "H200-SXM-141GB"),
        ("NVIDIA-H20", "H20-96GB"),
        ("NVIDIA-L4", "L4"),
        ("NVIDIA-L40", "L40"),
        ("NVIDIA-L40S", "L40S"),
        ("NVIDIA-A10", "A10"),
        ("NVIDIA-A10G", "A10G"),
        ("NVIDIA-GB200", "GB200"),
        ("NVIDIA-B200", "B200"),
        ("GA102_GEFORCE_RTX_3090", "RTX-3090"),
        ("AMD_Instinct_MI300X_OAM", "MI300X"),
        ("AMD_Instinct_MI300A", "MI300A"),
        ("H100_NVLINK_80GB", "H100-SXM5-80GB"),
    ],
)
def test_whole_names_are_matched_and_not_their_beginnings(text: str, expected: str) -> None:
    found = match_label(text)
    assert found is not None
    assert found.name == expected


@pytest.mark.parametrize(
    "text", ["", "nvidia", "true", "false", "on", "1", "A2000", "RTX 6000", "x"]
)
def test_a_name_that_means_no_single_card_is_not_guessed(text: str) -> None:
    assert match_label(text) is None


@given(st.text(max_size=300))
def test_any_text_is_a_card_or_none(text: str) -> None:
    match_label(text)
    assert len(strip_suffixes(text)) <= len(text)


def test_a_family_is_named_by_what_its_cards_share() -> None:
    assert common_name(candidates("h100")) == "H100"
    assert common_name(from_gke_label("nvidia-tesla-v100")) == "V100"
    assert common_name(()) is None


def test_memory_tells_cards_of_one_name_apart() -> None:
    both = from_karpenter("a100")
    assert len(both) == 2
    assert [c.name for c in from_karpenter("a100", 81920)] == ["A100-SXM4-80GB"]
    assert [c.name for c in narrowed(both, 40536)] == ["A100-SXM4-40GB"]
    assert narrowed(both, 1) == both  # fits none: nothing is learned


def test_pci_ids_name_cards() -> None:
    assert [card.name for card in from_pci_id("74b5")] == ["MI300X"]
    assert len(from_pci_id("1e30")) == 2  # two Quadros share it
    assert from_pci_id("") == ()


def test_slices_of_boards_are_told_from_boards() -> None:
    assert vgpu_profile("GRID-A100-40C") == ("A100", "40C")
    assert vgpu_profile("GRID_P40-1Q") == ("P40", "1Q")
    assert vgpu_profile("NVIDIA-H100-80GB-HBM3") is None
    assert mig_suffix("NVIDIA-A100-MIG-INVALID") == "INVALID"
    assert mig_suffix("A100-SXM4-40GB-MIG-1g.5gb-SHARED") == "1g.5gb"
    assert mig_suffix("NVIDIA-A100") == ""


@pytest.mark.parametrize("name", sorted(accelerators()))
def test_usable_memory_is_less_than_the_marketing_figure(name: str) -> None:
    card = accelerators()[name]
    if card.memory_gib:
        assert 0.85 <= usable_mib(card) / (card.memory_gib * 1024) <= 1.0


@pytest.mark.parametrize("name", sorted(accelerators()))
def test_mig_profiles_fit_their_board(name: str) -> None:
    card = accelerators()[name]
    for cut in profiles(name):
        assert card.mig_max
        assert 1 <= cut.max_instances <= card.mig_max
        assert cut.memory_slices <= cut.memory_slices_total
        assert cut.max_instances * cut.memory_slices <= cut.memory_slices_total
        assert profile_usable_mib(card, cut) < usable_mib(card)
        assert profile(name, cut.resource) == profile(name, cut.name) == cut


def test_one_profile_name_means_different_cuts_on_different_boards() -> None:
    h200, gb300 = profile("H200-SXM-141GB", "1g.35gb"), profile("GB300", "1g.35gb")
    assert h200 is not None
    assert gb300 is not None
    assert (h200.max_instances, gb300.max_instances) == (4, 7)


def test_a_profile_that_a_board_does_not_have_is_none() -> None:
    assert profile("A100-SXM4-80GB", "7g.79gb") is None
    assert profile("T4", "1g.5gb") is None
    assert profiles("no such card") == ()


@pytest.mark.parametrize(
    "written", ["1g.10gb+me", "1g.10gbme", "mig-1g.10gb.me", "nvidia.com/mig-1g.10gb.me"]
)
def test_a_profile_is_known_however_it_is_written(written: str) -> None:
    assert canonical_profile(written) == "1g.10gb+me"
    found = profile("A100-SXM4-80GB", written)
    assert found is not None
    assert found.is_variant
