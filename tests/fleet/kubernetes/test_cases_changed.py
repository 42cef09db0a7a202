"""The real cases with something changed: other numbers, other models, one label less.

What a change must do follows from the rule of the case, whatever the reader does: twice the boards
are twice the boards, another card of the same form is that card, and a label that is missing may
cost knowledge but never makes a sure answer wrong.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet.inventory import DeviceGroup, Node
from fleet.kubernetes.dump import Source, load
from fleet.kubernetes.reader import read

CASES = Path(__file__).parents[2] / "data" / "cases"
EXPECTED: list[dict[str, Any]] = [
    case
    for case in json.loads((CASES / "expected.json").read_text())["cases"]
    if int(case["id"]) <= 51 or int(case["id"]) in (76, 77)
]
IDS = [f"{case['id']}-{case['slug']}" for case in EXPECTED]
COUNTS = re.compile(
    r"nvidia\.com/gpu\.count|nvidia\.com/mig-.*\.count|.*/instance-gpu-count|.*/sku-gpu-count|"
    r"gpu\.nvidia\.com/count|gpu\.intel\.com/.*\.?count|beta\.amd\.com/gpu\.(?:device-id|vram)\..*"
)
DEVICES = re.compile(r"(?:nvidia|amd|aliyun)\.com/.*|gpu\.intel\.com/(?:i915|xe)")

Json = dict[str, Any]


def document(case: dict[str, Any]) -> Json:
    found: Json = json.loads((CASES / case["file"]).read_text())
    return found


def nodes_of(whole: Json) -> list[Json]:
    return [item for item in whole["items"] if item["kind"] == "Node"]


def read_nodes(whole: Json) -> dict[str, Node]:
    inventory = read(load([Source("case", json.dumps(whole).encode())]))
    return {node.name: node for node in inventory.nodes}


def boards(node: Node) -> list[int | None]:
    return [group.physical for group in node.groups]


def countable(case: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Nodes whose number of boards is written in numbers of the node itself."""
    for item in nodes_of(document(case)):
        name, labels = item["metadata"]["name"], item["metadata"].get("labels", {})
        stated = case["nodes"].get(name, {}).get("physical_gpus")
        by_machine = "node.kubernetes.io/instance-type" in labels and not any(
            key.endswith("gpu.count") for key in labels
        )
        registered = any("register" in key for key in item["metadata"].get("annotations", {}))
        # Shares without a factor: at least one board is behind them, and nobody knows more.
        endless = not any("gpu." in key for key in labels) and any(
            key.endswith(".shared") for key in item["status"]["capacity"]
        )
        through_dra = case["nodes"].get(name, {}).get("dra_devices")
        if stated and not by_machine and not (registered or endless or through_dra):
            yield name, stated


def scaled(whole: Json, factor: int) -> Json:
    for item in nodes_of(whole):
        labels = item["metadata"].get("labels", {})
        for key, value in labels.items():
            if COUNTS.fullmatch(key) and value.isdigit():
                labels[key] = str(int(value) * factor)
        for part in ("capacity", "allocatable"):
            amounts = item["status"].get(part, {})
            for key, value in amounts.items():
                if DEVICES.fullmatch(key) and str(value).isdigit():
                    amounts[key] = str(int(value) * factor)
    return whole


@pytest.mark.parametrize("factor", [2, 7])
@pytest.mark.parametrize("case", EXPECTED, ids=IDS)
def test_so_many_times_the_boards_are_so_many_times_the_boards(
    case: dict[str, Any], factor: int
) -> None:
    found = read_nodes(scaled(document(case), factor))
    for name, stated in countable(case):
        assert boards(found[name]) == [stated * factor], name
        if "sharing" in case["nodes"][name]:
            assert found[name].groups[0].sharing == case["nodes"][name]["sharing"], name


# Product labels as drivers print them: label, memory that such a board reports, model.
OTHERS = [
    ("NVIDIA-H100-80GB-HBM3", "81559", "H100-SXM5-80GB"),
    ("NVIDIA-H200", "143771", "H200-SXM-141GB"),
    ("NVIDIA-A100-80GB-PCIe", "81920", "A100-PCIe-80GB"),
    ("NVIDIA-L4", "23034", "L4"),
    ("Tesla-T4", "15360", "T4"),
    ("NVIDIA-GB200", "189471", "GB200"),
]


@pytest.mark.parametrize(("label", "memory", "model"), OTHERS)
@pytest.mark.parametrize("case", EXPECTED, ids=IDS)
def test_another_card_of_the_same_form_is_that_card(
    case: dict[str, Any], label: str, memory: str, model: str
) -> None:
    whole = document(case)
    changed = {}
    for item in nodes_of(whole):
        labels = item["metadata"].get("labels", {})
        product = labels.get("nvidia.com/gpu.product", "")
        if not product or "-MIG-" in product or product.startswith("GRID"):
            continue
        labels.pop("node.kubernetes.io/instance-type", None)
        labels["nvidia.com/gpu.product"] = label + ("-SHARED" if "SHARED" in product else "")
        if "nvidia.com/gpu.memory" in labels:
            labels["nvidia.com/gpu.memory"] = memory
        changed[item["metadata"]["name"]] = labels
    found = read_nodes(whole)
    for name, labels in changed.items():
        if found[name].groups and not case["nodes"].get(name, {}).get("dra_devices"):
            group = found[name].groups[0]
            assert group.model == model, name
            if "nvidia.com/gpu.memory" in labels:
                assert group.memory_mib == int(memory), name


