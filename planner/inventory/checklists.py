"""The checklist as pages show it: by question, problems first, evidence linked to its node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fleet.readiness import report
from fleet.readiness.finding import ORDER, QUESTIONS, Evidence, Finding, Verdict, question_title
from planner.inventory import findings as derived
from planner.inventory.models import Cluster
from planner.inventory.queries import cluster_head, node_url, verdict_counts


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
    findings = derived.of_clusters([cluster]).get(cluster.pk, ())
    questions = []
    for number in QUESTIONS:
        mine = [f for f in findings if f.question == number]
        apart = [f for f in mine if f.verdict == Verdict.NOT_APPLICABLE]
        lines = [FindingLine(f, evidence_lines(cluster, f)) for f in mine if f not in apart]
        questions.append(Question(number, question_title(number), str(_worst(mine)), lines, apart))
    questions.sort(key=lambda q: (ORDER.index(Verdict(q.verdict)), q.number))
    return cluster_head(cluster, "readiness") | {
        "questions": questions if snapshot else [],
        "verdicts": _verdicts(findings) if snapshot else (),
    }


def _verdicts(findings: Iterable[Finding]) -> Any:
    """How many findings of each verdict, as a page shows them."""
    return verdict_counts({str(kind): n for kind, n in report.counts(findings).items()})


@dataclass(frozen=True, slots=True)
class Cell:
    """One cluster, one question: the worst verdict, and how many findings are problems."""

    question: int
    verdict: str
    problems: int
    first: str

    @property
    def title(self) -> str:
        return question_title(self.question)

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
    found = derived.of_clusters(clusters)
    for cluster in clusters:
        if cluster.pk not in found:
            continue
        findings = found[cluster.pk]
        rows.append(MatrixRow(cluster, [_cell(number, findings) for number in QUESTIONS]))
    return {
        "rows": rows,
        "questions": {number: question_title(number) for number in QUESTIONS},
        "verdicts": _verdicts([finding for findings in found.values() for finding in findings]),
        "unread": [cluster for cluster in clusters if cluster.current_snapshot is None],
        "failing": sum(any(cell.verdict == "fail" for cell in row.cells) for row in rows),
    }


def _cell(number: int, findings: Sequence[Finding]) -> Cell:
    mine = [f for f in findings if f.question == number]
    problems = [f for f in mine if f.verdict in (Verdict.FAIL, Verdict.WARN, Verdict.UNKNOWN)]
    return Cell(number, str(_worst(mine)), len(problems), problems[0].title if problems else "")
