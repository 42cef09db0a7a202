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
from fleet.readiness.wording import bounded_findings, listed, many, not_applicable
from fleet.sizing.requirement import Requirement
from fleet.units import duration_text

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

_SOURCE = "core/v1 Probe; load times measured on this cluster or calculated by sizing"


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
        known.append(Load(server.measured, f"measured on {many(count, 'pod')}"))
    declared = declared_load(subject, server.namespace, server.short_name)
    if declared is not None:
        known.append(declared)
    return max(known, key=lambda load: load.seconds, default=None)


def declared_load(subject: Subject, namespace: str, name: str) -> Load | None:
    """The calculated load of a declared workload of this name in this namespace."""
    for workload, requirement in subject.declared:
        if (workload.namespace, workload.name) == (namespace, name):
            seconds = longest_load(requirement)
            return Load(seconds, "calculated by sizing") if seconds is not None else None
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
        yield not_applicable(CHECK, QUESTION, "No model server with a port or a probe was found")
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
            f"{many(len(good), 'model server')} with time enough to load",
            f"{listed(good)}: budget at least {COMFORT} times the load.",
            source=_SOURCE,
        )


def _with_startup(server: Server, load: Load | None) -> Finding | None:
    probe = server.container.startup
    assert probe is not None  # noqa: S101 (the caller looked)
    allowed = budget(probe)
    evidence = (server.evidence("startupProbe", probe_text(probe)),)
    words = f"The startup probe allows {duration_text(allowed)}"
    if load is None:
        verdict = Verdict.WARN
        title = f"{server.name} allows {duration_text(allowed)} to load; the need is not known"
        detail = f"{words}. No pod was seen to load from start to ready." + _restart_words(server)
    elif load.seconds > earliest_kill(probe):
        verdict = Verdict.FAIL
        title = f"{server.name} is killed while it loads"
        detail = f"{words}; loading takes {_load_text(load)}." + _restart_words(server)
    elif allowed < COMFORT * load.seconds:
        verdict = Verdict.WARN
        title = f"{server.name} has little time to spare when it loads"
        detail = (
            f"{words}; loading takes {_load_text(load)}: {allowed / load.seconds:.1f} times, "
            f"and {COMFORT} is comfortable." + _restart_words(server)
        )
    else:
        return None
    return Finding(
        CHECK,
        QUESTION,
        verdict,
        title,
        detail,
        evidence,
        "Give it twice the load and a margin:" if load else "Import again when a pod has loaded.",
        suggestion(load.seconds) if load else "",
        source=_SOURCE,
    )


def _without(server: Server, load: Load | None) -> Finding:
    probe = server.container.liveness
    seconds = load.seconds if load is not None else None
    if probe is None:
        return _no_startup(
            server,
            Verdict.WARN,
            f"{server.name} has no startup and no liveness probe",
            "Nothing kills it while it loads, and nothing restarts it when it hangs."
            + _restart_words(server),
            "none",
            seconds,
        )
    kill = earliest_kill(probe)
    words = f"No startup probe: the liveness probe counts from the start and kills after {kill} s"
    value = f"none; livenessProbe {probe_text(probe)}"
    if probe.failure_threshold <= 1:
        return _no_startup(
            server,
            Verdict.FAIL,
            f"{server.name} is restarted by one missed probe",
            f"failureThreshold is {probe.failure_threshold}, and there is no startup probe."
            + _restart_words(server),
            value,
            seconds,
        )
    if load is not None and load.seconds > kill:
        return _no_startup(
            server,
            Verdict.FAIL,
            f"{server.name} is killed while it loads",
            f"{words}; loading takes {_load_text(load)}." + _restart_words(server),
            value,
            seconds,
        )
    if load is None and kill < SHORTEST_LOAD_S:
        return _no_startup(
            server,
            Verdict.FAIL,
            f"{server.name} is killed {kill} s after its start",
            f"{words}: no GPU server is ready by then." + _restart_words(server),
            value,
            seconds,
        )
    need = f"loading takes {_load_text(load)}" if load else "the need is not known"
    return _no_startup(
        server,
        Verdict.WARN,
        f"{server.name} relies on its liveness probe while it loads",
        f"{words}; {need}. A longer delay to be safe would also notice a hang later."
        + _restart_words(server),
        value,
        seconds,
    )


def _no_startup(
    server: Server, verdict: Verdict, title: str, detail: str, value: str, seconds: float | None
) -> Finding:
    return Finding(
        CHECK,
        QUESTION,
        verdict,
        title,
        detail,
        (server.evidence("startupProbe", value),),
        "Add a startup probe: while it runs, liveness and readiness are off.",
        suggestion(seconds),
        source=_SOURCE,
    )


def _load_text(load: Load) -> str:
    return f"{duration_text(load.seconds)} ({load.words})"


def _restart_words(server: Server) -> str:
    if not server.restarts:
        return ""
    return f" One of its pods has restarted {many(server.restarts, 'time')}."
