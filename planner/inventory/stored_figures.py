"""The figures of a cluster that are kept with its snapshot, so that no page has to decode it.

A snapshot never changes, and what the overview shows of several clusters follows from the figures
of each: sums, the largest gangs, and the idle boards that are priced when somebody looks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from fleet.attached import NOTHING_ATTACHED, Attached, attached_in, attached_together
from fleet.costs import IdleBoards, idle_boards
from fleet.inventory import Inventory
from fleet.summary import FleetSummary, merged, summarise
from planner.inventory.rows import storable_json


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one cluster, or of several."""

    summary: FleetSummary
    idle: tuple[IdleBoards, ...]
    attached: Attached = NOTHING_ATTACHED  # GPUs of no single node; in no sum of the summary
    uncounted: str = ""  # of one cluster: why GPUs may be missing from every sum


def figures_of(inventory: Inventory) -> Figures:
    """The figures of one cluster. It stays unnamed: the cluster may get another name."""
    fleet = {"": inventory}
    return Figures(
        summarise(fleet), idle_boards(fleet), attached_in(inventory), inventory.uncounted
    )


def encoded(figures: Figures) -> Any:
    """As ``Snapshot.figures`` holds them."""
    return storable_json(msgspec.to_builtins(figures))


def decoded(stored: Any, cluster: str) -> Figures:
    """The figures of a snapshot, under the name that its cluster has now.

    Without any (a snapshot that is not complete) they are all zero.
    """
    if not stored:
        return Figures(merged(()), ())
    found = msgspec.convert(stored, type=Figures)
    rows = tuple(replace(row, name=cluster) for row in found.summary.clusters)
    return Figures(
        replace(found.summary, clusters=rows),
        tuple(replace(part, cluster=cluster) for part in found.idle),
        replace(found.attached, clusters=(cluster,) if found.attached.count else ()),
    )


def together(figures: Iterable[Figures]) -> Figures:
    """The figures of several clusters."""
    parts = tuple(figures)
    return Figures(
        merged(part.summary for part in parts),
        tuple(line for part in parts for line in part.idle),
        attached_together(part.attached for part in parts),
    )
