"""Has the cluster any way to start the pods of a job together?"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalogue.kubernetes_releases import maturity
from fleet.readiness.distributed import Distributed, distributed
from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.readiness.gang_systems import RESOURCES, installed, name_of, native_is_alpha, unreadable
from fleet.readiness.subject import Subject
from fleet.readiness.wording import listed, many, not_applicable, unknown

CHECK = "gang-api"
QUESTION = 4

_SOURCE = "API discovery; Kubernetes feature gates GenericWorkload and GangScheduling"


def check(subject: Subject) -> Iterator[Finding]:
    gangs = list(distributed(subject))
    systems = installed(subject)
    used = {g.gang.system for g in gangs if g.held and g.gang is not None}
    if not systems:
        hidden = unreadable(subject)
        if hidden and gangs:
            yield unknown(
                CHECK,
                QUESTION,
                "Is there a gang scheduler?",
                hidden,
                subject.inventory.read(hidden),
            )
        elif gangs:
            yield Finding(
                CHECK,
                QUESTION,
                Verdict.FAIL,
                "There is no gang scheduler, and there are distributed workloads",
                f"{_needing(gangs)} " + _native_words(subject),
                (Evidence("API server", "/apis", "no Kueue, Volcano, KAI, coscheduling"),),
                "Install Kueue (quota and topology for whole jobs), Volcano or KAI Scheduler.",
                source=_SOURCE,
            )
        else:
            yield not_applicable(
                CHECK,
                QUESTION,
                "No distributed workload that would need a gang scheduler",
                _native_words(subject),
            )
        return
    names = listed(name_of(s) for s in systems)
    evidence = tuple(
        Evidence("API server", RESOURCES[s][0], "served") for s in systems if s in RESOURCES
    )
    if used == {"native"} and native_is_alpha(subject):
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            "Gangs rest on an alpha API",
            "The native PodGroup API is alpha here: each minor so far replaced it, and it is off "
            "by default.",
            evidence,
            "Keep it to clusters that may break, or move to Kueue, Volcano or KAI Scheduler.",
            source=_SOURCE,
        )
    elif gangs and not used:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            f"{names[:1].upper() + names[1:]} is served and no distributed workload uses it",
            _needing(gangs),
            evidence,
            "See the workloads below: each has the lines to add.",
            source=_SOURCE,
        )
    else:
        what = f"used by {many(len([g for g in gangs if g.held]), 'workload')}" if used else "ready"
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            f"Gang scheduling: {names}",
            f"{what[:1].upper() + what[1:]}.",
            evidence,
            source=_SOURCE,
        )
    if "native" not in systems and subject.inventory.apis is not None:
        yield not_applicable(
            CHECK,
            QUESTION,
            "The native PodGroup API is not served",
            f"{_native_words(subject)} Not needed while {names} is in use.".strip(),
        )


def _needing(gangs: list[Distributed]) -> str:
    count = many(len(gangs), "workload needs", "workloads need")
    return f"{count} several pods at the same time."


def _native_words(subject: Subject) -> str:
    minor = subject.inventory.version.minor
    found = maturity("GenericWorkload", minor) if minor is not None else None
    if found is None:
        return ""
    if found.stage == "none":
        return f"1.{minor} has no native PodGroup API."
    return f"The native PodGroup API is {found.words} in 1.{minor}."
