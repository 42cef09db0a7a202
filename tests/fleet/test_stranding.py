"""Free GPUs that nobody can have, by cause; and pieces that suit small pods only."""

from __future__ import annotations

import pytest

from fleet.boards.asked import asked
from fleet.boards.states import NodeFigures, node_figures
from fleet.boards.stranding import why_stranded
from fleet.summary import summarise
from tests.fleet.kubernetes.written import Json, cluster, node, pod

DEDICATED = {"key": "dedicated", "value": "research", "effect": "NoSchedule"}
SOFT = DEDICATED | {"effect": "PreferNoSchedule"}


def figures(*objects: Json, name: str = "node-a") -> NodeFigures:
    found = cluster(*objects)
    (wanted,) = [n for n in found.nodes if n.name == name]
    return node_figures(wanted, asked(found))


def suspended_job(gpus: int, pods: int = 1) -> Json:
    limits = {"nvidia.com/gpu": str(gpus)}
    template = {"spec": {"containers": [{"name": "m", "resources": {"limits": limits}}]}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train", "namespace": "team-a"},
        "spec": {"suspend": True, "parallelism": pods, "template": template},
    }


def test_a_taint_that_no_gpu_workload_tolerates_strands_all_free_gpus() -> None:
    found = figures(node(gpus=8, taints=[DEDICATED]), pod(gpus=1))
    assert (found.free, found.stranded, found.stranded_cause) == (0, 8, "taint")


@pytest.mark.parametrize(
    "toleration",
    [{"key": "dedicated", "operator": "Exists"}, {"key": "dedicated", "value": "research"},
     {"operator": "Exists"}],
)  # fmt: skip
def test_one_workload_that_tolerates_it_is_enough(toleration: Json) -> None:
    found = figures(node(gpus=8, taints=[DEDICATED]), pod(gpus=1, tolerations=[toleration]))
    assert (found.free, found.stranded) == (8, 0)


def test_tolerations_of_different_workloads_do_not_add_up() -> None:
    other = DEDICATED | {"key": "other"}
    pods = [
        pod(f"pod-{key}", gpus=1, tolerations=[{"key": key, "operator": "Exists"}])
        for key in ("dedicated", "other")
    ]
    found = figures(node(gpus=8, taints=[DEDICATED, other]), *pods)
    assert (found.stranded, found.stranded_cause) == (8, "taint")


@pytest.mark.parametrize(
    "taints",
    [[{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}], [SOFT], []],
)
def test_vendor_taints_and_wishes_strand_nothing(taints: list[Json]) -> None:
    assert figures(node(gpus=8, taints=taints), pod(gpus=1)).stranded == 0


def test_where_nobody_asks_for_gpus_a_taint_proves_nothing() -> None:
    plain = pod(requests={"cpu": "1"})
    assert figures(node(gpus=8, taints=[DEDICATED]), plain).stranded == 0


def test_a_daemonset_pod_that_tolerates_everything_is_no_workload() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "exporter", "controller": True}
    daemon = pod(
        "exporter", gpus=1, tolerations=[{"operator": "Exists"}],
        meta={"ownerReferences": [owner]},
    )  # fmt: skip
    found = figures(node(gpus=8, taints=[DEDICATED]), daemon, pod(gpus=1))
    assert found.stranded_cause == "taint"


@pytest.mark.parametrize(
    ("taken", "words"),
    [
        ({"cpu": "95700m"}, "needs 1 CPU beside each GPU, 0.3 left for 8"),
        ({"memory": "998.5Gi"}, "needs 2 GiB of memory beside each GPU, 1.5 GiB left for 8"),
    ],
)
def test_the_cause_comes_with_its_figures(taken: Json, words: str) -> None:
    found = cluster(node(gpus=8), pod(on="node-a", requests=taken))
    (item,) = found.nodes
    assert why_stranded(item, node_figures(item).stranded_cause, 8) == words


def test_the_taint_and_the_pod_places_are_named() -> None:
    (tainted,) = cluster(node(gpus=8, taints=[DEDICATED])).nodes
    assert "dedicated=research:NoSchedule" in why_stranded(tainted, "taint", 8)
    (full,) = cluster(node(gpus=8, resources={"pods": "3"})).nodes
    assert why_stranded(full, "pods", 8) == "all 3 pod places are taken"


def test_fewer_than_the_usual_pod_is_a_fragment_and_still_free() -> None:
    running = [pod(f"p{n}", f"node-{n}", gpus=8) for n in range(3)]
    nodes = [node(f"node-{n}", gpus=8) for n in range(3)]
    found = figures(node(gpus=8), pod(on="node-a", gpus=5), *nodes, *running)
    assert (found.free, found.stranded, found.fragment, found.usual_pod) == (3, 0, 3, 8)


def test_what_waits_counts_as_asked() -> None:
    found = figures(node(gpus=8), pod("held", "node-a", gpus=2), suspended_job(4, pods=2))
    assert (found.free, found.fragment, found.usual_pod) == (6, 2, 4)


def test_what_waits_for_other_nodes_does_not() -> None:
    elsewhere = pod("wide", gpus=8, nodeSelector={"pool": "other"})
    found = figures(node(gpus=8), pod("held", "node-a", gpus=1), elsewhere)
    assert found.fragment == 0


def test_without_demand_an_odd_gpu_is_a_fragment() -> None:
    assert figures(node(gpus=8, allocatable={"nvidia.com/gpu": "7"})).fragment == 1
    assert figures(node(gpus=8)).fragment == 0
    assert figures(node(gpus=1)).fragment == 0


def test_fragments_are_part_of_the_free_in_every_sum() -> None:
    found = cluster(
        node("a", gpus=8), node("b", gpus=8), pod("p", "a", gpus=8), pod("q", "b", gpus=5)
    )
    total = summarise({"one": found}).totals
    assert (total.free, total.fragments, total.stranded) == (3, 3, 0)
    assert total.requested + total.free + total.stranded == total.physical
