"""Places of nodes: keys in the right order, domains as paths, holes shown."""

from __future__ import annotations

import pytest

from tests.fleet.kubernetes.written import Json, cluster, node

BLOCK, RACK = "cloud.google.com/gce-topology-block", "cloud.google.com/gce-topology-subblock"


def levels(*label_sets: Json, extra: tuple[Json, ...] = ()) -> list[tuple[str, str]]:
    nodes = [node(f"node-{i}", labels, gpus=1) for i, labels in enumerate(label_sets)]
    return list(cluster(*nodes, *extra).topology_keys)


def test_racks_of_one_name_in_two_blocks_are_two_racks() -> None:
    inventory = cluster(
        node("a", {BLOCK: "b1", RACK: "r1"}, gpus=1),
        node("b", {BLOCK: "b1", RACK: "r1"}, gpus=1),
        node("c", {BLOCK: "b2", RACK: "r1"}, gpus=1),
    )
    a, b, c = inventory.nodes
    assert a.domain("rack") == b.domain("rack") == ("b1", "r1")
    assert c.domain("rack") == ("b2", "r1")
    assert a.domain("block") == ("b1",)


def test_a_node_without_a_level_is_in_no_known_domain() -> None:
    inventory = cluster(node("a", {BLOCK: "b1", RACK: "r1"}, gpus=1), node("b", gpus=1))
    assert inventory.nodes[1].domain("rack") is None
    assert inventory.nodes[0].domain("continent") is None


def test_the_nvlink_domain_is_the_clique_without_its_last_part() -> None:
    found = cluster(node("a", {"nvidia.com/gpu.clique": "uuid.with.dots.7"}, gpus=1)).nodes[0]
    assert found.domain("nvlink") == ("uuid.with.dots",)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"topology.kubernetes.io/zone": "a"}, ["zone"]),
        ({"failure-domain.beta.kubernetes.io/zone": "a"}, ["zone"]),
        ({"topology.k8s.aws/network-node-layer-1": "x",
          "topology.k8s.aws/network-node-layer-3": "z",
          "topology.kubernetes.io/zone": "a"}, ["zone", "spine", "rack"]),
        ({"fabric.topograph.run/tier-0": "x", "fabric.topograph.run/tier-2": "z",
          "fabric.topograph.run/tier-1": "y"}, ["tier-2", "tier-1", "rack"]),
        ({"example.com/rack": "r"}, ["rack"]),
        ({"example.com/topology-rack": "r", "example.com/topology-block": "b"}, ["block", "rack"]),
        ({"example.com/tracker": "r"}, []),
        ({RACK: ""}, []),
    ],
)  # fmt: skip
def test_levels_are_found_from_coarse_to_fine(labels: Json, expected: list[str]) -> None:
    assert [name for name, _ in levels(labels)] == expected


def test_a_kueue_topology_is_believed_before_any_guess() -> None:
    keys = ["example.com/pod", "example.com/leaf", "kubernetes.io/hostname"]
    topology = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Topology",
        "metadata": {"name": "t"},
        "spec": {"levels": [{"nodeLabel": key} for key in keys]},
    }
    labels = {"example.com/pod": "p", "example.com/leaf": "l", BLOCK: "b"}
    assert levels(labels, extra=(topology,)) == [
        ("pod", "example.com/pod"), ("leaf", "example.com/leaf"),
    ]  # fmt: skip


def test_a_kueue_topology_that_no_node_carries_is_passed_over() -> None:
    topology = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Topology",
        "metadata": {"name": "t"},
        "spec": {"levels": [{"nodeLabel": "example.com/nowhere"}]},
    }
    assert levels({BLOCK: "b"}, extra=(topology,)) == [("block", BLOCK)]
