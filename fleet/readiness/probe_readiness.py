"""Does each model server say when it is ready, by a probe that only a loaded model answers?"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.serving import Server, probe_text, servers
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded_findings, listed, not_applicable
from fleet.words import say, say_many

CHECK = "probe-readiness"
QUESTION = 5

_SNIPPET = (
    "readinessProbe:\n  httpGet:\n    path: /health\n    port: {port}\n"
    "  periodSeconds: 5\n  timeoutSeconds: 5\n  failureThreshold: 3\n"
)


def _source() -> str:
    return say("core/v1 Probe; without a readiness probe a container is ready once it has started")


def check(subject: Subject) -> Iterator[Finding]:
    found = list(servers(subject))
    if not found:
        yield not_applicable(CHECK, QUESTION, say("No model server was found"))
        return
    findings = [f for server in found if (f := _judge(server)) is not None]
    yield from bounded_findings(findings, "server")
    good = [server for server in found if _judge(server) is None]
    if good:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say_many(
                "{n} model server say when they are ready",
                "{n} model servers say when they are ready",
                len(good),
            )
            if len(good) > 1
            else say("{name} says when it is ready", name=good[0].name),
            say("{names}.", names=listed(s.name for s in good)),
            source=_source(),
        )


def _judge(server: Server) -> Finding | None:
    probe = server.container.readiness
    if not server.answers:
        return Finding(
            CHECK,
            QUESTION,
            Verdict.UNKNOWN,
            say("Does {name} serve requests?", name=server.name),
            say(
                "It declares no port and no probe. A notebook or a batch worker needs none; a "
                "model server counts as ready before its model is loaded."
            ),
            (server.evidence(say("ports, probes"), say("none")),),
            say("If it serves, add a readiness probe:"),
            _SNIPPET.format(port="PORT"),
            source=_source(),
        )
    if probe is None:
        return Finding(
            CHECK,
            QUESTION,
            Verdict.FAIL,
            say("{name} has no readiness probe", name=server.name),
            say(
                "It counts as ready as soon as its container starts, and gets requests while the "
                "model still loads."
            ),
            (server.evidence("readinessProbe", say("none")),),
            say("Ask the server itself:"),
            _SNIPPET.format(port="PORT"),
            source=_source(),
        )
    if probe.kind == "tcpSocket":
        return Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say("{name} is ready as soon as its port is open", name=server.name),
            say(
                "The readiness probe is tcpSocket: a port can be open before the weights are "
                "loaded."
            ),
            (server.evidence("readinessProbe", probe_text(probe)),),
            say("Ask the server itself:"),
            _SNIPPET.format(port="PORT"),
            source=_source(),
        )
    return None
