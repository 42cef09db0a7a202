"""Can each GPU request be met by any node at all, were that node empty?"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.fits.cluster import nearest_name
from fleet.inventory import Node
from fleet.readiness.demand import Selection, Work, node_classes, offers, work
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.pasting import yaml_text
from fleet.readiness.subject import Subject
from fleet.readiness.wording import (
    bounded_findings,
    listed,
    not_applicable,
    of_controller,
    requests_text,
)
from fleet.words import say, say_many

CHECK = "request-offered"
QUESTION = 2


def _source() -> str:
    return say("scheduler plugin NodeResourcesFit; extended resources: request must equal limit")


def check(subject: Subject) -> Iterator[Finding]:
    findings = [
        Finding(
            CHECK,
            QUESTION,
            Verdict.FAIL,
            say(
                "{namespace}/{name} asks for GPUs in a way that the API server refuses",
                namespace=c.namespace,
                name=c.name,
            ),
            listed(c.problems, 3),
            (
                of_controller(
                    c, "spec.template.spec.containers[].resources", requests_text(c.requests)
                ),
            ),
            say(
                "Give each container a GPU limit and no other request, or the same number in both."
            ),
            source=_source(),
        )
        for c in subject.controllers
        if c.problems
    ]
    refused = {f.evidence[0].object for f in findings}
    judged = [item for item in work(subject) if item.object not in refused]
    if subject.gpu_nodes:
        nodes = [alike[0] for alike in node_classes(subject, judged)]
        selection = Selection(nodes, judged)
        findings += [
            f for item in judged if (f := _judge(subject, nodes, selection, item)) is not None
        ]
    yield from bounded_findings(findings, "workload")
    if findings:
        return
    if not judged:
        yield not_applicable(CHECK, QUESTION, say("No GPU workload to judge"))
    elif not subject.gpu_nodes:
        yield not_applicable(CHECK, QUESTION, say("No GPU node was read"))
    else:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say("Every GPU request can be met by some node"),
            say_many("{n} workload judged.", "{n} workloads judged.", len(judged)),
            source=_source(),
        )


def _judge(subject: Subject, nodes: list[Node], selection: Selection, item: Work) -> Finding | None:
    if item.running:
        return None  # it runs: offered through DRA, or by a node that is gone
    if any(offers(subject, node, item.requests) for node in selection.of(item.node_selector)):
        return None
    missing = [r for r in item.requests if not subject.offered.get(r)]
    if missing:
        near = nearest_name(missing[0], [r for r, n in subject.offered.items() if n])
        detail = say("No node offers {names}.", names=listed(missing))
        if near:
            detail += " " + say("The nearest name is {name}.", name=near)
        remedy = say("Ask for a resource that the nodes offer.")
        snippet = f'resources:\n  limits:\n    {yaml_text(near)}: "1"\n' if near else ""
    elif not any(offers(subject, n, item.requests) for n in nodes):
        most = max(
            (
                u.allocatable
                for n in nodes
                for g in n.groups
                for u in g.units
                if u.resource in item.requests
            ),
            default=0,
        )
        detail = say(
            "One pod asks for more than any node has; the largest node offers {most}.", most=most
        )
        remedy = say("Spread the work over more pods, or add larger nodes.")
        snippet = ""
    else:
        detail = say(
            "Nodes offer it, and none of them carries the labels of the nodeSelector: {labels}",
            labels=listed(f"{k}={v}" for k, v in sorted(item.node_selector.items())),
        )
        remedy = say("Correct the nodeSelector, or label the nodes of the pool.")
        snippet = ""
    return Finding(
        CHECK,
        QUESTION,
        Verdict.FAIL,
        say("{name} asks for GPUs that no node can give", name=item.name),
        detail,
        (item.evidence("containers[].resources", requests_text(item.requests)),),
        remedy,
        snippet,
        source=_source(),
    )
