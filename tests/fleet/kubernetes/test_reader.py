"""Pods, their owners, gangs and states; controllers; versions: what the inventory makes of them."""

from __future__ import annotations

import json

import pytest

from fleet.inventory import Gang, Owner
from fleet.kubernetes.dump import Source, load
from fleet.kubernetes.reader import read
from fleet.kubernetes.versions import parse_git_version
from tests.fleet.kubernetes.written import Json, cluster, node, pod


def owned(kind: str, name: str, **labels: str) -> Json:
    reference = {"kind": kind, "name": name, "controller": True}
    return {"ownerReferences": [reference], "labels": labels}


def made(kind: str, name: str, owner: tuple[str, str] | None = None, api: str = "apps/v1") -> Json:
    meta: Json = {"name": name, "namespace": "team-a"}
    if owner is not None:
        meta |= owned(*owner)
    return {"apiVersion": api, "kind": kind, "metadata": meta}


@pytest.mark.parametrize(
    ("objects", "meta", "expected"),
    [
        ([], {}, Owner("Pod", "pod-a")),
        ([made("ReplicaSet", "web-5d", ("Deployment", "web"))], owned("ReplicaSet", "web-5d"),
         Owner("Deployment", "web")),
        ([], owned("ReplicaSet", "web-5d", **{"pod-template-hash": "5d"}),
         Owner("Deployment", "web")),
        ([], owned("ReplicaSet", "bare"), Owner("ReplicaSet", "bare")),
        ([made("Job", "nightly-1", ("CronJob", "nightly"), "batch/v1")], owned("Job", "nightly-1"),
         Owner("CronJob", "nightly")),
        ([], owned("Job", "js-0", **{"jobset.sigs.k8s.io/jobset-name": "js"}),
         Owner("JobSet", "js")),
        ([], owned("StatefulSet", "l", **{"leaderworkerset.sigs.k8s.io/name": "lws"}),
         Owner("LeaderWorkerSet", "lws")),
        ([made("ReplicaSet", "a", ("ReplicaSet", "b")),
          made("ReplicaSet", "b", ("ReplicaSet", "a"))],
         owned("ReplicaSet", "a"), Owner("ReplicaSet", "a")),
    ],
)  # fmt: skip
def test_a_pod_belongs_to_the_workload_that_a_person_knows(
    objects: list[Json], meta: Json, expected: Owner
) -> None:
    (found,) = cluster(*objects, pod(gpus=1, meta=meta)).pods
    assert found.owner == expected


