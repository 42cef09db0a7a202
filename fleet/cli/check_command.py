"""``gpu-fleet check``: the readiness checklist; problems first, with evidence and remedy."""

from __future__ import annotations

from datetime import UTC, datetime

from fleet.cli.arguments import Options
from fleet.cli.size_command import requirements
from fleet.cli.sources import inventories, workloads
from fleet.cli.terminal import (
    block,
    coloured,
    paragraph,
    write,
    write_json,
    write_table_csv,
)
from fleet.csv_text import Cell
from fleet.readiness.finding import Finding, Verdict, question_title
from fleet.readiness.report import check, counts
from fleet.words import say

FAILED = 3

CSV_COLUMNS = (
    "cluster",
    "verdict",
    "question",
    "check",
    "title",
    "detail",
    "costs",
    "evidence",
    "remedy",
    "snippet",
    "source",
)


def run(options: Options) -> int:
    declared = requirements(workloads(options)) if options.workloads else []
    today = options.today or datetime.now(UTC).date()
    found = {
        name: check(inventory, today=today, declared=declared)
        for name, inventory in inventories(options).items()
    }
    if options.form == "json":
        reports = {
            name: {"counts": counts(findings), "findings": findings}
            for name, findings in found.items()
        }
        write_json(reports if options.clusters else next(iter(reports.values())))
    elif options.form == "csv":
        write_table_csv(
            CSV_COLUMNS,
            [_csv_row(name, finding) for name, findings in found.items() for finding in findings],
        )
    else:
        for place, (name, findings) in enumerate(found.items()):
            write("\n" if place else "")
            _show(name if options.clusters else "", findings, options.verbose)
    failed = any(f.verdict is Verdict.FAIL for findings in found.values() for f in findings)
    return FAILED if failed else 0


def _words() -> dict[Verdict, str]:
    return {
        Verdict.FAIL: say("Fail"),
        Verdict.WARN: say("Warn"),
        Verdict.UNKNOWN: say("Unknown"),
        Verdict.PASS: say("Pass"),
        Verdict.NOT_APPLICABLE: say("N/A"),
    }


def _show(name: str, findings: tuple[Finding, ...], verbose: bool) -> None:
    total = counts(findings)
    words = _words()
    summary = ", ".join(f"{number} {words[v].lower()}" for v, number in total.items() if number)
    write(paragraph(f"{name}: {summary}" if name else summary))
    # Questions with the worst verdict first, as the findings themselves stand.
    order = list(dict.fromkeys(finding.question for finding in findings))
    for question in order:
        title = say(
            "{question} (question {number} of 5)",
            question=question_title(question),
            number=question,
        )
        write("\n" + coloured(title, "bold") + "\n")
        own = [finding for finding in findings if finding.question == question]
        told = [finding for finding in own if verbose or _is_told(finding)]
        for finding in told:
            _show_finding(finding, verbose)
        if len(told) < len(own):
            write(
                paragraph(
                    f"{words[Verdict.NOT_APPLICABLE]:<8}"
                    + say("{n} with nothing to judge (--verbose)", n=len(own) - len(told)),
                    "  ",
                )
            )


def _is_told(finding: Finding) -> bool:
    """Checks with nothing to judge are only counted, unless they have something to paste."""
    return finding.verdict is not Verdict.NOT_APPLICABLE or bool(finding.snippet)


def _show_finding(finding: Finding, verbose: bool) -> None:
    verdict = finding.verdict
    indent = " " * 10
    word = f"{_words()[verdict]:<8}"
    if verdict is not Verdict.NOT_APPLICABLE:
        word = coloured(word, verdict.value)
    write("  " + word + paragraph(finding.title, indent)[len(indent) :])
    if verdict in (Verdict.PASS, Verdict.NOT_APPLICABLE) and not (verbose or finding.snippet):
        return
    if finding.detail:
        write(paragraph(finding.detail, indent))
    for evidence in finding.evidence:
        write(paragraph(f"· {evidence.object}  {evidence.field}: {evidence.value}", indent))
    if finding.costs:
        write(paragraph(say("Costs: {text}", text=finding.costs), indent))
    if finding.remedy:
        write(paragraph(say("Remedy: {text}", text=finding.remedy), indent))
    if finding.snippet:
        write(block(finding.snippet, indent + "  "))


def _csv_row(cluster: str, finding: Finding) -> dict[str, Cell]:
    return {
        "cluster": cluster,
        "verdict": finding.verdict.value,
        "question": finding.question,
        "check": finding.check,
        "title": finding.title,
        "detail": finding.detail,
        "costs": finding.costs,
        "evidence": "; ".join(f"{e.object} {e.field}: {e.value}" for e in finding.evidence),
        "remedy": finding.remedy,
        "snippet": finding.snippet,
        "source": finding.source,
    }
