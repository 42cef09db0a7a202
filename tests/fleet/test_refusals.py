"""Messages of msgspec become sentences of ours, with the place kept apart."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from fleet.refusals import Refusal
from fleet.workloads import Workload

GOOD: dict[str, Any] = {"kind": "llm", "name": "chat", "model": "Qwen/Qwen3-8B"}


def refused(change: dict[str, Any]) -> Refusal:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(GOOD | change, type=Workload)
    return Refusal.of(caught.value)


CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"replicas": 0}, "replicas", "expected `int` >= 1"),
    ({"replicas": "two"}, "replicas", "expected `int`, got `str`"),
    ({"memory_utilization": 0}, "memory_utilization", "expected `float` > 0.0"),
    ({"memory_utilization": 10**400}, "memory_utilization", "number out of range"),
    ({"name": ""}, "name", "expected `str` of length >= 1"),
    ({"name": "A b"}, "name", "expected `str` matching regex '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'"),
    ({"precision": "fp7"}, "precision", "invalid enum value 'fp7'"),
    ({"kind": "video"}, "kind", "invalid value 'video'"),
    ({"gpu": 1}, "", "there is no field `gpu`"),
    ({"shape": {}}, "shape", "the field is missing: `total_params_b`"),
    (
        {"constraints": {"clusters": ["a", 1]}},
        "constraints.clusters[1]",
        "expected `str`, got `int`",
    ),
    (
        {"constraints": {"node_selector": {1: "a"}}},
        "constraints.node_selector",
        "a key: expected `str`, got `int`",
    ),
]


@pytest.mark.parametrize(("change", "path", "sentence"), CASES)
def test_a_wrong_value_is_told_with_its_place(
    change: dict[str, Any], path: str, sentence: str
) -> None:
    found = refused(change)
    assert (found.path, found.sentence) == (path, sentence)


@pytest.mark.usefixtures("shouting")
@pytest.mark.parametrize("change", [case[0] for case in CASES])
def test_the_reason_is_translated(change: dict[str, Any]) -> None:
    found = refused(change).sentence
    assert re.search(r"[A-Z]{3,}", found)
    assert not re.search(r"\b[a-z]{2,} [a-z]{2,}\b", found)


def test_a_missing_field_and_a_pattern_are_known_as_such() -> None:
    assert refused({"shape": {}}).missing_field == "total_params_b"
    assert refused({"replicas": 0}).missing_field is None
    assert refused({"name": "A b"}).is_pattern
    assert not refused({"name": ""}).is_pattern


def test_a_message_of_another_form_is_shown_as_it_is() -> None:
    found = Refusal.of(msgspec.ValidationError("Something new - at `$.name`"))
    assert (found.path, found.sentence) == ("name", "something new")
    assert len(Refusal.of(msgspec.ValidationError("x" * 9_000)).sentence) <= 300
