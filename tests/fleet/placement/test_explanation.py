"""Each reason code, with its numbers and its nearest miss."""

from __future__ import annotations

from dataclasses import replace

from fleet.inventory import Taint
from fleet.placement.explanation import explain
from fleet.placement.instance import build
from fleet.placement.problem import Demand, NodeCapacity, QuotaRoom
from fleet.placement.result import ReasonCode, Unplaced
from fleet.placement.solver import solve
from tests.fleet.placement.builders import A100, H100, T4, demand, node, problem, shape, slot


def why(nodes: list[NodeCapacity], wanted: Demand, *quotas: QuotaRoom) -> Unplaced:
    placement = solve(problem(nodes, [wanted], *quotas))
    assert len(placement.unplaced) == 1
    return placement.unplaced[0]


def test_no_shape_names_the_best_refusal_of_sizing() -> None:
    found = why([node("h")], demand("huge", sizing_refusals=("T4: needs 40 GiB, has 15 GiB",)))
    assert found.code is ReasonCode.NO_SHAPE
    assert "T4: needs 40 GiB" in found.nearest


def test_no_card_counts_the_nodes_looked_at() -> None:
    found = why([node("h"), node("i")], demand("x", shape(T4)))
    assert found.code is ReasonCode.NO_CARD
    assert found.sentence == "No GPU node has T4; 2 nodes looked at."


def test_cards_of_unknown_model_are_counted_not_guessed() -> None:
    unknown = replace(node("u"), slots=(), unknown_cards=8)
    found = why([unknown], demand("x", shape(H100)))
    assert found.code is ReasonCode.NO_CARD
    assert "8 GPUs of unknown model" in found.nearest
    assert "model unknown" in found.steps[0].example


def test_constraint_names_the_choice_that_leaves_nothing() -> None:
    in_cluster = why([node("h")], demand("x", shape(H100), clusters=("elsewhere",)))
    assert in_cluster.code is ReasonCode.CONSTRAINT
    assert "in cluster elsewhere" in in_cluster.sentence
    by_label = why(
        [node("h", labels={"pool": "b"})], demand("x", shape(), node_selector={"pool": "a"})
    )
    assert by_label.code is ReasonCode.CONSTRAINT
    assert "pool is b" in by_label.nearest
    by_model = why([node("h")], demand("x", shape(H100), gpu_models=(T4,)))
    assert by_model.code is ReasonCode.CONSTRAINT


def test_taint_names_the_taint() -> None:
    found = why([node("h", taints=(Taint("team", "ml", "NoSchedule"),))], demand("x", shape()))
    assert found.code is ReasonCode.TAINT
    assert "team=ml:NoSchedule" in found.nearest


def test_not_schedulable_names_the_state() -> None:
    found = why([node("h", schedulable=False, reason="cordoned")], demand("x", shape()))
    assert found.code is ReasonCode.NOT_SCHEDULABLE
    assert "cordoned" in found.nearest


def test_too_few_gpus_on_any_node_names_the_closest_one() -> None:
    nodes = [node("a", slot(H100, 2)), node("b", slot(H100, 3))]
    found = why(nodes, demand("x", shape(H100, 4)))
    assert found.code is ReasonCode.GPUS
    assert "4 × H100-SXM5-80GB" in found.sentence
    assert "in all 5 such are free on 2 nodes" in found.sentence
    assert found.nearest == "Closest: prod / b with 3 of 4 H100-SXM5-80GB free."


def test_missing_cpu_beside_free_gpus_is_said_as_cpu() -> None:
    found = why([node("a", cpu=2_000)], demand("x", shape(H100, 1, cpu=8_000)))
    assert found.code is ReasonCode.CPU
    assert "8 cores" in found.sentence
    assert "2 cores free" in found.nearest


def test_missing_memory_and_pod_places_have_their_own_codes() -> None:
    assert why([node("a", memory=10)], demand("x", shape(memory=2048))).code is ReasonCode.MEMORY
    assert why([node("a", pods=0)], demand("x", shape())).code is ReasonCode.PODS


