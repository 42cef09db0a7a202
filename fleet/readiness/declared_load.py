"""Do the probes on the cluster give each declared workload the time that its model needs to load?

A declared workload is the one of the same name and namespace on the cluster. What is not there yet
gets the probes that its calculated load time calls for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from fleet.inventory import ProbeTimes
from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.readiness.probe_startup import COMFORT, longest_load, suggestion
from fleet.readiness.serving import Server, budget, probe_text, servers
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded_findings, listed
from fleet.sizing.requirement import Requirement
from fleet.units import duration_text
from fleet.words import say, say_many
from fleet.workloads import Workload, kind_of

CHECK = "declared-load"
QUESTION = 5


def check(subject: Subject) -> Iterator[Finding]:
    return judge(servers(subject), subject.declared)


def judge(
    found: Iterable[Server], declared: Iterable[tuple[Workload, Requirement]]
) -> Iterator[Finding]:
    """The findings on ``declared``, with their sizing, beside the servers that were found."""
    deployed: dict[tuple[str, str], list[Server]] = defaultdict(list)
    for server in found:
        deployed[(server.namespace, server.short_name)].append(server)
    findings = []
    good = []
    for workload, requirement in declared:
        seconds = longest_load(requirement)
        if kind_of(workload) == "training" or seconds is None:
            continue
        name = f"{workload.namespace}/{workload.name}"
        same = deployed[(workload.namespace, workload.name)]
        finding = _judge(name, same, seconds) if same else _absent(name, seconds)
        if finding is None:
            good.append(name)
        else:
            findings.append(finding)
    yield from bounded_findings(findings, "workload")
    if good:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say_many(
                "The probes of {n} declared workload wait for its load",
                "The probes of {n} declared workloads wait for their load",
                len(good),
            ),
            say(
                "{names}: budget at least {comfort} times the longest calculated load.",
                names=listed(good),
                comfort=COMFORT,
            ),
            source=_source(),
        )


def _source() -> str:
    return say("core/v1 Probe; load times calculated by sizing")


def _waiting(server: Server) -> tuple[str, ProbeTimes] | None:
    """The probe that ends a load which takes too long: its field and its times."""
    container = server.container
    if container.startup is not None:
        return "startupProbe", container.startup
    return ("livenessProbe", container.liveness) if container.liveness is not None else None


def _judge(name: str, found: Sequence[Server], seconds: float) -> Finding | None:
    """The finding on a deployed workload, None when its shortest budget is comfortable."""
    waiting = [(server, held) for server in found if (held := _waiting(server)) is not None]
    if not waiting:
        return _finding(
            Verdict.NOT_APPLICABLE,
            say(
                "{name} has no probe that waits for its load; it needs up to {load}",
                name=name,
                load=duration_text(seconds),
            ),
            say("Neither a startup nor a liveness probe: there is no budget to judge."),
            seconds,
        )
    server, (field, probe) = min(waiting, key=lambda pair: budget(pair[1][1]))
    allowed = budget(probe)
    if allowed >= COMFORT * seconds:
        return None
    if allowed < seconds:
        verdict = Verdict.FAIL
        title = say("{name} may be killed before its declared model is loaded", name=name)
    else:
        verdict = Verdict.WARN
        title = say("{name} has little time to spare for its declared model", name=name)
    return _finding(
        verdict,
        title,
        say(
            "The {field} allows {allowed}; loading takes up to {load} as calculated: {times} "
            "times, and {comfort} is comfortable.",
            field=field,
            allowed=duration_text(allowed),
            load=duration_text(seconds),
            times=f"{allowed / seconds:.1f}",
            comfort=COMFORT,
        ),
        seconds,
        (server.evidence(field, probe_text(probe)),),
    )


def _absent(name: str, seconds: float) -> Finding:
    return _finding(
        Verdict.NOT_APPLICABLE,
        say(
            "{name} is not on this cluster yet; it needs up to {load} to load",
            name=name,
            load=duration_text(seconds),
        ),
        say("Declared, not deployed: there is no probe to judge."),
        seconds,
    )


def _finding(
    verdict: Verdict,
    title: str,
    detail: str,
    seconds: float,
    evidence: tuple[Evidence, ...] = (),
) -> Finding:
    absent = say("Deploy it with probes that wait for it:")
    return Finding(
        CHECK,
        QUESTION,
        verdict,
        title,
        detail,
        evidence,
        say("Give it twice the load and a margin:") if evidence else absent,
        suggestion(seconds),
        source=_source(),
    )
