"""How findings speak: counts, dates, bounded evidence, and the sentences for what was not read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from fleet.inventory import Controller, Node, Pod, ReadResult, ReadStatus
from fleet.readiness.finding import Evidence, Finding, Verdict

MAX_EVIDENCE = 12
"""Pieces of evidence in one finding; the rest is counted."""

MAX_FINDINGS = 25
"""Findings of one verdict from one check; the rest is counted in one more."""

MAX_VALUE = 240


def many(number: int, noun: str, plural: str = "") -> str:
    """ "1 GPU node", "3 GPU nodes"."""
    word = noun if number == 1 else plural or f"{noun}s"
    return f"{number:,} {word}"


def share(part: int, total: int, noun: str, verb: str, verbs: str) -> str:
    """ "9 of 44 GPU nodes carry", "All 4 GPU nodes carry", "The GPU node carries"."""
    if total == 1:
        return f"The {noun} {verb}"
    if part == total:
        return f"All {total:,} {noun}s {verbs}"
    return f"{part:,} of {total:,} {noun}s {verb if part == 1 else verbs}"


def day_text(day: date) -> str:
    """ "28 June 2027"."""
    return f"{day.day} {day:%B %Y}"


def listed(names: Iterable[str], limit: int = 5) -> str:
    """ "a, b and c"; beyond ``limit`` "a, b, c and 9 more"."""
    found = list(names)
    if len(found) > limit:
        return f"{', '.join(found[:limit])} and {len(found) - limit} more"
    if len(found) > 1:
        return f"{', '.join(found[:-1])} and {found[-1]}"
    return "".join(found)


def requests_text(requests: dict[str, int]) -> str:
    """ "8 × nvidia.com/gpu"."""
    return ", ".join(f"{number} × {name}" for name, number in sorted(requests.items())) or "none"


def _short(text: str) -> str:
    return text if len(text) <= MAX_VALUE else text[: MAX_VALUE - 1] + "…"


def of_node(node: Node, field: str, value: str) -> Evidence:
    return Evidence(f"v1 Node {node.name}", field, _short(value), node=node.name)


def of_pod(pod: Pod, field: str, value: str) -> Evidence:
    return Evidence(f"v1 Pod {pod.namespace}/{pod.name}", field, _short(value))


def of_controller(controller: Controller, field: str, value: str) -> Evidence:
    name = f"{controller.namespace}/{controller.name}"
    return Evidence(f"{controller.api_version} {controller.kind} {name}", field, _short(value))


def of_object(name: str, field: str, value: str) -> Evidence:
    return Evidence(name, field, _short(value))


def bounded(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """At most ``MAX_EVIDENCE`` pieces, the last of them saying how many are left out."""
    if len(evidence) <= MAX_EVIDENCE:
        return tuple(evidence)
    kept = tuple(evidence[: MAX_EVIDENCE - 1])
    rest = len(evidence) - len(kept)
    return (*kept, Evidence(f"{rest} more objects", evidence[0].field, "as above"))


def bounded_findings(findings: Sequence[Finding], noun: str) -> list[Finding]:
    """At most ``MAX_FINDINGS`` of each verdict, the rest in one line each, so that a cluster with
    thousands of faulty objects still gives a page that can be read."""
    kept: list[Finding] = []
    left: dict[Verdict, list[Finding]] = {}
    seen: dict[Verdict, int] = {}
    for finding in findings:
        seen[finding.verdict] = seen.get(finding.verdict, 0) + 1
        if seen[finding.verdict] <= MAX_FINDINGS:
            kept.append(finding)
        else:
            left.setdefault(finding.verdict, []).append(finding)
    for verdict, rest in left.items():
        kept.append(
            Finding(
                check=rest[0].check,
                question=rest[0].question,
                verdict=verdict,
                title=f"{many(len(rest), f'more {noun}')} with the same verdict",
                detail=f"Among them: {listed([f.title for f in rest], 3)}.",
                evidence=bounded([e for f in rest for e in f.evidence[:1]]),
                remedy=rest[0].remedy,
                source=rest[0].source,
            )
        )
    return kept


def unread_text(resource: str, result: ReadResult | None) -> str:
    """Why ``resource`` is not known, in one sentence. Four different answers."""
    status = result.status if result is not None else None
    if status is ReadStatus.FORBIDDEN:
        return f"Reading {resource} is forbidden (403)."
    if status is ReadStatus.NOT_SERVED:
        return f"The API server does not serve {resource} (404): it is not installed."
    if status is ReadStatus.NOT_IN_FILE:
        return f"The file holds no {resource}: there are none, or they were not exported."
    if status is ReadStatus.FAILED:
        detail = result.detail if result is not None else ""
        return f"Reading {resource} failed{': ' + _short(detail) if detail else ''}."
    return f"{resource} was not read."


def _remedy(resource: str, status: ReadStatus | None) -> tuple[str, str]:
    if status is ReadStatus.FORBIDDEN:
        plural, _, group = resource.partition(".")
        return (
            "Add this rule to the ClusterRole of the reading account:",
            f'- apiGroups: ["{group}"]\n  resources: ["{plural}"]\n  verbs: ["get", "list"]\n',
        )
    if status is ReadStatus.NOT_SERVED:
        return "", ""
    return (
        "Export it and import the file together with the others:",
        f"kubectl get {resource} --all-namespaces -o json > {resource}.json\n",
    )


def unknown(
    check: str, question: int, title: str, resource: str, result: ReadResult | None
) -> Finding:
    """The finding for a check that cannot be answered because ``resource`` is not known."""
    remedy, snippet = _remedy(resource, result.status if result is not None else None)
    return Finding(
        check=check,
        question=question,
        verdict=Verdict.UNKNOWN,
        title=title,
        detail=unread_text(resource, result),
        remedy=remedy,
        snippet=snippet,
    )


def not_applicable(check: str, question: int, title: str, detail: str = "") -> Finding:
    """The finding for a check with nothing to judge. That is not a pass."""
    return Finding(check, question, Verdict.NOT_APPLICABLE, title, detail)
