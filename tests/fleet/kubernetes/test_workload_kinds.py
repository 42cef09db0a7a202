"""Kinds of workload objects, each in the words of its own API: pods, GPUs, gang, suspended or not.

Shapes are those of the projects' own types: kubeflow/trainer and training-operator, kserve,
ai-dynamo/grove, volcano-sh/volcano, ray-project/kuberay, kubernetes/api 1.37.
"""

from __future__ import annotations

from typing import Any

import pytest

from fleet.inventory import Controller, Gang, Owner
from fleet.kubernetes.roles import ENDING_KINDS, KINDS
from tests.fleet.kubernetes.written import Json, cluster

GPU = "nvidia.com/gpu"


def made(kind: str, api: str, name: str, spec: Json, **more: Any) -> Json:
    meta = {"name": name, "namespace": "team-a"} | more.pop("meta", {})
    return {"apiVersion": api, "kind": kind, "metadata": meta, "spec": spec} | more


def pod_spec(gpus: int, name: str = "main", **more: Any) -> Json:
    limits = {"limits": {GPU: str(gpus)}} if gpus else {}
    return {"containers": [{"name": name, "resources": limits}]} | more


def template(gpus: int, name: str = "main") -> Json:
    return {"spec": pod_spec(gpus, name)}


def only(*objects: Json) -> Controller:
    (found,) = cluster(*objects).controllers
    return found


def sums(found: Controller) -> tuple[int | None, int | None, int, int]:
    """Pods, pods of a gang, gangs, GPUs."""
    return found.pods_wanted, found.gang_size, found.groups, found.total_requests.get(GPU, 0)


KUBEFLOW = {
    "PyTorchJob": "pytorchReplicaSpecs",
    "TFJob": "tfReplicaSpecs",
    "XGBoostJob": "xgbReplicaSpecs",
    "PaddleJob": "paddleReplicaSpecs",
    "JAXJob": "jaxReplicaSpecs",
    "MPIJob": "mpiReplicaSpecs",
}


@pytest.mark.parametrize("kind", KUBEFLOW)
def test_every_operator_of_kubeflow_is_read_by_its_own_field(kind: str) -> None:
    replicas = {
        "Master": {"template": template(8)}, "Worker": {"replicas": 3, "template": template(8)},
    }  # fmt: skip
    api = "kubeflow.org/v2beta1" if kind == "MPIJob" else "kubeflow.org/v1"
    item = made(kind, api, "j", {KUBEFLOW[kind]: replicas, "runPolicy": {"suspend": True}})
    found = only(item)
    assert (found.kind, sums(found), found.suspended) == (kind, (4, 4, 1, 32), True)


def runtime(*jobs: Json, kind: str = "ClusterTrainingRuntime", **spec: Any) -> Json:
    meta = {"namespace": ""} if kind == "ClusterTrainingRuntime" else {}
    body = {"template": {"spec": {"replicatedJobs": list(jobs)}}} | spec
    return made(kind, "trainer.kubeflow.org/v1alpha1", "torch", body, meta=meta)


def step(name: str, gpus: int, ancestor: str = "", container: str = "node", **spec: Any) -> Json:
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": ancestor} if ancestor else {}
    body = {"template": template(gpus, container)} | spec
    return {"name": name, "template": {"metadata": {"labels": labels}, "spec": body}}


def train_job(**spec: Any) -> Json:
    body = {"runtimeRef": {"name": "torch"}, "suspend": True} | spec
    return made("TrainJob", "trainer.kubeflow.org/v1alpha1", "fit", body)


