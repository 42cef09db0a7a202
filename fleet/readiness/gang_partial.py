"""Has any gang started in part, so that its first pods hold GPUs and wait for the rest?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from fleet.inventory import Pod
from fleet.readiness.distributed import Distributed, distributed
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.gang_remedy import remedy
from fleet.readiness.subject import Subject
from fleet.readiness.wording import (
    bounded,
    bounded_findings,
    listed,
    many,
    not_applicable,
    of_pod,
)
from fleet.units import duration_text

CHECK = "gang-partial"
QUESTION = 4

PATIENCE = timedelta(minutes=10)
"""Pods of one gang may come up this far apart before the first ones count as idle."""

_SOURCE = "core/v1 Pod conditions"


def check(subject: Subject) -> Iterator[Finding]:
    gangs = [g for g in distributed(subject) if g.pods]
    if not gangs:
        yield not_applicable(CHECK, QUESTION, "No distributed workload has pods")
        return
    findings = [f for g in gangs if (f := _judge(subject, g)) is not None]
    yield from bounded_findings(findings, "workload")
    if not findings:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            "No gang has started in part",
            f"{many(len(gangs), 'distributed workload')} with pods.",
            source=_SOURCE,
        )


def _judge(subject: Subject, gang: Distributed) -> Finding | None:
    enough = gang.minimum if gang.held and gang.minimum else gang.needed
    groups = list(gang.groups())
    halves = [
        pods
        for pods in groups
        if any(p.node for p in pods)
        and any(not p.node for p in pods)
        and sum(1 for p in pods if p.node) < enough
    ]
    if not halves:
        return None
    idle = [p for pods in halves for p in pods if p.node]
    waiting = [p for pods in halves for p in pods if not p.node]
    gpus = sum(sum(p.requests.values()) for p in idle)
    waited = _waited(subject, waiting)
    if waited is not None and waited <= PATIENCE:
        return None
    hours = _gpu_hours(subject, idle)
    costs = f"{many(gpus, 'GPU')} held for nothing"
    if hours is not None:
        costs += f", {hours:,.1f} GPU-hours so far"
    since = f" for {duration_text(waited.total_seconds())}" if waited is not None else ""
    words, snippet = remedy(subject, gang)
    reasons = sorted({p.waiting_reason for p in waiting if p.waiting_reason})
    many_groups = (
        f"{len(halves)} of {many(len(groups), 'group')} started in part. "
        if (len(groups) > 1)
        else ""
    )
    return Finding(
        CHECK,
        QUESTION,
        Verdict.FAIL,
        f"{gang.name} has started in part",
        f"{many_groups}{many(len(idle), 'pod')} on GPUs waiting{since} for "
        f"{many(len(waiting), 'more pod')}" + (f" ({listed(reasons, 2)})." if reasons else "."),
        bounded(
            [of_pod(p, "spec.nodeName", p.node) for p in idle[:5]]
            + [
                of_pod(p, "status.conditions[PodScheduled]", p.waiting_reason or "no node")
                for p in waiting
            ]
        ),
        "Stop it now to free the GPUs, then start it as a gang. " + words,
        snippet,
        costs,
        source=_SOURCE,
    )


def _waited(subject: Subject, pods: list[Pod]) -> timedelta | None:
    """How long the longest-waiting pod has waited; None when the objects do not say."""
    taken = subject.inventory.taken_at
    created = [p.created for p in pods if p.created is not None]
    return taken - min(created) if taken is not None and created else None


def _gpu_hours(subject: Subject, pods: list[Pod]) -> float | None:
    taken = subject.inventory.taken_at
    if taken is None or any(p.started is None for p in pods):
        return None
    seconds = sum(
        (taken - p.started).total_seconds() * sum(p.requests.values())
        for p in pods
        if p.started is not None
    )
    return max(0.0, seconds) / 3600
