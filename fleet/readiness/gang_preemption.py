"""When a higher priority takes GPUs, does a job lose all of its pods or only one of them?

Losing one of N pods stops the other N-1 too, which go on holding their GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.readiness.distributed import distributed, pod_group
from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded_findings, listed, many, not_applicable

CHECK = "gang-preemption"
QUESTION = 4

_SOURCE = "core/v1 Pod priority and preemptionPolicy; PodGroup disruptionMode"


def check(subject: Subject) -> Iterator[Finding]:
    gangs = [g for g in distributed(subject) if g.pods]
    if not gangs:
        yield not_applicable(CHECK, QUESTION, "No distributed workload has pods")
        return
    hunters = [p.priority for p in subject.work_pods if p.preemption_policy != "Never"]
    findings = []
    for gang in gangs:
        known = pod_group(subject, gang.namespace, gang.gang)
        mode = known.details.get("disruptionMode", "") if known is not None else ""
        if mode.lower() in ("podgroup", "all"):
            continue
        lowest = min(p.priority for p in gang.pods)
        above = sum(1 for priority in hunters if priority > lowest)
        if not above:
            continue
        findings.append(
            Finding(
                CHECK,
                QUESTION,
                Verdict.WARN,
                f"{gang.name} can lose one pod and stop as a whole",
                f"{many(above, 'GPU pod')} of higher priority may evict single pods of it; the "
                f"other {gang.needed - 1} then hold their GPUs for nothing.",
                (Evidence(gang.object, "lowest priority of its pods", str(lowest)),),
                "Give distributed jobs a PriorityClass of their own above the serving pods that "
                "may be restarted, or use a gang system that evicts whole groups.",
                source=_SOURCE,
            )
        )
    yield from bounded_findings(findings, "workload")
    if not findings:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            "No GPU pod may evict a single pod of a gang",
            f"{listed(g.name for g in gangs)}: nothing of higher priority can preempt them.",
            source=_SOURCE,
        )
