"""Is each distributed workload held together by a gang of the right size?"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.readiness.distributed import Distributed, distributed, pod_group
from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.readiness.gang_remedy import TOPOLOGY, remedy
from fleet.readiness.gang_systems import name_of
from fleet.readiness.subject import Subject
from fleet.readiness.wording import (
    bounded,
    bounded_findings,
    listed,
    many,
    not_applicable,
    of_pod,
    requests_text,
)

CHECK = "gang-evidence"
QUESTION = 4

_SOURCE = "PodGroup kinds of the five systems; Kueue docs on topology and waitForPodsReady"


def check(subject: Subject) -> Iterator[Finding]:
    gangs = list(distributed(subject))
    if not gangs:
        yield not_applicable(CHECK, QUESTION, "No distributed workload")
        return
    findings = [f for g in gangs if (f := _judge(subject, g)) is not None]
    yield from bounded_findings(findings, "workload")
    named = {f.title.split(" ")[0] for f in findings}
    good = [g for g in gangs if g.name not in named]
    if good:
        systems = sorted({name_of(g.gang.system) for g in good if g.gang is not None})
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            f"{len(good)} of {many(len(gangs), 'distributed workload')} start all together",
            f"{listed(f'{g.kind} {g.name}' for g in good)}, through {listed(systems)}.",
            source=_SOURCE,
        )


def _judge(subject: Subject, gang: Distributed) -> Finding | None:
    if not gang.held:
        return _loose(subject, gang)
    assert gang.gang is not None  # noqa: S101 (held says so)
    system = gang.gang.system
    name = name_of(system)
    evidence = (Evidence(gang.object, "gang", f"{name}, group {gang.gang.group or '-'}"),)
    if system == "kueue":
        if gang.topology_keys:
            return None
        return Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            f"{gang.name} is held by quota only",
            "Kueue admits it whole, and does not promise that its pods find nodes: it names no "
            "topology.",
            evidence,
            *TOPOLOGY,
            source=_SOURCE,
        )
    known = pod_group(subject, gang.namespace, gang.gang)
    if system == "native" and known is not None and known.details.get("policy") == "basic":
        return Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            f"{gang.name} is grouped, not held",
            "The policy of its PodGroup is basic: that groups the pods without all-or-nothing.",
            evidence,
            "Use the gang policy:",
            f"spec:\n  schedulingPolicy:\n    gang:\n      minCount: {gang.needed}\n",
            source=_SOURCE,
        )
    if gang.minimum is not None and gang.minimum < gang.needed:
        return Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            f"{gang.name} starts with {gang.minimum} of {gang.needed} pods",
            f"The minimum of its group is {gang.minimum}. Right for an elastic job; a job that "
            f"needs all {gang.needed} waits and holds its GPUs.",
            (Evidence(gang.object, "minimum of the group", str(gang.minimum)),),
            f"Unless the job is elastic, raise the minimum to {gang.needed}.",
            f"spec:\n  minMember: {gang.needed}\n",
            source=_SOURCE,
        )
    if system == "native" and "alpha" in (known.api_version if known is not None else ""):
        return Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            f"{gang.name} is held by an alpha API",
            "Its PodGroup must be written anew at the next upgrade.",
            evidence,
            "Plan for it, or use Kueue, Volcano or KAI Scheduler.",
            source=_SOURCE,
        )
    return None


def _loose(subject: Subject, gang: Distributed) -> Finding:
    scheduler = gang.scheduler or "default-scheduler"
    evidence = [Evidence(gang.object, "spec.template.spec.schedulerName", scheduler)]
    evidence += [
        of_pod(p, "spec.nodeName", p.node or f"not bound {p.waiting_reason}".strip())
        for p in gang.pods
    ]
    words, snippet = remedy(subject, gang)
    size = f"{gang.gpu_pods} pods of {requests_text(gang.per_pod)}"
    return Finding(
        CHECK,
        QUESTION,
        Verdict.FAIL,
        f"{gang.name} starts pod by pod",
        f"{size} are needed at the same time by a {gang.kind}. Nothing holds them together: no "
        "PodGroup, no queue.",
        bounded(evidence),
        words,
        snippet,
        source=_SOURCE,
    )
