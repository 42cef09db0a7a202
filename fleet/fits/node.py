"""Whether one node takes one more pod, and if not, why: the first reason in the order below.

What is judged: what the node offers, node selector and required node affinity, taints, the state
of the node, and what is free of devices, CPU, memory and pod places. Not judged: affinity between
pods, topology spread, volumes, host ports, resources that are no accelerators, preemption.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from fleet.fits.ask import Ask
from fleet.fits.room import Room
from fleet.inventory import Node, NodeRule
from fleet.tolerations import is_lifecycle, taint_text, untolerated


class No(StrEnum):
    """Why a node does not take a pod, in the order in which it is asked."""

    NOT_REAL = "not-real"  # a virtual or simulated node: its devices are invented
    NOT_OFFERED = "not-offered"
    SELECTOR = "selector"
    AFFINITY = "affinity"
    TAINT = "taint"
    STATE = "state"  # not Ready, cordoned, starting or leaving
    TOO_SMALL = "too-small"  # fewer than asked for, were it empty
    IN_USE = "in-use"  # too few free
    BOARD_MEMORY = "board-memory"  # units are free, the memory of the boards is not
    CPU = "cpu"
    MEMORY = "memory"
    PODS = "pods"


@dataclass(frozen=True, slots=True)
class Refusal:
    """``about``: the resource, label, taint or state. ``has``: how many there are of what is too
    few: units, MiB of device memory, millicores, MiB, pod places."""

    reason: No
    about: str = ""
    has: int | None = None


def refusal(room: Room, asked: Ask) -> Refusal | None:
    """Why the node does not take one more such pod; None when it does."""
    node = room.node
    if node.is_virtual or node.is_simulated:
        return Refusal(No.NOT_REAL)
    for name, _ in asked.devices:
        if not room.offered.get(name):
            return Refusal(No.NOT_OFFERED, name)
    return _closed(node, asked) or _too_little(room, asked)


def _closed(node: Node, asked: Ask) -> Refusal | None:
    for key, value in asked.node_selector:
        if node.labels.get(key) != value:
            return Refusal(No.SELECTOR, f"{key}={value}")
    if asked.node_affinity and not matches(node, asked.node_affinity):
        return Refusal(No.AFFINITY, _rules_text(asked.node_affinity[0]))
    if node.taints:
        blocking = untolerated(node.taints, asked.tolerations)
        # A taint of a controller is the node's state, told in its own words below.
        policy = [t for t in blocking if not is_lifecycle(t)]
        if policy:
            return Refusal(No.TAINT, taint_text(policy[0]))
    if not node.schedulable:
        return Refusal(No.STATE, node.not_schedulable_reason)
    return None


def _too_little(room: Room, asked: Ask) -> Refusal | None:
    for name, number in asked.devices:
        if room.offered[name] < number:
            return Refusal(No.TOO_SMALL, name, room.offered[name])
    for name, number in asked.devices:
        if room.units[name] < number:
            return Refusal(No.IN_USE, name, max(0, room.units[name]))
    if asked.cpu_milli > room.cpu:
        return Refusal(No.CPU, has=max(0, room.cpu))
    if asked.memory_mib > room.memory:
        return Refusal(No.MEMORY, has=max(0, room.memory))
    if room.pods < 1:
        return Refusal(No.PODS, has=max(0, room.pods))
    if room.count(asked) < 1:
        name = next(name for name, _ in asked.devices if name in room.boards)
        boards = room.boards[name]
        return Refusal(No.BOARD_MEMORY, name, boards.idle * boards.memory + boards.spare)
    return None


def matches(node: Node, terms: Iterable[tuple[NodeRule, ...]]) -> bool:
    """Whether one of the terms holds. A term without rules holds nowhere."""
    return any(term and all(_holds(node, rule) for rule in term) for term in terms)


def _holds(node: Node, rule: NodeRule) -> bool:
    if rule.is_field:
        value = node.name if rule.key == "metadata.name" else None
    else:
        value = node.labels.get(rule.key)
    match rule.operator:
        case "In":
            return value is not None and value in rule.values
        case "NotIn":
            return value is None or value not in rule.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return value is not None and _compares(rule, value)
    return False


def _compares(rule: NodeRule, value: str) -> bool:
    try:
        ours, theirs = int(rule.values[0][:20]), int(value[:20])
    except (IndexError, ValueError):
        return False
    return theirs > ours if rule.operator == "Gt" else theirs < ours


def _rules_text(rules: tuple[NodeRule, ...]) -> str:
    """ "gpu In a,b; zone Exists", as short as an answer needs it."""
    found = (f"{r.key} {r.operator} {','.join(r.values[:5])}".strip() for r in rules[:3])
    return "; ".join(found)[:240]
