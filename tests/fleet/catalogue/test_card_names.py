"""Names as drivers, clouds and tools write them: each finds its own card, a near miss finds none.

The expected card of each name is read from the table itself, by hand rules of this file.
"""

from __future__ import annotations

import csv
import string
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fleet.catalogue.accelerators import accelerators
from fleet.catalogue.card_names import (
    candidates,
    common_name,
    described,
    from_gke_label,
    from_karpenter,
    from_pci_id,
    match_label,
    mig_suffix,
    vgpu_profile,
)
from fleet.catalogue.mig_profiles import agreed_profile, canonical_profile, profile

TABLE = Path(__file__).parents[3] / "fleet" / "catalogue" / "accelerators.csv"
ROWS = list(csv.DictReader(TABLE.open(encoding="utf-8")))


def _by(column: str) -> dict[str, set[str]]:
    """Each entry of a column of lists, and the models that carry it."""
    found: dict[str, set[str]] = defaultdict(set)
    for row in ROWS:
        for entry in filter(None, row[column].replace("|", ";").split(";")):
            found[entry.strip()].add(row["model"])
    return dict(found)


LABELS = _by("k8s_product_labels")
NAMES = LABELS | {row["model"]: {row["model"]} for row in ROWS}
SUFFIXES = (
    "", "-SHARED", "-MIG-1g.5gb", "-MIG-1g.10gbme", "-MIG-3g.40gb-SHARED", "-MIG-1g.24gb-me",
    "-MIG-1c.2g.20gb", "-MIG-INVALID",
)  # fmt: skip


def names(text: str) -> set[str]:
    return {card.name for card in candidates(text)}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_product_label_finds_exactly_its_cards_whatever_is_appended(suffix: str) -> None:
    for label, models in NAMES.items():
        assert names(label.removesuffix("-SHARED") + suffix) == models, label


@pytest.mark.parametrize(
    "written",
    [str.lower, str.upper, lambda text: text.replace("-", " "), lambda text: f"  {text} ",
     lambda text: text.replace("-", "_")],
    ids=["lower", "upper", "spaces", "padded", "underscores"],
)  # fmt: skip
def test_case_and_separators_do_not_matter(written: Callable[[str], str]) -> None:
    for label, models in NAMES.items():
        assert names(written(label)) == models, label


def test_names_written_in_one_word_are_the_same_names() -> None:
    for text, model in (
        ("rtx4090", "RTX-4090"), ("RTX3090Ti", "RTX-3090-Ti"), ("h100nvl", "H100-NVL-94GB"),
        ("a6000", "RTX-A6000"), ("rtxa5000", "RTX-A5000"), ("rtx6000ada", "RTX-6000-Ada"),
    ):  # fmt: skip
        assert names(text) == {model}, text


def test_cloud_labels_find_all_cards_that_carry_them_and_no_others() -> None:
    for label, models in _by("gke_accelerator_label").items():
        assert {card.name for card in from_gke_label(label)} == models, label
    for label, models in _by("karpenter_gpu_name").items():
        assert {card.name for card in from_karpenter(label)} == models, label


def test_memory_tells_apart_the_cards_of_one_cloud_name() -> None:
    sizes = {row["model"]: row["memory_gib"] for row in ROWS if row["memory_gib"]}
    for label, models in _by("karpenter_gpu_name").items():
        for model in models & sizes.keys():
            alike = {other for other in models if sizes[other] == sizes[model]}
            found = from_karpenter(label, round(float(sizes[model]) * 1024))
            assert {card.name for card in found} == alike, (label, model)


def test_pci_ids_find_all_cards_that_carry_them() -> None:
    ids: dict[str, set[str]] = defaultdict(set)
    for entry, models in _by("pci_device_ids").items():
        ids[entry.split(" ")[0]] |= models
    for device, models in ids.items():
        assert {card.name for card in from_pci_id(device.lower())} == models, device


NEAR = (
    ("A10", "A100", "A10G"),
    ("L4", "L40", "L40S", "L20", "L2"),
    ("H100 PCIe", "H100NVL", "H200", "GH200", "H20"),
    ("T4", "T4G"),
    ("MI300X", "MI300A", "MI308X", "MI325X"),
    ("MI250", "MI250X", "MI210"),
    ("B200", "GB200", "B300", "GB300"),
    ("A2", "RTX-A2000", "A16"),
    ("V100", "V100S"),
)


