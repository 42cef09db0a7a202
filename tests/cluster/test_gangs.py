"""Native gangs, with the PodGroup API switched on and left off, on both minors."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from fleet.inventory import Gang, GangObject, Inventory, ReadStatus
from fleet.readiness import report
from fleet.readiness.finding import Finding, Verdict
from tests.cluster.client import Object
from tests.cluster.objects import container, gpu_node, gpus, pod
from tests.cluster.planes import Planes, Running
from tests.cluster.product import inventory_of
from tests.cluster.verdicts import bound
from tests.processes import wait_for

RACK = "topology.example.com/rack"
VERSION = {"1.36": "scheduling.k8s.io/v1alpha2", "1.37": "scheduling.k8s.io/v1beta1"}
CONDITION = {"1.36": "PodGroupScheduled", "1.37": "PodGroupInitiallyScheduled"}


def inventory(running: Running) -> Inventory:
    return inventory_of(running.plane.access(running.token))


def finding(found: Inventory, check: str) -> Finding:
    first, *_ = (f for f in report.check(found, today=date(2026, 12, 1)) if f.check == check)
    return first


def racks(running: Running) -> None:
    """Two racks of two nodes with 8 GPUs each."""
    for rack in ("r1", "r2"):
        for number in (1, 2):
            running.admin.create(gpu_node(f"{rack}-{number}", labels={RACK: rack}))


def pod_group(running: Running, name: str, minimum: int | None, *, key: str = "") -> Object:
    """A PodGroup; without a minimum its policy promises nothing."""
    policy: dict[str, Any] = {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}
    spec: dict[str, Any] = {"schedulingPolicy": policy}
    if key:
        spec["schedulingConstraints"] = {"topology": [{"key": key}]}
    return {
        "apiVersion": VERSION[running.minor],
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def members(name: str, count: int) -> list[Object]:
    group = {"podGroupName": name}
    return [pod(f"{name}-{i}", gpus(8), schedulingGroup=group) for i in range(count)]


def of_group(found: Inventory, name: str) -> GangObject:
    (group,) = (g for g in found.gang_objects if (g.kind, g.name) == ("PodGroup", name))
    return group


def test_a_gang_that_fits_is_bound_in_one_domain(rich_cluster: Running) -> None:
    racks(rich_cluster)
    rich_cluster.admin.create(pod_group(rich_cluster, "pair", 2, key=RACK))
    items = members("pair", 2)
    rich_cluster.admin.create_all(items)
    nodes = [bound(rich_cluster.admin, item) for item in items]
    assert len({name.partition("-")[0] for name in nodes}) == 1
    found = inventory(rich_cluster)
    assert {p.gang for p in found.pods} == {Gang("native", "pair", 2)}
    group = of_group(found, "pair")
    assert (group.api_version, group.minimum) == (VERSION[rich_cluster.minor], 2)
    assert group.topology_keys == (RACK,)
    assert group.conditions[CONDITION[rich_cluster.minor]] == "True"
    free = {n.name: n.free(u) for n in found.nodes for g in n.groups for u in g.units}
    assert sorted(free.values()) == [0, 0, 8, 8]


def test_a_gang_that_does_not_fit_waits_whole(rich_cluster: Running) -> None:
    racks(rich_cluster)
    rich_cluster.admin.create(group := pod_group(rich_cluster, "four", 4, key=RACK))
    rich_cluster.admin.create_all(members("four", 4))

    def is_refused() -> bool:
        status = rich_cluster.admin.read(group).get("status") or {}
        return any(c["status"] == "False" for c in status.get("conditions") or ())

    wait_for("the scheduler refuses the gang", is_refused)
    found = inventory(rich_cluster)
    assert [(p.is_demand, p.gang) for p in found.pods] == [(True, Gang("native", "four", 4))] * 4
    assert of_group(found, "four").conditions[CONDITION[rich_cluster.minor]] == "False"
    assert all(n.free(u) == 8 for n in found.nodes for g in n.groups for u in g.units)


def test_a_group_without_a_minimum_promises_nothing(rich_cluster: Running) -> None:
    rich_cluster.admin.create(gpu_node("a"))
    rich_cluster.admin.create(pod_group(rich_cluster, "loose", None))
    rich_cluster.admin.create_all(members("loose", 2))
    found = inventory(rich_cluster)
    assert {p.gang for p in found.pods} == {Gang("native", "loose", None)}
    assert of_group(found, "loose").minimum is None


def test_a_workload_with_templates_is_read(rich_cluster: Running) -> None:
    template = {"name": "workers", "schedulingPolicy": {"gang": {"minCount": 3}}}
    rich_cluster.admin.create(
        {
            "apiVersion": VERSION[rich_cluster.minor],
            "kind": "Workload",
            "metadata": {"name": "training", "namespace": "default"},
            "spec": {"podGroupTemplates": [template]},
        }
    )
    found = inventory(rich_cluster)
    read = found.read("workloads.scheduling.k8s.io")
    assert read is not None
    assert (read.status, read.count) == (ReadStatus.READ, 1)
    assert [g.name for g in found.gang_objects if g.kind == "Workload"] == ["training"]
    assert found.problems == ()


def test_groups_of_groups_are_read(planes: Planes) -> None:
    """Only the newest minor has them: as alpha."""
    running = planes.emptied("1.37", "everything")
    alpha = "scheduling.k8s.io/v1alpha3"
    running.admin.create(
        {
            "apiVersion": alpha,
            "kind": "CompositePodGroup",
            "metadata": {"name": "all", "namespace": "default"},
            "spec": {
                "workloadRef": {"workloadName": "training", "templateName": "all"},
                "schedulingPolicy": {"gang": {"minGroupCount": 2}},
            },
        }
    )
    for name in ("left", "right"):
        group = pod_group(running, name, 4)
        group["apiVersion"] = alpha
        group["spec"] |= {
            "parentCompositePodGroupName": "all",
            "workloadRef": {"workloadName": "training", "templateName": name},
        }
        running.admin.create(group)
    found = inventory(running)
    assert found.problems == ()
    by_name = {g.name: (g.kind, g.minimum) for g in found.gang_objects}
    assert by_name == {
        "all": ("CompositePodGroup", 8),  # pods: two groups of four
        "left": ("PodGroup", 4),
        "right": ("PodGroup", 4),
    }


def indexed_job() -> Object:
    """A job of four pods that need each other: a gang by its meaning."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "training", "namespace": "default"},
        "spec": {
            "parallelism": 4,
            "completions": 4,
            "completionMode": "Indexed",
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [container(limits={"nvidia.com/gpu": "8"})],
                }
            },
        },
    }


