"""The slots of a snapshot as tables: how many gangs of each size still fit, place by place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import msgspec
from django.utils.translation import gettext as _

from fleet.model_names import model_words
from fleet.slots import ModelSlots, Path, Place
from planner.inventory.models import Cluster, Snapshot
from planner.inventory.queries import NO_MODEL, node_list_url
from planner.inventory.topology import domain_text, level_names, level_word

MOST_ROWS = 40
"""Places of one model on the page: the finest levels that would make more are folded away."""


@dataclass(frozen=True, slots=True)
class SlotRow:
    """One place, as it is shown."""

    name: str
    level: str
    depth: int
    inside: int  # places below it that the page folds away
    inside_url: str
    within: str
    is_known: bool
    url: str
    free_url: str
    place: Place
    gangs: list[tuple[int, int | None, str]]  # (size, gangs, how one is made, "" as in the head)


@dataclass(frozen=True, slots=True)
class SlotTable:
    """The slots of one GPU model."""

    model: str
    sizes: tuple[int, ...]
    shapes: tuple[str, ...]  # how a gang of each size is made in the place of the first row
    node_gpus: int
    rows: list[SlotRow]
    left_out: int

    @property
    def columns(self) -> list[tuple[int, str]]:
        return list(zip(self.sizes, self.shapes, strict=True))


def model_slots(snapshot: Snapshot) -> list[ModelSlots]:
    """The slots as the engine counted them; none for a snapshot of an older version."""
    return msgspec.convert(snapshot.topology.get("slots", []), list[ModelSlots])


def slot_tables(cluster: Cluster, snapshot: Snapshot, within: str = "") -> list[SlotTable]:
    """One table a model, its places as a tree; ``within`` ("block:a") narrows it to one place."""
    levels = level_names(snapshot)
    models = model_slots(snapshot)
    top = _path(levels, within)
    if not any(place.path == top for model in models for place in model.places):
        top = ()
    tables = (_table(cluster, levels, model, top) for model in models)
    return [table for table in tables if table.rows]


def _path(levels: Sequence[str], text: str) -> Path:
    """Inverse of ``domain_text``; () for what is none of these levels."""
    steps = [part.partition(":") for part in text.split("/") if part]
    if [name for name, _, _ in steps] != list(levels[: len(steps)]):
        return ()
    return tuple(value or None for _, _, value in steps)


def _table(cluster: Cluster, levels: Sequence[str], model: ModelSlots, top: Path) -> SlotTable:
    inside = [place for place in model.places if place.path[: len(top)] == top]
    worth = _worth_showing(inside)
    depth = _depth_shown(worth, len(top))
    shown = [place for place in worth if len(place.path) <= depth][:MOST_ROWS]
    hidden: Counter[Path] = Counter(
        place.path[:depth] for place in worth if len(place.path) > depth
    )
    return SlotTable(
        model=model_words(model.model or None, model.label, ""),
        sizes=model.sizes,
        shapes=_shapes(model, inside[0]) if inside else (),
        node_gpus=model.node_gpus,
        rows=[
            _row(cluster, levels, model, place, inside[0], hidden[place.path]) for place in shown
        ],
        left_out=len(inside) - len(shown),
    )


def _depth_shown(places: Sequence[Place], top: int) -> int:
    """The finest level down to which all places fit the page; one level is always shown."""
    depths = Counter(len(place.path) for place in places)
    depth = top + 1
    while depths[depth + 1] and sum(n for d, n in depths.items() if d <= depth + 1) <= MOST_ROWS:
        depth += 1
    return depth


def _worth_showing(places: Sequence[Place]) -> list[Place]:
    """The places without those below one that has no room: they can have none either."""
    shown: list[Place] = []
    full: Path | None = None
    for place in places:
        if full is not None and place.path[: len(full)] == full:
            continue
        full = place.path if place.free == place.largest == 0 and not place.uncounted else None
        shown.append(place)
    return shown


def _shapes(model: ModelSlots, place: Place) -> tuple[str, ...]:
    """Pods × GPUs of a pod, by size; "" for what is one pod, or cannot be."""
    return tuple(
        f"{size // gpus} × {gpus}" if gpus and gpus < size else ""
        for size, gpus in zip(model.sizes, place.pod_gpus, strict=True)
    )


def _cells(model: ModelSlots, place: Place, top: Place) -> list[tuple[int, int | None, str]]:
    """The counts, each with its shape where that is another than in the head of the table."""
    shapes, head = _shapes(model, place), _shapes(model, top)
    return [
        (size, gangs, (shape or f"1 × {size}") if gangs and shape != usual else "")
        for size, gangs, shape, usual in zip(model.sizes, place.gangs, shapes, head, strict=True)
    ]


def _row(
    cluster: Cluster,
    levels: Sequence[str],
    model: ModelSlots,
    place: Place,
    top: Place,
    inside: int,
) -> SlotRow:
    depth = len(place.path)
    words = [level_word(name) for name in levels]
    if not depth:
        name, level = _("Whole cluster"), ""
    elif place.is_known:
        name, level = place.path[-1] or "", words[depth - 1]
    else:
        name, level = _("%(level)s not labelled") % {"level": words[depth - 1]}, ""
    where = {
        "cluster": cluster.name,
        "model": model.model or model.label or NO_MODEL,
        "domain": domain_text(levels, place.path),
    }
    return SlotRow(
        name=name,
        level=level,
        depth=depth - len(top.path),
        inside=inside,
        inside_url="?" + urlencode({"within": domain_text(levels, place.path)}),
        within=" / ".join(value or "?" for value in place.path[:-1]),
        is_known=place.is_known,
        url=node_list_url(**where),
        free_url=node_list_url(**where, state="free"),
        place=place,
        gangs=_cells(model, place, top),
    )
