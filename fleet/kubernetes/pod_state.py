"""What a pod is doing now, and why it is not doing more, as facts in plain English."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from fleet.kubernetes.objects_core import Condition, PodObject
from fleet.kubernetes.times import time_of

FINISHED = ("Succeeded", "Failed")
SILENCE = timedelta(minutes=5)
"""A scheduler that is there says something about a new pod within seconds."""

_KUEUE = "kueue.x-k8s.io/"


@dataclass(frozen=True, slots=True)
class State:
    """``name`` is a value of ``Pod.state``; ``reason`` is "" for a pod that simply runs."""

    name: str
    reason: str = ""
    terminating_since: datetime | None = None


def state_of(pod: PodObject, nodes: Collection[str], now: datetime | None) -> State:
    """The state of a pod in a cluster that has these nodes; ``now`` is when it was read.

    A pod that is being deleted holds what it has until it is gone, whatever its grace period was.
    On a node that is not there it holds nothing: nobody is left who could end it.
    """
    node = pod.spec.nodeName or ""
    if pod.status.phase in FINISHED:
        return State("finished")
    leaving = _terminating(pod) if pod.metadata.deletionTimestamp else None
    if node and node not in nodes:
        since = leaving.terminating_since if leaving is not None else None
        return State("orphaned", f"bound to node {node}, which is not there", since)
    if leaving is not None:
        return leaving
    if node:
        return State("running")
    if pod.spec.schedulingGates:
        return State("gated", _held(pod))
    return State("pending", _waiting(pod, now))


def condition(pod: PodObject, kind: str) -> Condition | None:
    """The pod's condition of that type."""
    for found in pod.status.conditions or ():  # a loop: three times for each of 150,000 pods
        if found.type == kind:
            return found
    return None


def _terminating(pod: PodObject) -> State:
    # The API states when the grace period ends, not when the deletion was asked for.
    ends = time_of(pod.metadata.deletionTimestamp)
    grace = pod.metadata.deletionGracePeriodSeconds or 0
    since = _before(ends, grace) if ends is not None else None
    target = condition(pod, "DisruptionTarget")
    words = "being deleted"
    if target is not None and target.status == "True":
        words = (
            "preempted by a pod of higher priority"
            if target.reason == "PreemptionByScheduler"
            else f"being evicted: {target.reason}"
        )
    return State("terminating", words, since)


def _before(moment: datetime, seconds: int) -> datetime | None:
    try:
        return moment - timedelta(seconds=max(0, seconds))
    except OverflowError:
        return None


def _held(pod: PodObject) -> str:
    gates = [gate.name for gate in pod.spec.schedulingGates or ()]
    foreign = [name for name in gates if not name.startswith(_KUEUE)]
    if not foreign:
        return "queued by Kueue"
    return f"held by scheduling gate {', '.join(foreign)[:300]}"


def _waiting(pod: PodObject, now: datetime | None) -> str:
    nominated = pod.status.nominatedNodeName
    if nominated:
        return f"nominated for node {nominated}, where room is being made or kept for it"
    scheduled = condition(pod, "PodScheduled")
    if scheduled is not None:
        return scheduled.reason or "not scheduled yet"
    created = time_of(pod.metadata.creationTimestamp)
    scheduler = pod.spec.schedulerName or "default-scheduler"
    if now is None or created is None or now - created <= SILENCE:
        return f"{scheduler} has not answered for it yet"
    minutes = int((now - created).total_seconds()) // 60
    return f"nobody looks at it: no word of {scheduler} for {minutes} min"
