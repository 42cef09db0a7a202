"""The synthetic cluster that the benchmarks read: the same every time, and it reads as meant."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from itertools import islice

from benchmarks import big_cluster
from fleet.inventory import Inventory
from fleet.kubernetes import reader
from fleet.kubernetes.dump import Source, load
from fleet.summary import summarise

NODES, PODS = 160, 4_800


@cache
def small() -> tuple[Inventory, tuple[str, ...]]:
    """A small cluster through the pages of a LIST, and what was odd in those pages."""
    sources = [
        Source(f"{key}.json", b"\n".join(big_cluster.list_pages(items, 300)))
        for key, items in big_cluster.resources(PODS, NODES).items()
    ]
    raw = load(sources)
    return reader.read(raw), raw.problems


def test_every_node_and_every_pod_is_read_without_a_complaint() -> None:
    inventory, problems = small()

    assert problems == ()
    assert inventory.problems == ()
    assert len(inventory.nodes) == NODES
    assert len(inventory.pods) + inventory.other_pods == PODS


def test_the_generations_are_mixed_and_all_of_them_are_known() -> None:
    inventory, _ = small()

    models = {group.model for node in inventory.nodes for group in node.groups}
    assert models >= {"H100-SXM5-80GB", "A100-SXM4-80GB", "L40S", "T4", "MI300X", "B200"}
    assert None not in models
    sharing = {group.sharing for node in inventory.nodes for group in node.groups}
    assert {"whole", "mig-mixed", "time-slicing"} <= sharing


def test_pods_hold_about_four_fifths_of_the_gpus_and_never_more_than_there_are() -> None:
    inventory, _ = small()

    totals = summarise({"big": inventory}).totals
    assert 0.7 < totals.requested / totals.physical < 0.9
    assert totals.free > 0
    for node in inventory.nodes:
        assert node.cpu_requested <= node.cpu_allocatable
        assert node.memory_requested_mib <= node.memory_allocatable_mib
        for group in node.groups:
            assert all(unit.requested <= unit.allocatable for unit in group.units)


def test_some_nodes_are_in_trouble_and_some_pods_wait() -> None:
    inventory, _ = small()

    assert 0 < sum(not node.schedulable for node in inventory.nodes) < NODES / 8
    assert any(pod.is_demand for pod in inventory.pods)
    assert [level for level, _key in inventory.topology_keys][:3] == ["zone", "block", "rack"]


def test_pods_are_known_by_the_workload_that_is_there() -> None:
    inventory, _ = small()

    known = {(c.namespace, c.kind, c.name) for c in inventory.controllers}
    owners = {(p.namespace, p.owner.kind, p.owner.name) for p in inventory.pods}
    kinds = Counter(kind for _namespace, kind, _name in owners)
    assert set(kinds) == {"Deployment", "StatefulSet", "Job", "DaemonSet"}
    assert {owner for owner in owners if owner[1] in ("Deployment", "Job")} <= known


def test_no_two_pods_share_a_name() -> None:
    pods = list(big_cluster.pods(PODS, NODES))

    assert len({(p["metadata"]["namespace"], p["metadata"]["name"]) for p in pods}) == PODS


def test_a_pod_weighs_what_a_real_one_does() -> None:
    sizes = [len(pod) for pod in big_cluster.encoded(big_cluster.pods(600, 20))]

    assert 6_000 < sum(sizes) / len(sizes) < 8_500
    for pod in big_cluster.pods(50, 5):
        containers = pod["spec"]["containers"]
        assert len(containers) == 2
        assert sum(len(container["env"]) for container in containers) == 25
        assert len(pod["metadata"]["annotations"]) == 5


def test_it_is_the_same_cluster_every_time_and_made_one_object_at_a_time() -> None:
    first = list(big_cluster.encoded(islice(big_cluster.pods(150_000, 5_000), 40)))

    assert first == list(big_cluster.encoded(islice(big_cluster.pods(150_000, 5_000), 40)))


def test_pages_of_a_list_follow_each_other() -> None:
    bodies = [json.loads(body) for body in big_cluster.list_pages(big_cluster.nodes(25), 10)]

    assert [len(body["items"]) for body in bodies] == [10, 10, 5]
    assert [body["metadata"]["continue"] for body in bodies] == ["page-1", "page-2", ""]
    assert {body["kind"] for body in bodies} == {"NodeList"}


def test_a_list_of_nothing_is_one_empty_page() -> None:
    (body,) = big_cluster.list_pages([])

    assert json.loads(body)["items"] == []


def test_what_a_server_sets_itself_is_not_sent_to_it() -> None:
    node = big_cluster.creatable(next(big_cluster.nodes(1)))
    pod = big_cluster.creatable(next(big_cluster.pods(30, 1)))

    for item in (node, pod):
        assert not {"uid", "resourceVersion", "managedFields"} & set(item["metadata"])
    assert "capacity" in node["status"]
    assert "status" not in pod
