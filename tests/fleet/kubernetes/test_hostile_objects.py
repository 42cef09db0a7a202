"""Whatever is written in an object: a cluster or a clear error, never a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.boards.states import node_squares
from fleet.inventory import decode, encode
from fleet.inventory_report.report import as_report
from fleet.kubernetes.dump import DumpError, Source, load
from fleet.kubernetes.reader import read
from fleet.summary import summarise
from tests.fleet.kubernetes.written import cluster, node, only_node, pod

CASES = sorted((Path(__file__).parents[2] / "data" / "cases").glob("[0-9]*.json"))
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**70, 1.5, 1e308, "", "x" * 300, "9" * 20, "1e99", "-5", "NaN",
    "²", "١٢", "\u0000", "<script>alert(1)</script>", "=cmd()", [], {}, [None], {"a": None},
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    inner = (
        value.items() if isinstance(value, dict)
        else enumerate(value) if isinstance(value, list) else ()
    )  # fmt: skip
    for key, item in inner:
        found += places(item, (*path, key))
    return found


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_value_at_any_place_is_survived(data: st.DataObject) -> None:
    document = json.loads(data.draw(st.sampled_from(CASES)).read_text())
    path = data.draw(st.sampled_from(places(document["items"])))
    target = document["items"]
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = data.draw(st.sampled_from(ODD))
    try:
        raw = load([Source("case", json.dumps(document).encode())])
    except DumpError:
        return
    inventory = read(raw)
    assert decode(encode(inventory)) == inventory
    json.dumps(as_report(inventory))
    summarise({"one": inventory})


def test_names_are_kept_as_they_are_and_bounded() -> None:
    name = "<img src=x onerror=alert(1)>"
    found = cluster(node(name, {"zone": "'; DROP TABLE"}, gpus=1), pod("=cmd|calc", name, gpus=1))
    assert found.nodes[0].name == name
    assert found.pods[0].name == "=cmd|calc"
    assert cluster(node("x" * 254), node("ok")).nodes[0].name == "ok"


@pytest.mark.parametrize("name", ["nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/xe"])
def test_a_billion_gpus_are_no_count_and_make_no_billion_squares(name: str) -> None:
    found = only_node(node(resources={name: "1000000000"}))
    assert found.groups[0].physical is None
    assert "more than a machine has" in found.groups[0].physical_source
    assert node_squares(found) == ()


def test_problem_lines_are_bounded_in_number_and_length() -> None:
    bad = [node(f"node-{i}") for i in range(500)]
    for item in bad:
        item["metadata"]["labels"] = {"a": ["x" * 10_000]}
    problems = cluster(node("good"), *bad).problems
    assert len(problems) == 201
    assert problems[-1] == "more such lines were left out"
    assert max(map(len, problems)) <= 400
