"""Room that is kept for nominated pods: theirs before pods of the same or a lower priority."""

from __future__ import annotations

from typing import Any

import pytest

from fleet.inventory_report.report import as_report
from tests.fleet.kubernetes.written import Json, cluster, node, pod

GPU = "nvidia.com/gpu"


def nominated(gpus: int, priority: int = 0, name: str = "big") -> Json:
    return pod(name, gpus=gpus, status={"nominatedNodeName": "node-a"}, priority=priority)


def places(name: str, *objects: Json) -> list[str]:
    told = as_report(cluster(node(gpus=8), *objects))["fits"]["pods"][f"team-a/{name}"]
    found: list[str] = told["nodes"]
    return found


@pytest.mark.parametrize(
    ("priority", "gpus", "fits"), [(0, 1, False), (-5, 1, False), (7, 1, True), (0, 2, False)]
)
def test_a_pod_of_the_same_or_a_lower_priority_leaves_the_room(
    priority: int, gpus: int, fits: bool
) -> None:
    other = pod("other", gpus=gpus, priority=priority)
    assert bool(places("other", nominated(8), other)) is fits


def test_the_nominated_pod_itself_has_the_room() -> None:
    assert places("big", nominated(8)) == ["node-a"]


def test_what_the_nominated_pod_does_not_need_is_free() -> None:
    assert places("other", nominated(5), pod("other", gpus=3)) == ["node-a"]
    assert places("other", nominated(5), pod("other", gpus=4)) == []


def test_a_node_that_is_full_says_so_with_no_number_below_zero() -> None:
    objects = [pod("old", "node-a", gpus=8), nominated(8), pod("other", gpus=1)]
    told = as_report(cluster(node(gpus=8), *objects))["fits"]["pods"]["team-a/other"]
    assert [(why["reason"], why["most"]) for why in told["why_not"]] == [("in-use", 0)]


def job(**more: Any) -> Json:
    body = {"containers": [{"name": "main", "resources": {"limits": {GPU: "4"}}}]} | more
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": "train", "namespace": "team-a"},
            "spec": {"parallelism": 2, "completions": 2, "template": {"spec": body}}}  # fmt: skip


URGENT = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
          "metadata": {"name": "urgent"}, "value": 100}  # fmt: skip


@pytest.mark.parametrize(("more", "fits"), [({}, False), ({"priorityClassName": "urgent"}, True)])
def test_a_workload_is_judged_by_the_priority_of_its_template(more: Json, fits: bool) -> None:
    told = as_report(cluster(node(gpus=8), URGENT, nominated(4), job(**more)))
    assert told["fits"]["workloads"]["team-a/train"]["fits"] is fits
    assert told["totals"]["nominated_gpus"] == 4


def test_the_room_of_its_own_pods_is_a_workload_s_own() -> None:
    own = nominated(4, name="train-0")
    own["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job",
                                           "name": "train", "controller": True}]  # fmt: skip
    told = as_report(cluster(node(gpus=8), own, job()))
    assert told["fits"]["workloads"]["team-a/train"]["fits"] is True
