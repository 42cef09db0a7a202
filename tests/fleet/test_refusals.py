"""Messages of msgspec become sentences of ours, with the place kept apart."""

from __future__ import annotations

import re
from typing import Any, get_args

import msgspec
import pytest

from fleet.refusals import Refusal, wanted_words
from fleet.workloads import Constraints, ModelShape, Workload

GOOD: dict[str, Any] = {"kind": "llm", "name": "chat", "model": "Qwen/Qwen3-8B"}


def refused(change: dict[str, Any]) -> Refusal:
    value = GOOD | change
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(value, type=Workload)
    return Refusal.of(caught.value, Workload, value)


REPLICAS = "expected a whole number from 1 to 10,000"
NAME = (
    "expected lower-case letters, digits and hyphens, as Kubernetes names are "
    "(at most 63 characters, no hyphen at either end)"
)
CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"replicas": 0}, "replicas", REPLICAS),
    ({"replicas": 20_000}, "replicas", REPLICAS),
    ({"replicas": 10**30}, "replicas", REPLICAS),
    ({"replicas": "two"}, "replicas", f"{REPLICAS}; found a text"),
    ({"replicas": None}, "replicas", f"{REPLICAS}; found nothing"),
    ({"replicas": 1.5}, "replicas", f"{REPLICAS}; found a number with a fraction"),
    (
        {"memory_utilization": 0},
        "memory_utilization",
        "expected a number above 0 and at most 1",
    ),
    (
        {"memory_utilization": 10**400},
        "memory_utilization",
        "expected a number above 0 and at most 1",
    ),
    ({"name": ""}, "name", NAME),
    ({"name": "A b"}, "name", NAME),
    ({"name": "a" * 64}, "name", NAME),
    (
        {"precision": "fp7"},
        "precision",
        "expected one of bf16, fp16, fp32, fp8, int4, int8, mxfp4, nvfp4",
    ),
    ({"kind": "embedding", "precision": "fp8"}, "precision", "expected one of bf16, fp16, fp32"),
    (
        {"kind": "embedding", "tokens_per_second": -1},
        "tokens_per_second",
        "expected a number of at least 0",
    ),
    (
        {"kind": "training", "total_tokens_b": -1},
        "total_tokens_b",
        "expected a number from 0 to 1,000,000",
    ),
    ({"kind": "video"}, "kind", "expected one of embedding, llm, training"),
    ({"kind": 3}, "kind", "expected one of embedding, llm, training; found a whole number"),
    ({"gpu": 1}, "", "there is no field `gpu`"),
    ({"shape": {}}, "shape", "the field is missing: `total_params_b`"),
    ({"shape": "8b"}, "shape", "expected a mapping; found a text"),
    ({"preemptible": "yes"}, "preemptible", "expected true or false; found a text"),
    (
        {"constraints": {"clusters": 1}},
        "constraints.clusters",
        "expected a list; found a whole number",
    ),
    (
        {"constraints": {"clusters": ["a", 1]}},
        "constraints.clusters[1]",
        "expected a text; found a whole number",
    ),
    (
        {"constraints": {"tolerations": [{}, {"effect": "No"}]}},
        "constraints.tolerations[1].effect",
        "expected one of NoExecute, NoSchedule, PreferNoSchedule, or an empty text",
    ),
    (
        {"constraints": {"node_selector": {"a": []}}},
        "constraints.node_selector[...]",
        "expected a text; found a list",
    ),
    (
        {"constraints": {"node_selector": {1: "a"}}},
        "constraints.node_selector",
        "a key: expected a text; found a whole number",
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


def test_a_missing_field_is_known_as_such() -> None:
    assert refused({"shape": {}}).missing_field == "total_params_b"
    assert refused({"replicas": 0}).missing_field is None


def test_every_field_of_a_workload_has_words_for_what_it_takes() -> None:
    """None falls back to msgspec's own message, and the one pattern is that of a name."""
    found = {
        info.cls.__name__: {field.encode_name: field.type for field in info.fields}
        for info in msgspec.inspect.multi_type_info([*get_args(Workload), ModelShape, Constraints])
        if isinstance(info, msgspec.inspect.StructType)
    }
    assert len(found) == 5
    patterns = set()
    for fields in found.values():
        for name, kind in fields.items():
            assert wanted_words(kind), name
            if isinstance(kind, msgspec.inspect.StrType) and kind.pattern is not None:
                patterns.add((kind.pattern, kind.max_length))
    assert patterns == {(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", 63)}


def test_a_message_of_another_form_is_shown_as_it_is() -> None:
    found = Refusal.of(msgspec.ValidationError("Something new - at `$.nowhere`"), Workload, GOOD)
    assert (found.path, found.sentence) == ("nowhere", "something new")
    long = msgspec.ValidationError("x" * 9_000 + " - at `$.nowhere`")
    assert len(Refusal.of(long, Workload, GOOD).sentence) <= 300
