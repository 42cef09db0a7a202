"""Is each distributed workload held together by a gang of the right size?"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.readiness.distributed import Distributed, distributed, name_of, pod_group
from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.readiness.gang_remedy import remedy, topology_remedy
from fleet.readiness.subject import Subject
from fleet.readiness.wording import (
    bounded,
    bounded_findings,
    listed,
    not_applicable,
    of_pod,
    requests_text,
)
from fleet.words import say, say_many

CHECK = "gang-evidence"
QUESTION = 4


def _source() -> str:
    return say("PodGroup kinds of the five systems; Kueue docs on topology and waitForPodsReady")


def check(subject: Subject) -> Iterator[Finding]:
    gangs = list(distributed(subject))
    if not gangs:
        yield not_applicable(CHECK, QUESTION, say("No distributed workload"))
        return
    judged = [(g, _judge(subject, g)) for g in gangs]
    yield from bounded_findings([f for _, f in judged if f is not None], "workload")
    good = [g for g, finding in judged if finding is None]
    if good:
        systems = sorted({name_of(g.gang.system) for g in good if g.gang is not None})
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say_many(
                "{good} of {n} distributed workload starts all together",
                "{good} of {n} distributed workloads start all together",
                len(gangs),
                good=len(good),
            ),
            say(
                "{names}, through {systems}.",
                names=listed(f"{g.kind} {g.name}" for g in good),
                systems=listed(systems),
            ),
            source=_source(),
        )


def _judge(subject: Subject, gang: Distributed) -> Finding | None:
    if not gang.held:
        return _loose(subject, gang)
    assert gang.gang is not None  # noqa: S101 (held says so)
    system = gang.gang.system
    name = name_of(system)
    evidence = (
        Evidence(
            gang.object,
            "gang",
            say("{system}, group {group}", system=name, group=gang.gang.group or "-"),
        ),
    )
    if system == "kueue":
        if gang.topology_keys:
            return None
        return Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say("{name} is held by quota only", name=gang.name),
            say(
                "Kueue admits it whole, and does not promise that its pods find nodes: it names no "
                "topology."
            ),
            evidence,
            *topology_remedy(),
            source=_source(),
        )
    known = pod_group(subject, gang.namespace, gang.gang)
    if system == "native" and known is not None and known.details.get("policy") == "basic":
        return Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say("{name} is grouped, not held", name=gang.name),
            say(
                "The policy of its PodGroup is basic: that groups the pods without all-or-nothing."
            ),
            evidence,
            say("Use the gang policy:"),
            f"spec:\n  schedulingPolicy:\n    gang:\n      minCount: {gang.needed}\n",
            source=_source(),
        )
    if gang.minimum is not None and gang.minimum < gang.needed:
        return Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say(
                "{name} starts with {minimum} of {needed} pods",
                name=gang.name,
                minimum=gang.minimum,
                needed=gang.needed,
            ),
            say(
                "The minimum of its group is {minimum}. Right for an elastic job; a job that needs "
                "all {needed} waits and holds its GPUs.",
                minimum=gang.minimum,
                needed=gang.needed,
            ),
            (Evidence(gang.object, say("minimum of the group"), str(gang.minimum)),),
            say("Unless the job is elastic, raise the minimum to {needed}.", needed=gang.needed),
            f"spec:\n  minMember: {gang.needed}\n",
            source=_source(),
        )
    if system == "native" and "alpha" in (known.api_version if known is not None else ""):
        return Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say("{name} is held by an alpha API", name=gang.name),
            say("Its PodGroup must be written anew at the next upgrade."),
            evidence,
            say("Plan for it, or use Kueue, Volcano or KAI Scheduler."),
            source=_source(),
        )
    return None


def _loose(subject: Subject, gang: Distributed) -> Finding:
    scheduler = gang.scheduler or "default-scheduler"
    evidence = [Evidence(gang.object, "spec.template.spec.schedulerName", scheduler)]
    evidence += [
        of_pod(
            p,
            "spec.nodeName",
            p.node or say("not bound {reason}", reason=p.waiting_reason).strip(),
        )
        for p in gang.pods
    ]
    words, snippet = remedy(subject, gang)

    return Finding(
        CHECK,
        QUESTION,
        Verdict.FAIL,
        say("{name} starts pod by pod", name=gang.name),
        say(
            "{pods} pods of {requests} are needed at the same time by a {kind}. Nothing holds them "
            "together: no PodGroup, no queue.",
            pods=gang.gpu_pods,
            requests=requests_text(gang.per_pod),
            kind=gang.kind,
        ),
        bounded(evidence),
        words,
        snippet,
        source=_source(),
    )
