"""Replicas that need not be whole: each pod counts by itself, within one domain."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from fleet.placement.problem import Demand, NodeCapacity, QuotaRoom
from fleet.placement.result import PartlyPlaced, Placement, ReasonCode, Status
from fleet.placement.solver import solve
from fleet.placement.verify import violations
from tests.fleet.placement.builders import A100, H100, demand, node, problem, shape, slot


def loose(name: str = "tune", *, gpus: int = 8, pods: int = 4, **more: object) -> Demand:
    return demand(name, shape(H100, gpus, pods=pods), gang=False, **more)  # type: ignore[arg-type]


def three_nodes() -> list[NodeCapacity]:
    return [node(f"h{n}", slot(H100, 8), rack="r0" if n < 2 else "r1") for n in range(3)]


def pods(placement: Placement) -> list[tuple[int, int, str]]:
    return [(a.replica, a.pod, a.node) for a in placement.assignments]


def test_pods_are_placed_though_not_all_of_them_fit() -> None:
    placement = solve(problem(three_nodes(), [loose()]))
    assert pods(placement) == [(0, 0, "h0"), (0, 1, "h1"), (0, 2, "h2")]
    assert placement.status is Status.OPTIMAL
    assert placement.score.placed_by_priority == ((0, 0),)
    assert placement.score.pods_by_priority == ((0, 3),)
    gang = solve(problem(three_nodes(), [replace(loose(), gang=True)]))
    assert gang.assignments == ()


def test_what_waits_says_how_many_pods_are_placed() -> None:
    waits = solve(problem(three_nodes(), [loose()])).unplaced[0]
    assert waits.replicas == 1
    assert waits.parts == (PartlyPlaced(0, 3, 4),)
    assert waits.code is ReasonCode.GPUS
    assert waits.sentence.startswith("1 replica has 3 of its 4 pods placed. No node has 8 × H100")


def test_whole_replicas_are_numbered_before_those_in_part() -> None:
    placement = solve(problem(three_nodes(), [loose(pods=2, replicas=3)]))
    assert [number for number, _, _ in pods(placement)] == [0, 0, 1]
    waits = placement.unplaced[0]
    assert (waits.replicas, waits.parts) == (2, (PartlyPlaced(1, 1, 2),))
    assert waits.sentence.startswith(
        "1 of 3 replicas are placed. 1 replica has 1 of its 2 pods placed."
    )


def test_the_pods_of_one_replica_stay_in_one_rack() -> None:
    placement = solve(problem(three_nodes(), [loose(domain="rack")]))
    assert pods(placement) == [(0, 0, "h0"), (0, 1, "h1")]
    waits = placement.unplaced[0]
    assert waits.code is ReasonCode.DOMAIN
    assert "No rack has room for all 4 pods of one replica" in waits.sentence
    assert waits.nearest == "Closest: prod / r0 with room for 2 of 4 pods."


def test_the_pods_of_one_replica_stay_on_one_node() -> None:
    placement = solve(problem(three_nodes(), [loose(gpus=3, domain="node", replicas=2)]))
    assert [n for _, _, n in pods(placement)] == ["h0", "h0", "h1", "h1"]
    assert placement.unplaced[0].parts == (PartlyPlaced(0, 2, 4), PartlyPlaced(1, 2, 4))


def test_the_pods_of_one_replica_stay_in_one_cluster() -> None:
    nodes = [node("a", slot(H100, 8), cluster="a"), node("b", slot(H100, 8), cluster="b")]
    placement = solve(problem(nodes, [loose(pods=2)]))
    assert len(placement.assignments) == 1


def test_a_replica_is_made_of_one_kind_of_card() -> None:
    nodes = [node("h", slot(H100, 8)), node("a", slot(A100, 8, "3.1"))]
    wanted = replace(loose(pods=2), shapes=(shape(H100, 8, pods=2), shape(A100, 8, pods=2)))
    placement = solve(problem(nodes, [wanted]))
    assert [a.gpu_model for a in placement.assignments] == [A100]


def test_a_pod_counts_its_share_of_a_replica() -> None:
    # Three of four pods are worth more than one of two, and less than one whole replica.
    nodes = [node("h", slot(H100, 3))]
    four, two = loose("four", gpus=1), loose("two", gpus=3, pods=2)
    found = solve(problem(nodes, [four, two]))
    assert {a.workload for a in found.assignments} == {"four"}
    alone = demand("one", shape(H100, 3))
    found = solve(problem(nodes, [four, alone]))
    assert {a.workload for a in found.assignments} == {"one"}


def test_a_quota_lets_as_many_pods_through_as_it_allows() -> None:
    quota = QuotaRoom("prod", "default", "q", "nvidia.com/gpu", 20)
    found = solve(problem(three_nodes(), [loose()], quota))
    assert len(found.assignments) == 2
    assert found.unplaced[0].code is ReasonCode.QUOTA
    assert "has 4 of nvidia.com/gpu left; one pod asks for 8." in found.unplaced[0].sentence


def test_rare_numbers_of_pods_together_still_give_a_proven_answer() -> None:
    primes = (17, 19, 23, 29, 31)
    demands = [loose(f"p{n}", gpus=1, pods=n) for n in primes]
    nodes = [node(f"h{n}", slot(H100, 8), cpu=999_000) for n in range(10)]
    found = solve(problem(nodes, demands))
    assert found.status is Status.OPTIMAL
    share = sum(Fraction(1, int(a.workload[1:])) for a in found.assignments)
    # The cheapest share per GPU is that of the smallest workloads: 17 + 19 + 23 pods, and 21 of 29.
    assert share == 3 + Fraction(21, 29)
    assert found.bound_replicas >= 3


def test_pods_of_a_part_must_still_be_pods_of_the_replica() -> None:
    case = problem(three_nodes(), [loose()])
    found = solve(case).assignments
    assert violations(case, found[:2]) == ()
    assert any("3 of 4 pods" in v for v in violations(case, (*found[:2], replace(found[2], pod=1))))
    assert any("3 of 4 pods" in v for v in violations(case, (*found[:2], replace(found[2], pod=4))))
    assert any(
        "spans" in v
        for v in violations(
            problem([*three_nodes(), node("x", cluster="b")], [loose()]),
            (*found[:2], replace(found[2], cluster="b", node="x")),
        )
    )
