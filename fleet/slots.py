"""How many gangs of a size still fit, in the whole cluster and in each of its domains.

The rule, for gangs of k GPUs of one model in one place:

- A gang is made of equal pods: k/g pods of g GPUs. A node that hands out n GPUs proposes the
  largest g up to n that divides k: 64 GPUs on 8-GPU nodes are 8 pods of 8, 8 GPUs on 4-GPU nodes
  are 2 pods of 4. Smaller pods than any node of the place proposes are not tried: they would
  count as room what is only scattered.
- Where nodes of several sizes stand together, every proposed g is tried on all of them, and the
  one of which most gangs fit counts; of equals the one with the fewest pods. So a place never has
  fewer gangs than one inside it.
- A pod takes g free whole GPUs of one node, a pod place, and at least 1 CPU and 2 GiB beside each
  GPU (``fleet.boards.stranding``). Only nodes that take pods count. GPUs that are shared or cut
  are not whole; whole devices of DRA and HAMi count where their holders are known.
- All pods of a gang stand in one domain. Every count is for its row alone: what is taken in one
  column is gone in the others.
- A node behind a taint that no workload tolerates has no slots; GPUs behind other taints are
  counted, and said apart.

Pods of one gang are equal, so filling node after node is the most that fits: the number of gangs
is the number of pods that fit, divided by the pods of a gang.

Nodes that lack the label of a level are in no known domain of it. They are listed below their
parent, apart: a gang on one node is counted there, for a larger one nobody can say whether it
would stand together. Where no node of a parent has the label, the parent is as fine as it gets.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fleet.boards.asked import asked
from fleet.boards.states import GroupBoards, boards
from fleet.boards.stranding import pods_that_fit, special_taints
from fleet.inventory import Inventory, Node
from fleet.inventory_totals import whole_free

SIZES = (1, 2, 4, 8, 16, 64)
"""Gangs that are counted, in GPUs."""

Path = tuple[str | None, ...]
"""Values of the levels, coarse to fine; None: the nodes lack the label. () is the cluster."""


@dataclass(frozen=True, slots=True)
class Place:
    """The room of one domain for one model. None: not known."""

    path: Path
    nodes: int
    uncounted: int  # nodes that hide how many GPUs they have or who holds them: in no figure
    free: int | None  # boards, whole or not
    largest: int | None  # GPUs that one gang of pods of any size can get
    tainted: int  # of ``largest``: behind taints that some workload tolerates
    gangs: tuple[int | None, ...]  # by size, in the order of ``ModelSlots.sizes``
    pod_gpus: tuple[int, ...]  # by size: GPUs of one pod of those gangs; 0: there is no such gang

    @property
    def is_known(self) -> bool:
        """Whether it is a domain, and not nodes of which the domain is not known."""
        return not self.path or self.path[-1] is not None


@dataclass(frozen=True, slots=True)
class ModelSlots:
    """The slots of one GPU model."""

    model: str  # "" where no catalogue knows it
    label: str  # what the nodes call a model that no catalogue knows
    node_gpus: int  # the most whole GPUs that a node hands out: the largest pod
    sizes: tuple[int, ...]
    places: tuple[Place, ...]  # the cluster, then its domains, each below its parent


@dataclass(slots=True)
class _Room:
    """What a node has of one model."""

    node: Node
    path: Path
    whole: int = 0  # free and whole, whatever is left beside them
    usable: int = 0  # of those: with CPU and memory beside them
    free: int = 0
    offered: int = 0
    is_counted: bool = True
    fitting: dict[int, int] = field(default_factory=dict)

    def pods(self, gpus: int) -> int:
        """Pods of that size that fit; asked for each place that the node is in."""
        if gpus not in self.fitting:
            self.fitting[gpus] = pods_that_fit(self.node, gpus, self.whole)
        return self.fitting[gpus]


def slots(inventory: Inventory, sizes: Sequence[int] = SIZES) -> tuple[ModelSlots, ...]:
    """The slots of every GPU model of the cluster, the model with most nodes first.

    Virtual and simulated nodes have none.
    """
    wanted = asked(inventory)
    levels = tuple(dict.fromkeys(name for name, _ in inventory.topology_keys))
    models: dict[tuple[str, str], dict[str, _Room]] = defaultdict(dict)
    for node in inventory.nodes:
        if node.is_virtual or node.is_simulated or not node.groups:
            continue
        path = _path(node, levels)
        for part in boards(node, wanted):
            key = (part.group.model or "", "" if part.group.model else part.group.model_label)
            room = models[key].setdefault(node.name, _Room(node, path))
            _add(room, part)
    found = (_model(key, list(rooms.values()), tuple(sizes)) for key, rooms in models.items())
    return tuple(sorted(found, key=lambda m: (-m.places[0].nodes, m.model, m.label)))


def pod_size(gpus: int, node_gpus: int) -> int:
    """GPUs of one pod of a gang that is made of as few equal pods as nodes of that size allow;
    0 where the nodes hand out none."""
    return next((g for g in range(min(gpus, node_gpus), 0, -1) if gpus % g == 0), 0)


def _path(node: Node, levels: Sequence[str]) -> Path:
    values = {step.name: step.value for step in node.topology}
    return tuple(values.get(level) for level in levels)


def _add(room: _Room, part: GroupBoards) -> None:
    if part.group.physical is None or part.group.use_unknown:
        room.is_counted = False
        return
    is_kept_off = part.cause == "taint"
    room.whole += (
        0
        if is_kept_off
        else min(part.states["free"] + part.states["stranded"], whole_free(room.node, part.group))
    )
    room.usable += part.whole
    room.free += part.states["free"]
    room.offered = max(room.offered, part.offered)


def _model(key: tuple[str, str], rooms: list[_Room], sizes: tuple[int, ...]) -> ModelSlots:
    most = max((room.offered for room in rooms), default=0)
    return ModelSlots(
        model=key[0],
        label=key[1],
        node_gpus=most,
        sizes=sizes,
        places=tuple(_place(path, inside, sizes) for path, inside in _tree(rooms)),
    )


def _tree(rooms: Sequence[_Room]) -> Iterator[tuple[Path, list[_Room]]]:
    """The cluster and every domain that the nodes are in, each below its parent."""
    found: dict[Path, list[_Room]] = defaultdict(list)
    for room in rooms:
        for depth in range(len(room.path) + 1):
            if depth and all(value is None for value in room.path[depth - 1 :]):
                # One row says that a node lacks a label; finer levels that it lacks as well
                # would only repeat it.
                found[room.path[:depth]].append(room)
                break
            found[room.path[:depth]].append(room)
    for path in sorted(found, key=_order):
        # Where no node of a parent has a label, the level does not divide it: nothing to say.
        if not path or path[-1] is not None or len(found[path]) < len(found[path[:-1]]):
            yield path, found[path]


def _order(path: Path) -> list[tuple[bool, list[tuple[int, int | str]]]]:
    return [(value is None, _natural(value or "")) for value in path]


def _natural(text: str) -> list[tuple[int, int | str]]:
    """ "rack-2" before "rack-10"."""
    return [
        (0, int(part)) if part.isascii() and part.isdigit() else (1, part)
        for part in re.split(r"([0-9]{1,18})", text)
        if part
    ]


def _place(path: Path, rooms: Sequence[_Room], sizes: tuple[int, ...]) -> Place:
    counted = [room for room in rooms if room.is_counted]
    is_domain = not path or path[-1] is not None
    found = [_gangs(counted, size, is_domain) for size in sizes]
    usable = [room.usable for room in counted]
    return Place(
        path=path,
        nodes=len(rooms),
        uncounted=len(rooms) - len(counted),
        free=sum(room.free for room in counted) if counted else None,
        largest=(sum(usable) if is_domain else max(usable)) if counted else None,
        tainted=sum(room.usable for room in counted if special_taints(room.node)),
        gangs=tuple(gangs for gangs, _ in found),
        pod_gpus=tuple(gpus for _, gpus in found),
    )


def _gangs(rooms: Sequence[_Room], size: int, is_domain: bool) -> tuple[int | None, int]:
    """(gangs of that size, GPUs of one pod of them). None: not known."""
    if not rooms:
        return None, 0
    proposed = {pod_size(size, offered) for offered in {room.offered for room in rooms}} - {0}
    fits = {
        gpus: sum(room.pods(gpus) for room in rooms) * gpus // size
        for gpus in sorted(proposed, reverse=True)
    }
    gpus = max(fits, key=lambda each: fits[each], default=0)  # the first of equals: fewest pods
    if is_domain or gpus in (0, size):
        return fits.get(gpus, 0), gpus
    # Several pods, and nobody knows whether these nodes are together: what fits on one node each.
    on_one_node = fits.get(size, 0)
    return (on_one_node, size) if on_one_node else (None, gpus)
