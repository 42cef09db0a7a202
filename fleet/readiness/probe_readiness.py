"""Does each model server say when it is ready, by a probe that only a loaded model answers?"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.serving import Server, probe_text, servers
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded_findings, listed, many, not_applicable

CHECK = "probe-readiness"
QUESTION = 5

_SOURCE = "core/v1 Probe; without a readiness probe a container is ready once it has started"
_SNIPPET = (
    "readinessProbe:\n  httpGet:\n    path: /health\n    port: {port}\n"
    "  periodSeconds: 5\n  timeoutSeconds: 5\n  failureThreshold: 3\n"
)


def check(subject: Subject) -> Iterator[Finding]:
    found = list(servers(subject))
    if not found:
        yield not_applicable(CHECK, QUESTION, "No model server was found")
        return
    findings = [f for server in found if (f := _judge(server)) is not None]
    yield from bounded_findings(findings, "server")
    good = [server for server in found if _judge(server) is None]
    if good:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            f"{many(len(good), 'model server')} say when they are ready"
            if len(good) > 1
            else f"{good[0].name} says when it is ready",
            listed(s.name for s in good) + ".",
            source=_SOURCE,
        )


def _judge(server: Server) -> Finding | None:
    probe = server.container.readiness
    if not server.answers:
        return Finding(
            CHECK,
            QUESTION,
            Verdict.UNKNOWN,
            f"Does {server.name} serve requests?",
            "It declares no port and no probe. A notebook or a batch worker needs none; a model "
            "server counts as ready before its model is loaded.",
            (server.evidence("ports, probes", "none"),),
            "If it serves, add a readiness probe:",
            _SNIPPET.format(port="PORT"),
            source=_SOURCE,
        )
    if probe is None:
        return Finding(
            CHECK,
            QUESTION,
            Verdict.FAIL,
            f"{server.name} has no readiness probe",
            "It counts as ready as soon as its container starts, and gets requests while the model "
            "still loads.",
            (server.evidence("readinessProbe", "none"),),
            "Ask the server itself:",
            _SNIPPET.format(port="PORT"),
            source=_SOURCE,
        )
    if probe.kind == "tcpSocket":
        return Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            f"{server.name} is ready as soon as its port is open",
            "The readiness probe is tcpSocket: a port can be open before the weights are loaded.",
            (server.evidence("readinessProbe", probe_text(probe)),),
            "Ask the server itself:",
            _SNIPPET.format(port="PORT"),
            source=_SOURCE,
        )
    return None
