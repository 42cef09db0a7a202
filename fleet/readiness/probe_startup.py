"""Do the probes give each model server the time that it needs to load?

Without a startup probe the liveness probe counts from the start, and kills a server that loads
longer than its delay and failures allow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.serving import Server, budget, earliest_kill, probe_text, servers
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded_findings, listed, not_applicable
from fleet.sizing.requirement import Requirement
from fleet.units import duration_text
from fleet.words import say, say_many

CHECK = "probe-startup"
QUESTION = 5

COMFORT = 1.5
"""A budget of this many times the load passes; between 1 and this it is a warning."""

SHORTEST_LOAD_S = 30
"""No GPU server we know is ready sooner (weights from memory and a warm compile cache): a kill
before this is wrong whatever the model."""

PERIOD_S = 10
LEAST_BUDGET_S = 300
MARGIN_S = 120
"""Suggested probes: twice the load plus this margin, at least ``LEAST_BUDGET_S``, in steps of
``PERIOD_S``."""


def _source() -> str:
    return say("core/v1 Probe; load times measured on this cluster or calculated by sizing")


@dataclass(frozen=True, slots=True)
class Load:
    """How long a server needs, and how we know."""

    seconds: float
    words: str  # "measured on 3 pods"


def load_of(subject: Subject, server: Server) -> Load | None:
    """The longest of the measured load (95th percentile) and the declared one; None: no data."""
    known = []
    if server.measured is not None:
        count = len(server.loads)
        known.append(
            Load(
                server.measured,
                say_many("measured on {n} pod", "measured on {n} pods", count),
            )
        )
    declared = declared_load(subject, server.namespace, server.short_name)
    if declared is not None:
        known.append(declared)
    return max(known, key=lambda load: load.seconds, default=None)


def declared_load(subject: Subject, namespace: str, name: str) -> Load | None:
    """The calculated load of a declared workload of this name in this namespace."""
    for workload, requirement in subject.declared:
        if (workload.namespace, workload.name) == (namespace, name):
            seconds = longest_load(requirement)
            return Load(seconds, say("calculated by sizing")) if seconds is not None else None
    return None


def longest_load(requirement: Requirement) -> float | None:
    """The slow end of the calculated load over the shapes that work."""
    ends = [shape.load_seconds[1] for shape in requirement.shapes if shape.load_seconds]
    return max(ends, default=None)


def suggestion(seconds: float | None) -> str:
    """Probes to paste for a load of ``seconds``; None gives the least budget."""
    wanted = max(LEAST_BUDGET_S, 2 * seconds + MARGIN_S if seconds is not None else 0)
    threshold = math.ceil(wanted / PERIOD_S)
    return (
        "startupProbe:\n  httpGet:\n    path: /health\n    port: PORT\n"
        f"  periodSeconds: {PERIOD_S}\n  failureThreshold: {threshold}"
        f"  # {duration_text(threshold * PERIOD_S)}\n"
        "livenessProbe:\n  httpGet:\n    path: /health\n    port: PORT\n"
        f"  periodSeconds: {PERIOD_S}\n  timeoutSeconds: 5\n  failureThreshold: 3\n"
    )


def check(subject: Subject) -> Iterator[Finding]:
    found = [server for server in servers(subject) if server.answers]
    if not found:
        yield not_applicable(
            CHECK, QUESTION, say("No model server with a port or a probe was found")
        )
        return
    findings = []
    good = []
    for server in found:
        load = load_of(subject, server)
        finding = (
            _with_startup(server, load) if server.container.startup else _without(server, load)
        )
        if finding is None:
            good.append(server.name)
        else:
            findings.append(finding)
    yield from bounded_findings(findings, "server")
    if good:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say_many(
                "{n} model server with time enough to load",
                "{n} model servers with time enough to load",
                len(good),
            ),
            say(
                "{names}: budget at least {comfort} times the load.",
                names=listed(good),
                comfort=COMFORT,
            ),
            source=_source(),
        )


def _with_startup(server: Server, load: Load | None) -> Finding | None:
    probe = server.container.startup
    assert probe is not None  # noqa: S101 (the caller looked)
    allowed = budget(probe)
    evidence = (server.evidence("startupProbe", probe_text(probe)),)
    known = {"name": server.name, "allowed": duration_text(allowed)}
    if load is None:
        verdict = Verdict.WARN
        title = say("{name} allows {allowed} to load; the need is not known", **known)
        detail = say(
            "The startup probe allows {allowed}. No pod was seen to load from start to ready.",
            **known,
        )
    elif load.seconds > earliest_kill(probe):
        verdict = Verdict.FAIL
        title = say("{name} is killed while it loads", **known)
        detail = say(
            "The startup probe allows {allowed}; loading takes {load}.",
            load=_load_text(load),
            **known,
        )
    elif allowed < COMFORT * load.seconds:
        verdict = Verdict.WARN
        title = say("{name} has little time to spare when it loads", **known)
        detail = say(
            "The startup probe allows {allowed}; loading takes {load}: {times} times, and "
            "{comfort} is comfortable.",
            load=_load_text(load),
            times=f"{allowed / load.seconds:.1f}",
            comfort=COMFORT,
            **known,
        )
    else:
        return None
    return Finding(
        CHECK,
        QUESTION,
        verdict,
        title,
        detail + _restart_words(server),
        evidence,
        say("Give it twice the load and a margin:")
        if load
        else say("Import again when a pod has loaded."),
        suggestion(load.seconds) if load else "",
        source=_source(),
    )


def _without(server: Server, load: Load | None) -> Finding:
    probe = server.container.liveness
    seconds = load.seconds if load is not None else None
    if probe is None:
        return _no_startup(
            server,
            Verdict.WARN,
            say("{name} has no startup and no liveness probe", name=server.name),
            say("Nothing kills it while it loads, and nothing restarts it when it hangs."),
            say("none"),
            seconds,
        )
    kill = earliest_kill(probe)
    verdict = Verdict.FAIL
    title = say("{name} is killed while it loads", name=server.name)
    if probe.failure_threshold <= 1:
        title = say("{name} is restarted by one missed probe", name=server.name)
        detail = say(
            "failureThreshold is {threshold}, and there is no startup probe.",
            threshold=probe.failure_threshold,
        )
    elif load is not None and load.seconds > kill:
        detail = say(
            "No startup probe: the liveness probe counts from the start and kills after {kill} s; "
            "loading takes {load}.",
            kill=kill,
            load=_load_text(load),
        )
    elif load is None and kill < SHORTEST_LOAD_S:
        title = say("{name} is killed {kill} s after its start", name=server.name, kill=kill)
        detail = say(
            "No startup probe: the liveness probe counts from the start and kills after {kill} s: "
            "no GPU server is ready by then.",
            kill=kill,
        )
    else:
        verdict = Verdict.WARN
        title = say("{name} relies on its liveness probe while it loads", name=server.name)
        detail = _relying_text(kill, load)
    value = say("none; livenessProbe {probe}", probe=probe_text(probe))
    return _no_startup(server, verdict, title, detail, value, seconds)


def _relying_text(kill: int, load: Load | None) -> str:
    if load is None:
        return say(
            "No startup probe: the liveness probe counts from the start and kills after {kill} s; "
            "the need is not known. A longer delay to be safe would also notice a hang later.",
            kill=kill,
        )
    return say(
        "No startup probe: the liveness probe counts from the start and kills after {kill} s; "
        "loading takes {load}. A longer delay to be safe would also notice a hang later.",
        kill=kill,
        load=_load_text(load),
    )


def _no_startup(
    server: Server, verdict: Verdict, title: str, detail: str, value: str, seconds: float | None
) -> Finding:
    return Finding(
        CHECK,
        QUESTION,
        verdict,
        title,
        detail + _restart_words(server),
        (server.evidence("startupProbe", value),),
        say("Add a startup probe: while it runs, liveness and readiness are off."),
        suggestion(seconds),
        source=_source(),
    )


def _load_text(load: Load) -> str:
    return f"{duration_text(load.seconds)} ({load.words})"


def _restart_words(server: Server) -> str:
    if not server.restarts:
        return ""
    return " " + say_many(
        "One of its pods has restarted {n} time.",
        "One of its pods has restarted {n} times.",
        server.restarts,
    )
