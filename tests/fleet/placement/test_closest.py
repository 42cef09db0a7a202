"""Which shape a reason is about, which cheaper card is left out, and how the filters begin."""

from __future__ import annotations

import pytest

from fleet.inventory import Taint
from fleet.placement.problem import Demand, NodeCapacity
from fleet.placement.result import ReasonCode, Unplaced
from fleet.placement.solver import solve
from tests.fleet.placement.builders import A100, H100, T4, demand, node, problem, shape, slot

TEAM = (Taint("team", "x", "NoSchedule"),)


def waits(nodes: list[NodeCapacity], wanted: Demand) -> Unplaced:
    return solve(problem(nodes, [wanted])).unplaced[0]


def why_here(nodes: list[NodeCapacity], wanted: Demand) -> str:
    return solve(problem(nodes, [wanted])).assignments[0].why_here


def t4(name: str, free: int = 8, **more: object) -> NodeCapacity:
    return node(name, slot(T4, free, "0.35"), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cheap", "choice", "reason"),
    [
        ([t4("t", taints=TEAM)], {}, "taint team=x:NoSchedule on 1 node"),
        ([t4("t", taints=TEAM), t4("u", taints=TEAM)], {}, "taint team=x:NoSchedule on 2 nodes"),
        ([t4("t", schedulable=False, reason="cordoned")], {}, "1 node takes no pods now"),
        ([t4("t", free=0)], {}, "too little is free on its nodes"),
        (
            [t4("t")],
            {"node_selector": {"pool": "a"}},
            "the node selector leaves out 1 node",
        ),
        ([t4("t")], {"gpu_models": (H100,)}, "the workload allows other GPU models only"),
        (
            [t4("t", cluster="dev")],
            {"clusters": ("prod",)},
            "the workload allows other clusters only",
        ),
    ],
)
def test_a_card_is_not_called_cheapest_while_a_cheaper_one_is_left_out(
    cheap: list[NodeCapacity], choice: dict[str, object], reason: str
) -> None:
    nodes = [node("h", slot(H100, 8, "6.05"), labels={"pool": "a"}), *cheap]
    assert why_here(nodes, demand("x", shape(H100), shape(T4), **choice)) == (
        "cheapest that may be used (H100-SXM5-80GB, 6.05 USD an hour a replica); "
        f"T4 would be cheaper, but: {reason}"
    )


def test_a_card_without_the_label_of_the_domain_is_named_as_cheaper() -> None:
    nodes = [node(f"h{n}", slot(H100, 8), rack="r1") for n in range(2)]
    nodes += [node(f"a{n}", slot(A100, 8, "3.1")) for n in range(2)]
    wanted = demand("tune", shape(A100, 8, pods=2), shape(H100, 8, pods=2), domain="rack")
    assert f"{A100} would be cheaper, but: no rack label is known" in why_here(nodes, wanted)


def test_what_the_fleet_leaves_out_is_said_before_what_the_workload_does() -> None:
    nodes = [node("h"), t4("t"), node("a", slot(A100, 8, "3.1"), taints=TEAM)]
    wanted = demand("x", shape(T4), shape(A100), shape(H100), gpu_models=(A100, H100))
    assert f"{A100} would be cheaper, but: taint" in why_here(nodes, wanted)


def test_a_dearer_card_that_is_left_out_is_not_spoken_of() -> None:
    nodes = [t4("t"), node("h", taints=TEAM)]
    assert why_here(nodes, demand("x", shape(H100), shape(T4))) == (
        "cheapest card that fits (T4, 0.35 USD an hour a replica)"
    )


def test_a_left_out_node_with_too_little_free_is_no_reason() -> None:
    nodes = [node("h"), t4("t", free=1, taints=TEAM)]
    said = why_here(nodes, demand("x", shape(H100, 2), shape(T4, 2)))
    assert said.startswith("cheapest card that fits")


def test_the_reason_is_about_the_shape_of_which_most_pods_fit() -> None:
    nodes = [t4("o1", 4, cluster="osaka"), t4("o2", 5, cluster="osaka")]
    nodes += [t4("t1", 4, cluster="tokyo")]
    nodes += [t4(f"t{n}", 4, cluster="tokyo", cpu=1000) for n in (2, 3, 4)]
    shapes = (shape(T4, 8, pods=2, cpu=500), shape(T4, 4, pods=4, cpu=2000))
    found = waits(nodes[2:], demand("big", *shapes))
    assert found.code is ReasonCode.GANG
    assert found.shape == 1
    assert found.sentence == (
        "1 of the 4 pods of one replica fits (4 × T4 each), and they are useful only all "
        "together. No node has 8 × T4 free."
    )
    assert found.nearest == (
        "Closest: tokyo with room for 1 of 4 pods. 3 nodes have the GPUs for more, but not the CPU."
    )
    nearest = waits(nodes, demand("big", *shapes)).nearest
    assert nearest == (
        "Closest: osaka with room for 2 of 4 pods. 1 free GPU does not add up to a pod."
    )


def test_of_equal_shares_the_fewest_missing_units_then_the_price_decide() -> None:
    nodes = [node("h", slot(H100, 8)), node("a", slot(A100, 8, "3.1"))]
    wanted = demand("pre", shape(H100, 8, pods=2), shape(A100, 8, pods=2))
    assert waits(nodes, wanted).shape == 1
    nodes = [node("h", slot(H100, 10)), node("a", slot(A100, 8, "3.1"))]
    assert waits(nodes, wanted).shape == 0


def test_too_few_gpus_are_said_of_the_shape_that_misses_fewest() -> None:
    found = waits([node("h", slot(H100, 1)), t4("t", 2)], demand("x", shape(H100, 4), shape(T4, 4)))
    assert (found.code, found.shape) == (ReasonCode.GPUS, 1)
    assert found.nearest == "Closest: prod / t with 2 of 4 T4 free."


def test_the_first_steps_are_the_chosen_clusters_and_the_cards_that_may_be_used() -> None:
    nodes = [t4("t", 1), node("h"), t4("other", cluster="dev")]
    mig = [shape(H100, 2, mig=f"{n}g.10gb") for n in range(1, 8)]
    wanted = demand("x", *mig, shape(T4, 2), shape(H100, 2), clusters=("prod",), gpu_models=(T4,))
    steps = waits(nodes, wanted).steps
    assert [(s.label, s.nodes_before, s.nodes_after) for s in steps[:2]] == [
        ("in cluster prod", 3, 2),
        ("has T4", 2, 1),
    ]
    assert not any("GPU model among" in s.label for s in steps)


def test_whole_cards_are_named_before_parts_and_at_most_three_with_a_count() -> None:
    mig = [shape(H100, 9, mig=f"{n}g.10gb") for n in range(1, 4)]
    found = waits([node("h")], demand("x", *mig, shape(T4, 9), shape(H100, 9)))
    label = found.steps[0].label
    assert label == "has T4, H100-SXM5-80GB, H100-SXM5-80GB MIG 1g.10gb or 2 more"


def test_one_of_a_thing_is_said_in_the_singular() -> None:
    cpu = waits([node("a", cpu=1_000)], demand("x", shape(cpu=8_000)))
    assert cpu.nearest == "Closest: prod / a with 1 core free."
    demands = [demand("a", shape(H100)), demand("b", shape(H100))]
    found = solve(problem([node("h", slot(H100, 1))], demands)).unplaced[0]
    assert "a (1 GPU) of the same priority" in found.sentence
