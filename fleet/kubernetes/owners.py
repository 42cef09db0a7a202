"""Which object a person knows a pod by: the Deployment behind the ReplicaSet, the JobSet behind
the Job. Follows owner references as far as the objects are there; labels that the controllers
set say the rest."""

from __future__ import annotations

from fleet.inventory import Owner
from fleet.kubernetes.objects import RawCluster
from fleet.kubernetes.objects_core import Metadata

# Label of a pod -> kind of the workload that it names. First match wins.
_LABELS = (
    ("leaderworkerset.sigs.k8s.io/name", "LeaderWorkerSet"),
    ("jobset.sigs.k8s.io/jobset-name", "JobSet"),
    ("ray.io/originated-from-cr-name", ""),  # the kind is in a label beside it
    ("ray.io/cluster", "RayCluster"),
    ("serving.kserve.io/inferenceservice", "InferenceService"),
    ("training.kubeflow.org/job-name", ""),
)
_RAY_KIND = "ray.io/originated-from-crd"
_WALKED = {
    "replicasets.apps": "ReplicaSet",
    "statefulsets.apps": "StatefulSet",
    "deployments.apps": "Deployment",
    "jobs.batch": "Job",
    "jobsets.jobset.x-k8s.io": "JobSet",
    "rayclusters.ray.io": "RayCluster",
    "pytorchjobs.kubeflow.org": "PyTorchJob",
    "mpijobs.kubeflow.org": "MPIJob",
}
_MAX_STEPS = 8

Parents = dict[tuple[str, str, str], Owner]


def parents_of(raw: RawCluster) -> Parents:
    """(namespace, kind, name) -> the owner that manages that object."""
    found: Parents = {}
    for key, kind in _WALKED.items():
        for item in raw.objects.get(key, ()):
            owner = item.metadata.controller
            if owner is not None:
                found[item.metadata.namespace, kind, item.metadata.name] = Owner(
                    owner.kind, owner.name
                )
    return found


def owner_of(meta: Metadata, parents: Parents) -> Owner:
    """The workload of a pod; the pod itself when nothing owns it."""
    first = meta.controller
    if first is None:
        return Owner("Pod", meta.name)
    for label, kind in _LABELS:
        name = meta.label(label)
        if name:
            return Owner(kind or meta.label(_RAY_KIND) or first.kind, name)
    owner = Owner(first.kind, first.name)
    for _ in range(_MAX_STEPS):  # a loop of references must not become a loop of ours
        above = parents.get((meta.namespace, owner.kind, owner.name))
        if above is None:
            break
        owner = above
    digest = meta.label("pod-template-hash")
    if owner.kind == "ReplicaSet" and digest and owner.name.endswith(f"-{digest}"):
        return Owner("Deployment", owner.name.removesuffix(f"-{digest}"))
    return owner


def is_daemon(owner: Owner) -> bool:
    """DaemonSet pods and static pods run on every node: no strays."""
    return owner.kind in ("DaemonSet", "Node")
