"""Real cluster objects from public reports, and the right reading of each.

Everything that ``expected.json`` states about the inventory is held against what
``gpu-fleet inventory --json`` prints: here the parts whose words are our own. Questions in prose
are in ``test_cases_fits.py``, mis-readings of other tools in ``test_cases_bugs.py``, remarks in
``test_cases_remarks.py``, and ``checks`` in ``tests/fleet/readiness/test_cases.py``.
"""

from __future__ import annotations

import json

import pytest

from fleet.inventory import decode, encode
from fleet.inventory_report.topology import common_ancestor
from tests.fleet.kubernetes.known_cases import (
    BY_ID,
    CASES,
    EXPECTED,
    Json,
    differences,
    inventory_of,
    label,
    report_of,
)

PARTS = ("nodes", "pods", "totals", "gang", "quota", "topology", "probes")

TOLD_BY_THE_SOURCE = {
    "probes": ("observed_warm_start_s", "observed_kills_at_s", "observed_load_s", "verdict"),
    "topology": ("common_ancestor_of_both_nodes",),
}
"""Values that no object holds (measured by whoever reported the case) or that are words of a
question. Each is asserted by a test of its own below."""

PROBLEMS = {
    "quota-per-device-class": (
        "GPUs offered through DRA are not counted: ResourceSlices are not in the file, and "
        "DeviceClass gpu.example.com offers GPUs through DRA",
    )
}
"""The one case that speaks of devices without the list that says which there are."""

OTHER_KEYS = {"id", "slug", "file", "kind", "sources", "special", "checks", "bug", "fits"} | {
    "filled",
    "derived",
}


def stated(case: Json, part: str) -> Json:
    """What a case states in one part, without the values that other tests hold."""
    left_out = TOLD_BY_THE_SOURCE.get(part, ())

    def kept(value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {key: kept(inner) for key, inner in value.items() if key not in left_out}

    found = kept(case.get(part, {}))
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("case", EXPECTED, ids=label)
def test_a_real_case_is_read_as_its_source_says(case: Json) -> None:
    inventory, report = inventory_of(case["id"]), report_of(case["id"])
    found = [line for part in PARTS for line in differences(stated(case, part), report[part], part)]
    assert found == []
    assert inventory.problems == PROBLEMS.get(case["slug"], ())
    assert decode(encode(inventory)) == inventory
    json.dumps(report)  # JSON-ready


@pytest.mark.parametrize("case", EXPECTED, ids=label)
def test_no_part_of_a_case_is_passed_over(case: Json) -> None:
    assert set(case) <= set(PARTS) | OTHER_KEYS


def test_all_the_cases_are_there() -> None:
    assert len(EXPECTED) == len(list(CASES.glob("[0-9]*.json"))) == 78


def test_the_comparison_notices_a_wrong_number() -> None:
    wanted = {"node": {"physical_gpus": 8, "resources": {}}}
    got = {"node": {"physical_gpus": 7, "resources": {"nvidia.com/gpu": {}}}}
    assert len(differences(wanted, got, "nodes")) == 2
    assert differences({"enforced": True}, {"enforced": 1}, "quota")


def test_nodes_of_one_block_and_two_subblocks_meet_in_the_block() -> None:
    wanted = BY_ID["16"]["topology"]["common_ancestor_of_both_nodes"]
    assert report_of("16")["topology"]["common_ancestor_of_gpu_nodes"] == wanted == "block"
    nodes = inventory_of("16").nodes
    assert common_ancestor(nodes) == "block"
    assert common_ancestor(nodes[:1]) == "host"  # one node alone is as near as can be


def test_a_warm_start_is_just_in_time_and_a_cold_one_is_killed_between_the_two_formulas() -> None:
    told = BY_ID["73"]["probes"]["team-a/api-before"]
    found = report_of("73")["probes"]["team-a/api-before"]
    assert told["observed_warm_start_s"] < found["kill_earliest_s"]
    assert found["kill_earliest_s"] <= told["observed_kills_at_s"] <= found["kill_nominal_s"]


@pytest.mark.parametrize("name", list(BY_ID["74"]["probes"]))
def test_a_startup_budget_is_judged_against_the_load_that_was_measured(name: str) -> None:
    """1.5 times the load passes; less than the load fails; without a load nobody knows."""
    told, found = BY_ID["74"]["probes"][name], report_of("74")["probes"][name]
    budget = found["startup_budget_nominal_s"]
    load = told.get("observed_load_s")
    if load is None:
        verdict = "warn: no measured load"
    elif isinstance(load, str):  # ">4500": it had not ended when it was killed
        verdict = "fail" if budget <= int(load.removeprefix(">")) else "unknown"
    else:
        verdict = "pass" if budget >= 1.5 * load else "warn" if budget >= load else "fail"
    assert verdict == told["verdict"]