NODE = step("node", 8, "trainer")
LOADER = step("dataset-initializer", 0, "dataset-initializer", "dataset-initializer")
TORCH = {"mlPolicy": {"numNodes": 2, "torch": {}}}
MPI = {"mlPolicy": {"numNodes": 4, "mpi": {"runLauncherAsNode": True}}}


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        # the runtime says how many nodes of which shape
        ([runtime(LOADER, NODE, **TORCH), train_job()], (2, 2, 1, 16)),
        # the job says so itself
        ([runtime(NODE, **TORCH), train_job(trainer={"numNodes": 5})], (5, 5, 1, 40)),
        ([runtime(NODE, **TORCH),
          train_job(trainer={"resourcesPerNode": {"limits": {GPU: "4"}}})], (2, 2, 1, 8)),
        # without a policy for nodes the Job's own parallelism stays
        ([runtime(step("node", 1, "trainer", parallelism=3)), train_job()], (3, 3, 1, 3)),
        # MPI: the launcher is the first node, the other job holds the rest
        ([runtime(step("launcher", 8, "trainer"), step("node", 8), **MPI), train_job()],
         (4, 4, 1, 32)),
        # a runtime of the namespace, by kind
        ([runtime(NODE, kind="TrainingRuntime", **TORCH),
          train_job(runtimeRef={"name": "torch", "kind": "TrainingRuntime"})], (2, 2, 1, 16)),
        # a runtime that was not read: only the job's own words
        ([train_job(trainer={"numNodes": 2, "resourcesPerNode": {"limits": {GPU: "4"}}})],
         (2, 2, 1, 8)),
        ([runtime(NODE, kind="TrainingRuntime", **TORCH), train_job()], (1, 1, 1, 0)),
    ],
)  # fmt: skip
def test_a_suspended_train_job_asks_for_what_its_runtime_gives_it(
    objects: list[Json], expected: tuple[int, int, int, int]
) -> None:
    found = only(*objects)
    assert (sums(found), found.suspended) == (expected, True)


@pytest.mark.parametrize(
    ("policy", "system"), [({"coscheduling": {}}, "coscheduling"), ({"volcano": {}}, "volcano")]
)
def test_a_runtime_with_a_pod_group_policy_makes_a_gang_of_all_nodes(
    policy: Json, system: str
) -> None:
    found = only(runtime(NODE, podGroupPolicy=policy, **TORCH), train_job())
    assert found.gang == Gang(system, "fit", 2)


def test_a_train_job_hides_the_job_set_that_it_made() -> None:
    child = made(
        "JobSet", "jobset.x-k8s.io/v1alpha2", "fit",
        {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": template(8)}}}]},
        meta={"ownerReferences": [{"kind": "TrainJob", "name": "fit", "controller": True}]},
    )  # fmt: skip
    found = only(runtime(NODE, **TORCH), train_job(), child)
    assert found.kind == "TrainJob"


def llm(**spec: Any) -> Json:
    return made("LLMInferenceService", "serving.kserve.io/v1alpha2", "llm", spec)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"template": pod_spec(2)}, (1, 1, 1, 2)),
        ({"replicas": 3, "template": pod_spec(2)}, (3, 1, 3, 6)),
        ({"scaling": {"minReplicas": 2, "maxReplicas": 9}, "template": pod_spec(2)}, (2, 1, 2, 4)),
        ({"replicas": 0, "template": pod_spec(2)}, (0, 1, 0, 0)),
        # data parallel: 16 ranks, 8 on each pod
        ({"replicas": 2, "parallelism": {"data": 16, "dataLocal": 8}, "template": pod_spec(8),
          "worker": pod_spec(8)}, (4, 2, 2, 32)),
        ({"parallelism": {"pipeline": 3}, "template": pod_spec(8), "worker": pod_spec(8)},
         (3, 3, 1, 24)),
        # decode and prefill apart
        ({"replicas": 1, "template": pod_spec(4), "prefill": {"replicas": 2,
          "template": pod_spec(1)}}, (3, 1, 3, 6)),
    ],
)  # fmt: skip
def test_an_llm_service_is_read_by_its_parallelism(
    spec: Json, expected: tuple[int, int, int, int]
) -> None:
    assert sums(only(llm(**spec))) == expected


def owned(kind: str, name: str) -> Json:
    return {"ownerReferences": [{"kind": kind, "name": name, "controller": True}]}


def deployment(name: str, replicas: int, meta: Json) -> Json:
    return made("Deployment", "apps/v1", name, {"replicas": replicas, "template": template(4)},
                meta=meta)  # fmt: skip


