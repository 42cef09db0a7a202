"""How long can a server that hangs while loading go unnoticed?"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.probe_startup import load_of, suggestion
from fleet.readiness.serving import budget, probe_text, servers
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded_findings, not_applicable
from fleet.units import duration_text
from fleet.words import say, say_many

CHECK = "probe-dead-time"
QUESTION = 5

TOO_GENEROUS = 6
"""A budget of more than this many times the load hides a hang for that long."""

_SOURCE = "core/v1 Probe"


def check(subject: Subject) -> Iterator[Finding]:
    judged = [
        (server, server.container.startup, load)
        for server in servers(subject)
        if server.container.startup is not None
        and (load := load_of(subject, server)) is not None
        and load.seconds > 0
    ]
    if not judged:
        yield not_applicable(
            CHECK, QUESTION, say("No model server has a startup probe and a known load time")
        )
        return
    findings = [
        Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say(
                "{name} may hang unnoticed for {time}",
                name=server.name,
                time=duration_text(budget(probe)),
            ),
            say(
                "Loading takes {time} ({words}); the startup probe waits {times} times as long "
                "before it restarts the container.",
                time=duration_text(load.seconds),
                words=load.words,
                times=f"{budget(probe) / load.seconds:.0f}",
            ),
            (server.evidence("startupProbe", probe_text(probe)),),
            say("Lower failureThreshold:"),
            suggestion(load.seconds),
            source=_SOURCE,
        )
        for server, probe, load in judged
        if budget(probe) > TOO_GENEROUS * load.seconds
    ]
    yield from bounded_findings(findings, "server")
    if not findings:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say("A server that hangs while loading is noticed in time"),
            say_many(
                "{n} server: startup budget at most {limit} times the load.",
                "{n} servers: startup budget at most {limit} times the load.",
                len(judged),
                limit=TOO_GENEROUS,
            ),
            source=_SOURCE,
        )
