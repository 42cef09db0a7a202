"""Devices of one driver in one place, summed up by model: boards, units, holders, taints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fleet.inventory import DeviceHolder, DeviceTaint, PartlyUsed, UnitKind, Units
from fleet.kubernetes.dra_devices import Board, Entry, boards_of, memory_mib, name_boards
from fleet.kubernetes.dra_drivers import UNKNOWN, driver_vendor
from fleet.kubernetes.dra_state import shares_left
from fleet.kubernetes.dra_taints import Tally, tolerated
from fleet.kubernetes.dra_use import PodStates, holder

_MOST_PARTLY_USED = 1024  # devices of one group whose rest is listed one by one


@dataclass(frozen=True, slots=True)
class DraDevices:
    """The GPU devices of one driver and one model in one place."""

    driver: str
    vendor: str
    devices: int  # as published: whole boards and their possible cuts
    boards: int
    whole_free: int  # boards that can be had whole: nothing of them is held or blocked
    units: Units
    product: str  # "" when no device names it
    memory_mib: int | None  # of a whole board
    parts: int  # cuts published
    idle: int  # held by claims that no pod uses
    unhealthy: int = 0  # boards that their driver says are broken
    incomplete: tuple[str, ...] = ()  # pools that cannot be counted now
    notes: tuple[str, ...] = ()
    holders: tuple[DeviceHolder, ...] = ()
    partly_used: tuple[PartlyUsed, ...] = ()
    taints: tuple[DeviceTaint, ...] = ()
    use_unknown: str = ""  # why nobody can tell which of them are held
    held: int = 0  # boards of which a claim that was read holds something


def summaries(
    driver: str,
    entries: Sequence[Entry],
    *,
    seen: set[str],
    pods: PodStates | None,
    incomplete: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    use_unknown: str = "",
) -> Iterator[DraDevices]:
    """One value for each model, the most boards first; one without devices for nothing but
    incomplete pools.

    ``seen``: boards of the place that another driver has published already; a board that two
    drivers publish is one board.
    """
    name_boards(entries)
    models: dict[str, dict[str, Board]] = {}
    for name, board in boards_of(entries).items():
        board.close_taken()
        product = next(filter(None, (e.product for e in board.entries)), "")
        models.setdefault(product, {})[name] = board
    if not models:
        models[""] = {}
    order = sorted(models.items(), key=lambda item: (-len(item[1]), item[0]))
    for number, (product, boards) in enumerate(order):
        yield _summary(
            driver,
            product,
            boards,
            seen=seen,
            pods=pods,
            incomplete=incomplete if number == 0 else (),
            notes=notes if number == 0 else (),
            use_unknown=use_unknown,
        )
        seen.update(boards)


def _summary(
    driver: str,
    product: str,
    boards: dict[str, Board],
    *,
    seen: set[str],
    pods: PodStates | None,
    incomplete: tuple[str, ...],
    notes: tuple[str, ...],
    use_unknown: str,
) -> DraDevices:
    entries = [entry for board in boards.values() for entry in board.entries]
    parts = [entry for entry in entries if entry.is_part]
    fresh = boards.keys() - seen
    holders = tuple(holder(hold, pods) for entry in entries for hold in entry.holds)
    idle = {(h.pool, h.device) for h in holders if h.idle}
    busy = {(h.pool, h.device) for h in holders if not h.idle}
    whole = {memory_mib(driver, e.device.facts) for e in entries if not e.is_part} - {None}
    memory = max((size for size in whole if size is not None), default=None)
    return DraDevices(
        driver=driver,
        vendor=driver_vendor(driver) or UNKNOWN,
        devices=len(entries),
        boards=len(fresh),
        whole_free=sum(boards[name].is_whole_free for name in fresh),
        units=_units(driver, entries, parts, memory, is_known=not use_unknown),
        product=product,
        memory_mib=memory,
        parts=len(parts),
        idle=len(idle - busy),
        unhealthy=sum(_is_sick(driver, boards[name]) for name in fresh),
        incomplete=incomplete,
        notes=notes,
        holders=holders,
        partly_used=tuple(_partly_used(driver, entries)),
        taints=_taints(driver, entries),
        use_unknown=use_unknown,
        held=sum(any(entry.holds for entry in boards[name].entries) for name in fresh),
    )


def _units(
    driver: str,
    entries: Sequence[Entry],
    parts: Sequence[Entry],
    memory: int | None,
    *,
    is_known: bool,
) -> Units:
    """``requested``: devices that somebody holds, entirely or a share of; None where claims were
    not read. ``allocatable`` leaves out those that nobody holds and nobody can have."""
    blocked = sum(not entry.holds and not entry.open for entry in entries)
    sizes = {memory_mib(driver, entry.device.facts) for entry in parts}
    profiles = {entry.profile for entry in parts}
    part_size = next(iter(sizes)) if len(sizes) == 1 else None
    return Units(
        resource=f"dra:{driver}",
        kind=UnitKind.DRA,
        capacity=len(entries),
        allocatable=len(entries) - blocked,
        requested=sum(bool(entry.holds) for entry in entries) if is_known else None,
        # The size of a cut where cuts are published, all alike: the unit that differs.
        memory_mib=part_size if parts else memory,
        profile=next(iter(profiles)) if len(profiles) == 1 else None,
    )


def _is_sick(driver: str, board: Board) -> bool:
    return any(t.is_sick(driver) for entry in board.entries for t in entry.tainted)


def _partly_used(driver: str, entries: Sequence[Entry]) -> Iterator[PartlyUsed]:
    for number, (entry, shared, more) in enumerate(shares_left(entries)):
        if number >= _MOST_PARTLY_USED:
            return
        yield PartlyUsed(
            driver=driver,
            pool=entry.pool,
            device=entry.device.name,
            left={name: int(value) for name, value in shared.left.items()},
            of={name: int(value) for name, value in shared.of.items()},
            more=0 if any(t.blocks for t in entry.tainted) else more,
            open=entry.open,
        )


def _taints(driver: str, entries: Iterable[Entry]) -> tuple[DeviceTaint, ...]:
    tally = Tally(driver)
    for entry in entries:
        for tainted in entry.tainted:
            hit = any(not tolerated(tainted.taint, hold.tolerations) for hold in entry.holds)
            tally.add(tainted, f"{entry.pool}/{entry.device.name}", hit=hit)
    return tally.result()