def test_a_service_whose_template_is_elsewhere_is_told_by_what_it_made() -> None:
    child = deployment("llm-kserve", 2, owned("LLMInferenceService", "llm"))
    inner = made("ReplicaSet", "apps/v1", "llm-kserve-5d", {"replicas": 2, "template": template(4)},
                 meta=owned("Deployment", "llm-kserve"))  # fmt: skip
    found = only(llm(model={"uri": "hf://a/b"}), child, inner)
    assert (found.kind, found.name, sums(found)) == ("LLMInferenceService", "llm", (2, 1, 2, 8))


def test_a_service_on_knative_is_told_by_the_deployment_that_carries_its_name() -> None:
    labels = {"serving.kserve.io/inferenceservice": "i", "serving.knative.dev/service": "i-p"}
    child = deployment("i-p-1-deployment", 3, owned("Revision", "i-p-1") | {"labels": labels})
    service = made("InferenceService", "serving.kserve.io/v1beta1", "i",
                   {"predictor": {"model": {"resources": {}}}})  # fmt: skip
    found = only(service, child)
    assert (found.kind, found.name, sums(found)) == ("InferenceService", "i", (3, 1, 3, 12))


def test_an_owner_that_was_not_read_hides_nothing_and_is_named() -> None:
    found = only(deployment("llm-kserve", 2, owned("LLMInferenceService", "llm")))
    assert (found.kind, found.top) == ("Deployment", Owner("LLMInferenceService", "llm"))
    cluster_of_job = made("RayCluster", "ray.io/v1", "r-x", {"headGroupSpec": {
        "template": template(1)}}, meta=owned("RayJob", "r"))  # fmt: skip
    assert only(cluster_of_job).top == Owner("RayJob", "r")


def test_owners_that_own_each_other_are_both_shown() -> None:
    items = [
        made("Job", "batch/v1", name, {"template": template(1)}, meta=owned("Job", other))
        for name, other in (("a", "b"), ("b", "a"))
    ]
    assert sorted(c.name for c in cluster(*items).controllers) == ["a", "b"]


def clique(name: str, gpus: int, replicas: int, minimum: int | None = None) -> Json:
    spec = {"roleName": name, "replicas": replicas, "podSpec": pod_spec(gpus)}
    return {"name": name, "spec": spec | ({"minAvailable": minimum} if minimum else {})}


@pytest.mark.parametrize(
    ("replicas", "cliques", "groups", "expected", "minimum"),
    [
        (1, [clique("p", 1, 2), clique("d", 2, 3)], [], (5, 5, 1, 8), 5),
        (3, [clique("p", 1, 2)], [], (6, 2, 3, 6), 2),
        (1, [clique("p", 1, 4, 2)], [], (4, 4, 1, 4), 2),
        # leader and workers scale together: two copies, of which one starts with the gang
        (1, [clique("front", 1, 1), clique("lead", 8, 1), clique("work", 8, 3)],
         [{"name": "sg", "cliqueNames": ["lead", "work"], "replicas": 2}], (9, 5, 1, 65), 5),
        (1, [clique("lead", 8, 1), clique("work", 8, 3)],
         [{"name": "sg", "cliqueNames": ["lead", "work"], "replicas": 2, "minAvailable": 2}],
         (8, 8, 1, 64), 8),
        (0, [clique("p", 1, 2)], [], (0, 1, 1, 0), 2),
    ],
)  # fmt: skip
def test_a_clique_set_is_a_gang_for_each_of_its_replicas(
    replicas: int,
    cliques: list[Json],
    groups: list[Json],
    expected: tuple[int, int, int, int],
    minimum: int,
) -> None:
    spec = {"replicas": replicas,
            "template": {"cliques": cliques, "podCliqueScalingGroups": groups}}  # fmt: skip
    found = only(made("PodCliqueSet", "grove.io/v1alpha1", "pcs", spec))
    assert (sums(found), found.gang) == (expected, Gang("grove", "pcs", minimum))


def vcjob(**status: Any) -> Json:
    tasks = [{"name": "w", "replicas": 4, "template": template(1)}]
    spec = {"minAvailable": 3, "tasks": tasks}
    return made("Job", "batch.volcano.sh/v1alpha1", "v", spec, status=status)


