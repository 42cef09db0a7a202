"""GPUs that several nodes reach over a network or a fabric (DRA pools of no single node).

They are counted once, and apart from the boards of nodes: nobody can say which node has them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fleet.inventory import AttachedDevices, Inventory
from fleet.units import known_sum

MOST_POOLS = 100
"""Pools that are listed; all of them are in the sums."""


@dataclass(frozen=True, slots=True)
class AttachedPool:
    """One pool. ``physical`` counts boards; the other three numbers count devices as DRA hands
    them out, which may be cuts of boards."""

    driver: str
    pool: str
    model: str | None
    label: str  # what the pool calls its model, known to the catalogue or not
    vendor: str
    nodes: int  # that reach it
    such_as: tuple[str, ...]
    physical: int | None  # None: the pool does not say
    schedulable: int
    requested: int | None  # None: who holds them could not be read
    free: int | None
    unhealthy: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attached:
    """All pools of a cluster, or of several. Devices and boards are sums over every pool."""

    pools: tuple[AttachedPool, ...] = ()  # the largest
    count: int = 0
    physical: int = 0
    uncounted: int = 0  # pools that do not say how many boards they hold
    schedulable: int = 0
    requested: int | None = 0  # None: of some pool it could not be read
    free: int | None = 0
    clusters: tuple[str, ...] = ()  # that have some, by name
    others: dict[str, int] = field(default_factory=dict)  # devices that are no GPUs, by driver


NOTHING_ATTACHED = Attached()


def attached_in(inventory: Inventory) -> Attached:
    """What several nodes of a cluster reach, the largest pools first."""
    pools = sorted(map(_pool, inventory.attached), key=_order)
    return Attached(
        pools=tuple(pools[:MOST_POOLS]),
        count=len(pools),
        physical=sum(pool.physical or 0 for pool in pools),
        uncounted=sum(pool.physical is None for pool in pools),
        schedulable=sum(pool.schedulable for pool in pools),
        requested=known_sum(pool.requested for pool in pools),
        free=known_sum(pool.free for pool in pools),
        others=dict(sorted(inventory.others_attached.items())[:MOST_POOLS]),
    )


def attached_together(parts: Iterable[Attached]) -> Attached:
    """The sums of several clusters; their pools are not listed again."""
    parts = tuple(parts)
    return Attached(
        count=sum(part.count for part in parts),
        physical=sum(part.physical for part in parts),
        uncounted=sum(part.uncounted for part in parts),
        schedulable=sum(part.schedulable for part in parts),
        requested=known_sum(part.requested for part in parts),
        free=known_sum(part.free for part in parts),
        clusters=tuple(name for part in parts for name in part.clusters),
    )


def _pool(attached: AttachedDevices) -> AttachedPool:
    group = attached.group
    return AttachedPool(
        driver=attached.driver,
        pool=attached.pool,
        model=group.model,
        label=group.model_label,
        vendor=group.vendor,
        nodes=attached.nodes,
        such_as=attached.node_names[:3],
        physical=group.physical,
        schedulable=sum(unit.allocatable for unit in group.units),
        requested=known_sum(unit.requested for unit in group.units),
        free=known_sum(unit.free for unit in group.units),
        unhealthy=group.unhealthy or 0,
        notes=(*group.incomplete, *group.notes)[:5],
    )


def _order(pool: AttachedPool) -> tuple[int, str, str]:
    return -(pool.physical or 0), pool.driver, pool.pool
