"""Real cluster objects from public reports, and the right reading of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fleet.inventory import decode, encode
from fleet.inventory_report.report import as_report
from fleet.kubernetes.dump import Source, load
from fleet.kubernetes.reader import read

CASES = Path(__file__).parents[2] / "data" / "cases"
EXPECTED: list[dict[str, Any]] = json.loads((CASES / "expected.json").read_text())["cases"]


def differences(wanted: object, got: object, path: str) -> list[str]:
    """What is stated must hold; what is not stated is not asserted. ``note`` is prose."""
    if not isinstance(wanted, dict):
        return [] if wanted == got else [f"{path}: expected {wanted!r}, got {got!r}"]
    if not isinstance(got, dict):
        return [f"{path}: expected a mapping, got {got!r}"]
    found = []
    for key, value in wanted.items():
        if key == "note":
            continue
        if key not in got:
            found.append(f"{path}.{key}: expected {value!r}, it is missing")
        elif key == "resources":  # complete: a resource more would be a device too many
            found += [f"{path}: unexpected resource {name}" for name in got[key].keys() - value]
            found += differences(value, got[key], f"{path}.{key}")
        else:
            found += differences(value, got[key], f"{path}.{key}")
    return found


@pytest.mark.parametrize("case", EXPECTED, ids=lambda case: f"{case['id']}-{case['slug']}")
def test_a_real_case_is_read_as_its_source_says(case: dict[str, Any]) -> None:
    name = case["file"]
    inventory = read(load([Source(name, (CASES / name).read_bytes())]))
    report = as_report(inventory)
    found = [
        line
        for part in ("nodes", "pods", "totals")
        for line in differences(case[part], report[part], part)
    ]
    assert found == []
    assert inventory.problems == ()
    assert decode(encode(inventory)) == inventory
    json.dumps(report)  # JSON-ready


def test_all_the_cases_are_there() -> None:
    assert len(EXPECTED) == len(list(CASES.glob("[0-9]*.json"))) == 78


def test_the_comparison_notices_a_wrong_number() -> None:
    wanted = {"node": {"physical_gpus": 8, "resources": {}}}
    got = {"node": {"physical_gpus": 7, "resources": {"nvidia.com/gpu": {}}}}
    assert len(differences(wanted, got, "nodes")) == 2