@pytest.mark.parametrize("group", NEAR, ids="/".join)
def test_near_misses_share_no_card(group: tuple[str, ...]) -> None:
    for one in group:
        for other in group:
            if one != other:
                assert not names(one) & names(other)


def test_editions_of_one_name_stay_apart_or_stay_open() -> None:
    editions = [f"NVIDIA-RTX-PRO-6000-Blackwell-{e}" for e in (
        "Server-Edition", "Workstation-Edition", "Max-Q-Workstation-Edition")]  # fmt: skip
    found = [names(text) for text in editions]
    assert all(len(one) == 1 for one in found)
    assert len(set.union(*found)) == 3
    assert names("NVIDIA-RTX-PRO-6000-Blackwell") == set.union(*found)
    assert match_label("RTX PRO 6000") is None


def test_size_and_form_in_the_name_choose_among_a_family() -> None:
    for text, models in (
        ("A100-40GB", {"A100-PCIe-40GB", "A100-SXM4-40GB"}),
        ("a100-80gb", {"A100-PCIe-80GB", "A100-SXM4-80GB"}),
        ("A100_NVLINK_80GB", {"A100-SXM4-80GB"}),
        ("A100_PCIE_40GB", {"A100-PCIe-40GB"}),
        ("V100_NVLINK_32GB", {"V100-SXM2-32GB", "V100-SXM3-32GB"}),
        ("GH100_H100_SXM5_80GB", {"H100-SXM5-80GB"}),
    ):
        assert names(text) == models, text


@pytest.mark.parametrize(
    "text",
    ["RTX-4070", "NVIDIA-GeForce-RTX-4060-Ti", "NVIDIA-RTX-A2000-12GB", "NVIDIA-TITAN-RTX",
     "NVIDIA-GeForce-GTX-1080-Ti", "Arc_A770", "Max_Series", "AMD_Radeon_RX_7900_XTX", "Radeon",
     "NVIDIA-GeForce-RTX-4090-Laptop-GPU", "NVIDIA-RTX-5000-Ada-Generation-Laptop-GPU",
     "NVIDIA-GeForce-RTX-4080-SUPER", "NVIDIA-A30-48GB", "NVIDIA-L40G", "NVIDIA-H20Z", "MI300",
     "tpu", "gpu", "true", "nvidia", "80GB", "x" * 63, "-".join("abcdefghij" * 6), "\u202e4T"],
)  # fmt: skip
def test_a_card_that_the_table_lacks_is_unknown_and_not_its_neighbour(text: str) -> None:
    assert candidates(text) == ()


def test_a_text_that_names_two_cards_means_either() -> None:
    assert names("AMD_Instinct_MI250X_MI250") == {"MI250", "MI250X"}
    assert common_name(candidates("a10-or-a100")) is None
    assert common_name(candidates("RTX 6000")) is None  # four products, and "RTX" is no name


@given(st.sampled_from(sorted(LABELS)), st.sampled_from(string.ascii_lowercase + "0123456789"))
def test_one_more_letter_makes_another_card(label: str, letter: str) -> None:
    """ "L4" is not "L40", "A10" is not "A10G": whatever is glued to the model is another model."""
    parts = label.split("-") if "-" in label else label.split("_")
    at = next((i for i, part in enumerate(parts) if any(c.isdigit() for c in part)), None)
    assume(at is not None)
    assert at is not None
    glue = "-" if "-" in label else "_"
    other = glue.join((*parts[:at], parts[at] + letter, *parts[at + 1 :]))
    assert names(other) == NAMES.get(other, set()) or not names(other) & LABELS[label]


@given(st.text(max_size=300))
def test_any_text_gives_cards_or_none_and_a_profile_or_none(text: str) -> None:
    assert set(candidates(text)) <= set(accelerators().values())
    assert isinstance(mig_suffix(text), str)
    assert vgpu_profile(text) is None or all(vgpu_profile(text) or ())


