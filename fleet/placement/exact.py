"""The exact part: improve the first answer and prove how good it is.

Goals are taken one after the other, each kept while the next is sought: replicas placed at each
priority, high first; then cards without a price; then cost per hour. The program is solved over
classes of nodes first. When the counts of a class do not fit on its nodes, that class is taken
apart into single nodes and the program solved again; with single nodes it is exact.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fleet.placement.classes import classes, split
from fleet.placement.constructive import floor_cost
from fleet.placement.highs import NAME
from fleet.placement.instance import MICRO, Instance, Rank, Replica, priorities, rank
from fleet.placement.model import Model
from fleet.placement.packing import unpack
from fleet.placement.result import SearchNote

MAX_COLUMNS = 250_000
CONSTRUCTIVE = "constructive"
_EXACT = f"{NAME} (exact)"


@dataclass(frozen=True, slots=True)
class Proof:
    replicas: tuple[Replica, ...]
    bound: Rank  # no answer ranks higher
    cut: bool  # time or cancel ended the search
    solver: str
    notes: tuple[tuple[SearchNote, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Search:
    """Limits of the exact part, and whom to tell."""

    deadline: float  # of time.monotonic
    relative_gap: float
    seed: int
    stop: Callable[[], bool]
    report: Callable[[int, float | None], None]


def simple_bound(instance: Instance) -> Rank:
    """Every replica that could go anywhere placed, each on its cheapest spot."""
    wanted = dict.fromkeys(priorities(instance), 0)
    for index, demand in enumerate(instance.demands):
        if instance.by_demand[index]:
            wanted[demand.priority] += demand.replicas * instance.scale
    power, micro = floor_cost(instance, range(len(instance.demands)))
    return Rank(tuple(wanted.values()), -power, -micro)


def prove(instance: Instance, first: Sequence[Replica], search: Search) -> Proof:
    """The best answer found from the first one, with a bound that always holds."""
    proof = Proof(tuple(first), simple_bound(instance), False, CONSTRUCTIVE)
    reached = rank(instance, first)
    found = classes(instance)
    while reached < proof.bound:
        columns = sum(len(one.uses) for one in found)
        if columns > MAX_COLUMNS:
            note = (SearchNote.TOO_LARGE, f"{columns:,}")
            return replace(proof, notes=(*proof.notes, note))
        if search.stop():
            return _cut(proof)
        model = Model(instance, found, search.seed)
        values, bound, is_done = _solve_levels(
            model, model.encode(proof.replicas), proof.bound, search
        )
        proof = replace(proof, bound=min(proof.bound, bound), solver=_EXACT)
        replicas, failed = unpack(model, values)
        if rank(instance, replicas) > reached:
            proof, reached = replace(proof, replicas=replicas), rank(instance, replicas)
        search.report(sum(reached.placed) // instance.scale, None)
        if reached < proof.bound and (search.stop() or not is_done):
            return _cut(proof)
        if not failed or _within(reached, proof.bound, search.relative_gap):
            return proof
        single = [c for c in failed if found[c].count > 1]
        if not single:
            return proof
        found = split(found, single)
    return proof


def _cut(proof: Proof) -> Proof:
    return replace(proof, cut=True, notes=(*proof.notes, (SearchNote.CUT, "")))


def _within(reached: Rank, bound: Rank, relative_gap: float) -> bool:
    if (reached.placed, reached.standing) != (bound.placed, bound.standing):
        return False
    return -reached.micro - -bound.micro <= relative_gap * -reached.micro


def _solve_levels(
    model: Model, values: tuple[int, ...], known: Rank, search: Search
) -> tuple[tuple[int, ...], Rank, bool]:
    """The best counts over all goals, from the given ones on, the bound, and whether every goal
    was solved to the end."""
    placed: list[int] = []
    levels = model.levels()

    def seconds() -> float:
        return search.deadline - time.monotonic()

    for priority in levels:
        goal = model.counts(priority)
        most = model.largest(goal)
        if _value(goal, values) < most:
            solved = model.program.minimise(
                {column: -float(worth) for column, worth in goal.items()},
                seconds=seconds(),
                relative_gap=0.0,
                start=values,
                stop=search.stop,
            )
            values = solved.values
            if not solved.is_optimal:
                ceiling = most if solved.bound < -most else int(-solved.bound + 1e-6)
                rest = known.placed[len(placed) + 1 :]
                return values, Rank((*placed, ceiling, *rest), 0, 0), False
        placed.append(_value(goal, values))
        if goal:
            model.program.add_row(goal, lower=placed[-1])
    return _solve_costs(model, values, tuple(placed), search, seconds)


def _solve_costs(
    model: Model,
    values: tuple[int, ...],
    placed: tuple[int, ...],
    search: Search,
    seconds: Callable[[], float],
) -> tuple[tuple[int, ...], Rank, bool]:
    reached = [0, 0]
    for place, (goal, scale) in enumerate(((model.standing(), 1), (model.micro(), MICRO))):
        if not goal:
            continue
        if search.stop():
            return values, Rank(placed, -reached[0], 0), False
        gap = search.relative_gap if place else 0.0
        solved = model.program.minimise(
            {column: cost / scale for column, cost in goal.items()},
            seconds=seconds(),
            relative_gap=gap,
            start=values,
            stop=search.stop,
        )
        values = solved.values
        value = _value(goal, values)
        # At the optimum the solver's own bound differs from the value by rounding only.
        is_proven = solved.is_optimal and gap == 0
        lowest = int(solved.bound * scale - 0.5) if solved.bound > 0 else 0
        reached[place] = value if is_proven else min(max(0, lowest), value)
        if not solved.is_optimal:
            return values, Rank(placed, -reached[0], -reached[1]), False
        if not place:
            model.program.add_row(goal, upper=value)
    return values, Rank(placed, -reached[0], -reached[1]), True


def _value(goal: dict[int, int], values: Sequence[int]) -> int:
    return sum(factor * values[column] for column, factor in goal.items())
