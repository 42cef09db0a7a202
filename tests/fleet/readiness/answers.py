"""Running the checklist over a hand-made cluster and picking the answers of one check."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from fleet.inventory import Inventory
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.report import check
from fleet.sizing.requirement import Requirement
from fleet.workloads import Workload

TODAY = date(2026, 12, 1)


def answers(
    inventory: Inventory,
    name: str,
    today: date = TODAY,
    declared: Sequence[tuple[Workload, Requirement]] = (),
) -> list[Finding]:
    """Findings of one check, problems first."""
    return [f for f in check(inventory, today=today, declared=declared) if f.check == name]


def verdicts(inventory: Inventory, name: str, today: date = TODAY) -> list[Verdict]:
    return [f.verdict for f in answers(inventory, name, today)]
