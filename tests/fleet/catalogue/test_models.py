from __future__ import annotations

import pytest

from fleet.catalogue.models import (
    matching_models,
    model,
    models,
    nearest_models,
    routed_params,
)


def test_every_row_has_a_name_a_size_and_a_source() -> None:
    found = models()
    assert len(found) == 123
    for entry in found.values():
        assert entry.total_params_b > 0, entry.name
        assert entry.source, entry.name


def test_parts_of_a_model_never_add_up_to_more_than_the_total() -> None:
    for entry in models().values():
        parts = (
            entry.embedding_params_b
            + entry.head_params_b
            + entry.routed_params_b
            + entry.vision_params_b
        )
        assert parts <= entry.total_params_b * 1.001, entry.name


def test_active_parameters_follow_from_the_experts_of_a_token() -> None:
    for entry in models().values():
        if not entry.is_moe:
            continue
        unused = 1 - entry.experts_per_token / entry.num_experts
        active = entry.total_params_b - entry.routed_params_b * unused
        assert active == pytest.approx(entry.active_params_b, rel=0.02), entry.name


def test_kv_bytes_agree_with_the_shape_of_plain_attention() -> None:
    for entry in models().values():
        other = "K=V" in entry.note or entry.family == "mimo"  # keys and values differ
        if not entry.kv_bytes_per_token or entry.is_mla or other:
            continue
        heads = entry.num_kv_heads * entry.head_dim
        assert entry.kv_bytes_per_token == 2 * entry.full_layers * heads * 2, entry.name


@pytest.mark.parametrize("asked", ["Qwen/Qwen3-8B", "qwen/qwen3-8b", "Qwen3-8B", " qwen3-8b "])
def test_a_model_is_found_by_its_name_without_regard_to_case_or_owner(asked: str) -> None:
    found = model(asked)
    assert found is not None
    assert found.name == "Qwen/Qwen3-8B"


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Meta-Llama-3.1-8B"),
        ("Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B"),
        ("google/gemma-2-9b-it", "google/gemma-2-9b"),
        ("meta-llama/Llama-2-7b", "meta-llama/Llama-2-7b-hf"),
    ],
)
def test_a_tuned_model_has_the_shape_of_its_base(asked: str, found: str) -> None:
    entry = model(asked)
    assert entry is not None
    assert entry.name == found


@pytest.mark.parametrize("asked", ["", "Qwen", "no/such-model", "x" * 10_000])
def test_a_name_that_is_no_model_is_not_found(asked: str) -> None:
    assert model(asked) is None


def test_nearest_names_put_the_likely_one_first() -> None:
    assert nearest_models("meta-llama/Llama-3.1-8B-FP8")[0] == "meta-llama/Meta-Llama-3.1-8B"
    assert nearest_models("bge-m4")[0] == "BAAI/bge-m3"
    assert nearest_models("§§§§") == ()


def test_a_model_known_by_size_alone_says_that_it_has_no_shape() -> None:
    entry = models()["stabilityai/stable-diffusion-3.5-large"]
    with pytest.raises(ValueError, match=r"stable-diffusion-3\.5-large"):
        _ = entry.width


def test_routed_parameters_follow_from_active_ones() -> None:
    # Mixtral 8x7B: 2 of 8 experts, 46.70 B total, 12.88 B active.
    assert routed_params(46.7028, 12.8799, 8, 2) == pytest.approx(45.097, rel=1e-3)
    assert routed_params(8.0, 8.0, 0, 0) == 0


def test_a_part_of_a_name_matches_and_a_size_only_by_itself() -> None:
    names = {m.name for m in matching_models("70b")}
    assert names == {m.name for m in models().values() if "70b" in m.name.lower()}
    assert "meta-llama/Meta-Llama-3.1-70B" in names

    assert "Qwen/Qwen3-8B" in {m.name for m in matching_models("qwen 8B")}
    assert not any("0.8" in m.name or "38b" in m.name.lower() for m in matching_models("8b"))
    assert matching_models("") == matching_models("  ") == matching_models("no such") == ()
