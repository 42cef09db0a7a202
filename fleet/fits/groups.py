"""How many groups of pods fit now, each group whole and, where one is required, in one domain.

Groups are placed one after the other and never moved again. Where all pods of a group that take
devices ask for the same, this reaches the most that is possible; else it may stay below it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fleet.fits.ask import Ask
from fleet.fits.node import refusal
from fleet.fits.room import Room
from fleet.inventory import Node

HOSTNAME = "kubernetes.io/hostname"


Undo = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Member:
    """Equal pods of one group."""

    asked: Ask
    pods: int


@dataclass(frozen=True, slots=True)
class Domain:
    """A part of the cluster that a group must stay within, and how many groups fit there."""

    path: tuple[str, ...]  # () for the whole cluster
    groups: int
    nodes: tuple[str, ...]  # that the groups take, in order


def domain_path(node: Node, key: str) -> tuple[str, ...] | None:
    """The domain of a label key that a node is in, as the path of values down to it: two blocks
    may both have a rack-1. None when the node does not carry the label."""
    path: list[str] = []
    for level in node.topology:
        if level.key == key:
            return (*path, level.value) if level.value is not None else None
        path.append(level.value if level.value is not None else "?")
    value = node.labels.get(key)
    if value is None and key == HOSTNAME:
        value = node.name
    return (value,) if value else None


def groups_that_fit(
    rooms: Iterable[Room], members: Sequence[Member], key: str, most: int, undo: list[Undo]
) -> tuple[Domain, ...]:
    """Domains with the groups that fit, at most ``most`` in each; the room that they take is
    taken, and ``undo`` gets what gives it back, to be called in reverse. No node is in two
    domains, so that the groups of all domains fit together.

    ``key``: the label whose domain a group must not leave, "" for none. Domains where nothing
    fits are left out.
    """
    found: list[Domain] = []
    wanted = sorted(members, key=_size, reverse=True)
    for path, inside in sorted(_domains(rooms, key).items()):
        taken: list[str] = []
        groups = 0
        open_to = [deque(inside) for _ in wanted]
        while groups < most and (nodes := _place(open_to, wanted, undo)) is not None:
            groups += 1
            taken += nodes
        if groups:
            found.append(Domain(path, groups, tuple(dict.fromkeys(taken))))
    return tuple(found)


def take_back(undo: list[Undo], to: int = 0) -> None:
    """Undo what was taken, the last first, down to an earlier length of the list."""
    while len(undo) > to:
        undo.pop()()


def _size(member: Member) -> tuple[int, int]:
    return sum(number for _, number in member.asked.devices), member.asked.cpu_milli


def _domains(rooms: Iterable[Room], key: str) -> dict[tuple[str, ...], list[Room]]:
    found: dict[tuple[str, ...], list[Room]] = {}
    for room in rooms:
        path = domain_path(room.node, key) if key else ()
        if path is not None:
            found.setdefault(path, []).append(room)
    return found


def _place(
    open_to: Sequence[deque[Room]], members: Sequence[Member], undo: list[Undo]
) -> list[str] | None:
    """Take the room of one whole group; None, with nothing taken, when it does not fit.

    ``open_to``: for each member the nodes that have not refused it yet. Room only gets less, so
    that a node that has refused is not asked again.
    """
    before = len(undo)
    nodes: list[str] = []
    for member, rooms in zip(members, open_to, strict=True):
        left = member.pods
        while left and rooms:
            room = rooms[0]
            if refusal(room, member.asked) is not None:
                rooms.popleft()
                continue
            number = min(left, room.count(member.asked))
            undo.append(room.mark())
            room.take(member.asked, number)
            nodes.append(room.node.name)
            left -= number
        if left:
            take_back(undo, before)
            return None
    return nodes
