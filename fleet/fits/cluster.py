"""A whole cluster asked where a pod or groups of pods fit now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from fleet.device_classes import classes_by_resource
from fleet.fits.ask import Ask, ask, ask_of
from fleet.fits.groups import Domain, Member, Undo, groups_that_fit, take_back
from fleet.fits.node import No, refusal
from fleet.fits.nominated import ANYBODY, Asker, nominated_in
from fleet.fits.room import Mapped, Room
from fleet.inventory import Inventory, Pod, Sharing

MOST_GROUPS = 1_000
"""Groups that are counted in one domain; beyond it "at least so many" is enough to know."""

EXAMPLES = 5
"""Nodes named for each reason."""


@dataclass(frozen=True, slots=True)
class NodeClass:
    """Nodes that say no for one and the same reason."""

    reason: No
    about: str  # the resource, label, taint or state
    most: int | None  # the most that one of them has of what is too little
    nodes: int
    examples: tuple[str, ...]
    nearest: str = ""  # a resource that nodes do offer, of a similar name


@dataclass(frozen=True, slots=True)
class Fit:
    """Nodes that one more such pod could be bound to now, and why not the others."""

    nodes: tuple[str, ...]
    refused: tuple[NodeClass, ...]


def mapped_resources(inventory: Inventory) -> Mapped:
    """Extended resources that device classes answer to: their own name and the implicit one."""
    return {
        name: frozenset(f"dra:{driver}" for driver in item.drivers)
        for name, item in classes_by_resource(inventory.device_classes).items()
    }


def held_by_node(inventory: Inventory) -> dict[str, list[Ask]]:
    """What the pods bound to nodes of a sharing system ask for, by node."""
    found: dict[str, list[Ask]] = {
        node.name: []
        for node in inventory.nodes
        if any(group.sharing == Sharing.FRACTIONAL for group in node.groups)
    }
    for pod in inventory.pods:
        if pod.node in found and pod.requests and pod.state in ("running", "terminating"):
            found[pod.node].append(ask(pod.requests))
    return found


@dataclass(slots=True)
class Cluster:
    """One inventory, prepared for many questions. Questions do not change it."""

    inventory: Inventory
    _mapped: Mapped = field(init=False)
    _held: dict[str, list[Ask]] = field(init=False)
    _rooms: dict[str, list[Room]] = field(default_factory=dict, init=False)
    _nominated: tuple[Pod, ...] = field(init=False)
    _answers: dict[tuple[Ask, tuple[int, ...]], Fit] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._mapped = mapped_resources(self.inventory)
        self._held = held_by_node(self.inventory)
        self._nominated = nominated_in(self.inventory)

    def rooms(self, model: str = "") -> list[Room]:
        """Fresh rooms of all nodes, to take from. ``model``: see ``Ask.model``."""
        return [
            Room(node, self._mapped, self._held.get(node.name, ()), model)
            for node in sorted(self.inventory.nodes, key=lambda node: node.name)
        ]

    def fit(self, asked: Ask, by: Asker = ANYBODY) -> Fit:
        """Where one more such pod could be bound now, beside the pods that nodes are nominated
        for and whose room is not for who asks."""
        kept = tuple(n for n, pod in enumerate(self._nominated) if by.must_leave(pod))
        if (asked, kept) not in self._answers:
            undo: list[Undo] = []
            rooms = self._shared(asked.model)
            self._keep(rooms, by, undo)
            self._answers[asked, kept] = self._fit(asked)
            take_back(undo)
        return self._answers[asked, kept]

    def groups(
        self,
        members: Sequence[Member],
        *,
        key: str = "",
        most: int = MOST_GROUPS,
        gone: Sequence[Pod] = (),
        otherwise: Iterable[Sequence[Member]] = (),
        by: Asker = ANYBODY,
    ) -> tuple[Domain, ...]:
        """Domains of the label ``key`` with the groups that fit there now; see
        ``groups_that_fit``. ``gone``: pods to look away from, as if they had been deleted.
        ``otherwise``: other forms that a group may take (flavors), tried on what is left.
        ``by``: as of ``fit``."""
        model = next((m.asked.model for m in members if m.asked.model), "")
        rooms = self._shared(model)
        undo: list[Undo] = []
        self._keep(rooms, by, undo)
        by_name = {room.node.name: room for room in rooms} if gone else {}
        for pod in gone:
            room = by_name.get(pod.node)
            if room is not None:
                undo.append(room.mark())
                room.give_back(pod.requests, pod.cpu_milli, pod.memory_mib)
        found: dict[tuple[str, ...], Domain] = {}
        for form in (members, *otherwise):
            for domain in groups_that_fit(rooms, form, key, most, undo):
                known = found.get(domain.path, Domain(domain.path, 0, ()))
                nodes = tuple(dict.fromkeys((*known.nodes, *domain.nodes)))
                found[domain.path] = Domain(domain.path, known.groups + domain.groups, nodes)
        take_back(undo)
        return tuple(found[path] for path in sorted(found))

    def _keep(self, rooms: Sequence[Room], by: Asker, undo: list[Undo]) -> None:
        """Take the room of nominated pods; ``undo`` gets what gives it back."""
        kept = [pod for pod in self._nominated if by.must_leave(pod)]
        by_name = {room.node.name: room for room in rooms} if kept else {}
        for pod in kept:
            room = by_name.get(pod.nominated_node)
            if room is not None:
                undo.append(room.mark())
                room.take(ask_of(pod))

    def _shared(self, model: str) -> list[Room]:
        """The rooms that all questions look at: each leaves them as they were."""
        if model not in self._rooms:
            self._rooms[model] = self.rooms(model)
        return self._rooms[model]

    def _fit(self, asked: Ask) -> Fit:
        rooms = self._shared(asked.model)
        open_to: list[str] = []
        classes: dict[tuple[No, str], list[tuple[str, int | None]]] = {}
        for room in rooms:
            no = refusal(room, asked)
            if no is None:
                open_to.append(room.node.name)
            else:
                key = (no.reason, no.about)
                classes.setdefault(key, []).append((room.node.name, no.has))
        offered = sorted({name for room in rooms for name, n in room.offered.items() if n})
        return Fit(
            tuple(sorted(open_to)),
            tuple(
                _node_class(no, about, classes[no, about], offered)
                for no, about in sorted(classes, key=lambda c: (list(No).index(c[0]), c[1]))
            ),
        )


def _node_class(
    reason: No, about: str, nodes: list[tuple[str, int | None]], offered: list[str]
) -> NodeClass:
    counts = [has for _, has in nodes if has is not None]
    nearest = ""
    if reason is No.NOT_OFFERED and about not in offered:
        nearest = nearest_name(about, offered)
    return NodeClass(
        reason,
        about,
        max(counts, default=None),
        len(nodes),
        tuple(sorted(name for name, _ in nodes)[:EXAMPLES]),
        nearest,
    )


def nearest_name(resource: str, offered: Iterable[str]) -> str:
    """The offered resource with the most similar name; "" when none is similar."""
    near = get_close_matches(resource, sorted(offered), n=1, cutoff=0.8)
    return near[0] if near else ""
