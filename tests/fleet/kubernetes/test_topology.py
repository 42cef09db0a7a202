"""Places of nodes: keys in the right order, domains as paths, holes shown."""

from __future__ import annotations

import pytest

from fleet.kubernetes.topology import common_ancestor, lay
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


def test_a_rack_of_an_unknown_block_is_an_unknown_rack() -> None:
    found = cluster(
        node("in", {BLOCK: "b1", RACK: "r1"}, gpus=1),
        node("x", {RACK: "r1"}, gpus=1),  # perhaps of b1, perhaps of b2
        node("y", {RACK: "r1"}, gpus=1),
    )
    assert [n.domain("rack") for n in found.nodes] == [("b1", "r1"), None, None]


def test_a_level_that_other_nodes_have_takes_no_place_away() -> None:
    found = cluster(
        node("oci", {"oci.oraclecloud.com/host.network_block_id": "b",
                     "oci.oraclecloud.com/host.rack_id": "r"}, gpus=1),
        node("aws", {"topology.k8s.aws/network-node-layer-1": "s",
                     "topology.k8s.aws/network-node-layer-2": "b2",
                     "topology.k8s.aws/network-node-layer-3": "r2"}, gpus=1),
    )  # fmt: skip
    assert found.topology_keys[0][0] == "spine"
    assert found.nodes[0].domain("rack") == ("?", "b", "r")
    assert found.nodes[1].domain("rack") == ("s", "b2", "r2")


def test_a_machine_without_nvlink_across_hosts_keeps_the_place_of_its_host() -> None:
    host = "cloud.google.com/gce-topology-host"
    network = {BLOCK: "b", RACK: "s"}
    joined = [
        node(f"j{n}", {**network, host: f"j{n}", "nvidia.com/gpu.clique": "u.1"}, gpus=4)
        for n in range(2)
    ]
    found = cluster(*joined, node("single", {**network, host: "h"}, gpus=8))
    assert [name for name, _ in found.topology_keys] == ["block", "rack", "nvlink", "host"]
    assert found.nodes[2].domain("nvlink") is None
    assert found.nodes[2].domain("host") == ("b", "s", "?", "h")


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


def topology(kind: str, name: str, *keys: str) -> Json:
    """A Topology of Kueue or KAI, or a Grove binding."""
    version = {
        "Topology": "kueue.x-k8s.io/v1beta2",
        "KaiTopology": "kai.scheduler/v1alpha1",
        "ClusterTopologyBinding": "grove.io/v1alpha1",
    }[kind]
    steps = [
        {"domain": key.rpartition("/")[2], "key": key}
        if kind == "ClusterTopologyBinding"
        else {"nodeLabel": key}
        for key in keys
    ]
    return {
        "apiVersion": version,
        "kind": kind.removeprefix("Kai"),
        "metadata": {"name": name},
        "spec": {"levels": steps},
    }


def flavor(name: str, topology_name: str) -> Json:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": name},
        "spec": {"topologyName": topology_name},
    }


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"oci.oraclecloud.com/host.network_block_id": "b",
          "oci.oraclecloud.com/host.rack_id": "r"}, ["block", "rack"]),
        ({"backend.coreweave.cloud/flavor": "roce", "backend.coreweave.cloud/fabric": "f",
          "backend.coreweave.cloud/leafgroup": "l", "node.coreweave.cloud/rack": "r"},
         ["fabric", "leaf", "rack"]),
        ({"ib.coreweave.cloud/fabric": "f", "ib.coreweave.cloud/superpod": "s",
          "ib.coreweave.cloud/leafgroup": "l"}, ["fabric", "superpod", "leaf"]),
        ({"crusoe.ai/ib.partition.id": "p", "crusoe.ai/pod.id": "q"}, ["block", "rack"]),
        ({"network.topology.nvidia.com/core": "c", "network.topology.nvidia.com/spine": "s",
          "network.topology.nvidia.com/leaf": "l", "network.topology.nvidia.com/accelerator": "a"},
         ["core", "spine", "rack", "nvlink"]),
        ({"network.topology.nvidia.com/datacenter": "c", "network.topology.nvidia.com/spine": "s",
          "network.topology.nvidia.com/block": "l"}, ["core", "spine", "rack"]),
        ({"fabric.topograph.run/tier-0": "x", "fabric.topograph.run/tier-10": "z",
          "fabric.topograph.run/tier-9": "y", "accelerator.topograph.run/domain": "d",
          "cloud.google.com/gce-topology-block": "b"}, ["tier-10", "tier-9", "rack", "nvlink"]),
        ({"topology.k8s.aws/capacity-block-id": "cb-1"}, []),
        ({"topology.k8s.aws/capacity-block-id": "cb-1",
          "node.kubernetes.io/instance-type": "p6e-gb200.36xlarge"}, ["nvlink"]),
        ({"topology.kubernetes.io/region": "r", "topology.kubernetes.io/zone": "z"}, ["zone"]),
    ],
)  # fmt: skip
def test_every_cloud_and_tool_is_known(labels: Json, expected: list[str]) -> None:
    assert [name for name, _ in levels(labels)] == expected


