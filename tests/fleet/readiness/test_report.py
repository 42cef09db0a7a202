"""The whole checklist: order, counts, and that the docs name every check."""

from __future__ import annotations

from pathlib import Path

from fleet.readiness.finding import ORDER, QUESTIONS, Verdict
from fleet.readiness.report import CHECKS, check, counts
from tests.fleet.readiness.answers import TODAY
from tests.fleet.readiness.clusters import cluster, controller, gpu_node, pod

DOCS = Path(__file__).parents[3] / "docs/readiness.md"
BUSY = cluster(
    nodes=(gpu_node(),),
    pods=(pod("stray", 0), pod("work", 2)),
    controllers=(controller("Job", "train", 8, 4), controller("Deployment", "srv")),
)


def test_problems_come_first() -> None:
    ranks = [ORDER.index(f.verdict) for f in check(BUSY, today=TODAY)]
    assert ranks == sorted(ranks)
    assert ranks[0] == 0


def test_counts_hold_every_verdict() -> None:
    found = check(BUSY, today=TODAY)
    total = counts(found)
    assert list(total) == list(ORDER)
    assert sum(total.values()) == len(found)
    assert total[Verdict.FAIL] > 0


def test_same_input_gives_the_same_findings() -> None:
    assert check(BUSY, today=TODAY) == check(BUSY, today=TODAY)


def test_empty_cluster_is_judged_without_a_fail() -> None:
    found = counts(check(cluster(), today=TODAY))
    assert found[Verdict.FAIL] == 0
    assert found[Verdict.NOT_APPLICABLE] > 10


def test_every_check_answers_once_at_least_and_under_its_own_name() -> None:
    answered = {f.check for f in check(BUSY, today=TODAY)}
    assert answered == {name for name, _ in CHECKS} - {"declared-load"}
    assert len({name for name, _ in CHECKS}) == len(CHECKS)


def test_every_problem_has_evidence_or_says_what_to_do() -> None:
    for finding in check(BUSY, today=TODAY):
        assert finding.question in QUESTIONS
        if finding.verdict in (Verdict.FAIL, Verdict.WARN):
            assert finding.remedy, finding.check
            assert finding.evidence, finding.check


def test_docs_describe_every_check() -> None:
    text = DOCS.read_text(encoding="utf-8")
    missing = [name for name, _ in CHECKS if f"`{name}`" not in text]
    assert missing == []
