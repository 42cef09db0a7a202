"""What waits, in sentences: where each pod and workload fits now, and why not elsewhere."""

from __future__ import annotations

from fleet.inventory_report.fit_words import limit_words, unknown_words, why_not_words
from fleet.inventory_report.report import Report
from fleet.words import say, say_many

MOST = 10
"""Pods and workloads that are told; the rest is counted."""


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
        return f"{name}: {unknown_words(fit['unknown'])}"
    if not fit["fits"]:
        return say("{name} fits no node now: {why}", name=name, why=why_not_words(fit["why_not"]))
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
        return f"{name}: {unknown_words(fit['unknown'])}"
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
    reasons = [limit_words(limit) for limit in fit["limits"]]
    if fit["why_not"]:
        reasons.append(why_not_words(fit["why_not"]))
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
