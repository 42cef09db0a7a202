"""The workload file: what is read, what is refused, and where the message points."""

from __future__ import annotations

import contextlib
import json
import re
import textwrap
from pathlib import Path

import jsonschema
import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fleet.workload_file import (
    MAX_BYTES,
    MAX_WORKLOADS,
    WorkloadFileError,
    json_schema,
    load,
)
from fleet.workloads import KINDS, EmbeddingWorkload, LlmWorkload, TrainingWorkload, kind_name

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/workloads.yaml"
SCHEMA = ROOT / "docs/workloads.schema.json"


def refusal(text: str | bytes) -> WorkloadFileError:
    data = text.encode() if isinstance(text, str) else text
    with pytest.raises(WorkloadFileError) as caught:
        load(data)
    return caught.value


def test_example_holds_one_workload_of_each_kind() -> None:
    kinds = [type(w) for w in load(EXAMPLE.read_bytes())]
    assert kinds == [EmbeddingWorkload, LlmWorkload, TrainingWorkload]


def test_json_and_yaml_give_the_same_workloads() -> None:
    value = yaml.safe_load(EXAMPLE.read_bytes())
    assert load(json.dumps(value, indent=1).encode()) == load(EXAMPLE.read_bytes())


def test_example_satisfies_the_schema() -> None:
    validator = jsonschema.Draft202012Validator(json_schema())
    validator.validate(yaml.safe_load(EXAMPLE.read_bytes()))


def test_schema_refuses_what_the_reader_refuses() -> None:
    validator = jsonschema.Draft202012Validator(json_schema())
    bad = {"workloads": [{"kind": "llm", "name": "a", "replicas": 0}]}
    assert not validator.is_valid(bad)
    refusal(json.dumps(bad))


def test_schema_in_docs_is_the_generated_one() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json.loads(json.dumps(json_schema()))


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (
            "workloads:\n- kind: llm\n  name: a\n  replicas: 0\n",
            "workloads[0].replicas, line 4",
            "expected a whole number from 1 to 10,000",
        ),
        (
            "workloads:\n- kind: llm\n  name: a\n  gpu: 1\n",
            "workloads[0], line 2",
            "no field `gpu`",
        ),
        ("workloads:\n- name: a\n", "workloads[0], line 2", "missing: `kind`"),
        ("workloads:\n- kind: llm\n", "workloads[0], line 2", "missing: `name`"),
        ("workloads:\n- kind: video\n  name: a\n", "workloads[0].kind, line 2", "embedding, llm"),
        ("workloads:\n- kind: llm\n  name: A_b\n", "workloads[0].name, line 3", "lower-case"),
        (
            "workloads:\n- kind: llm\n  name: a\n  constraints:\n    topology: moon\n",
            "workloads[0].constraints.topology, line 5",
            "expected one of any, node, nvlink, rack, zone",
        ),
        ("workloads: []\n", "workloads, line 1", "a list with 1 to 200 entries"),
        ("workload: []\n", "", "the key `workloads`, found workload"),
        ("workloads:\n- {kind: llm, name: a}\nname: x\n", "line 1", "no field `name`"),
        ("- kind: llm\n", "line 1", "a mapping"),
        ("", "", "empty"),
        ("workloads: [\n", "line 2", "not valid YAML"),
        ('{"workloads": [{"kind": "llm", "name": "a", "name": "b"}]}', "", "given twice"),
        ("workloads:\n- kind: llm\n  kind: llm\n", "line 3", "given twice"),
        ('{"workloads": NaN}', "", "NaN"),
        ('{"workloads": %s}' % ("9" * 5_000), "", "more than 40 digits"),
        ("workloads: !!python/object:os.system x\n", "line 1", "tags"),
        ("a: 1\n---\nb: 2\n", "line 2", "more than one document"),
    ],
)
def test_refusal_names_the_place(text: str, place: str, words: str) -> None:
    error = refusal(text)
    assert error.place == place
    assert words in error.message


@pytest.mark.parametrize(
    "text",
    [
        "workloads:\n- kind: llm\n  name: a\n  concurrency: 99999999999999999999\n",
        '{"workloads": [{"kind": "llm", "name": "a", "concurrency": 99999999999999999999}]}',
    ],
)
def test_a_number_far_too_great_is_refused_as_a_number(text: str) -> None:
    assert refusal(text).message == "expected a whole number from 1 to 100,000"


def test_no_refusal_speaks_of_types_of_the_program() -> None:
    for value in ("{}", "3", "[]", "x", "null"):
        for field in ("name", "replicas", "kind", "shape", "constraints", "preemptible"):
            entry = {"kind": "llm", "name": "a"} | {field: yaml.safe_load(value)}
            with contextlib.suppress(WorkloadFileError):
                load(json.dumps({"workloads": [entry]}).encode())
                continue
            message = refusal(json.dumps({"workloads": [entry]})).message
            assert not re.search(r"`(int|str|array|object|float|bool)|regex", message), message


