"""The solver against every possible answer on small problems, and the invariants of an answer."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.catalogue.accelerators import accelerators
from fleet.placement.problem import Problem
from fleet.placement.result import Placement, ReasonCode, Status
from fleet.placement.solver import Budget, solve
from fleet.placement.verify import violations
from tests.fleet.placement.builders import (
    H100,
    T4,
    contested_problems,
    demand,
    node,
    shape,
    slot,
    small_problems,
)
from tests.fleet.placement.oracle import best


def power_without_price(problem: Problem, placement: Placement) -> int:
    prices = {
        (n.cluster, n.node, s.resource): s.price_per_unit_hour
        for n in problem.nodes
        for s in n.slots
    }
    return sum(
        a.gpus * round(accelerators()[a.gpu_model].bf16_tflops or 0)
        for a in placement.assignments
        if prices[(a.cluster, a.node, a.resource)] is None
    )


def placed_by_priority(problem: Problem, placement: Placement) -> dict[int, Fraction]:
    """Each pod counted as its share of a replica."""
    demands = {d.workload: d for d in problem.demands}
    found = {d.priority: Fraction(0) for d in problem.demands}
    for a in placement.assignments:
        d = demands[a.workload]
        found[d.priority] += Fraction(1, d.shapes[a.shape].pods)
    return found


@settings(max_examples=200, deadline=None)
@given(small_problems() | contested_problems())
def test_small_problems_are_solved_as_well_as_by_trying_everything(problem: Problem) -> None:
    placement = solve(problem, Budget(seconds=30))
    placed, power, cost = best(problem)
    assert placement.status is Status.OPTIMAL
    assert placed_by_priority(problem, placement) == placed
    assert power_without_price(problem, placement) == power
    assert placement.score.cost_per_hour == cost


@settings(max_examples=100, deadline=None)
@given(small_problems(max_nodes=6) | contested_problems())
def test_every_answer_is_valid_and_every_replica_is_placed_or_explained(problem: Problem) -> None:
    placement = solve(problem)
    assert violations(problem, placement.assignments) == ()
    waiting = {u.workload: u for u in placement.unplaced}
    whole: Counter[int] = Counter()
    for d in problem.demands:
        pods: dict[int, list[int]] = {}
        for a in placement.assignments:
            if a.workload == d.workload:
                pods.setdefault(a.replica, []).append(d.shapes[a.shape].pods)
        parts = {number: held for number, held in pods.items() if len(held) < held[0]}
        done = len(pods) - len(parts)
        whole[d.priority] += done
        found = waiting.get(d.workload)
        assert done + (found.replicas if found is not None else 0) == d.replicas
        # Whole replicas come first in the numbers, and each of the others says what it has.
        assert sorted(pods) == list(range(len(pods)))
        assert [(p.replica, p.placed, p.pods) for p in (found.parts if found else ())] == [
            (number, len(parts[number]), parts[number][0]) for number in sorted(parts)
        ]
        assert all(number >= done for number in parts)
        assert d.gang <= (not parts)
    assert dict(placement.score.placed_by_priority) == whole
    assert all(u.sentence and u.replicas > 0 for u in placement.unplaced)
    # Proven answers never say that time was short.
    assert all(u.code is not ReasonCode.TIME for u in placement.unplaced)
    assert whole.total() <= placement.bound_replicas


@settings(max_examples=60, deadline=None)
@given(small_problems() | contested_problems(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_change_the_answer(
    problem: Problem, rng: random.Random
) -> None:
    nodes, demands, quotas = list(problem.nodes), list(problem.demands), list(problem.quotas)
    rng.shuffle(nodes)
    rng.shuffle(demands)
    rng.shuffle(quotas)
    shuffled = Problem(tuple(nodes), tuple(demands), tuple(quotas))
    one, two = solve(problem, seed=3), solve(shuffled, seed=3)
    assert one.assignments == two.assignments
    assert one.unplaced == two.unplaced
    assert one.score == two.score


@settings(max_examples=60, deadline=None)
@given(small_problems(max_nodes=3) | contested_problems(), st.integers(1, 4))
def test_one_node_more_never_makes_the_best_worse(problem: Problem, free: int) -> None:
    more = node("extra", slot(T4, free, "0.5"), cluster="a", cpu=8, memory=8, pods=4, rack="r1")
    before = solve(problem)
    after = solve(replace(problem, nodes=(*problem.nodes, more)))

    def value(p: Problem, found: Placement) -> tuple[object, ...]:
        return (
            tuple(count for _, count in sorted(placed_by_priority(p, found).items(), reverse=True)),
            -power_without_price(p, found),
            -found.score.cost_per_hour,
        )

    grown = replace(problem, nodes=(*problem.nodes, more))
    assert value(grown, after) >= value(problem, before)


def test_equal_input_and_seed_give_an_equal_answer() -> None:
    nodes = [node(f"h{n}", slot(H100, 8), rack=f"r{n // 2}") for n in range(6)]
    demands = [
        demand("a", shape(H100, 3), replicas=7),
        demand("b", shape(H100, 5, pods=2), replicas=2, domain="rack"),
    ]
    one = solve(Problem(tuple(nodes), tuple(demands)), seed=7)
    two = solve(Problem(tuple(nodes), tuple(demands)), seed=7)
    assert replace(one, seconds=0) == replace(two, seconds=0)
