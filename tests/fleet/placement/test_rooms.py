"""The room for one shape equals what a solve of that workload alone places."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal

from hypothesis import given, settings

from fleet.inventory import Taint
from fleet.placement.problem import Problem, QuotaRoom
from fleet.placement.rooms import rooms
from fleet.placement.solver import solve
from tests.fleet.placement.builders import A100, demand, node, shape, slot, small_problems

MANY = 60


@settings(max_examples=60)
@given(small_problems())
def test_the_room_for_a_shape_is_what_a_solve_of_it_alone_places(problem: Problem) -> None:
    for entry in problem.demands:
        found = rooms(problem.nodes, entry, problem.quotas)
        for number, one in enumerate(entry.shapes):
            alone = replace(entry, shapes=(one,), replicas=MANY, gang=True)
            placement = solve(Problem(problem.nodes, (alone,), problem.quotas))
            whole = {(a.cluster, a.replica) for a in placement.assignments}
            by_cluster = Counter(cluster for cluster, _ in whole)
            expected = rooms(problem.nodes, replace(entry, gang=True), problem.quotas)[number]
            assert expected.replicas == dict(by_cluster)
            if entry.gang:
                assert found[number] == expected


def test_cpu_memory_and_pods_limit_the_room() -> None:
    one = demand("a", shape(cpu=4000, memory=1000))

    assert rooms((node("n", slot(free=8), cpu=9000),), one)[0].total == 2
    assert rooms((node("n", slot(free=8), memory=3500),), one)[0].total == 3
    assert rooms((node("n", slot(free=8), pods=1),), one)[0].total == 1


def test_a_taint_or_a_cordon_leaves_no_room() -> None:
    one = demand("a", shape())

    assert rooms((node("n", taints=(Taint("team", "b", "NoSchedule"),)),), one)[0].total == 0
    assert rooms((node("n", schedulable=False, reason="cordoned"),), one)[0].total == 0


def test_pods_of_one_replica_stay_in_their_rack_and_leftovers_make_no_replica() -> None:
    nodes = (
        node("a", slot(free=3), rack="r1"),
        node("b", slot(free=2), rack="r2"),
        node("c", slot(free=1), rack="r2"),
    )

    assert rooms(nodes, demand("w", shape(pods=2), domain="rack"))[0].replicas == {"prod": 2}
    assert rooms(nodes, demand("w", shape(pods=2), domain="any"))[0].replicas == {"prod": 3}


def test_a_quota_limits_the_room_of_its_cluster() -> None:
    nodes = (node("a", cluster="x"), node("b", cluster="y"))
    quota = QuotaRoom("x", "default", "gpus", "nvidia.com/gpu", 3)

    assert rooms(nodes, demand("w", shape()), (quota,))[0].replicas == {"x": 3, "y": 8}
    assert rooms(nodes, demand("w", shape(pods=2)), (quota,))[0].replicas == {"x": 1, "y": 4}


def test_the_cost_is_of_the_cheapest_machine_that_holds_the_shape() -> None:
    nodes = (node("small", slot(free=1, price="2")), node("large", slot(free=4, price="3")))

    assert rooms(nodes, demand("w", shape(gpus=1)))[0].per_hour == Decimal(2)
    assert rooms(nodes, demand("w", shape(gpus=4)))[0].per_hour == Decimal(12)
    assert rooms(nodes, demand("w", shape(gpus=8)))[0].per_hour is None


def test_without_a_price_there_is_room_but_no_cost() -> None:
    found = rooms((node("n", slot(price=None)),), demand("w", shape()))[0]

    assert (found.total, found.per_hour) == (8, None)


def test_each_shape_has_its_room_by_itself() -> None:
    nodes = (node("n", slot(free=2), slot(A100, free=4)),)
    found = rooms(nodes, demand("w", shape("T4"), shape(), shape(A100, gpus=2)))

    assert [entry.total for entry in found] == [0, 2, 2]