def test_name_used_twice_is_refused_with_both_places() -> None:
    error = refusal("workloads:\n- {kind: llm, name: a}\n- {kind: embedding, name: a}\n")
    assert error.place == "workloads[1].name, line 3"
    assert "workloads[0]" in error.message


def test_aliases_are_refused_before_they_unfold() -> None:
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
    assert "anchors" in refusal(bomb).message


def test_file_above_the_limit_is_refused() -> None:
    assert "1 MiB" in refusal(b"#" * (MAX_BYTES + 1)).message


def test_more_workloads_than_allowed_are_refused() -> None:
    lines = "".join(f"- {{kind: llm, name: w{i}}}\n" for i in range(MAX_WORKLOADS + 1))
    assert "a list with 1 to 200 entries" in refusal("workloads:\n" + lines).message


@pytest.mark.parametrize("text", ["[" * 50_000, '{"a":' * 50_000, "a:\n" + " [" * 50_000])
def test_deep_nesting_is_refused(text: str) -> None:
    assert "nest" in refusal(text).message


def test_labels_stay_words() -> None:
    text = (
        "workloads:\n- kind: llm\n  name: a\n"
        "  constraints:\n    node_selector: {switch: yes, time: 12:30}\n"
    )
    (workload,) = load(text.encode())
    assert workload.constraints.node_selector == {"switch": "yes", "time": "12:30"}


def test_bom_and_crlf_are_accepted() -> None:
    text = EXAMPLE.read_text(encoding="utf-8").replace("\n", "\r\n")
    assert load(b"\xef\xbb\xbf" + text.encode()) == load(EXAMPLE.read_bytes())


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_give_workloads_or_a_refusal(data: bytes) -> None:
    with contextlib.suppress(WorkloadFileError):
        assert load(data)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: (
    st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["workloads", "kind", "name", "replicas", "shape"]), inner)
), max_leaves=12))  # fmt: skip
def test_any_json_gives_workloads_or_a_refusal(value: object) -> None:
    with contextlib.suppress(WorkloadFileError):
        assert load(json.dumps({"workloads": [value]}).encode())


@given(
    st.builds(
        LlmWorkload,
        name=st.from_regex(r"[a-z][a-z0-9]{0,20}", fullmatch=True),
        model=st.text(max_size=30),
        replicas=st.integers(1, 10_000),
        memory_utilization=st.floats(0.01, 1),
    )
)
def test_workload_survives_the_file(workload: LlmWorkload) -> None:
    text = json.dumps({"workloads": [msgspec.to_builtins(workload)]})
    assert load(text.encode()) == (workload,)


def examples_in_docs() -> list[str]:
    """The indented YAML blocks of the page that start with ``workloads:``."""
    text = (ROOT / "docs/workload-file.md").read_text(encoding="utf-8")
    blocks = re.findall(r"(?:^    .*\n)+", text, re.MULTILINE)
    plain = [textwrap.dedent(block) for block in blocks]
    return [block for block in plain if "workloads:\n" in block]


def test_examples_in_the_docs_are_valid() -> None:
    found = [type(w) for text in examples_in_docs() for w in load(text.encode())]
    assert {EmbeddingWorkload, LlmWorkload, TrainingWorkload} == set(found)


def test_constraints_in_the_docs_are_valid() -> None:
    text = (ROOT / "docs/workload-file.md").read_text(encoding="utf-8")
    block = text.split("## Constraints\n\n")[1]
    inner = textwrap.indent(textwrap.dedent(block), "  ")
    (workload,) = load(f"workloads:\n- kind: llm\n  name: a\n{inner}".encode())
    assert workload.constraints.topology == "rack"
    assert workload.constraints.tolerations[0].value == "research"


@pytest.mark.usefixtures("shouting")
@pytest.mark.parametrize(
    "text",
    [
        b"\xff",
        b"",
        b"- a\n",
        b"{}",
        b"workloads:\n- kind: llm\n  name: a\n  replicas: 0\n",
        b"workloads:\n- kind: video\n  name: a\n",
        b"workloads:\n- {kind: llm, name: a}\n- {kind: llm, name: a}\n",
        b"workloads: [\n",
        b"workloads: &a x\n",
        b"workloads: *a\n",
        b"workloads: !x y\n",
        b"a: 1\na: 2\n",
        b"a: 1\n---\nb: 2\n",
        b"[" * 50,
        b'{"a": 1, "a": 2}',
        b'{"a": NaN}',
        b"? [a]\n: b\n",
    ],
)
def test_a_refusal_is_told_in_the_readers_language(text: bytes) -> None:
    error = refusal(text)
    assert re.match(r"[A-Z]{2,}|[\w'`]+ [A-Z]{2,}|A ", error.message)
    assert "line" not in error.place


def test_a_kind_is_named_in_the_readers_language(request: pytest.FixtureRequest) -> None:
    assert [kind_name(kind) for kind in KINDS] == [
        "Embedding",
        "LLM inference",
        "Distributed training",
    ]
    request.getfixturevalue("shouting")
    assert kind_name("llm") == "LLM INFERENCE"
    assert kind_name("other") == "other"
