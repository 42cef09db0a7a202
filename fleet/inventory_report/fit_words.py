"""What ``fits`` of the report says, in sentences of the reader's language: where pods and groups
of pods fit now, and why not elsewhere."""

from __future__ import annotations

from fleet.fits.node import No
from fleet.inventory_report.fits import BY_ANNOTATION, BY_CLAIM, NO_NODES, REFUSED, Report
from fleet.units import gib_text
from fleet.words import say, say_many

_CLASSES = 4  # reasons told of one answer
_PLACES = 3  # nodes that are named


def fit_words(fit: Report) -> str:
    """The answer for a workload, or for one pod of several that are alike."""
    if "groups_wanted" in fit and fit["fits"] is not None:
        return _groups(fit)
    if fit["fits"] is None or "unknown" in fit:
        return unknown_words(fit["unknown"])
    if not fit["fits"]:
        return say(
            "fits no node now: {why}",
            why=why_not_words(fit["why_not"], fit.get("other_reasons", 0)),
        )
    nodes = fit["node_count"]
    if nodes == 1:
        told = say("one such pod fits on {node}", node=fit["nodes"][0])
    else:
        told = say_many("one such pod fits on {n} node", "one such pod fits on {n} nodes", nodes)
    if not fit.get("gates"):
        return told
    return say("{told}, once {gates} lets it go", told=told, gates=", ".join(fit["gates"][:3]))


def _groups(fit: Report) -> str:
    wanted, placed = fit["groups_wanted"], fit["groups_fit"]
    if fit["fits"]:
        told = say_many("{n} group fits now", "all {n} groups fit now", wanted)
        nodes = fit.get("nodes", [])[:_PLACES]
        return (
            say("{told}, such as on {nodes}", told=told, nodes=", ".join(nodes)) if nodes else told
        )
    told = say_many(
        "{placed} of {n} group fits now", "{placed} of {n} groups fit now", wanted, placed=placed
    )
    reasons = [limit_words(limit) for limit in fit["limits"]]
    if fit["why_not"]:
        reasons.append(why_not_words(fit["why_not"], fit.get("other_reasons", 0)))
    again = fit.get("groups_fit_if_restarted")
    if again is not None and again > placed:
        reasons.append(
            say_many(
                "{n} would, if the pods of half-started groups were gone",
                "{n} would, if the pods of half-started groups were gone",
                again,
            )
        )
    return say("{told}: {reasons}", told=told, reasons="; ".join(reasons)) if reasons else told


def limit_words(limit: Report) -> str:
    """What a queue or quota leaves, beside what one group needs."""
    return say(
        "{kind} {name} leaves {left} {resource}, one group needs {needed}",
        kind=limit["kind"],
        name=limit["name"],
        left=limit["left"],
        resource=limit["resource"],
        needed=limit["needed_per_group"],
    )


def unknown_words(reason: str) -> str:
    """Why no answer is given."""
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


def why_not_words(classes: list[Report], more: int = 0) -> str:
    """The reasons of nodes that say no, the first few of them; ``more`` were left out before."""
    told = [_reason(c) for c in classes[:_CLASSES]]
    more += max(0, len(classes) - _CLASSES)
    if more:
        told.append(say_many("{n} other reason", "{n} other reasons", more))
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
