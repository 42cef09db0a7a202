"""Can each GPU request be met by any node at all, were that node empty?"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from fleet.inventory import Node
from fleet.readiness.demand import Work, node_classes, offers, selected, work
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.pasting import yaml_text
from fleet.readiness.subject import Subject
from fleet.readiness.wording import (
    bounded_findings,
    listed,
    many,
    not_applicable,
    of_controller,
    requests_text,
)

CHECK = "request-offered"
QUESTION = 2

_SOURCE = "scheduler plugin NodeResourcesFit; extended resources: request must equal limit"


def check(subject: Subject) -> Iterator[Finding]:
    findings = [
        Finding(
            CHECK,
            QUESTION,
            Verdict.FAIL,
            f"{c.namespace}/{c.name} asks for GPUs in a way that the API server refuses",
            listed(c.problems, 3),
            (
                of_controller(
                    c, "spec.template.spec.containers[].resources", requests_text(c.requests)
                ),
            ),
            "Give each container a GPU limit and no other request, or the same number in both.",
            source=_SOURCE,
        )
        for c in subject.controllers
        if c.problems
    ]
    refused = {f.evidence[0].object for f in findings}
    judged = [item for item in work(subject) if item.object not in refused]
    if subject.gpu_nodes:
        nodes = [alike[0] for alike in node_classes(subject, judged)]
        findings += [f for item in judged if (f := _judge(subject, nodes, item)) is not None]
    yield from bounded_findings(findings, "workload")
    if findings:
        return
    if not judged:
        yield not_applicable(CHECK, QUESTION, "No GPU workload to judge")
    elif not subject.gpu_nodes:
        yield not_applicable(CHECK, QUESTION, "No GPU node was read")
    else:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            "Every GPU request can be met by some node",
            f"{many(len(judged), 'workload')} judged.",
            source=_SOURCE,
        )


def _judge(subject: Subject, nodes: list[Node], item: Work) -> Finding | None:
    if any(offers(subject, n, item.requests) and selected(n, item.node_selector) for n in nodes):
        return None
    if item.running:
        return None  # it runs: offered through DRA, or by a node that is gone
    missing = [r for r in item.requests if not subject.offered.get(r)]
    if missing:
        near = get_close_matches(missing[0], subject.offered, n=1, cutoff=0.8)
        detail = f"No node offers {listed(missing)}."
        detail += f" The nearest name is {near[0]}." if near else ""
        remedy = "Ask for a resource that the nodes offer."
        snippet = f'resources:\n  limits:\n    {yaml_text(near[0])}: "1"\n' if near else ""
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
        detail = f"One pod asks for more than any node has; the largest node offers {most}."
        remedy = "Spread the work over more pods, or add larger nodes."
        snippet = ""
    else:
        detail = (
            "Nodes offer it, and none of them carries the labels of the nodeSelector: "
            + listed(f"{k}={v}" for k, v in sorted(item.node_selector.items()))
        )
        remedy = "Correct the nodeSelector, or label the nodes of the pool."
        snippet = ""
    return Finding(
        CHECK,
        QUESTION,
        Verdict.FAIL,
        f"{item.name} asks for GPUs that no node can give",
        detail,
        (item.evidence("containers[].resources", requests_text(item.requests)),),
        remedy,
        snippet,
        source=_SOURCE,
    )
