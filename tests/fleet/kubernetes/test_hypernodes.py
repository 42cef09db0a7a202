"""Volcano's HyperNodes: where a tree of switches puts each node."""

from __future__ import annotations

import pytest

from tests.fleet.kubernetes.written import Json, cluster, node


def hyper(name: str, tier: int, *members: Json, tier_name: str = "") -> Json:
    spec: Json = {"tier": tier, "members": list(members)}
    if tier_name:
        spec["tierName"] = tier_name
    return {
        "apiVersion": "topology.volcano.sh/v1alpha1",
        "kind": "HyperNode",
        "metadata": {"name": name},
        "spec": spec,
    }


def exact(name: str, kind: str = "Node") -> Json:
    return {"type": kind, "selector": {"exactMatch": {"name": name}}}


def matching(pattern: str, kind: str = "Node") -> Json:
    return {"type": kind, "selector": {"regexMatch": {"pattern": pattern}}}


def labelled(**selector: object) -> Json:
    return {"type": "Node", "selector": {"labelMatch": selector}}


NODES = [node(f"node-{n}", {"rack": f"r{n // 2}"}, gpus=8) for n in range(4)]


def test_switches_are_levels_from_the_widest_down() -> None:
    found = cluster(
        *NODES,
        hyper("s0", 1, exact("node-0"), exact("node-1")),
        hyper("s1", 1, matching("node-[23]")),
        hyper("s4", 2, exact("s0", "HyperNode"), exact("s1", "HyperNode")),
    )
    assert [name for name, _ in found.topology_keys] == ["tier-2", "tier-1"]
    assert [n.domain("tier-1") for n in found.nodes] == [
        ("s4", "s0"), ("s4", "s0"), ("s4", "s1"), ("s4", "s1"),
    ]  # fmt: skip
    assert {level.source for level in found.proposed_levels} == {"Volcano HyperNodes"}


@pytest.mark.parametrize(
    ("selector", "chosen"),
    [
        ({"matchLabels": {"rack": "r1"}}, [2, 3]),
        ({"matchExpressions": [{"key": "rack", "operator": "In", "values": ["r0"]}]}, [0, 1]),
        ({"matchExpressions": [{"key": "rack", "operator": "NotIn", "values": ["r0"]}]}, [2, 3]),
        ({"matchExpressions": [{"key": "rack", "operator": "Exists"}]}, [0, 1, 2, 3]),
        ({"matchExpressions": [{"key": "none", "operator": "DoesNotExist"}]}, [0, 1, 2, 3]),
        ({"matchLabels": {"rack": "r0"},
          "matchExpressions": [{"key": "none", "operator": "Exists"}]}, []),
    ],
)  # fmt: skip
def test_labels_choose_nodes_as_everywhere_in_kubernetes(selector: Json, chosen: list[int]) -> None:
    found = cluster(*NODES, hyper("s0", 1, labelled(**selector)))
    inside = [n for n, item in enumerate(found.nodes) if "s0" in item.places.values()]
    assert inside == chosen


def test_a_tier_is_called_as_its_hypernodes_call_it() -> None:
    found = cluster(*NODES, hyper("s0", 1, matching("^node"), tier_name="volcano.sh/rack"))
    assert [name for name, _ in found.topology_keys] == ["rack"]


def test_a_node_outside_the_tree_is_in_no_known_place() -> None:
    found = cluster(*NODES, hyper("s0", 1, exact("node-0")))
    assert [n.domain("tier-1") for n in found.nodes] == [("s0",), None, None, None]


def test_two_hypernodes_of_one_tier_and_patterns_out_of_reach_are_told() -> None:
    found = cluster(
        *NODES,
        hyper("s0", 1, exact("node-0")),
        hyper("s1", 1, exact("node-0")),
        hyper("s2", 1, matching("(?P<x>node)")),
    )
    assert found.nodes[0].domain("tier-1") == ("s0",)
    assert any("two HyperNodes of one tier: s0 and s1" in line for line in found.problems)
    assert any("hypernode s2: pattern" in line for line in found.problems)


def test_a_circle_and_a_parent_of_a_lower_tier_do_no_harm() -> None:
    found = cluster(
        *NODES,
        hyper("a", 1, exact("node-0"), exact("b", "HyperNode")),
        hyper("b", 1, exact("node-1"), exact("a", "HyperNode")),
    )
    assert [n.domain("tier-1") for n in found.nodes[:2]] == [("a",), ("b",)]
    assert sum("is not of a lower tier" in line for line in found.problems) == 2
