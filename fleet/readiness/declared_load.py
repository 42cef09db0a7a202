"""Probes for declared workloads that are not on the cluster yet: what their load time calls for."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.probe_startup import longest_load, suggestion
from fleet.readiness.serving import servers
from fleet.readiness.subject import Subject
from fleet.units import duration_text
from fleet.words import say
from fleet.workloads import kind_of

CHECK = "declared-load"
QUESTION = 5


def check(subject: Subject) -> Iterator[Finding]:
    present = {(s.namespace, s.short_name) for s in servers(subject)}
    for workload, requirement in subject.declared:
        if kind_of(workload) == "training" or (workload.namespace, workload.name) in present:
            continue
        seconds = longest_load(requirement)
        if seconds is None:
            continue
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.NOT_APPLICABLE,
            say(
                "{namespace}/{name} is not on this cluster yet; it needs up to {seconds} to load",
                namespace=workload.namespace,
                name=workload.name,
                seconds=duration_text(seconds),
            ),
            say("Declared, not deployed: there is no probe to judge."),
            remedy=say("Deploy it with probes that wait for it:"),
            snippet=suggestion(seconds),
            source=say("calculated by sizing"),
        )
