"""How findings speak: counts, dates, bounded evidence, and the sentences for what was not read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Literal

from fleet.inventory import Controller, Node, Pod, ReadResult, ReadStatus
from fleet.read_words import read_words
from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.words import say, say_many

MAX_EVIDENCE = 12
"""Pieces of evidence in one finding; the rest is counted."""

MAX_FINDINGS = 25
"""Findings of one verdict from one check; the rest is counted in one more."""

MAX_VALUE = 240

Noun = Literal["namespace", "quota", "key", "server", "workload"]


def share(part: int, total: int, *, only: str, every: str, some: str) -> str:
    """The sentence that fits: on the only one there is, on all of them, or on some."""
    if total == 1:
        return only
    return every if part == total else some


def _month(number: int) -> str:
    return (
        say("January"),
        say("February"),
        say("March"),
        say("April"),
        say("May"),
        say("June"),
        say("July"),
        say("August"),
        say("September"),
        say("October"),
        say("November"),
        say("December"),
    )[number - 1]


def day_text(day: date) -> str:
    """ "28 June 2027"."""
    return say("{day} {month} {year}", day=day.day, month=_month(day.month), year=day.year)


def listed(names: Iterable[str], limit: int = 5) -> str:
    """ "a, b and c"; beyond ``limit`` "a, b, c and 9 more"."""
    found = list(names)
    if len(found) > limit:
        return say(
            "{names} and {number} more",
            names=", ".join(found[:limit]),
            number=len(found) - limit,
        )
    if len(found) > 1:
        return say("{names} and {last}", names=", ".join(found[:-1]), last=found[-1])
    return "".join(found)


def requests_text(requests: dict[str, int]) -> str:
    """ "8 × nvidia.com/gpu"."""
    found = ", ".join(f"{number} × {name}" for name, number in sorted(requests.items()))
    return found or say("none")


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


def of_api_server(field: str, value: str) -> Evidence:
    return Evidence(say("API server"), field, _short(value))


def bounded(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """At most ``MAX_EVIDENCE`` pieces, the last of them saying how many are left out."""
    if len(evidence) <= MAX_EVIDENCE:
        return tuple(evidence)
    kept = tuple(evidence[: MAX_EVIDENCE - 1])
    rest = len(evidence) - len(kept)
    more = say_many("{n} more object", "{n} more objects", rest)
    return (*kept, Evidence(more, evidence[0].field, say("as above")))


def _more_text(noun: Noun, number: int) -> str:
    match noun:
        case "namespace":
            return say_many(
                "{n} more namespace with the same verdict",
                "{n} more namespaces with the same verdict",
                number,
            )
        case "quota":
            return say_many(
                "{n} more quota with the same verdict",
                "{n} more quotas with the same verdict",
                number,
            )
        case "key":
            return say_many(
                "{n} more quota key with the same verdict",
                "{n} more quota keys with the same verdict",
                number,
            )
        case "server":
            return say_many(
                "{n} more server with the same verdict",
                "{n} more servers with the same verdict",
                number,
            )
    return say_many(
        "{n} more workload with the same verdict",
        "{n} more workloads with the same verdict",
        number,
    )


def bounded_findings(findings: Sequence[Finding], noun: Noun) -> list[Finding]:
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
                title=_more_text(noun, len(rest)),
                detail=say("Among them: {titles}.", titles=listed([f.title for f in rest], 3)),
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
        return say("Reading {resource} is forbidden (403).", resource=resource)
    if status is ReadStatus.NOT_SERVED:
        return say(
            "The API server does not serve {resource} (404): it is not installed.",
            resource=resource,
        )
    if status is ReadStatus.NOT_IN_FILE:
        return say(
            "The file holds no {resource}: there are none, or they were not exported.",
            resource=resource,
        )
    if status is ReadStatus.FAILED:
        if result is not None and result.reason:
            why = read_words(result.status, result.reason, result.number)
            return say("Reading {resource} failed. {reason}", resource=resource, reason=why)
        return say("Reading {resource} failed.", resource=resource)
    return say("{resource} was not read.", resource=resource)


def _remedy(resource: str, status: ReadStatus | None) -> tuple[str, str]:
    if status is ReadStatus.FORBIDDEN:
        plural, _, group = resource.partition(".")
        return (
            say("Add this rule to the ClusterRole of the reading account:"),
            f'- apiGroups: ["{group}"]\n  resources: ["{plural}"]\n  verbs: ["get", "list"]\n',
        )
    if status is ReadStatus.NOT_SERVED:
        return "", ""
    return (
        say("Export it and import the file together with the others:"),
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
