"""What is too little on every node for one pod or one replica: GPUs, CPU, memory, pod places."""

from __future__ import annotations

from fleet.placement.funnel import Funnel, Pair
from fleet.placement.instance import is_merged
from fleet.placement.phrases import cores_text, place_name, pod_places_text
from fleet.placement.result import ReasonCode
from fleet.placement.room import Room
from fleet.units import gib_text
from fleet.words import say, say_many


def short_of(funnel: Funnel, room: Room) -> tuple[int, str, str]:
    """Shape that comes closest, sentence and nearest miss for a funnel that a count of what is
    free has emptied."""
    code = funnel.code or ReasonCode.GPUS
    merged = is_merged(funnel.demand)

    def need(pair: Pair) -> int:
        shape = funnel.shape(pair)
        of_pod = {
            ReasonCode.GPUS: shape.gpus_per_pod,
            ReasonCode.CPU: shape.cpu_milli,
            ReasonCode.MEMORY: shape.memory_mib,
        }
        return of_pod.get(code, 1) * (shape.pods if merged else 1)

    def have(pair: Pair) -> int:
        if code is ReasonCode.GPUS:
            return room.units[pair.node][pair.slot]
        counts = {ReasonCode.CPU: room.cpu, ReasonCode.MEMORY: room.memory}
        return counts.get(code, room.pods)[pair.node]

    best = min(funnel.before, key=lambda p: (need(p) - have(p), p.node, p.slot, p.shape))
    values = {
        "node": place_name(funnel.node(best)),
        "replica_or_pod": say("replica") if merged else say("pod"),
    }
    nodes = len({pair.node for pair in funnel.before})
    if code is ReasonCode.GPUS:
        places = sorted({(p.node, p.slot) for p in funnel.before})
        return (
            best.shape,
            say_many(
                "No node has {wanted} free for one {replica_or_pod}; in all {free} such are free "
                "on {n} node.",
                "No node has {wanted} free for one {replica_or_pod}; in all {free} such are free "
                "on {n} nodes.",
                nodes,
                wanted=_wanted(funnel, merged=merged),
                free=sum(room.units[node][slot] for node, slot in places),
                **values,
            ),
            say(
                "Closest: {node} with {have} of {need} {card} free.",
                have=have(best),
                need=need(best),
                card=funnel.shape(best).unit,
                **values,
            ),
        )
    if code is ReasonCode.CPU:
        return (
            best.shape,
            say_many(
                "{n} node with the GPUs free, but none with {need} free for one {replica_or_pod}.",
                "{n} nodes with the GPUs free, but none with {need} free for one {replica_or_pod}.",
                nodes,
                need=cores_text(need(best)),
                **values,
            ),
            say("Closest: {node} with {have} free.", have=cores_text(have(best)), **values),
        )
    if code is ReasonCode.MEMORY:
        return (
            best.shape,
            say_many(
                "{n} node with the GPUs free, but none with {need} of memory free for one "
                "{replica_or_pod}.",
                "{n} nodes with the GPUs free, but none with {need} of memory free for one "
                "{replica_or_pod}.",
                nodes,
                need=gib_text(need(best)),
                **values,
            ),
            say("Closest: {node} with {have} of memory free.", have=gib_text(have(best)), **values),
        )
    return (
        best.shape,
        say_many(
            "{n} node with the GPUs free, but none with {need} free for one {replica_or_pod}.",
            "{n} nodes with the GPUs free, but none with {need} free for one {replica_or_pod}.",
            nodes,
            need=pod_places_text(need(best)),
            **values,
        ),
        say("Closest: {node} with {have} free.", have=pod_places_text(have(best)), **values),
    )


def _wanted(funnel: Funnel, *, merged: bool) -> str:
    """What one pod or replica asks for, by card: at most three are named."""
    seen = {pair.shape for pair in funnel.before}
    names = list(
        dict.fromkeys(
            f"{s.gpus if merged else s.gpus_per_pod} × {s.unit}"
            for number, s in enumerate(funnel.demand.shapes)
            if number in seen
        )
    )
    # Each amount stands with its card, so every pair is set apart by the same word.
    text = names[0]
    for name in names[1:3]:
        text = say("{first} or {last}", first=text, last=name)
    if len(names) > 3:
        text = say("{names} or {n} other choices", names=text, n=len(names) - 3)
    return text
