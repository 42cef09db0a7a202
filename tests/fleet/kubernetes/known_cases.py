"""The 78 real cases with their right answers, read once."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from fleet.inventory import Inventory
from fleet.inventory_report.report import as_report
from fleet.kubernetes.dump import Source, load
from fleet.kubernetes.reader import read

CASES = Path(__file__).parents[2] / "data" / "cases"
Json = dict[str, Any]
EXPECTED: list[Json] = json.loads((CASES / "expected.json").read_text(encoding="utf-8"))["cases"]
BY_ID: dict[str, Json] = {case["id"]: case for case in EXPECTED}


def objects_of(number: str) -> list[Json]:
    """The objects of a case, fresh: a test may change them."""
    text = (CASES / BY_ID[number]["file"]).read_text(encoding="utf-8")
    found: list[Json] = json.loads(text)["items"]
    return found


def of_text(text: bytes, name: str = "case") -> Inventory:
    """The inventory of one file."""
    return read(load([Source(name, text)]))


def of_objects(objects: list[Json]) -> Inventory:
    """The inventory of one List."""
    return of_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}).encode())


@cache
def inventory_of(number: str) -> Inventory:
    """The inventory of a case."""
    return of_text((CASES / BY_ID[number]["file"]).read_bytes())


@cache
def report_of(number: str) -> Json:
    """What ``gpu-fleet inventory --json`` prints for a case. Not to be changed."""
    return as_report(inventory_of(number))


def label(case: Json) -> str:
    """A name for the test of a case."""
    return f"{case['id']}-{case['slug']}"


def differences(wanted: object, got: object, path: str) -> list[str]:
    """What is stated must hold; what is not stated is not asserted. ``note`` is prose."""
    if not isinstance(wanted, dict):
        same = wanted == got and isinstance(wanted, bool) == isinstance(got, bool)
        return [] if same else [f"{path}: expected {wanted!r}, got {got!r}"]
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