def test_where_nobody_switched_it_on_the_answer_is_not_served(cluster: Running) -> None:
    racks(cluster)
    cluster.admin.create(indexed_job())
    found = inventory(cluster)
    for resource in ("podgroups.scheduling.k8s.io", "workloads.scheduling.k8s.io"):
        read = found.read(resource)
        assert read is not None
        assert (read.status, read.count) == (ReadStatus.NOT_SERVED, 0)
    assert found.read("priorityclasses.scheduling.k8s.io").status is ReadStatus.READ  # type: ignore[union-attr]
    answer = finding(found, "gang-api")
    assert answer.verdict is Verdict.FAIL
    stage = {"1.36": "alpha", "1.37": "beta"}[cluster.minor]
    assert stage in answer.detail


@pytest.mark.parametrize("minor", ["1.36", "1.37"])
def test_where_it_is_on_the_answer_says_in_which_stage(planes: Planes, minor: str) -> None:
    running = planes.emptied(minor, "everything")
    racks(running)
    running.admin.create(indexed_job())
    running.admin.create(pod_group(running, "pair", 2))
    items = members("pair", 2)
    running.admin.create_all(items)
    for item in items:
        bound(running.admin, item)
    found = inventory(running)
    assert found.serves(VERSION[minor], "podgroups")
    answer = finding(found, "gang-api")
    assert answer.evidence[0].value == "served"
    wanted = {"1.36": Verdict.WARN, "1.37": Verdict.PASS}  # alpha, beta
    assert answer.verdict is wanted[minor]
