"""Where a device is: on one node, or reachable from several and counted on none."""

from __future__ import annotations

from typing import Any

import pytest

from fleet.inventory_report.report import as_report
from fleet.inventory_totals import totals
from tests.fleet.kubernetes.written import Json, cluster, gpu_device, node
from tests.fleet.kubernetes.written_dra import device, dra_numbers, held, pool_slice

TWO = (gpu_device("gpu-0", "GPU-0"), gpu_device("gpu-1", "GPU-1"))
NODES = (
    node("node-a", {"zone": "a", "size": "8", "fabric": "one"}),
    node("node-b", {"zone": "b", "size": "16"}),
    node("node-c", {"zone": "c", "size": "many"}),
)


def selector(key: str, operator: str, *values: str, fields: bool = False) -> Json:
    rule = {"key": key, "operator": operator, "values": list(values)}
    term = {"matchFields" if fields else "matchExpressions": [rule]}
    return {"nodeSelectorTerms": [term]}


def reached(**where: Any) -> list[str]:
    """The nodes that reach a pool: those it is counted on, or those of the pool apart."""
    found = cluster(*NODES, pool_slice(*TWO, **where))
    on = [each.name for each in found.nodes if each.is_gpu_node]
    return on or [name for pool in found.attached for name in pool.node_names]


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        (selector("zone", "In", "a"), "a"),
        (selector("zone", "In", "c", "a", "a"), "ca"),
        (selector("zone", "NotIn", "a"), "bc"),
        (selector("fabric", "NotIn", "one"), "bc"),  # a node without the label is not "one"
        (selector("fabric", "Exists"), "a"),
        (selector("fabric", "DoesNotExist"), "bc"),
        (selector("size", "Gt", "8"), "b"),
        (selector("size", "Lt", "16"), "a"),
        (selector("size", "Gt", "eight"), ""),
        (selector("size", "Gt", "1", "2"), ""),
        (selector("metadata.name", "In", "node-b", fields=True), "b"),
        (selector("metadata.name", "NotIn", "node-b", fields=True), "ac"),
        (selector("metadata.name", "In", "node-a", "node-b", fields=True), ""),
        (selector("metadata.uid", "In", "node-b", fields=True), ""),
        (selector("zone", "Like", "a"), ""),
        ({"nodeSelectorTerms": [{}]}, ""),
        ({"nodeSelectorTerms": None}, ""),
        (
            {
                "nodeSelectorTerms": [
                    *selector("zone", "In", "b")["nodeSelectorTerms"],
                    *selector("fabric", "Exists")["nodeSelectorTerms"],
                ]
            },
            "ab",
        ),
    ],
)
def test_a_selector_selects_as_the_schedulers_does(rule: Json, names: str) -> None:
    assert reached(nodeSelector=rule) == [f"node-{name}" for name in names]


def test_both_rules_of_a_term_must_hold() -> None:
    rule = selector("zone", "In", "a", "b")
    rule["nodeSelectorTerms"][0]["matchExpressions"].append({"key": "fabric", "operator": "Exists"})
    assert reached(nodeSelector=rule) == ["node-a"]


def test_all_nodes_reach_a_pool_of_all_nodes() -> None:
    assert reached(allNodes=True) == ["node-a", "node-b", "node-c"]


def test_devices_that_several_nodes_reach_are_counted_once_and_on_no_node() -> None:
    attached = pool_slice(*TWO, allNodes=True)
    found = cluster(*NODES, attached, held("c", "gpu-0"))
    assert not any(each.is_gpu_node for each in found.nodes)
    (pool,) = found.attached
    assert (pool.driver, pool.pool, pool.nodes) == ("gpu.nvidia.com", "pool", 3)
    assert (pool.group.model, pool.group.physical) == ("H100-SXM5-80GB", 2)
    assert pool.group.whole_free == 1
    assert [h.claim for h in pool.group.holders] == ["team-a/c"]


def test_attached_devices_are_in_the_clusters_sums_once() -> None:
    local = pool_slice(gpu_device("gpu-9", "GPU-9"), pool="local", name="local")
    found = cluster(*NODES, local, pool_slice(*TWO, allNodes=True), held("c", "gpu-0"))
    report = as_report(found)
    sums = report["totals"]
    assert (sums["physical_gpus"], sums["attached_gpus"]) == (3, 2)
    assert (sums["free_whole_gpus"], sums["requested"], sums["advertised"]) == (2, 1, 3)
    assert sums["by_model"] == {"H100-SXM5-80GB": {"total": 3, "free": 2}}
    assert sums["units"]["dra"] == {"capacity": 3, "allocatable": 3, "requested": 1, "free": 2}
    (pool,) = report["attached"]
    assert (pool["pool"], pool["nodes"], pool["physical_gpus"]) == ("pool", 3, 2)


def test_each_device_may_say_where_it_is() -> None:
    devices = [
        TWO[0] | {"nodeName": "node-a"},
        TWO[1] | {"nodeSelector": selector("zone", "In", "b")},
        device("gpu-2", texts={"uuid": "GPU-2"}, allNodes=True),
    ]
    found = cluster(*NODES, pool_slice(*devices, perDeviceNodeSelection=True))
    assert [dra_numbers(each) for each in found.nodes] == [(1, 1, 0), (1, 1, 0), (0, 0, 0)]
    assert [pool.group.physical for pool in found.attached] == [1]


def test_counters_bind_devices_of_one_pool_across_nodes() -> None:
    sets = {"switch": {"ports": 1}}
    devices = [
        device(f"gpu-{n}", draws={"switch": {"ports": 1}}, nodeName=f"node-{n}") for n in "ab"
    ]
    counters = pool_slice(name="counters", count=2, counters=sets, allNodes=True)
    slices = pool_slice(*devices, count=2, perDeviceNodeSelection=True)
    found = cluster(*NODES, counters, slices, held("c", "gpu-a"))
    assert [dra_numbers(each)[1] for each in found.nodes] == [0, 0, 0]


def test_a_slice_that_says_no_place_is_named() -> None:
    found = cluster(*NODES, pool_slice(*TWO, perDeviceNodeSelection=True))
    assert found.problems == tuple(
        f"DRA pool pool of gpu.nvidia.com, device gpu-{n}: names no node" for n in (0, 1)
    )


def test_devices_of_a_node_that_is_not_there_are_named() -> None:
    found = cluster(*NODES, pool_slice(*TWO, nodeName="node-z"))
    assert not any(each.is_gpu_node for each in found.nodes)
    assert "on 1 nodes that are not there, such as node-z" in found.problems[0]


def test_devices_of_other_drivers_that_several_nodes_reach_are_listed_once() -> None:
    fabric = pool_slice(device("nic-0"), device("nic-1"), driver="dra.net", allNodes=True)
    channel = pool_slice(
        device("channel-0", texts={"type": "channel"}), pool="c", name="c", allNodes=True
    )
    found = cluster(node(), node("node-b"), fabric, channel)
    assert found.others_attached == {"dra.net": 2, "gpu.nvidia.com": 1}
    assert not any(each.other_devices for each in found.nodes)
    assert found.attached == ()
    assert totals(found)["other_attached_devices"] == found.others_attached
