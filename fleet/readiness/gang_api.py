"""Has the cluster any way to start the pods of a job together?"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalogue.kubernetes_releases import maturity
from fleet.readiness.distributed import Distributed, distributed, name_of
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.gang_systems import RESOURCES, installed, native_is_alpha, unreadable
from fleet.readiness.subject import Subject
from fleet.readiness.wording import listed, not_applicable, of_api_server, unknown
from fleet.words import say, say_many

CHECK = "gang-api"
QUESTION = 4


def _source() -> str:
    return say("API discovery; Kubernetes feature gates GenericWorkload and GangScheduling")


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
                say("Is there a gang scheduler?"),
                hidden,
                subject.inventory.read(hidden),
            )
        elif gangs:
            yield Finding(
                CHECK,
                QUESTION,
                Verdict.FAIL,
                say("There is no gang scheduler, and there are distributed workloads"),
                f"{_needing(gangs)} {_native_words(subject)}",
                (of_api_server("/apis", say("no Kueue, Volcano, KAI, coscheduling")),),
                say("Install Kueue (quota and topology for whole jobs), Volcano or KAI Scheduler."),
                source=_source(),
            )
        else:
            yield not_applicable(
                CHECK,
                QUESTION,
                say("No distributed workload that would need a gang scheduler"),
                _native_words(subject),
            )
        return
    names = listed(name_of(s) for s in systems)
    evidence = tuple(
        of_api_server(RESOURCES[s][0], say("served")) for s in systems if s in RESOURCES
    )
    if used == {"native"} and native_is_alpha(subject):
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say("Gangs rest on an alpha API"),
            say(
                "The native PodGroup API is alpha here: each minor so far replaced it, and it is "
                "off by default."
            ),
            evidence,
            say("Keep it to clusters that may break, or move to Kueue, Volcano or KAI Scheduler."),
            source=_source(),
        )
    elif gangs and not used:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say(
                "{names} is served and no distributed workload uses it",
                names=names[:1].upper() + names[1:],
            ),
            _needing(gangs),
            evidence,
            say("See the workloads below: each has the lines to add."),
            source=_source(),
        )
    else:
        held = len([g for g in gangs if g.held])
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say("Gang scheduling: {names}", names=names),
            say_many("Used by {n} workload.", "Used by {n} workloads.", held)
            if used
            else say("Ready."),
            evidence,
            source=_source(),
        )
    if "native" not in systems and subject.inventory.apis is not None:
        need = say("Not needed while {names} is in use.", names=names)
        yield not_applicable(
            CHECK,
            QUESTION,
            say("The native PodGroup API is not served"),
            f"{_native_words(subject)} {need}".strip(),
        )


def _needing(gangs: list[Distributed]) -> str:
    return say_many(
        "{n} workload needs several pods at the same time.",
        "{n} workloads need several pods at the same time.",
        len(gangs),
    )


def _native_words(subject: Subject) -> str:
    minor = subject.inventory.version.minor
    found = maturity("GenericWorkload", minor) if minor is not None else None
    if found is None:
        return ""
    if found.stage == "none":
        return say("1.{minor} has no native PodGroup API.", minor=minor)
    return say("The native PodGroup API is {words} in 1.{minor}.", words=found.words, minor=minor)
