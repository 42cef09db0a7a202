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
    not_applicable,
    of_pod,
)
from fleet.units import duration_text
from fleet.words import say, say_many

CHECK = "gang-partial"
QUESTION = 4

PATIENCE = timedelta(minutes=10)
"""Pods of one gang may come up this far apart before the first ones count as idle."""

_SOURCE = "core/v1 Pod conditions"


def check(subject: Subject) -> Iterator[Finding]:
    gangs = [g for g in distributed(subject) if g.pods]
    if not gangs:
        yield not_applicable(CHECK, QUESTION, say("No distributed workload has pods"))
        return
    findings = [f for g in gangs if (f := _judge(subject, g)) is not None]
    yield from bounded_findings(findings, "workload")
    if not findings:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say("No gang has started in part"),
            say_many(
                "{n} distributed workload with pods.",
                "{n} distributed workloads with pods.",
                len(gangs),
            ),
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
    if hours is None:
        costs = say_many("{n} GPU held for nothing", "{n} GPUs held for nothing", gpus)
    else:
        costs = say_many(
            "{n} GPU held for nothing, {hours} GPU-hours so far",
            "{n} GPUs held for nothing, {hours} GPU-hours so far",
            gpus,
            hours=f"{hours:,.1f}",
        )
    words, snippet = remedy(subject, gang)
    reasons = sorted({p.waiting_reason for p in waiting if p.waiting_reason})
    detail = _waiting_text(len(idle), len(waiting), waited, reasons)
    if len(groups) > 1:
        started = say_many(
            "{part} of {n} group started in part.",
            "{part} of {n} groups started in part.",
            len(groups),
            part=len(halves),
        )
        detail = f"{started} {detail}"
    return Finding(
        CHECK,
        QUESTION,
        Verdict.FAIL,
        say("{name} has started in part", name=gang.name),
        detail,
        bounded(
            [of_pod(p, "spec.nodeName", p.node) for p in idle[:5]]
            + [
                of_pod(p, "status.conditions[PodScheduled]", p.waiting_reason or say("no node"))
                for p in waiting
            ]
        ),
        say("Stop it now to free the GPUs, then start it as a gang.") + f" {words}",
        snippet,
        costs,
        source=_SOURCE,
    )


def _waiting_text(idle: int, waiting: int, waited: timedelta | None, reasons: list[str]) -> str:
    """How many pods hold GPUs, for how long, and what for."""
    rest = say_many("{n} more pod", "{n} more pods", waiting)
    if reasons:
        rest += f" ({listed(reasons, 2)})"
    if waited is None:
        return say_many(
            "{n} pod on GPUs waiting for {rest}.",
            "{n} pods on GPUs waiting for {rest}.",
            idle,
            rest=rest,
        )
    return say_many(
        "{n} pod on GPUs waiting for {time} for {rest}.",
        "{n} pods on GPUs waiting for {time} for {rest}.",
        idle,
        time=duration_text(waited.total_seconds()),
        rest=rest,
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
