"""Does the scheduler that a GPU pod names exist? A pod that nobody looks at waits for ever."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta

from fleet.inventory import Pod
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded, listed, not_applicable, of_pod
from fleet.words import say, say_many

CHECK = "gang-scheduler"
QUESTION = 4

SILENCE = timedelta(minutes=5)
"""A scheduler that has not set PodScheduled on a pod of this age does not look at it."""

DEFAULT_SCHEDULER = "default-scheduler"

_SOURCE = "core/v1 Pod condition PodScheduled"


def check(subject: Subject) -> Iterator[Finding]:
    by_scheduler: dict[str, list[Pod]] = defaultdict(list)
    for pod in subject.work_pods:
        by_scheduler[pod.scheduler or DEFAULT_SCHEDULER].append(pod)
    others = sorted(set(by_scheduler) - {DEFAULT_SCHEDULER})
    if not others:
        yield not_applicable(CHECK, QUESTION, say("All GPU pods use the default scheduler"))
        return
    deaf = {
        s: found for s in others if (found := [p for p in by_scheduler[s] if _ignored(subject, p)])
    }
    for scheduler, pods in deaf.items():
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say("Nobody schedules the pods of {scheduler}", scheduler=scheduler),
            say_many(
                "{n} pod waiting for more than {number} minutes, and no scheduler has said a word "
                "about them.",
                "{n} pods waiting for more than {number} minutes, and no scheduler has said a word "
                "about them.",
                len(pods),
                number=int(SILENCE.total_seconds() // 60),
            ),
            bounded([of_pod(p, "spec.schedulerName", scheduler) for p in pods]),
            say(
                "See that a scheduler named {scheduler} runs, or correct the name.",
                scheduler=scheduler,
            ),
            "kubectl get pods -A -l component=scheduler\n",
            source=_SOURCE,
        )
    heard = [s for s in others if s not in deaf and any(p.node for p in by_scheduler[s])]
    if heard:
        bound = sum(1 for s in heard for p in by_scheduler[s] if p.node)
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say("Pods of {names} find nodes", names=listed(heard)),
            say_many("{n} pod bound.", "{n} pods bound.", bound),
            source=_SOURCE,
        )
    elif not deaf:
        yield not_applicable(
            CHECK,
            QUESTION,
            say("No pod of {names} has waited long enough to tell", names=listed(others)),
        )


def _ignored(subject: Subject, pod: Pod) -> bool:
    taken = subject.inventory.taken_at
    return (
        pod.state == "pending"
        and not pod.node
        and not pod.waiting_reason
        and taken is not None
        and pod.created is not None
        and taken - pod.created > SILENCE
    )
