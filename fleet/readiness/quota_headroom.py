"""How much of each GPU quota is used, and does the largest gang still fit into the rest?"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.inventory import Quota
from fleet.readiness.distributed import Distributed, distributed
from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.readiness.pasting import yaml_text
from fleet.readiness.queues import local_queues
from fleet.readiness.quota_keys import Key, classify, resource_of
from fleet.readiness.subject import Subject
from fleet.readiness.wording import (
    bounded_findings,
    not_applicable,
    of_object,
    unknown,
)
from fleet.units import QuantityError, whole
from fleet.words import say, say_many

CHECK = "quota-headroom"
QUESTION = 3

NEARLY_FULL = 0.9
"""Share of a quota from which on it is worth a warning."""

_SOURCE = "core/v1 ResourceQuota status; Kueue ClusterQueue nominalQuota"


def check(subject: Subject) -> Iterator[Finding]:
    gangs = list(distributed(subject))
    findings = [f for g in gangs for f in _kueue(subject, g)]
    good = 0
    resource = "resourcequotas"
    if subject.was_read(resource):
        for quota in subject.inventory.quotas:
            for key in quota.hard:
                if classify(key) is not Key.ENFORCED or key not in quota.used:
                    continue
                finding = _judge(quota, key, gangs)
                if finding is None:
                    good += 1
                else:
                    findings.append(finding)
    elif not findings:
        yield unknown(
            CHECK,
            QUESTION,
            say("How full are the quotas?"),
            resource,
            subject.inventory.read(resource),
        )
        return
    yield from bounded_findings(findings, "quota")
    if good:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say_many("{n} GPU quota with room left", "{n} GPU quotas with room left", good),
            say("Less than {share} used.", share=f"{NEARLY_FULL:.0%}"),
            source=_SOURCE,
        )
    elif not findings:
        yield not_applicable(CHECK, QUESTION, say("No GPU quota is counted"))


def _judge(quota: Quota, key: str, gangs: list[Distributed]) -> Finding | None:
    try:
        hard, used = whole(quota.hard[key]), whole(quota.used[key])
    except QuantityError:
        return None
    resource = resource_of(key)
    name = f"{quota.namespace}/{quota.name}"
    evidence = (
        of_object(f"v1 ResourceQuota {name}", f"spec.hard[{key}]", str(hard)),
        of_object(f"v1 ResourceQuota {name}", f"status.used[{key}]", str(used)),
    )
    if used > hard:
        return _finding(
            Verdict.FAIL,
            say("{name}: {used} used of {hard}", name=name, used=used, hard=hard),
            say("Quotas never evict: what runs goes on, and nothing new is admitted."),
            evidence,
            say_many(
                "Raise the quota to {used}, or stop {n} unit of {resource}.",
                "Raise the quota to {used}, or stop {n} units of {resource}.",
                used - hard,
                used=used,
                resource=resource,
            ),
        )
    for gang in gangs:
        need = gang.requests.get(resource, 0)
        if gang.namespace != quota.namespace or not need or gang.bound:
            continue
        if need > hard:
            return _finding(
                Verdict.FAIL,
                say("{name} can never be created whole", name=gang.name),
                say(
                    "It needs {need} × {resource} at once; {name} allows {hard}.",
                    need=need,
                    resource=resource,
                    name=name,
                    hard=hard,
                ),
                (*evidence, Evidence(gang.object, say("GPUs needed at once"), str(need))),
                say("Raise the quota to at least {need}, or make the job smaller.", need=need),
                f'spec:\n  hard:\n    {yaml_text(key)}: "{need}"\n',
            )
        if need > hard - used:
            return _finding(
                Verdict.WARN,
                say("{name} does not fit into what is left of {quota}", name=gang.name, quota=name),
                say(
                    "It needs {need} × {resource} at once; {left} of {hard} are left.",
                    need=need,
                    resource=resource,
                    left=hard - used,
                    hard=hard,
                ),
                (*evidence, Evidence(gang.object, say("GPUs needed at once"), str(need))),
                say(
                    "Wait for a job to end, or raise the quota: a gang that is created in part "
                    "waits and holds its GPUs."
                ),
            )
    if hard and used / hard >= NEARLY_FULL:
        return _finding(
            Verdict.WARN,
            say("{name}: {used} of {hard} used", name=name, used=used, hard=hard),
            say(
                "The next pod that asks for {resource} beyond {hard} is refused, even where a GPU "
                "is free.",
                resource=resource,
                hard=hard,
            ),
            evidence,
            say("Raise the quota, or tell the team that it is full."),
        )
    return None


def _kueue(subject: Subject, gang: Distributed) -> Iterator[Finding]:
    queues = {q.name: q for q in local_queues(subject).get(gang.namespace, ())}
    queue = queues.get(gang.queue)
    if queue is None:
        return
    for resource, need in gang.requests.items():
        nominal = queue.nominal.get(resource)
        if nominal is not None and need > nominal:
            borrows = bool(queue.cohort)
            yield _finding(
                Verdict.WARN if borrows else Verdict.FAIL,
                say("{name} must borrow to be admitted", name=gang.name)
                if borrows
                else say("{name} can never be admitted whole", name=gang.name),
                say(
                    "It needs {need} × {resource} at once; ClusterQueue {cluster_queue} has "
                    "{nominal}.",
                    need=need,
                    resource=resource,
                    cluster_queue=queue.cluster_queue,
                    nominal=nominal,
                ),
                (
                    of_object(
                        f"kueue.x-k8s.io ClusterQueue {queue.cluster_queue}",
                        say("nominalQuota of {resource}", resource=resource),
                        str(nominal),
                    ),
                    Evidence(gang.object, say("GPUs needed at once"), str(need)),
                ),
                say(
                    "Raise nominalQuota to at least {need}, let the queue borrow from its cohort, "
                    "or make the job smaller.",
                    need=need,
                ),
            )


def _finding(
    verdict: Verdict,
    title: str,
    detail: str,
    evidence: tuple[Evidence, ...],
    remedy: str,
    snippet: str = "",
) -> Finding:
    return Finding(
        CHECK, QUESTION, verdict, title, detail, evidence, remedy, snippet, source=_SOURCE
    )