def test_several_regions_are_a_level_and_one_is_none() -> None:
    zones = [{"topology.kubernetes.io/region": r, "topology.kubernetes.io/zone": f"{r}-a"}
             for r in ("east", "west")]  # fmt: skip
    assert [name for name, _ in levels(*zones)] == ["region", "zone"]


def test_old_zone_labels_stand_beside_new_ones_on_one_level() -> None:
    found = cluster(
        node("old", {"failure-domain.beta.kubernetes.io/zone": "a"}, gpus=1),
        node("new", {"topology.kubernetes.io/zone": "a"}, gpus=1),
    )
    old, new = found.nodes
    assert old.domain("zone") == new.domain("zone") == ("a",)
    assert old.topology[0].key == "failure-domain.beta.kubernetes.io/zone"


def test_each_level_says_why_it_is_proposed() -> None:
    found = cluster(
        node("a", {BLOCK: "b", "topology.kubernetes.io/zone": "z"}, gpus=1),
        node("b", {"topology.kubernetes.io/zone": "z"}, gpus=1),
        topology("Topology", "default", BLOCK, "kubernetes.io/hostname"),
        flavor("h100", "default"),
    )
    assert [(level.name, level.source) for level in found.proposed_levels] == [
        ("zone", "label on 2 of 2 GPU nodes"),
        ("block", "Kueue Topology default of flavor h100"),
    ]


def test_topologies_of_two_flavors_share_levels_of_one_name() -> None:
    found = cluster(
        node("a", {"x.io/block": "1", "x.io/rack": "r"}, gpus=1),
        node("a2", {"x.io/block": "1", "x.io/rack": "r"}, gpus=1),
        node("b", {"y.io/block": "1", "y.io/rack": "r"}, gpus=1),
        topology("Topology", "x", "x.io/block", "x.io/rack"),
        topology("Topology", "y", "y.io/block", "y.io/rack"),
    )
    assert [name for name, _ in found.topology_keys] == ["block", "block", "rack", "rack"]
    a, a2, b = found.nodes
    assert a.domain("rack") == a2.domain("rack") == ("1", "r")
    # The same words of another label are another place.
    assert b.domain("rack") not in (None, a.domain("rack"))


def test_a_stated_topology_counts_by_the_labels_that_nodes_carry_and_the_rest_is_told() -> None:
    labels = {"x.io/block": "1", "x.io/rack": "r", BLOCK: "b"}
    found = cluster(
        node("a", labels, gpus=1), topology("Topology", "d", "x.io/block", "x.io/row", "x.io/rack")
    )
    assert [(level.key, level.source) for level in found.proposed_levels] == [
        (key, "Kueue Topology d (none of the GPU nodes carries x.io/row)")
        for key in ("x.io/block", "x.io/rack")
    ]
    assert "Kueue Topology d: no node carries x.io/row" in found.problems


