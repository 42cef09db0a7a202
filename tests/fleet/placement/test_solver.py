"""What the placement does: cheap cards first, gangs whole, quotas, priorities, limits of time."""

from __future__ import annotations

import pytest

from fleet.inventory import Taint, Toleration
from fleet.placement.problem import Problem, QuotaRoom
from fleet.placement.result import Placement, Status
from fleet.placement.solver import Budget, SolveProgress, solve
from tests.fleet.placement.builders import A100, H100, T4, demand, node, problem, shape, slot


def nodes_of(placement: Placement, workload: str) -> list[str]:
    return [a.node for a in placement.assignments if a.workload == workload]


def test_embedding_does_not_take_an_h100_while_a_t4_is_free() -> None:
    embedding = demand("embed", shape(H100), shape(T4), kind="embedding", replicas=2)
    nodes = [node("h100", slot(H100, 8)), node("t4", slot(T4, 2, "0.53"))]
    placement = solve(problem(nodes, [embedding]))
    assert nodes_of(placement, "embed") == ["t4", "t4"]
    assert "cheapest card that fits (T4" in placement.assignments[0].why_here


def test_embedding_takes_the_h100_only_when_the_t4_is_full_and_says_so() -> None:
    embedding = demand("embed", shape(H100), shape(T4), replicas=3)
    nodes = [node("h100", slot(H100, 8)), node("t4", slot(T4, 2, "0.53"))]
    placement = solve(problem(nodes, [embedding]))
    assert nodes_of(placement, "embed") == ["h100", "t4", "t4"]
    assert "cheaper cards are full or needed elsewhere: T4" in placement.assignments[0].why_here


def test_a_card_without_a_price_ranks_after_every_priced_card() -> None:
    both = demand("any-card", shape(T4), shape(H100))
    nodes = [node("h100", slot(H100, 8, "6.88")), node("t4", slot(T4, 4, None))]
    assert nodes_of(solve(problem(nodes, [both])), "any-card") == ["h100"]


def test_among_cards_without_a_price_the_weakest_goes_first() -> None:
    both = demand("any-card", shape(H100), shape(T4))
    nodes = [node("h100", slot(H100, 8, None)), node("t4", slot(T4, 4, None))]
    placement = solve(problem(nodes, [both]))
    assert nodes_of(placement, "any-card") == ["t4"]
    assert "no price" in placement.assignments[0].why_here


def test_small_workloads_fill_used_nodes_and_keep_whole_nodes_whole() -> None:
    nodes = [node("a-empty", slot(H100, 8)), node("b-used", slot(H100, 2))]
    placement = solve(problem(nodes, [demand("small", shape(H100), replicas=2)]))
    assert nodes_of(placement, "small") == ["b-used", "b-used"]


def test_a_gang_lands_in_one_rack_or_not_at_all() -> None:
    nodes = [node(f"h{n}", slot(H100, 8), rack=f"r{n % 3}") for n in range(6)]
    fits = demand("two", shape(H100, 8, pods=2), domain="rack")
    too_wide = demand("three", shape(H100, 8, pods=3), domain="rack")
    placement = solve(problem(nodes, [fits, too_wide]))
    racks = {n.node: n.domains["rack"] for n in nodes}
    assert len({racks[name] for name in nodes_of(placement, "two")}) == 1
    assert nodes_of(placement, "three") == []
    assert [u.workload for u in placement.unplaced] == ["three"]


def test_a_replica_never_spans_clusters() -> None:
    nodes = [node("x", slot(H100, 8), cluster="a"), node("x", slot(H100, 8), cluster="b")]
    placement = solve(problem(nodes, [demand("gang", shape(H100, 8, pods=2))]))
    assert placement.assignments == ()


def test_racks_of_equal_name_in_two_zones_are_two_racks() -> None:
    nodes = [
        node("x", slot(H100, 8), rack="zone-1/r1"),
        node("y", slot(H100, 8), rack="zone-2/r1"),
    ]
    placement = solve(problem(nodes, [demand("gang", shape(H100, 8, pods=2), domain="rack")]))
    assert placement.assignments == ()


def test_all_pods_of_a_replica_share_a_node_when_the_domain_is_a_node() -> None:
    nodes = [node("a", slot(H100, 5)), node("b", slot(H100, 6))]
    placement = solve(problem(nodes, [demand("pair", shape(H100, 3, pods=2), domain="node")]))
    assert nodes_of(placement, "pair") == ["b", "b"]
    assert [a.pod for a in placement.assignments] == [0, 1]


def test_a_replica_that_cannot_run_leaves_the_others_running() -> None:
    nodes = [node("h", slot(H100, 8))]
    placement = solve(problem(nodes, [demand("llm", shape(H100, 4), replicas=3)]))
    assert len(placement.assignments) == 2
    assert placement.unplaced[0].replicas == 1


def test_high_priority_goes_first_even_when_more_small_ones_would_fit() -> None:
    nodes = [node("h", slot(H100, 8))]
    big = demand("big", shape(H100, 8), priority=10)
    small = demand("small", shape(H100, 1), replicas=8, priority=0)
    placement = solve(problem(nodes, [small, big]))
    assert placement.score.placed_by_priority == ((10, 1), (0, 0))


def test_equal_priority_places_as_many_replicas_as_possible() -> None:
    nodes = [node("h", slot(H100, 8))]
    big = demand("big", shape(H100, 8))
    small = demand("small", shape(H100, 1), replicas=8)
    placement = solve(problem(nodes, [big, small]))
    assert placement.score.placed_by_priority == ((0, 8),)


