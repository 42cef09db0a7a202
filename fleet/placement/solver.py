"""The one door to the solver: ``solve(problem, budget)``. Same input and seed, same answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from fleet.placement.answer import assignments
from fleet.placement.constructive import construct
from fleet.placement.exact import CONSTRUCTIVE, Proof, Search, prove
from fleet.placement.explanation import explain
from fleet.placement.instance import Instance, Rank, build, money, placed_by_priority, rank
from fleet.placement.notes import search_notes
from fleet.placement.problem import Problem
from fleet.placement.result import Assignment, Placement, Score, SearchNote, Status
from fleet.placement.verify import violations

_SOLVER_SHARE = 0.8
"""HiGHS may end late by some seconds, and its answer must still be unpacked and checked."""

Progress = Callable[["SolveProgress"], None]
Cancelled = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one solve. Raises ``ValueError`` on values out of range."""

    seconds: float = 20.0
    relative_gap: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= 3600:
            raise ValueError("budget: seconds must be above 0 and at most 3600")
        if not 0 <= self.relative_gap <= 1:
            raise ValueError("budget: relative_gap must be between 0 and 1")


@dataclass(frozen=True, slots=True)
class SolveProgress:
    phase: str  # "first answer", "proving"
    placed: int
    total: int
    gap: float | None
    seconds: float


def solve(
    problem: Problem,
    budget: Budget | None = None,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> Placement:
    """The best placement found within the budget, checked, with its bound and its reasons.

    First placed replicas, priority by priority (of a replica that need not be whole its share);
    then cards without a price as little as possible; then cost per hour. ``docs/placement.md``
    states the objective and the tie rule. Raises ``ValueError`` when two workloads or two
    nodes share a name.
    """
    started = time.monotonic()
    budget = budget or Budget()
    instance = build(problem)
    total = sum(d.replicas for d in instance.demands)

    def elapsed() -> float:
        return time.monotonic() - started

    def stop() -> bool:
        return elapsed() >= budget.seconds or (cancelled is not None and cancelled())

    def report(phase: str, placed: int, gap: float | None) -> None:
        if progress is not None:
            progress(SolveProgress(phase, placed, total, gap, elapsed()))

    replicas = construct(instance, stop)
    report("first answer", sum(map(instance.is_whole, replicas)), None)
    search = Search(
        deadline=started + budget.seconds * _SOLVER_SHARE,
        relative_gap=budget.relative_gap,
        seed=seed,
        stop=stop,
        report=lambda placed, gap: report("proving", placed, gap),
    )
    proof = prove(instance, replicas, search)
    found = assignments(instance, proof.replicas)
    faults = violations(problem, found)
    notes = list(proof.notes)
    if faults and proof.replicas != replicas:
        # Never seen; a fault of the exact part must not reach a reader.
        notes.append((SearchNote.REPLACED, faults[0]))
        proof = Proof(replicas, proof.bound, proof.cut, CONSTRUCTIVE)
        found = assignments(instance, replicas)
        faults = violations(problem, found)
    if faults:
        raise RuntimeError(f"placement: the answer failed its check: {faults[0]}")
    return _placement(instance, proof, found, seed, elapsed(), tuple(notes))


def _placement(
    instance: Instance,
    proof: Proof,
    found: tuple[Assignment, ...],
    seed: int,
    seconds: float,
    notes: tuple[tuple[SearchNote, str], ...],
) -> Placement:
    reached = rank(instance, proof.replicas)
    whole, pods = placed_by_priority(instance, proof.replicas)
    placed, best = sum(reached.placed), sum(proof.bound.placed)
    may_be_placed = best > placed
    gap = _gap(reached, proof.bound)
    if not instance.demands:
        status = Status.EMPTY
    elif gap == 0:
        status = Status.OPTIMAL
    else:
        status = Status.CUT if proof.cut else Status.FEASIBLE
    cost_bound = None if may_be_placed else money(min(-proof.bound.micro, -reached.micro))
    return Placement(
        assignments=found,
        unplaced=explain(instance, proof.replicas, may_be_placed=may_be_placed),
        status=status,
        score=Score(whole, money(-reached.micro), pods),
        bound_replicas=-(-best // instance.scale),
        bound_cost_per_hour=cost_bound,
        gap=gap,
        solver=proof.solver,
        seed=seed,
        seconds=seconds,
        notes=(*instance.problem.notes, *search_notes(notes)),
        search_notes=notes,
    )


def _gap(reached: Rank, bound: Rank) -> float | None:
    """Relative distance to the bound at the first level where they differ."""
    for have, best in zip(reached.placed, bound.placed, strict=True):
        if have != best:
            return (best - have) / best
    if reached.standing != bound.standing:
        return (bound.standing - reached.standing) / -reached.standing
    if reached.micro != bound.micro:
        return (bound.micro - reached.micro) / -reached.micro
    return 0.0