def test_a_topology_of_nodes_without_gpus_is_no_odd_object() -> None:
    found = cluster(
        node("gpu", {BLOCK: "b"}, gpus=1),
        node("cpu", {"x.io/row": "1"}),
        topology("Topology", "d", "x.io/row"),
    )
    assert [name for name, _ in found.topology_keys] == ["block"]
    assert found.problems == ()


@pytest.mark.parametrize("kind", ["Topology", "KaiTopology", "ClusterTopologyBinding"])
def test_stated_topologies_come_before_any_guess(kind: str) -> None:
    keys = ("example.com/rack-row", "example.com/cab", "kubernetes.io/hostname")
    labels = {keys[0]: "1", keys[1]: "2", BLOCK: "b"}
    found = cluster(node("a", labels, gpus=1), topology(kind, "t", *keys))
    assert [key for _, key in found.topology_keys] == list(keys[:2])


def test_a_key_that_a_gang_asks_for_is_a_level_below_what_holds_it() -> None:
    wanted = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "train", "namespace": "team-a"},
        "spec": {"schedulingConstraints": {"topology": [{"key": "example.com/cell"}]}},
    }
    nodes = [
        node(
            f"n{n}", {BLOCK: f"b{n // 4}", RACK: f"r{n}", "example.com/cell": f"c{n // 2}"}, gpus=1
        )
        for n in range(8)
    ]
    found = cluster(*nodes, wanted)
    assert [name for name, _ in found.topology_keys] == ["block", "cell", "rack"]
    assert found.proposed_levels[1].source == "PodGroup team-a/train asks"


def test_an_nvlink_domain_of_several_hosts_stands_above_the_host() -> None:
    host = "cloud.google.com/gce-topology-host"
    nodes = [
        node(
            f"n{n}", {BLOCK: "b", RACK: "s", host: f"h{n}", "nvidia.com/gpu.clique": "u.1"}, gpus=4
        )
        for n in range(3)
    ]
    found = cluster(*nodes)
    assert [name for name, _ in found.topology_keys] == ["block", "rack", "nvlink", "host"]
    assert len({n.domain("nvlink") for n in found.nodes}) == 1


def test_partitions_of_an_nvlink_domain_are_a_level_where_there_are_several() -> None:
    nodes = [node(f"n{n}", {"nvidia.com/gpu.clique": f"u.{n}"}, gpus=4) for n in range(2)]
    found = cluster(*nodes)
    a, b = found.nodes
    assert a.domain("nvlink") == b.domain("nvlink") == ("u",)
    assert (a.domain("nvlink-partition"), b.domain("nvlink-partition")) == (
        ("u", "u.0"),
        ("u", "u.1"),
    )


def test_a_level_may_not_be_called_like_a_machine() -> None:
    found = cluster(
        node("a", {"example.com/node": "x"}, gpus=1), topology("Topology", "t", "example.com/node")
    )
    assert [name for name, _ in found.topology_keys] == ["node-level"]


def test_levels_can_be_laid_anew_and_taken_back() -> None:
    found = cluster(node("a", {BLOCK: "b", "example.com/cab": "c"}, gpus=1))
    chosen = lay(found, (("cabinet", "example.com/cab"),))
    assert chosen.nodes[0].domain("cabinet") == ("c",)
    assert chosen.nodes[0].domain("block") is None
    assert lay(chosen, ()) == found


def test_the_common_ancestor_is_the_finest_domain_that_holds_all() -> None:
    found = cluster(
        node("a", {BLOCK: "b1", RACK: "r1"}, gpus=1),
        node("b", {BLOCK: "b1", RACK: "r2"}, gpus=1),
        node("c", {BLOCK: "b2", RACK: "r1"}, gpus=1),
        node("d", {BLOCK: "b1"}, gpus=1),
    )
    a, b, c, d = found.nodes
    assert common_ancestor([a, a]) == ("rack", ("b1", "r1"))
    assert common_ancestor([a, b]) == ("block", ("b1",))
    assert common_ancestor([a, d]) == ("block", ("b1",))
    assert common_ancestor([a, c]) is None
    assert common_ancestor([]) is None