def test_quota_caps_what_a_namespace_gets_in_one_cluster() -> None:
    nodes = [node("x", slot(H100, 8), cluster="a"), node("y", slot(H100, 1), cluster="b")]
    quota = QuotaRoom("a", "search", "gpu", "nvidia.com/gpu", 2)
    wanted = demand("llm", shape(H100), replicas=8, namespace="search")
    placement = solve(problem(nodes, [wanted], quota))
    assert nodes_of(placement, "llm") == ["x", "x", "y"]


def test_quota_of_another_namespace_does_not_matter() -> None:
    quota = QuotaRoom("prod", "search", "gpu", "nvidia.com/gpu", 0)
    placement = solve(problem([node("x")], [demand("llm", shape(H100))], quota))
    assert nodes_of(placement, "llm") == ["x"]


def test_taints_need_a_toleration_but_gpu_taints_are_tolerated_by_default() -> None:
    gpu = Taint("nvidia.com/gpu", "present", "NoSchedule")
    team = Taint("team", "ml", "NoExecute")
    nodes = [node("gpu", taints=(gpu,)), node("team", taints=(gpu, team))]
    plain = demand("plain", shape(H100, 8), replicas=2)
    assert nodes_of(solve(problem(nodes, [plain])), "plain") == ["gpu"]
    tolerant = demand(
        "plain", shape(H100, 8), replicas=2, tolerations=(Toleration("team", "Exists"),)
    )
    assert nodes_of(solve(problem(nodes, [tolerant])), "plain") == ["gpu", "team"]
    strict = demand("plain", shape(H100, 8), tolerate_gpu_taints=False)
    assert solve(problem(nodes, [strict])).assignments == ()


def test_mig_devices_and_whole_gpus_of_one_node_are_counted_apart() -> None:
    mixed = node(
        "mixed",
        slot(A100, 1, "3.1"),
        slot(A100, 2, "0.45", resource="nvidia.com/mig-1g.10gb", mig="1g.10gb"),
    )
    small = demand("small", shape(A100, mig="1g.10gb"), shape(A100), replicas=4)
    placement = solve(problem([mixed], [small]))
    assert sorted(str(a.mig_profile) for a in placement.assignments) == [
        "1g.10gb",
        "1g.10gb",
        "None",
    ]
    assert placement.unplaced[0].replicas == 1


def test_the_exact_part_finds_what_the_first_answer_misses() -> None:
    """Three replicas of 3 and two of 1: 3+1, 3+1 and 3 needs each node used well."""
    nodes = [node(f"h{n}", slot(H100, 4)) for n in range(2)]
    nodes += [node(f"a{n}", slot(A100, 2, "3.1")) for n in range(2)]
    demands = [
        demand("w0", shape(H100), replicas=3, priority=5),
        demand("w1", shape(H100, 3), shape(A100), replicas=3),
        demand("w2", shape(A100, 2), replicas=2),
    ]
    placement = solve(problem(nodes, demands))
    assert placement.status is Status.OPTIMAL
    assert placement.gap == 0
    assert placement.score.placed_by_priority == ((5, 3), (0, 4))


def test_progress_counts_up_to_the_number_of_replicas() -> None:
    seen: list[SolveProgress] = []
    solve(problem([node("h")], [demand("x", shape(H100), replicas=3)]), progress=seen.append)
    assert seen[0].phase == "first answer"
    assert {s.total for s in seen} == {3}


def test_cancel_gives_a_valid_answer_that_says_it_was_cut() -> None:
    nodes = [node(f"h{n}", slot(H100, 3)) for n in range(3)]
    demands = [demand("x", shape(H100, 2), replicas=9)]
    placement = solve(Problem(tuple(nodes), tuple(demands)), cancelled=lambda: True)
    assert placement.status is Status.CUT
    assert placement.gap is not None
    assert any("cut" in note for note in placement.notes)


def test_a_budget_too_short_for_a_proof_still_gives_a_valid_answer() -> None:
    nodes = [node(f"h{n:02d}", slot(H100, 3 + n % 5), rack=f"r{n % 4}") for n in range(60)]
    demands = [
        demand(f"w{n}", shape(H100, 1 + n % 4, pods=1 + n % 3), replicas=5) for n in range(12)
    ]
    placement = solve(Problem(tuple(nodes), tuple(demands)), Budget(seconds=0.05))
    placed = {(a.workload, a.replica) for a in placement.assignments}
    waiting = sum(u.replicas for u in placement.unplaced)
    assert len(placed) + waiting == 60


def test_nothing_to_place_is_an_answer_of_its_own() -> None:
    assert solve(problem([node("h")], [])).status is Status.EMPTY


def test_two_workloads_of_one_name_are_refused() -> None:
    twice = [demand("x", shape()), demand("x", shape())]
    with pytest.raises(ValueError, match="two workloads are named 'x'"):
        solve(problem([node("h")], twice))


@pytest.mark.parametrize(("seconds", "gap"), [(0, 0), (-1, 0), (4000, 0), (1, -0.1), (1, 2)])
def test_budget_refuses_values_out_of_range(seconds: float, gap: float) -> None:
    with pytest.raises(ValueError, match="budget"):
        Budget(seconds, gap)


def test_solving_prints_nothing_to_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    nodes = [node(f"h{n}", slot(H100, 4)) for n in range(2)]
    placement = solve(problem(nodes, [demand("x", shape(H100, 3), replicas=4)]))
    assert "HiGHS" in placement.solver
    assert capfd.readouterr().out == ""
