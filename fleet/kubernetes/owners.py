"""Which object a person knows a pod by: the Deployment behind the ReplicaSet, the TrainJob behind
the JobSet behind the Job.

Owner references are followed as far as the objects are there. Where one is not (it was not read,
or it is of a kind that we never read), labels that the controllers set say the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fleet.inventory import Owner
from fleet.kubernetes.objects import RawCluster
from fleet.kubernetes.objects_core import Metadata, OwnerReference
from fleet.kubernetes.roles import KINDS

_BETWEEN = {
    "PodClique": ("podcliques.grove.io",),
    "PodCliqueScalingGroup": ("podcliquescalinggroups.grove.io",),
}
"""Kinds that stand between a workload and its pods and are no workload by themselves."""

_MAX_STEPS = 8

_PART_OF = "app.kubernetes.io/part-of"
_RAY_KIND = "ray.io/originated-from-crd"
# Label of a pod -> kind of the workload that it names, the outermost kinds first. First match wins.
_LABELS = (
    ("workload.codeflare.dev/appwrapper", "AppWrapper"),
    ("serving.kserve.io/inferenceservice", "InferenceService"),
    ("ray.io/originated-from-cr-name", ""),  # the kind is in a label beside it
    ("ray.io/cluster", "RayCluster"),
    ("jobset.sigs.k8s.io/jobset-name", "JobSet"),
    ("leaderworkerset.sigs.k8s.io/name", "LeaderWorkerSet"),
    ("training.kubeflow.org/job-name", ""),  # of the kind that the pod's owner has, see below
    ("serving.knative.dev/service", "Knative Service"),
    ("serving.knative.dev/revision", "Knative Revision"),
    ("volcano.sh/job-name", "Job"),
    ("sparkoperator.k8s.io/app-name", "SparkApplication"),
    ("tekton.dev/pipelineRun", "PipelineRun"),
    ("tekton.dev/taskRun", "TaskRun"),
    ("workflows.argoproj.io/workflow", "Workflow"),
)
# Label with the hash at the end of a ReplicaSet's name -> the kind that made the ReplicaSet.
_HASHES = (
    ("rollouts-pod-template-hash", "Rollout"),
    ("pod-template-hash", "Deployment"),
)


class ByName[T]:
    """Things by the objects that they stand for. Objects of two API groups may share namespace,
    kind and name."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], list[tuple[Owner, T]]] = {}

    def add(self, namespace: str, owner: Owner, thing: T) -> None:
        self._found.setdefault((namespace, owner.kind, owner.name), []).append((owner, thing))

    def get(self, namespace: str, owner: Owner) -> T | None:
        """The first thing that may stand for that object."""
        for known, thing in self._found.get((namespace, owner.kind, owner.name), ()):
            if known.may_be(owner):
                return thing
        return None


class Parents:
    """What owns what, for one cluster. Each chain is walked once, whatever the number of pods."""

    def __init__(self, objects: Iterable[tuple[str, str, Metadata]] = ()) -> None:
        """``objects``: API group, kind and metadata of everything that may stand in a chain."""
        self._above: list[OwnerReference | None] = []
        self._by_uid: dict[tuple[str, str], int] = {}
        self._by_name: ByName[int] = ByName()
        self._walked: dict[tuple[str, Owner, str], tuple[Owner, bool]] = {}
        for number, (group, kind, meta) in enumerate(objects):
            self._above.append(owning(meta))
            self._by_name.add(meta.namespace, Owner(kind, meta.name, group), number)
            if meta.uid:
                self._by_uid[meta.namespace, meta.uid] = number

    def top(self, namespace: str, owner: Owner, uid: str = "") -> tuple[Owner, bool]:
        """The last owner of the chain from that object, and whether that last one was read.

        A chain that bites its own tail has no top: its first object stands for it.
        """
        start = (namespace, owner, uid)
        found = self._walked.get(start)
        if found is None:
            found = self._walked[start] = self._walk(*start)
        return found

    def _number(self, namespace: str, owner: Owner, uid: str) -> int | None:
        found = self._by_uid.get((namespace, uid)) if uid else None
        return found if found is not None else self._by_name.get(namespace, owner)

    def _walk(self, namespace: str, first: Owner, uid: str) -> tuple[Owner, bool]:
        last = first
        here = self._number(namespace, first, uid)
        seen: set[int] = set()
        while here is not None and len(seen) < _MAX_STEPS:
            if here in seen:
                return first, True
            seen.add(here)
            above = self._above[here]
            if above is None:
                return last, True
            last = above.owner
            here = self._number(namespace, last, above.uid)
        return last, here is not None


def parents_of(raw: RawCluster) -> Parents:
    """The owners of every object that was read and can own a pod."""
    return Parents(_chained(raw))


def _chained(raw: RawCluster) -> Iterator[tuple[str, str, Metadata]]:
    for kinds in (KINDS, _BETWEEN):
        for kind, keys in kinds.items():
            for key in keys:
                for item in raw.objects.get(key, ()):
                    yield key.partition(".")[2], kind, item.metadata


def owning(meta: Metadata) -> OwnerReference | None:
    """The reference that counts: the controller's, else the first one; None without any."""
    if meta.controller is not None:
        return meta.controller
    return meta.ownerReferences[0] if meta.ownerReferences else None


def owner_of(meta: Metadata, parents: Parents) -> Owner:
    """The workload of a pod; the pod itself when nothing owns it."""
    first = owning(meta)
    if first is None:
        return Owner("Pod", meta.name)
    owner, was_read = parents.top(meta.namespace, first.owner, first.uid)
    if was_read or owner.kind == "Node" or not meta.labels:
        return owner
    named = _by_label(meta, first, owner)
    if named is None or named.may_be(owner):
        return owner
    return parents.top(meta.namespace, named)[0]


def _by_label(meta: Metadata, first: OwnerReference, owner: Owner) -> Owner | None:
    """The workload that labels name, above an owner that was not read."""
    if meta.label(_PART_OF) == "llminferenceservice" and meta.label("app.kubernetes.io/name"):
        return Owner("LLMInferenceService", meta.label("app.kubernetes.io/name"))
    if meta.label("app.kubernetes.io/managed-by") == "grove-operator" and meta.label(_PART_OF):
        return Owner("PodCliqueSet", meta.label(_PART_OF))
    for label, kind in _LABELS:
        name = meta.label(label)
        if name:
            return Owner(kind or meta.label(_RAY_KIND) or _trainer(first.kind), name)
    for label, kind in _HASHES:
        digest = meta.label(label)
        if owner.kind == "ReplicaSet" and digest and owner.name.endswith(f"-{digest}"):
            return Owner(kind, owner.name.removesuffix(f"-{digest}"))
    return None


def _trainer(kind: str) -> str:
    """Jobs of Kubeflow own their pods, save that a MPIJob starts its launcher through a Job."""
    return "MPIJob" if kind == "Job" else kind


def is_daemon(owner: Owner) -> bool:
    """DaemonSet pods and static pods run on every node: no strays."""
    return owner.kind in ("DaemonSet", "Node")
