"""The checklist as pages show it: by question, problems first, evidence linked to its node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from fleet.readiness.finding import ORDER, QUESTIONS, Evidence, Finding, Verdict, question_title
from planner.inventory.models import Cluster, Snapshot
from planner.inventory.queries import cluster_head, node_url, verdict_counts


def findings_of(snapshot: Snapshot) -> tuple[Finding, ...]:
    """The checklist as it was stored with the snapshot."""
    return msgspec.convert(snapshot.findings, type=tuple[Finding, ...])


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """Evidence with a link to its node, where it has one."""

    object: str
    field: str
    value: str
    url: str


def evidence_lines(cluster: Cluster, finding: Finding) -> list[EvidenceLine]:
    def url(item: Evidence) -> str:
        return node_url(cluster.uuid, item.node) if item.node else ""

    return [EvidenceLine(e.object, e.field, e.value, url(e)) for e in finding.evidence]


@dataclass(frozen=True, slots=True)
class FindingLine:
    finding: Finding
    evidence: list[EvidenceLine]


@dataclass(frozen=True, slots=True)
class Question:
    """One of the five questions with its findings; its verdict is the worst of them."""

    number: int
    title: str
    verdict: str
    lines: list[FindingLine]
    not_applicable: list[Finding]


def _worst(findings: Sequence[Finding]) -> Verdict:
    return min((f.verdict for f in findings), key=ORDER.index, default=Verdict.UNKNOWN)


def of_cluster(cluster: Cluster) -> dict[str, Any]:
    """The context of one cluster's checklist: questions with problems first."""
    snapshot = cluster.current_snapshot
    findings = findings_of(snapshot) if snapshot else ()
    questions = []
    for number in QUESTIONS:
        mine = [f for f in findings if f.question == number]
        apart = [f for f in mine if f.verdict == Verdict.NOT_APPLICABLE]
        lines = [FindingLine(f, evidence_lines(cluster, f)) for f in mine if f not in apart]
        questions.append(Question(number, question_title(number), str(_worst(mine)), lines, apart))
    questions.sort(key=lambda q: (ORDER.index(Verdict(q.verdict)), q.number))
    return cluster_head(cluster, "readiness") | {
        "questions": questions if snapshot else [],
        "verdicts": verdict_counts(snapshot.verdicts) if snapshot else (),
    }


@dataclass(frozen=True, slots=True)
class Cell:
    """One cluster, one question: the worst verdict, and how many findings are problems."""

    question: int
    verdict: str
    problems: int
    first: str

    @property
    def more(self) -> int:
        return self.problems - 1


@dataclass(frozen=True, slots=True)
class MatrixRow:
    cluster: Cluster
    cells: list[Cell]


def matrix(clusters: Sequence[Cluster]) -> dict[str, Any]:
    """The context of the matrix clusters × questions, with totals by verdict."""
    rows = []
    totals = dict.fromkeys(map(str, ORDER), 0)
    for cluster in clusters:
        if cluster.current_snapshot is None:
            continue
        findings = findings_of(cluster.current_snapshot)
        for finding in findings:
            totals[str(finding.verdict)] += 1
        rows.append(MatrixRow(cluster, [_cell(number, findings) for number in QUESTIONS]))
    return {
        "rows": rows,
        "questions": {number: question_title(number) for number in QUESTIONS},
        "verdicts": verdict_counts(totals),
        "unread": [cluster for cluster in clusters if cluster.current_snapshot is None],
        "failing": sum(any(cell.verdict == "fail" for cell in row.cells) for row in rows),
    }


def _cell(number: int, findings: Sequence[Finding]) -> Cell:
    mine = [f for f in findings if f.question == number]
    problems = [f for f in mine if f.verdict in (Verdict.FAIL, Verdict.WARN, Verdict.UNKNOWN)]
    return Cell(number, str(_worst(mine)), len(problems), problems[0].title if problems else "")
