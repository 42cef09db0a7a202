"""When a higher priority takes GPUs, does a job lose all of its pods or only one of them?

Losing one of N pods stops the other N-1 too, which go on holding their GPUs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from fleet.readiness.distributed import Distributed, distributed, pod_group
from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded, listed, not_applicable
from fleet.words import say, say_many

CHECK = "gang-preemption"
QUESTION = 4


def _source() -> str:
    return say("core/v1 Pod priority and preemptionPolicy; PodGroup disruptionMode")


def check(subject: Subject) -> Iterator[Finding]:
    gangs = [g for g in distributed(subject) if g.pods]
    if not gangs:
        yield not_applicable(CHECK, QUESTION, say("No distributed workload has pods"))
        return
    hunters = _hunters(subject)
    exposed = [(gang, found) for gang in gangs if (found := _above(subject, gang, hunters))]
    if not exposed:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say("No GPU pod may evict a single pod of a gang"),
            say(
                "{names}: nothing of higher priority can preempt them.",
                names=listed(g.name for g in gangs),
            ),
            source=_source(),
        )
        return
    title = (
        say("{name} can lose one pod and stop as a whole", name=exposed[0][0].name)
        if len(exposed) == 1
        else say(
            "{exposed} distributed workloads can lose one pod and stop as a whole",
            exposed=len(exposed),
        )
    )
    most = max(found for _, found in exposed)
    yield Finding(
        CHECK,
        QUESTION,
        Verdict.WARN,
        title,
        say_many(
            "Up to {n} GPU pod of higher priority may evict single pods of {names}; the other pods "
            "then hold their GPUs for nothing.",
            "Up to {n} GPU pods of higher priority may evict single pods of {names}; the other "
            "pods then hold their GPUs for nothing.",
            most,
            names=listed((gang.name for gang, _ in exposed)),
        ),
        bounded(
            [
                Evidence(gang.object, say("lowest priority of its pods"), str(_lowest(gang)))
                for gang, _ in exposed
            ]
        ),
        say(
            "Give distributed jobs a PriorityClass of their own above the serving pods that may be "
            "restarted, or use a gang system that evicts whole groups."
        ),
        source=_source(),
    )


def _lowest(gang: Distributed) -> int:
    return min(pod.priority for pod in gang.pods)


def _hunters(subject: Subject) -> dict[str, Counter[int]]:
    """How many GPU pods may preempt others, by resource and priority."""
    found: dict[str, Counter[int]] = defaultdict(Counter)
    for pod in subject.work_pods:
        if pod.preemption_policy != "Never":
            for resource in pod.requests:
                found[resource][pod.priority] += 1
    return found


def _above(subject: Subject, gang: Distributed, hunters: dict[str, Counter[int]]) -> int:
    """GPU pods that could evict single pods of the gang to take the same kind of resource."""
    known = pod_group(subject, gang.namespace, gang.gang)
    mode = known.details.get("disruptionMode", "") if known is not None else ""
    if mode.lower() in ("podgroup", "all"):
        return 0
    lowest = _lowest(gang)
    return max(
        (
            sum(number for priority, number in hunters[resource].items() if priority > lowest)
            for resource in gang.requests
            if resource in hunters
        ),
        default=0,
    )