@pytest.mark.parametrize(
    ("phase", "shown", "suspended"),
    [("Running", True, False), ("Aborted", True, True), ("Aborting", True, True),
     ("Completed", False, False), ("Failed", False, False), ("Terminated", False, False)],
)  # fmt: skip
def test_a_volcano_job_that_was_stopped_is_demand_and_one_that_ended_is_none(
    phase: str, shown: bool, suspended: bool
) -> None:
    found = cluster(vcjob(state={"phase": phase})).controllers
    assert [(c.suspended, c.gang) for c in found] == (
        [(suspended, Gang("volcano", "v", 3))] if shown else []
    )


@pytest.mark.parametrize("status", ["Complete", "Failed"])
def test_a_ray_job_that_ended_is_no_demand(status: str) -> None:
    spec = {"rayClusterSpec": {"headGroupSpec": {"template": template(1)}}}
    item = made("RayJob", "ray.io/v1", "r", spec, status={"jobDeploymentStatus": status})
    assert cluster(item).controllers == ()


@pytest.mark.parametrize(
    ("limits", "pods"),
    [
        ({}, 0),
        ({"replicas": 2}, 2),
        ({"minReplicas": 3}, 3),
        ({"replicas": 1, "minReplicas": 3, "maxReplicas": 5}, 3),
        ({"replicas": 9, "minReplicas": 3, "maxReplicas": 5}, 5),
        ({"replicas": 4, "minReplicas": 3, "maxReplicas": 5, "numOfHosts": 2}, 8),
        ({"replicas": 2, "maxReplicas": 0}, 0),
    ],
)
def test_ray_wants_as_many_workers_as_the_limits_of_their_group_let_it(
    limits: Json, pods: int
) -> None:
    item = made("RayCluster", "ray.io/v1", "r", {"workerGroupSpecs": [
        {"groupName": "w", "template": template(8)} | limits]})  # fmt: skip
    assert only(item).pods_wanted == pods


def test_every_kind_that_is_called_a_job_runs_to_an_end() -> None:
    assert {kind for kind in KINDS if kind.endswith("Job")} | {"JobSet"} == ENDING_KINDS


def test_a_suspended_group_of_ray_workers_wants_no_pods() -> None:
    groups = [{"groupName": name, "replicas": 2, "suspend": held, "template": template(8)}
              for name, held in (("a", False), ("b", True))]  # fmt: skip
    item = made("RayCluster", "ray.io/v1", "r", {"workerGroupSpecs": groups})
    assert only(item).total_requests == {GPU: 16}


@pytest.mark.parametrize(
    ("policy", "gang"),
    [({"gang": {"minCount": 3}}, Gang("native", "j", 3)), ({"gang": {}}, Gang("native", "j", 4)),
     ({"basic": {}}, None)],
)  # fmt: skip
def test_a_job_of_1_37_may_say_that_it_is_a_gang(policy: Json, gang: Gang | None) -> None:
    spec = {"parallelism": 4, "template": template(1), "scheduling": {"schedulingPolicy": policy}}
    assert only(made("Job", "batch/v1", "j", spec)).gang == gang


@pytest.mark.parametrize(
    "framework", ["triton", "huggingface", "pytorch", "tensorflow", "onnx", "sklearn"]
)
def test_an_old_predictor_is_read_by_its_framework(framework: str) -> None:
    predictor = {framework: {"resources": {"limits": {GPU: "2"}}}, "minReplicas": 2}
    item = made("InferenceService", "serving.kserve.io/v1beta1", "i", {"predictor": predictor})
    assert sums(only(item)) == (2, 1, 2, 4)


@pytest.mark.parametrize("number", [-1, 2**31 - 1, None])
def test_absurd_counts_are_bounded(number: int | None) -> None:
    parallel = {"data": number, "dataLocal": number}
    items = [
        llm(replicas=number, template=pod_spec(1), parallelism=parallel, worker=pod_spec(1)),
        train_job(trainer={"numNodes": number}),
        made("PodCliqueSet", "grove.io/v1alpha1", "pcs", {"replicas": number, "template": {
            "cliques": [clique("p", 1, 3)], "podCliqueScalingGroups": [
                {"name": "s", "cliqueNames": ["p"], "replicas": number, "minAvailable": number}]}}),
    ]  # fmt: skip
    for found in cluster(*items).controllers:
        assert 0 <= (found.pods_wanted or 0) <= 200_000