@pytest.mark.parametrize(
    ("item", "state", "counted"),
    [
        (pod(on="node-a", gpus=1), "running", 1),
        (pod(gpus=1), "pending", 0),
        (pod(gpus=1, schedulingGates=[{"name": "x"}]), "gated", 0),
        (pod(on="node-a", gpus=1, phase="Succeeded"), "finished", 0),
        (pod(on="node-a", gpus=1, phase="Failed"), "finished", 0),
        (pod(on="node-a", gpus=1, meta={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
         "terminating", 1),
        (pod(on="gone", gpus=1), "orphaned", 0),
        (pod(gpus=1, status={"nominatedNodeName": "node-a"}), "pending", 0),
    ],
)  # fmt: skip
def test_a_pod_holds_gpus_from_binding_until_it_is_gone(
    item: Json, state: str, counted: int
) -> None:
    inventory = cluster(node(gpus=4), item)
    assert inventory.pods[0].state == state
    assert inventory.nodes[0].groups[0].units[0].requested == counted


def test_pods_without_gpus_live_in_the_sums_of_their_node() -> None:
    inventory = cluster(
        node("gpu", gpus=1), node("cpu"),
        pod("a", "cpu", requests={"cpu": "2"}), pod("b", "gpu", requests={"cpu": "3"}),
    )  # fmt: skip
    assert [p.name for p in inventory.pods] == ["b"]
    assert inventory.other_pods == 1
    assert [(n.cpu_requested, n.pods_count) for n in inventory.nodes] == [(3000, 1), (2000, 1)]


def pod_group(api: str, spec: Json) -> Json:
    return made("PodGroup", "g", api=api) | {"spec": spec}


@pytest.mark.parametrize(
    ("group", "meta", "spec", "expected"),
    [
        (pod_group("scheduling.k8s.io/v1beta1", {"schedulingPolicy": {"gang": {"minCount": 4}}}),
         {}, {"schedulingGroup": {"podGroupName": "g"}}, Gang("native", "g", 4)),
        (pod_group("scheduling.k8s.io/v1alpha2", {"schedulingPolicy": {"basic": {}}}),
         {}, {"schedulingGroup": {"podGroupName": "g"}}, Gang("native", "g", None)),
        (pod_group("scheduling.x-k8s.io/v1alpha1", {"minMember": 3}),
         {"labels": {"scheduling.x-k8s.io/pod-group": "g"}}, {}, Gang("coscheduling", "g", 3)),
        (pod_group("scheduling.volcano.sh/v1beta1", {"minMember": 2}),
         {"annotations": {"scheduling.k8s.io/group-name": "g"}}, {}, Gang("volcano", "g", 2)),
        (pod_group("scheduling.run.ai/v2alpha2", {"minMember": 5}),
         {"annotations": {"pod-group-name": "g"}}, {}, Gang("kai", "g", 5)),
        (pod_group("scheduling.x-k8s.io/v1alpha1", {"minMember": 3}),
         {"annotations": {"scheduling.k8s.io/group-name": "g"}}, {}, Gang("volcano", "g", None)),
        (node(), {"labels": {"kueue.x-k8s.io/pod-group-name": "g"},
                  "annotations": {"kueue.x-k8s.io/pod-group-total-count": "6"}}, {},
         Gang("kueue", "g", 6)),
        (node(), {"labels": {"leaderworkerset.sigs.k8s.io/name": "l",
                             "leaderworkerset.sigs.k8s.io/group-index": "1"},
                  "annotations": {"leaderworkerset.sigs.k8s.io/size": "2"}}, {},
         Gang("lws", "l-1", 2)),
        (node(), {}, {}, None),
    ],
)  # fmt: skip
def test_each_gang_system_is_told_from_the_others(
    group: Json, meta: Json, spec: Json, expected: Gang | None
) -> None:
    (found,) = cluster(group, pod(gpus=1, meta=meta, **spec)).pods
    assert found.gang == expected


def template(gpus: int = 8) -> Json:
    limits = {"limits": {"nvidia.com/gpu": str(gpus)}} if gpus else {}
    return {"spec": {"containers": [{"name": "main", "resources": limits}]}}


CONTROLLERS: dict[str, tuple[Json, tuple[int | None, int | None, int]]] = {
    "deployment": (
        made("Deployment", "d") | {"spec": {"replicas": 3, "template": template(1)}}, (3, 1, 3)),
    "deployment by default": (
        made("Deployment", "d") | {"spec": {"template": template(1)}}, (1, 1, 1)),
    "job": (
        made("Job", "j", api="batch/v1") | {"spec": {"parallelism": 4, "template": template()}},
        (4, 4, 32)),
    "job of fewer completions": (
        made("Job", "j", api="batch/v1")
        | {"spec": {"parallelism": 4, "completions": 2, "template": template()}}, (2, 2, 16)),
    "cron job": (
        made("CronJob", "c", api="batch/v1")
        | {"spec": {"jobTemplate": {"spec": {"parallelism": 2, "template": template(1)}}}},
        (2, 2, 2)),
    "job set": (
        made("JobSet", "s", api="jobset.x-k8s.io/v1alpha2")
        | {"spec": {"replicatedJobs": [
            {"name": "driver", "template": {"spec": {"template": template(0)}}},
            {"name": "w", "replicas": 2, "template": {
                "spec": {"parallelism": 2, "template": template()}}}]}}, (5, 5, 32)),
    "leader worker set": (
        made("LeaderWorkerSet", "l", api="leaderworkerset.x-k8s.io/v1")
        | {"spec": {"replicas": 2, "leaderWorkerTemplate": {
            "size": 3, "workerTemplate": template()}}}, (6, 3, 48)),
    "ray cluster": (
        made("RayCluster", "r", api="ray.io/v1")
        | {"spec": {"headGroupSpec": {"template": template(0)}, "workerGroupSpecs": [
            {"groupName": "g", "replicas": 3, "template": template()}]}}, (4, 4, 24)),
    "mpi job": (
        made("MPIJob", "m", api="kubeflow.org/v2beta1")
        | {"spec": {"mpiReplicaSpecs": {"Launcher": {"template": template(0)},
                                        "Worker": {"replicas": 2, "template": template()}}}},
        (3, 3, 16)),
    "train job": (
        made("TrainJob", "t", api="trainer.kubeflow.org/v1alpha1")
        | {"spec": {"trainer": {"numNodes": 2,
                                "resourcesPerNode": {"limits": {"nvidia.com/gpu": "4"}}}}},
        (2, 2, 8)),
    "inference service": (
        made("InferenceService", "i", api="serving.kserve.io/v1beta1")
        | {"spec": {"predictor": {"minReplicas": 2, "model": {
            "resources": {"limits": {"nvidia.com/gpu": "1"}}}}}}, (2, 1, 2)),
    "single pod of many GPUs": (
        made("Job", "j", api="batch/v1") | {"spec": {"template": template()}}, (1, 1, 8)),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTROLLERS)
def test_every_kind_of_workload_says_how_many_pods_and_gpus(name: str) -> None:
    item, expected = CONTROLLERS[name]
    (found,) = cluster(item).controllers
    assert (found.pods_wanted, found.gang_size, found.total_requests["nvidia.com/gpu"]) == expected
    assert found.api_version == item["apiVersion"]


def test_children_of_a_workload_are_not_shown_again() -> None:
    parent = CONTROLLERS["job set"][0]
    child = made("Job", "s-w-0", ("JobSet", "s"), "batch/v1") | {"spec": {"template": template()}}
    assert [c.kind for c in cluster(parent, child).controllers] == ["JobSet"]


def test_a_finished_job_is_no_demand() -> None:
    done = CONTROLLERS["job"][0] | {
        "status": {"conditions": [{"type": "Complete", "status": "True"}]}
    }
    assert cluster(done).controllers == ()


def test_a_queue_label_makes_a_gang_of_all_pods() -> None:
    item = made("Job", "j", api="batch/v1") | {"spec": {"parallelism": 4, "template": template()}}
    item["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "q"}
    (found,) = cluster(item).controllers
    assert found.gang == Gang("kueue", "q", 4)


def test_typed_lists_of_a_live_server_keep_their_version() -> None:
    bare = {
        k: v for k, v in CONTROLLERS["deployment"][0].items() if k not in ("kind", "apiVersion")
    }
    text = json.dumps({"kind": "DeploymentList", "apiVersion": "apps/v1", "items": [bare]})
    (found,) = read(load([Source("live", text.encode())])).controllers
    assert found.api_version == "apps/v1"


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ({"gitVersion": "v1.36.3-gke.1", "major": "1", "minor": "36"}, (1, 36, "gke")),
        ({"gitVersion": "v1.36.0-eks-1", "major": "1", "minor": "36+"}, (1, 36, "eks")),
        ({"gitVersion": "v1.38.0+k3s1"}, (1, 38, "k3s")),
        ({"gitVersion": "strange"}, (None, None, "")),
    ],
)
def test_the_server_version_is_read_as_it_is_written(
    version: Json, expected: tuple[int | None, int | None, str]
) -> None:
    texts = [json.dumps({"serverVersion": version}).encode(), json.dumps(node()).encode()]
    found = read(load([Source("f", text) for text in texts]))
    assert (found.version.major, found.version.minor, found.provider) == expected
    assert found.version.source == "GET /version"


def test_without_a_server_version_the_newest_kubelet_speaks_and_says_so() -> None:
    old = node("old")
    old["status"]["nodeInfo"]["kubeletVersion"] = "v1.9.11"
    found = cluster(old, node("new")).version
    assert (found.minor, found.git_version) == (36, "v1.36.1")
    assert "kubelet" in found.source


def test_an_emulated_version_is_kept_apart() -> None:
    version = {"gitVersion": "v1.37.0", "major": "1", "minor": "37", "emulationMinor": "36"}
    text = json.dumps({"serverVersion": version}).encode()
    assert read(load([Source("f", text)])).version.emulation_minor == 36


@pytest.mark.parametrize("text", ["", "v1", "1.x", "release-1.30", "v1.30rc", "²"])
def test_a_text_that_is_no_version_is_none(text: str) -> None:
    assert parse_git_version(text) is None
