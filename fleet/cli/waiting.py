"""What waits, in sentences: where each pod and workload fits now, and why not elsewhere."""

from __future__ import annotations

from fleet.fits.node import No
from fleet.inventory_report.fits import BY_ANNOTATION, BY_CLAIM, NO_NODES, REFUSED
from fleet.inventory_report.report import Report
from fleet.units import gib_text
from fleet.words import say, say_many

MOST = 10
"""Pods and workloads that are told; the rest is counted."""

_CLASSES = 4  # reasons told of one pod


def waiting_lines(report: Report) -> list[str]:
    """One line for each pod that waits and each workload that does not run whole."""
    pods, works = report["fits"]["pods"], report["fits"]["workloads"]
    lines = [_pod(name, fit) for name, fit in pods.items()]
    lines += [_work(name, fit) for name, fit in works.items()]
    rest = len(lines) - MOST
    if rest > 0:
        lines = [*lines[:MOST], say_many("and {n} more", "and {n} more", rest)]
    return lines


def _pod(name: str, fit: Report) -> str:
    if fit["fits"] is None:
        return f"{name}: {_unknown(fit['unknown'])}"
    if not fit["fits"]:
        return say("{name} fits no node now: {why}", name=name, why=_why_not(fit["why_not"]))
    nodes = fit["node_count"]
    if nodes == 1:
        told = say("{name} fits on {node}", name=name, node=fit["nodes"][0])
    else:
        told = say_many("{name} fits on {n} node", "{name} fits on {n} nodes", nodes, name=name)
    if not fit.get("gates"):
        return told
    return say("{told}, once {gates} lets it go", told=told, gates=", ".join(fit["gates"][:3]))


def _work(name: str, fit: Report) -> str:
    if fit["fits"] is None or "groups_wanted" not in fit:
        return f"{name}: {_unknown(fit['unknown'])}"
    wanted, placed = fit["groups_wanted"], fit["groups_fit"]
    if fit["fits"]:
        return say_many(
            "{kind} {name}: {n} group fits now",
            "{kind} {name}: all {n} groups fit now",
            wanted,
            kind=fit["kind"],
            name=name,
        )
    told = say_many(
        "{kind} {name}: {placed} of {n} group fits now",
        "{kind} {name}: {placed} of {n} groups fit now",
        wanted,
        kind=fit["kind"],
        name=name,
        placed=placed,
    )
    again = fit.get("groups_fit_if_restarted")
    reasons = [_limit(limit) for limit in fit["limits"]]
    if fit["why_not"]:
        reasons.append(_why_not(fit["why_not"]))
    if again is not None and again > placed:
        reasons.append(
            say_many(
                "{n} would, if the pods of half-started groups were gone",
                "{n} would, if the pods of half-started groups were gone",
                again,
            )
        )
    if not reasons:
        return told
    return say("{told} ({reasons})", told=told, reasons="; ".join(reasons))


def _limit(limit: Report) -> str:
    return say(
        "{kind} {name} leaves {left} {resource}, one group needs {needed}",
        kind=limit["kind"],
        name=limit["name"],
        left=limit["left"],
        resource=limit["resource"],
        needed=limit["needed_per_group"],
    )


def _unknown(reason: str) -> str:
    match reason:
        case _ if reason == BY_CLAIM:
            return say("not judged, it asks through ResourceClaims")
        case _ if reason == BY_ANNOTATION:
            return say("not judged, it asks for a part of a GPU by annotation")
        case _ if reason == NO_NODES:
            return say("not judged, no node was read")
        case _ if reason == REFUSED:
            return say("the API server refuses its pods")
    return reason


def _why_not(classes: list[Report]) -> str:
    told = [_reason(c) for c in classes[:_CLASSES]]
    if len(classes) > _CLASSES:
        told.append(say_many("{n} other reason", "{n} other reasons", len(classes) - _CLASSES))
    return "; ".join(told)


def _reason(found: Report) -> str:
    nodes, about, most = found["nodes"], found.get("about", ""), found.get("most", 0)
    match No(found["reason"]):
        case No.NOT_REAL:
            return say_many(
                "{n} node is virtual or simulated", "{n} nodes are virtual or simulated", nodes
            )
        case No.NOT_OFFERED:
            return _not_offered(nodes, about, found.get("nearest", ""))
        case No.SELECTOR:
            return say_many(
                "{n} node lacks the label {about}", "{n} nodes lack the label {about}", nodes,
                about=about,
            )  # fmt: skip
        case No.AFFINITY:
            return say_many(
                "{n} node is outside the node affinity {about}",
                "{n} nodes are outside the node affinity {about}",
                nodes,
                about=about,
            )
        case No.TAINT:
            return say_many(
                "{n} node is closed by the taint {about}",
                "{n} nodes are closed by the taint {about}",
                nodes,
                about=about,
            )
        case No.STATE:
            return say_many(
                "{n} node takes no pods ({about})", "{n} nodes take no pods ({about})", nodes,
                about=about,
            )  # fmt: skip
        case No.TOO_SMALL:
            return say_many(
                "{n} node has only {most} {about}",
                "{n} nodes have at most {most} {about}",
                nodes,
                most=most,
                about=about,
            )
        case No.IN_USE if not most:
            return say_many(
                "{n} node has no {about} free", "{n} nodes have no {about} free", nodes, about=about
            )
        case No.IN_USE:
            return say_many(
                "{n} node has only {most} {about} free",
                "{n} nodes have at most {most} {about} free",
                nodes,
                most=most,
                about=about,
            )
        case No.BOARD_MEMORY:
            return say_many(
                "the boards of {n} node have too little memory left",
                "the boards of {n} nodes have too little memory left",
                nodes,
            )
        case No.CPU:
            return say_many(
                "{n} node has only {most} cores free",
                "{n} nodes have at most {most} cores free",
                nodes,
                most=f"{most / 1000:.1f}",
            )
        case No.MEMORY:
            return say_many(
                "{n} node has only {most} of memory free",
                "{n} nodes have at most {most} of memory free",
                nodes,
                most=gib_text(most),
            )
        case No.PODS:
            return say_many(
                "{n} node has no place for a pod left",
                "{n} nodes have no place for a pod left",
                nodes,
            )


def _not_offered(nodes: int, about: str, nearest: str) -> str:
    told = say_many("{n} node offers no {about}", "{n} nodes offer no {about}", nodes, about=about)
    if not nearest:
        return told
    return say("{told} (the nearest name is {name})", told=told, name=nearest)
