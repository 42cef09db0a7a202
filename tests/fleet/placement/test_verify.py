"""The checker finds every kind of fault when an answer is spoilt on purpose."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fleet.inventory import Taint
from fleet.placement.problem import Problem, QuotaRoom
from fleet.placement.result import Assignment
from fleet.placement.solver import solve
from fleet.placement.verify import violations
from tests.fleet.placement.builders import H100, T4, demand, node, problem, shape, slot


@pytest.fixture
def answer() -> tuple[Problem, tuple[Assignment, ...]]:
    nodes = [
        node("h0", slot(H100, 8), rack="r0"),
        node("h1", slot(H100, 8), rack="r0"),
        node("h2", slot(H100, 8), rack="r1"),
        node("t", slot(T4, 4)),
        node("elsewhere", slot(H100, 8), cluster="b", rack="r0"),
    ]
    wanted = demand("gang", shape(H100, 8, pods=2), domain="rack", clusters=("prod",))
    case = problem(nodes, [wanted], QuotaRoom("prod", "default", "q", "nvidia.com/gpu", 16))
    return case, solve(case).assignments


def test_a_good_answer_has_no_faults(answer: tuple[Problem, tuple[Assignment, ...]]) -> None:
    case, found = answer
    assert len(found) == 2
    assert violations(case, found) == ()


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"node": "h2"}, "not within one rack"),
        ({"node": "t"}, "no such card"),
        ({"node": "h0"}, "16 of 8 free nvidia.com/gpu"),
        ({"node": "gone"}, "unknown workload or node"),
        ({"cluster": "b", "node": "elsewhere"}, "spans clusters"),
        ({"gpus": 1}, "amounts differ"),
        ({"pod": 0}, "2 of 2 pods"),
        ({"shape": 7}, "no such shape"),
        ({"replica": 5}, "no such replica"),
    ],
)
def test_a_spoilt_answer_is_found_out(
    answer: tuple[Problem, tuple[Assignment, ...]], change: dict[str, object], fault: str
) -> None:
    case, found = answer
    spoilt = (found[0], replace(found[1], **change))  # type: ignore[arg-type]
    assert any(fault in text for text in violations(case, spoilt))


def test_half_a_gang_is_a_fault(answer: tuple[Problem, tuple[Assignment, ...]]) -> None:
    case, found = answer
    assert any("1 of 2 pods" in text for text in violations(case, found[:1]))


def test_every_limit_of_a_node_and_every_condition_is_checked(
    answer: tuple[Problem, tuple[Assignment, ...]],
) -> None:
    case, found = answer

    def with_node(**changes: object) -> Problem:
        nodes = [replace(n, **changes) if n.node == "h0" else n for n in case.nodes]  # type: ignore[arg-type]
        return replace(case, nodes=tuple(nodes))

    def fault(changed: Problem) -> str:
        return " ".join(violations(changed, found))

    assert "CPU" in fault(with_node(cpu_free=999))
    assert "memory" in fault(with_node(memory_free_mib=1023))
    assert "pods" in fault(with_node(pods_free=0))
    assert "takes no pods" in fault(with_node(schedulable=False))
    assert "taint" in fault(with_node(taints=(Taint("a", "", "NoSchedule"),)))
    quota = QuotaRoom("prod", "default", "q", "nvidia.com/gpu", 15)
    assert "16 of 15" in fault(replace(case, quotas=(quota,)))
    selective = replace(case.demands[0], node_selector={"pool": "x"})
    assert "selector" in fault(replace(case, demands=(selective,)))
    other_model = replace(case.demands[0], gpu_models=(T4,))
    assert "not allowed" in fault(replace(case, demands=(other_model,)))
