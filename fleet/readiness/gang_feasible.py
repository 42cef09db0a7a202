"""Could each gang start on this cluster at all, were it empty, and within one topology domain?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from fleet.fits.groups import domain_path
from fleet.inventory import Node
from fleet.readiness.distributed import Distributed, distributed
from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.readiness.subject import Subject
from fleet.readiness.wording import (
    bounded_findings,
    not_applicable,
    requests_text,
)
from fleet.words import say, say_many

CHECK = "gang-feasible"
QUESTION = 4


def _source() -> str:
    return say("allocatable of the nodes; PodGroup and Kueue topology keys")


def check(subject: Subject) -> Iterator[Finding]:
    gangs = [g for g in distributed(subject) if g.per_pod]
    if not gangs:
        yield not_applicable(CHECK, QUESTION, say("No distributed workload"))
        return
    findings = [f for g in gangs if (f := _missing_members(g)) is not None]
    if subject.gpu_nodes:
        findings += [f for g in gangs if (f := _judge(subject, g)) is not None]
    yield from bounded_findings(findings, "workload")
    if findings:
        return
    if not subject.gpu_nodes:
        yield not_applicable(CHECK, QUESTION, say("No GPU node was read"))
        return
    yield Finding(
        CHECK,
        QUESTION,
        Verdict.PASS,
        say("Every distributed workload is small enough for the cluster"),
        say_many(
            "{n} workload, judged on allocatable GPUs, whether free or not.",
            "{n} workloads, judged on allocatable GPUs, whether free or not.",
            len(gangs),
        ),
        source=_source(),
    )


def room(nodes: Iterable[Node], per_pod: dict[str, int]) -> int:
    """Pods that the nodes can hold together when empty, by accelerators alone."""
    total = 0
    for node in nodes:
        units = {u.resource: u.allocatable for g in node.groups for u in g.units}
        fits = [units.get(resource, 0) // n for resource, n in per_pod.items() if n > 0]
        total += min(fits, default=0)
    return total


def _missing_members(gang: Distributed) -> Finding | None:
    """A group whose controller makes fewer pods than the group waits for."""
    if gang.controller is not None or gang.minimum is None or gang.bound:
        return None
    if len(gang.pods) >= gang.minimum:
        return None
    return Finding(
        CHECK,
        QUESTION,
        Verdict.FAIL,
        say("{name} waits for pods that do not exist", name=gang.name),
        say_many(
            "Its group waits for {minimum} pods, and there is {n}: a controller that makes the "
            "rest only after the first one runs never gets there.",
            "Its group waits for {minimum} pods, and there are {n}: a controller that makes the "
            "rest only after the first one runs never gets there.",
            len(gang.pods),
            minimum=gang.minimum,
        ),
        (Evidence(gang.object, say("minimum of the group"), str(gang.minimum)),),
        say("Let the controller create all pods at once, or lower the minimum."),
        source=_source(),
    )


def _judge(subject: Subject, gang: Distributed) -> Finding | None:
    # A gang that may start with fewer pods needs room for those only.
    wanted = min(gang.gpu_pods, gang.minimum) if gang.held and gang.minimum else gang.gpu_pods
    nodes = subject.gpu_nodes
    have = room(nodes, gang.per_pod)
    each = requests_text(gang.per_pod)
    size = Evidence(
        gang.object,
        say("pods needed at once"),
        say("{pods} with {requests}", pods=wanted, requests=each),
    )
    if have < wanted:
        if gang.bound >= wanted:
            return None  # it runs: on GPUs offered in another way
        return _finding(
            Verdict.FAIL,
            say("{name} is larger than the cluster", name=gang.name),
            say(
                "It needs {wanted} pods of {each} at once; all nodes together hold {have}.",
                wanted=wanted,
                each=each,
                have=have,
            ),
            size,
            say("Make it smaller, or add nodes."),
        )
    for key in gang.topology_keys:
        carrying: dict[tuple[str, ...], list[Node]] = defaultdict(list)
        for node in nodes:
            path = domain_path(node, key)
            if path is not None:
                carrying[path].append(node)
        if not carrying:
            return _finding(
                Verdict.FAIL,
                say("{name} asks for a topology that no node has", name=gang.name),
                say("Its pods must share one {key}, and no GPU node carries that label.", key=key),
                Evidence(gang.object, say("topology"), key),
                say("Correct the key, or label the nodes."),
            )
        best = max(room(found, gang.per_pod) for found in carrying.values())
        if best < wanted:
            return _finding(
                Verdict.WARN,
                say("{name} fits the cluster, and no single {key}", name=gang.name, key=key),
                say_many(
                    "It needs {wanted} pods of {each} at once; the largest of {n} domain holds "
                    "{best}.",
                    "It needs {wanted} pods of {each} at once; the largest of {n} domains holds "
                    "{best}.",
                    len(carrying),
                    wanted=wanted,
                    each=each,
                    best=best,
                ),
                Evidence(gang.object, say("topology"), key),
                say(
                    "Ask for a wider level, or make the job smaller. A required level keeps it "
                    "waiting for ever."
                ),
            )
    return None


def _finding(verdict: Verdict, title: str, detail: str, evidence: Evidence, remedy: str) -> Finding:
    return Finding(CHECK, QUESTION, verdict, title, detail, (evidence,), remedy, source=_source())
