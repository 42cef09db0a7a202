"""Pods and the workload that a person knows them by."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.inventory import Owner
from fleet.kubernetes.objects_core import Metadata, OwnerReference
from fleet.kubernetes.owners import Parents, is_daemon, owner_of

Chain = tuple[str, str]
SPACE = "team-a"


def meta(
    name: str, *owners: Chain, uid: str = "", labels: dict[str, str] | None = None
) -> Metadata:
    """Metadata of an object whose controller is the first of ``owners``."""
    references = [
        OwnerReference(kind=kind, name=owner, controller=place == 0)
        for place, (kind, owner) in enumerate(owners)
    ]
    return Metadata(name=name, namespace=SPACE, uid=uid, ownerReferences=references, labels=labels)


def parents(*objects: tuple[str, Metadata]) -> Parents:
    return Parents(("", kind, each) for kind, each in objects)


@pytest.mark.parametrize(
    "chain",
    [
        [("ReplicaSet", "web-5d"), ("Deployment", "web")],
        [("ReplicaSet", "web-5d"), ("Rollout", "web")],
        [("StatefulSet", "db")],
        [("DaemonSet", "dcgm")],
        [("Job", "train-1")],
        [("Job", "nightly-29"), ("CronJob", "nightly")],
        [("Job", "js-w-0"), ("JobSet", "js")],
        [("Job", "fit-node-0"), ("JobSet", "fit"), ("TrainJob", "fit")],
        [("StatefulSet", "vllm"), ("LeaderWorkerSet", "vllm")],
        [("StatefulSet", "llm-mn"), ("LeaderWorkerSet", "llm-mn"), ("LLMInferenceService", "llm")],
        [("RayCluster", "r-x7"), ("RayJob", "r")],
        [("RayCluster", "s-x7"), ("RayService", "s")],
        [("PyTorchJob", "p")],
        [("Job", "m-launcher"), ("MPIJob", "m")],
        [("XGBoostJob", "x")],
        [("ReplicaSet", "i-5d"), ("Deployment", "i-predictor"), ("InferenceService", "i")],
        [("PodClique", "g-0-w"), ("PodCliqueScalingGroup", "g-0-sg"), ("PodCliqueSet", "g")],
        [("RayCluster", "r-x7"), ("RayJob", "r"), ("AppWrapper", "aw")],
        [("ReplicaSet", "f-5d"), ("Deployment", "f"), ("FlinkDeployment", "f")],
        [("TaskRun", "build-1"), ("PipelineRun", "build")],
        [("SparkApplication", "etl")],
        [("Workflow", "wf")],
        [("RunaiJob", "t"), ("TrainingWorkload", "t")],
    ],
    ids=lambda chain: "-".join(kind for kind, _ in chain),
)
def test_a_chain_is_followed_to_its_end(chain: list[Chain]) -> None:
    """Every object between the pod and the workload was read; the last one may be of any kind."""
    between = [(kind, meta(name, above)) for (kind, name), above in pairwise(chain)]
    assert owner_of(meta("pod-a", chain[0]), parents(*between)) == Owner(*chain[-1])


LABELLED: dict[str, tuple[Chain, dict[str, str], Owner]] = {
    "Deployment": (
        ("ReplicaSet", "web-5d"), {"pod-template-hash": "5d"}, Owner("Deployment", "web")),
    "Rollout": (
        ("ReplicaSet", "web-5d"), {"rollouts-pod-template-hash": "5d"}, Owner("Rollout", "web")),
    "hash of another": (
        ("ReplicaSet", "web-5d"), {"pod-template-hash": "77"}, Owner("ReplicaSet", "web-5d")),
    "JobSet": (
        ("Job", "js-w-0"), {"jobset.sigs.k8s.io/jobset-name": "js"}, Owner("JobSet", "js")),
    "LeaderWorkerSet worker": (  # owned by a StatefulSet that its leader pod owns
        ("StatefulSet", "l-0"), {"leaderworkerset.sigs.k8s.io/name": "l"},
        Owner("LeaderWorkerSet", "l")),
    "RayJob": (
        ("RayCluster", "r-x7"), {"ray.io/originated-from-cr-name": "r",
                                 "ray.io/originated-from-crd": "RayJob",
                                 "ray.io/cluster": "r-x7"},
        Owner("RayJob", "r")),
    "RayCluster": (("RayCluster", "r"), {"ray.io/cluster": "r"}, Owner("RayCluster", "r")),
    "MPIJob": (
        ("MPIJob", "m"), {"training.kubeflow.org/job-name": "m"}, Owner("MPIJob", "m")),
    "launcher of an MPIJob": (
        ("Job", "m-launcher"), {"training.kubeflow.org/job-name": "m"}, Owner("MPIJob", "m")),
    "InferenceService on Knative": (
        ("ReplicaSet", "i-5d"), {"serving.kserve.io/inferenceservice": "i",
                                 "serving.knative.dev/service": "i-predictor",
                                 "pod-template-hash": "5d"},
        Owner("InferenceService", "i")),
    "Knative": (
        ("ReplicaSet", "k-1-deployment-5d"), {"serving.knative.dev/service": "k",
                                              "serving.knative.dev/revision": "k-1"},
        Owner("Knative Service", "k")),
    "LLMInferenceService": (
        ("ReplicaSet", "llm-kserve-5d"), {"app.kubernetes.io/part-of": "llminferenceservice",
                                          "app.kubernetes.io/name": "llm"},
        Owner("LLMInferenceService", "llm")),
    "Grove": (
        ("PodClique", "g-0-w"), {"app.kubernetes.io/managed-by": "grove-operator",
                                 "app.kubernetes.io/part-of": "g"},
        Owner("PodCliqueSet", "g")),
    "part of anything else": (
        ("PodClique", "g-0-w"), {"app.kubernetes.io/part-of": "g"}, Owner("PodClique", "g-0-w")),
    "Spark executor": (  # owned by the driver pod
        ("Pod", "etl-driver"), {"sparkoperator.k8s.io/app-name": "etl"},
        Owner("SparkApplication", "etl")),
    "Tekton": (
        ("TaskRun", "b-1"), {"tekton.dev/pipelineRun": "b", "tekton.dev/taskRun": "b-1"},
        Owner("PipelineRun", "b")),
    "AppWrapper": (
        ("Job", "j"), {"workload.codeflare.dev/appwrapper": "aw"}, Owner("AppWrapper", "aw")),
}  # fmt: skip


@pytest.mark.parametrize("name", LABELLED)
def test_labels_speak_where_the_object_between_was_not_read(name: str) -> None:
    first, labels, expected = LABELLED[name]
    assert owner_of(meta("pod-a", first, labels=labels), parents()) == expected


def test_a_chain_goes_on_above_what_a_label_names() -> None:
    labels = {"jobset.sigs.k8s.io/jobset-name": "fit"}
    pod = meta("pod-a", ("Job", "fit-node-0"), labels=labels)
    known = parents(("JobSet", meta("fit", ("TrainJob", "fit"))))
    assert owner_of(pod, known) == Owner("TrainJob", "fit")


def test_an_object_that_was_read_and_has_no_owner_is_believed_before_a_label() -> None:
    pod = meta("pod-a", ("Deployment", "mine"), labels={"ray.io/cluster": "not-mine"})
    assert owner_of(pod, parents(("Deployment", meta("mine")))) == Owner("Deployment", "mine")


def test_the_controller_wins_over_other_owners() -> None:
    pod = meta("pod-a", ("Job", "j"), ("Workload", "w"))
    assert owner_of(pod, parents()) == Owner("Job", "j")


def test_an_owner_that_is_no_controller_is_better_than_none() -> None:
    pod = Metadata(
        name="pod-a",
        namespace=SPACE,
        ownerReferences=[OwnerReference(kind="Dask", name="d"), OwnerReference(kind="X", name="x")],
    )
    assert owner_of(pod, parents()) == Owner("Dask", "d")


def test_a_pod_without_owners_is_its_own() -> None:
    assert owner_of(meta("pod-a"), parents()) == Owner("Pod", "pod-a")


def test_a_static_pod_belongs_to_its_node() -> None:
    found = owner_of(meta("etcd-n1", ("Node", "n1"), labels={"ray.io/cluster": "r"}), parents())
    assert found == Owner("Node", "n1")
    assert is_daemon(found)


def test_jobs_of_two_api_groups_with_one_name_are_told_apart_by_their_uid() -> None:
    known = parents(
        ("Job", meta("x", ("CronJob", "nightly"), uid="1")),
        ("Job", meta("x", ("VirtualJob", "v"), uid="2")),
    )
    pods = [meta("pod-a", ("Job", "x")) for _ in range(2)]
    for pod, uid in zip(pods, "12", strict=True):
        assert pod.ownerReferences is not None
        pod.ownerReferences[0].uid = uid
    assert [owner_of(pod, known).kind for pod in pods] == ["CronJob", "VirtualJob"]


@pytest.mark.parametrize("uid", ["", "gone"])
def test_jobs_of_two_api_groups_are_told_apart_by_their_group(uid: str) -> None:
    known = Parents(
        [
            ("batch", "Job", meta("x", ("CronJob", "nightly"), uid="1")),
            ("batch.volcano.sh", "Job", meta("x", ("VirtualJob", "v"), uid="2")),
        ]
    )
    pods = [meta("pod-a", ("Job", "x")) for _ in range(3)]
    for pod, api in zip(pods, ("batch/v1", "batch.volcano.sh/v1alpha1", "other/v1"), strict=True):
        assert pod.ownerReferences is not None
        pod.ownerReferences[0].uid = uid
        pod.ownerReferences[0].apiVersion = api
    assert [owner_of(pod, known).kind for pod in pods] == ["CronJob", "VirtualJob", "Job"]


def test_a_uid_of_another_namespace_leads_nowhere() -> None:
    foreign = meta("theirs", ("Deployment", "victim"), uid="7")
    foreign.namespace = "team-b"
    pod = meta("pod-a", ("ReplicaSet", "mine"))
    assert pod.ownerReferences is not None
    pod.ownerReferences[0].uid = "7"
    assert owner_of(pod, parents(("ReplicaSet", foreign))) == Owner("ReplicaSet", "mine")


names = st.sampled_from(["a", "b", "c", "", "Deployment/x", "\x00", "../../", "é" * 253])
kinds = st.sampled_from(["ReplicaSet", "Job", "JobSet", ""])
references = st.lists(st.tuples(kinds, names), max_size=2)
links = st.lists(
    st.tuples(kinds, names, references, st.sampled_from(["", "u1", "u2"])), max_size=12
)


@given(links, st.tuples(st.sampled_from(["ReplicaSet", "Job"]), names))
def test_any_tangle_of_references_ends_with_an_owner_that_is_named_in_it(
    objects: list[tuple[str, str, list[Chain], str]], first: Chain
) -> None:
    known = parents(*((kind, meta(name, *above, uid=uid)) for kind, name, above, uid in objects))
    found = owner_of(meta("pod-a", first), known)
    named = {first} | {reference for _, _, above, _ in objects for reference in above}
    assert (found.kind, found.name) in named


def test_a_chain_is_walked_once_for_all_pods_of_an_owner() -> None:
    known = parents(("ReplicaSet", meta("web-5d", ("Deployment", "web"))))
    found = {id(owner_of(meta(f"p-{n}", ("ReplicaSet", "web-5d")), known)) for n in range(1000)}
    assert len(found) == 1
