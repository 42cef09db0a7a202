"""Nodes whose device counts nobody can read prove nothing, neither pass nor fail."""

from __future__ import annotations

import json
from datetime import date

import pytest

from fleet.inventory import Inventory
from fleet.kubernetes import dump, reader
from fleet.readiness import report
from fleet.readiness.finding import Finding, Verdict


def fleet_with(*amounts: str) -> Inventory:
    items = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"n{number}"},
            "spec": {},
            "status": {
                name: {"cpu": "4", "memory": "8Gi", "pods": "10", "nvidia.com/gpu": amount}
                for name in ("capacity", "allocatable")
            }
            | {"conditions": [{"type": "Ready", "status": "True"}]},
        }
        for number, amount in enumerate(amounts)
    ]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    return reader.read(dump.load([dump.Source("nodes.json", text.encode())]))


def advertised(inventory: Inventory) -> list[Finding]:
    findings = report.check(inventory, today=date(2026, 12, 1))
    return [f for f in findings if f.check == "devices-advertised"]


@pytest.mark.parametrize("amount", ["NaN", "-5", "99999999999999999999999999"])
def test_an_unreadable_count_is_unknown_and_no_failure(amount: str) -> None:
    [finding] = advertised(fleet_with(amount))
    assert finding.verdict is Verdict.UNKNOWN
    assert [(e.node, e.field) for e in finding.evidence] == [
        ("n0", "status.allocatable[nvidia.com/gpu]")
    ]


def test_the_other_nodes_are_still_judged() -> None:
    verdicts = {f.verdict for f in advertised(fleet_with("NaN", "4"))}
    assert verdicts == {Verdict.UNKNOWN, Verdict.PASS}