def test_a_bare_name_is_one_card_unless_the_memory_says_otherwise() -> None:
    """Device 2339 prints "NVIDIA H100" and has 94 GB; boards of 80 GB may be labelled so too."""
    bare = "NVIDIA-H100"
    assert {card.name for card in described(bare, None)} == {"H100-SXM5-94GB"}
    assert {card.name for card in described(bare, 96256)} == {"H100-SXM5-94GB"}
    assert {card.name for card in described(bare, 81559)} == {"H100-PCIe-80GB", "H100-SXM5-80GB"}
    assert {card.name for card in described("NVIDIA-H20", 144384)} == {"H20-3e-141GB"}


def test_a_name_that_holds_a_size_is_believed_against_the_memory() -> None:
    found = described("NVIDIA-A100-SXM4-40GB", 81920)
    assert [card.name for card in found] == ["A100-SXM4-40GB"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["model"])
def test_the_memory_that_nodes_report_never_changes_the_card(row: dict[str, str]) -> None:
    seen = [int(v) for v in row["gfd_memory_mib_seen"].split(";") if v]
    for label in filter(None, row["k8s_product_labels"].split("|")):
        for memory in seen:
            assert row["model"] in {card.name for card in described(label, memory)}


@pytest.mark.parametrize(
    ("label", "expected"),
    [("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", "1g.10gb"),
     ("NVIDIA-H100-80GB-HBM3-MIG-1g.10gbme", "1g.10gbme"),
     ("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition-MIG-1g.24gb-me", "1g.24gb-me"),
     ("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition-MIG-1g.24gbme.all-SHARED", "1g.24gbme.all"),
     ("nvidia-a100-sxm4-40gb-mig-1g.5gb-shared", "1g.5gb"),
     ("NVIDIA-A100-SXM4-80GB-MIG-1c.3g.40gb", "1c.3g.40gb"),
     ("NVIDIA-A100-SXM4-80GB-MIG-invalid", "INVALID"), ("Tesla-T4-SHARED", "")],
)  # fmt: skip
def test_the_mig_profile_is_cut_from_the_right(label: str, expected: str) -> None:
    assert mig_suffix(label) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("GRID-A100-40C", ("A100", "40C")), ("GRID_P40-1Q", ("P40", "1Q")),
     ("NVIDIA-A10-24Q", ("A10", "24Q")), ("NVIDIA-A100-1-5C", ("A100", "1-5C")),
     ("GRID-RTX6000-24Q-SHARED", ("RTX6000", "24Q")), ("NVIDIA-A100-SXM4-80GB", None),
     ("NVIDIA-L4", None)],
)  # fmt: skip
def test_a_slice_of_a_board_is_told_by_its_profile(
    text: str, expected: tuple[str, str] | None
) -> None:
    assert vgpu_profile(text) == expected


def test_a_profile_counts_where_all_boards_that_have_it_agree() -> None:
    """ "1g.10gb" is a seventh of an 80 GB board and a quarter of a 40 GB one."""
    both = agreed_profile(["A100-SXM4-80GB", "H100-SXM5-80GB"], "1g.10gb")
    assert both is not None
    assert both.max_instances == 7
    assert agreed_profile(["A100-SXM4-40GB", "A100-SXM4-80GB"], "1g.10gb") is None
    anywhere = agreed_profile([], "1g.5gb")
    assert anywhere is not None
    assert anywhere.max_instances == 7
    assert agreed_profile([], "1g.10gb") is None
    assert agreed_profile(["T4"], "1g.5gb") is None


def test_profiles_with_media_or_graphics_keep_their_own_number() -> None:
    server = "RTX-PRO-6000-Blackwell-Server"
    for written, most in (
        ("1g.24gb", 4), ("1g.24gb+me", 1), ("1g.24gbme", 1), ("1g.24gb.me", 1), ("1g.24gb-me", 4),
        ("1g.24gbgfx", 4), ("1g.24gbme.all", 1), ("2g.48gb-me", 2),
    ):  # fmt: skip
        found = profile(server, written)
        assert found is not None, written
        assert found.max_instances == most, written
    assert canonical_profile("nvidia.com/mig-1g.24gb.me.all") == "1g.24gb+me.all"