def doubtful(group: DeviceGroup) -> bool:
    """Whether the group itself says that its number of boards is no sure thing."""
    return (
        group.physical is None
        or group.physical_estimated
        or "may" in group.physical_source
        or bool(group.notes)
    )


def without_one(case: dict[str, Any]) -> Iterator[tuple[str, str, Json]]:
    whole = document(case)
    for number, item in enumerate(whole["items"]):
        if item["kind"] != "Node":
            continue
        for part in ("labels", "annotations"):
            for key in item["metadata"].get(part, {}):
                less = copy.deepcopy(whole)
                del less["items"][number]["metadata"][part][key]
                yield item["metadata"]["name"], key, less


@pytest.mark.parametrize("case", EXPECTED, ids=IDS)
def test_a_label_that_is_missing_costs_knowledge_and_never_makes_a_sure_answer_wrong(
    case: dict[str, Any],
) -> None:
    before = read_nodes(document(case))
    for name, key, less in without_one(case):
        for was, now in zip(before[name].groups, read_nodes(less)[name].groups, strict=False):
            assert now.physical == was.physical or doubtful(now), (name, key, now)
            known = now.model is None or was.model is None
            assert known or was.model == now.model or _family(now.model, was.model), (name, key)
            if was.memory_mib is not None:
                assert now.memory_mib in (was.memory_mib, None), (name, key)
            units = {u.resource: (u.capacity, u.allocatable, u.requested) for u in now.units}
            assert units == {
                u.resource: (u.capacity, u.allocatable, u.requested) for u in was.units
            }, (name, key)


def _family(less: str | None, more: str | None) -> bool:
    """ "A100" is all that is left of "A100-SXM4-80GB"; a vGPU's board is the board."""
    return less is not None and more is not None and more.startswith(less)


@pytest.mark.parametrize("case", EXPECTED, ids=IDS)
def test_a_plugin_that_is_gone_leaves_boards_and_no_capacity(case: dict[str, Any]) -> None:
    """Every device resource at "0": boards that labels tell are still there, none can be had."""
    whole = document(case)
    for item in nodes_of(whole):
        for part in ("capacity", "allocatable"):
            for key in item["status"].get(part, {}):
                if DEVICES.fullmatch(key) and key != "aliyun.com/gpu-count":
                    item["status"][part][key] = "0"
    before, after = read_nodes(document(case)), read_nodes(whole)
    for name, node in after.items():
        for group in node.groups:
            offered = [u for u in group.units if not u.resource.startswith("dra:")]
            assert all(u.allocatable == 0 and node.free(u) == 0 for u in offered), name
        if any(b == "label nvidia.com/gpu.count" for b in _sources(before[name])):
            assert boards(node) == boards(before[name]), name


def _sources(node: Node) -> list[str]:
    return [group.physical_source for group in node.groups]


REPLICAS = [2, 4, 10, 48]


@pytest.mark.parametrize("replicas", REPLICAS)
@pytest.mark.parametrize("renamed", [False, True])
@pytest.mark.parametrize("strategy", ["time-slicing", "mps"])
@pytest.mark.parametrize("case", [EXPECTED[0], EXPECTED[3]], ids=lambda case: case["slug"])
def test_a_whole_case_cut_in_shares_keeps_its_boards(
    case: dict[str, Any], replicas: int, renamed: bool, strategy: str
) -> None:
    whole = document(case)
    (item,) = nodes_of(whole)
    labels = item["metadata"]["labels"]
    labels["nvidia.com/gpu.replicas"] = str(replicas)
    labels["nvidia.com/gpu.sharing-strategy"] = strategy
    if not renamed:
        labels["nvidia.com/gpu.product"] += "-SHARED"
    name = "nvidia.com/gpu.shared" if renamed else "nvidia.com/gpu"
    for part in ("capacity", "allocatable"):
        units = int(item["status"][part].pop("nvidia.com/gpu")) * replicas
        item["status"][part][name] = str(units)
    (node,) = read_nodes(whole).values()
    (group,) = node.groups
    stated = next(iter(case["nodes"].values()))
    assert (group.physical, group.model) == (stated["physical_gpus"], stated["model"])
    assert (group.sharing, group.replicas) == (strategy, replicas)
    assert [(u.resource, u.capacity) for u in group.units] == [
        (name, stated["physical_gpus"] * replicas)
    ]


def test_all_the_cases_of_devices_are_changed() -> None:
    assert len(EXPECTED) == 53
    assert sum(1 for case in EXPECTED for _ in countable(case)) > 60
    assert sum(1 for case in EXPECTED for _ in without_one(case)) > 300
