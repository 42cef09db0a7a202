"""Does every GPU workload tolerate the taints of at least one node that it could run on?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fleet.inventory import Node, Taint
from fleet.readiness.demand import Selection, Work, node_classes, offers, work
from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.readiness.pasting import yaml_text
from fleet.readiness.subject import Subject
from fleet.readiness.wording import (
    MAX_EVIDENCE,
    bounded_findings,
    listed,
    not_applicable,
    of_node,
)
from fleet.tolerations import evicted_later, is_lifecycle, taint_text, untolerated
from fleet.words import say, say_many

CHECK = "workload-tolerations"
QUESTION = 2


def _source() -> str:
    return say("core/v1 Toleration, scheduler plugin TaintToleration")


def check(subject: Subject) -> Iterator[Finding]:
    # Lifecycle taints say that a node is busy starting or leaving; they say nothing about policy.
    judged = list(work(subject))
    nodes = subject.gpu_nodes
    if not judged or not nodes:
        yield not_applicable(CHECK, QUESTION, say("No GPU workload with a GPU node to go to"))
        return
    classes = {alike[0].name: alike for alike in node_classes(subject, judged)}
    selection = Selection([alike[0] for alike in classes.values()], judged)
    findings: list[Finding] = []
    good = 0
    for item in judged:
        candidates = [
            classes[node.name]
            for node in selection.of(item.node_selector)
            if offers(subject, node, item.requests)
        ]
        if not candidates:
            continue  # not the taints' fault: see "request-offered"
        open_to = [alike[0] for alike in candidates if not _blocking(alike[0], item)]
        if not open_to:
            findings.append(_shut_out(item, candidates))
        elif finding := _doubtful(item, open_to):
            findings.append(finding)
        else:
            good += 1
    yield from bounded_findings(findings, "workload")
    if good:
        title = say("Every GPU workload tolerates the taints of its nodes")
        if findings:
            title = say_many(
                "{n} of {total} tolerate the taints of its nodes",
                "{n} of {total} tolerate the taints of its nodes",
                good,
                total=len(judged),
            )
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            title,
            source=_source(),
        )
    elif not findings:
        yield not_applicable(
            CHECK,
            QUESTION,
            say("No GPU node offers what the workloads ask for"),
            say("See the check above."),
        )


def _blocking(node: Node, item: Work) -> tuple[Taint, ...]:
    return tuple(t for t in untolerated(node.taints, item.tolerations) if not is_lifecycle(t))


def _shut_out(item: Work, candidates: list[tuple[Node, ...]]) -> Finding:
    reasons: Counter[Taint] = Counter()
    for alike in candidates:
        for taint in _blocking(alike[0], item):
            reasons[taint] += len(alike)
    easiest = min((_blocking(alike[0], item) for alike in candidates), key=len)
    total = sum(len(alike) for alike in candidates)
    shown = [n for alike in candidates[:MAX_EVIDENCE] for n in alike[:MAX_EVIDENCE]]
    evidence = [item.evidence("tolerations", _tolerations(item))]
    evidence += [
        of_node(n, "spec.taints", ", ".join(taint_text(t) for t in _blocking(n, item)))
        for n in shown[: MAX_EVIDENCE - 1]
    ]
    return Finding(
        CHECK,
        QUESTION,
        Verdict.FAIL,
        say("{name} tolerates no node that has its GPUs", name=item.name),
        say_many(
            "{n} node offers what it asks for, closed to it by {names}.",
            "{n} nodes offer what it asks for, closed to it by {names}.",
            total,
            names=listed((taint_text(t) for t, _ in reasons.most_common())),
        ),
        tuple(evidence),
        say("Add the toleration to the pod template ({field}.tolerations):", field=item.field),
        _snippet(easiest),
        source=_source(),
    )


def _doubtful(item: Work, open_to: list[Node]) -> Finding | None:
    blanket = [t for t in item.tolerations if not t.key and t.operator == "Exists" and not t.effect]
    if blanket:
        return Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say("{name} tolerates every taint", name=item.name),
            say("It may land on nodes that are cordoned for repair, starting or kept for others."),
            (item.evidence("tolerations", say("operator: Exists without a key")),),
            say("Name the taints it is meant to tolerate:"),
            _snippet(tuple(t for n in open_to[:1] for t in n.taints if not is_lifecycle(t))),
            source=_source(),
        )
    if all(evicted_later(n.taints, item.tolerations) for n in open_to):
        limited = evicted_later(open_to[0].taints, item.tolerations)
        return Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say("{name} is evicted from its nodes after a while", name=item.name),
            say("It tolerates a NoExecute taint only for tolerationSeconds."),
            (Evidence(item.object, f"{item.field}.tolerations", _tolerations(item)),),
            say("Remove tolerationSeconds if the workload belongs on these nodes:"),
            _snippet(limited),
            source=_source(),
        )
    return None


def _tolerations(item: Work) -> str:
    found = [f"{t.key or '*'} {t.operator} {t.value}".strip() for t in item.tolerations]
    return ", ".join(found) or say("none")


def _snippet(taints: tuple[Taint, ...]) -> str:
    if not taints:
        return ""
    lines = ["tolerations:"]
    for taint in taints:
        lines.append(f"- key: {yaml_text(taint.key)}")
        if taint.value:
            lines += ["  operator: Equal", f"  value: {yaml_text(taint.value)}"]
        else:
            lines.append("  operator: Exists")
        lines.append(f"  effect: {yaml_text(taint.effect)}")
    return "\n".join(lines) + "\n"