def test_enough_in_all_but_not_within_one_rack_is_a_matter_of_domain() -> None:
    nodes = [node(f"h{n}", slot(H100, 8), rack=f"r{n}") for n in range(4)]
    found = why(nodes, demand("train", shape(H100, 8, pods=2), domain="rack"))
    assert found.code is ReasonCode.DOMAIN
    assert "No rack has room for 2 pods of 8 × H100-SXM5-80GB" in found.sentence
    assert "room for 1 of 2 pods" in found.nearest


def test_nodes_that_do_not_say_their_rack_are_no_rack() -> None:
    nodes = [node(f"h{n}", slot(H100, 8)) for n in range(4)]
    found = why(nodes, demand("train", shape(H100, 8, pods=2), domain="rack"))
    assert found.code is ReasonCode.DOMAIN
    assert "says which rack" in found.sentence


def test_part_of_a_gang_is_said_as_gang() -> None:
    nodes = [node(f"h{n}", slot(H100, 8)) for n in range(3)]
    found = why(nodes, demand("train", shape(H100, 8, pods=4)))
    assert found.code is ReasonCode.GANG
    assert found.sentence.startswith("3 of the 4 pods")


def test_quota_gives_what_is_left_and_what_is_asked() -> None:
    quota = QuotaRoom("prod", "search", "gpu-quota", "nvidia.com/gpu", 4)
    found = why([node("h")], demand("x", shape(H100, 6), namespace="search"), quota)
    assert found.code is ReasonCode.QUOTA
    assert found.sentence == (
        "Quota search/gpu-quota in prod has 4 of nvidia.com/gpu left; one replica asks for 6."
    )
    used_up = replace(quota, left=0)
    found = why([node("h")], demand("x", shape(H100, 1), namespace="search"), used_up)
    assert found.sentence == (
        "Quota search/gpu-quota in prod allows no more nvidia.com/gpu; one replica asks for 1."
    )


def test_priority_names_who_took_the_room() -> None:
    first = demand("chat", shape(H100, 8), priority=9)
    second = demand("batch", shape(H100, 8), priority=1)
    placement = solve(problem([node("h")], [first, second]))
    found = placement.unplaced[0]
    assert (found.workload, found.code) == ("batch", ReasonCode.PRIORITY)
    assert "chat (8 GPUs)" in found.sentence


def test_equal_priority_is_not_called_priority_but_named() -> None:
    demands = [demand("a", shape(H100, 8)), demand("b", shape(H100, 8))]
    found = solve(problem([node("h")], demands)).unplaced[0]
    assert found.code is ReasonCode.GPUS
    assert "Alone it would fit; a (8 GPUs) of the same priority" in found.sentence


def test_time_is_said_when_the_search_was_cut_with_room_left() -> None:
    instance = build(problem([node("h")], [demand("x", shape(H100))]))
    found = explain(instance, (), may_be_placed=True)
    assert found[0].code is ReasonCode.TIME


def test_partly_placed_workloads_say_how_many_run() -> None:
    found = why([node("h", slot(H100, 4))], demand("x", shape(H100, 2), replicas=5))
    assert found.replicas == 3
    assert found.sentence.startswith("2 of 5 replicas are placed.")


def test_the_funnel_only_narrows_and_starts_with_every_node() -> None:
    nodes = [
        node("a", slot(H100, 8), taints=(Taint("x", "", "NoSchedule"),)),
        node("b", slot(H100, 1)),
        node("c", slot(A100, 8, "3.1")),
    ]
    steps = why(nodes, demand("x", shape(H100, 4))).steps
    assert steps[0].nodes_before == 3
    assert [s.nodes_after for s in steps[:-1]] == [s.nodes_before for s in steps[1:]]
    assert all(s.nodes_after <= s.nodes_before for s in steps)
    assert steps[-1].nodes_after == 0


def test_long_names_from_a_cluster_are_cut_short() -> None:
    long = node("n" * 5_000, slot(H100, 1))
    found = why([long], demand("x", shape(H100, 4)))
    assert len(found.nearest) < 400
