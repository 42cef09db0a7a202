"""``docs/inventory.md`` explains every key that ``gpu-fleet inventory --json`` can print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.fits.node import No
from fleet.inventory_report.demand import SHORT
from tests.fleet.kubernetes.known_cases import BY_ID, Json, report_of

TEXT = (Path(__file__).parents[2] / "docs" / "inventory.md").read_text(encoding="utf-8")
NAMED = frozenset(re.findall(r"`([a-z][a-z0-9_-]*)`", TEXT))

BY_NAME = frozenset(
    {"nodes", "pods", "gang", "queues", "quota", "probes", "workloads", "by_model", "keys"}
    | {"pod_groups", "other_units"}
    | {"containers", "resources", "domains", "domain_count", "unplaced_nodes"}
)
"""Mappings whose keys are names out of the cluster."""

VALUES = frozenset(
    {"requests", "limits", "used", "left", "requests_per_pod", "requests_per_group", "units"}
    | {"needs_per_group", "unclassified", "other_accelerators", "other_devices", "kinds"}
)
"""Mappings from a resource to a number: nothing in them is a key of ours."""


def keys(value: object, *, named: bool = False) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from keys(item)
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        if not named:
            yield key
        if key in VALUES and not named:
            continue
        yield from keys(inner, named=key in BY_NAME and not named and isinstance(inner, dict))


def levels_apart(report: Json) -> Json:
    """Domains are two mappings deep: by level, then by path."""
    topology = dict(report["topology"])
    topology["domains"] = {
        name: list(found.values()) for name, found in topology["domains"].items()
    }
    return report | {"topology": topology}


@pytest.mark.parametrize("number", BY_ID)
def test_every_key_is_explained(number: str) -> None:
    found = set(keys(levels_apart(report_of(number))))
    assert found - NAMED == set()


def test_every_reason_and_every_short_word_is_explained() -> None:
    assert {reason.value for reason in No} <= NAMED
    assert set(SHORT) | set(SHORT.values()) <= NAMED


def test_a_short_word_has_the_value_of_the_long_one() -> None:
    for number in ("62", "65", "68"):
        totals = report_of(number)["totals"]
        for short, long in SHORT.items():
            assert totals[short] == totals[long]
