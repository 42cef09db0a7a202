"""What was read from one cluster, raw: decoded objects by resource, and how a page is decoded.

A page is decoded in two steps: the items are cut apart without looking inside, then each item is
decoded alone. So one odd object costs that object and leaves one line in ``problems``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from fleet.inventory import ReadResult
from fleet.kubernetes import objects_core as core
from fleet.kubernetes import objects_dra as dra
from fleet.kubernetes import objects_gangs as gangs
from fleet.kubernetes import objects_workloads as workloads
from fleet.kubernetes.gathered import NO_PODS, GatheredPods
from fleet.kubernetes.objects_core import Object, VersionInfo
from fleet.kubernetes.resources import RESOURCES, Resource

_CLAIMS = "resourceclaims.resource.k8s.io"
MAX_PROBLEMS = 200
"""Lines kept; a file of a million odd objects must not become a million lines."""

TYPES: dict[str, type[Object]] = {
    "nodes": core.NodeObject,
    "pods": core.PodObject,
    "namespaces": core.NamespaceObject,
    "resourcequotas": core.QuotaObject,
    "priorityclasses.scheduling.k8s.io": core.PriorityClassObject,
    "deployments.apps": workloads.DeploymentObject,
    "statefulsets.apps": workloads.StatefulSetObject,
    "daemonsets.apps": workloads.DaemonSetObject,
    "replicasets.apps": workloads.ReplicaSetObject,
    "jobs.batch": workloads.JobObject,
    "cronjobs.batch": workloads.CronJobObject,
    "deviceclasses.resource.k8s.io": dra.DeviceClassObject,
    "resourceslices.resource.k8s.io": dra.ResourceSliceObject,
    "resourceclaims.resource.k8s.io": dra.ResourceClaimObject,
    "resourceclaimtemplates.resource.k8s.io": dra.ClaimTemplateObject,
    "devicetaintrules.resource.k8s.io": dra.DeviceTaintRuleObject,
    "podgroups.scheduling.k8s.io": gangs.PodGroupObject,
    "workloads.scheduling.k8s.io": gangs.WorkloadObject,
    "compositepodgroups.scheduling.k8s.io": gangs.CompositePodGroupObject,
    "podgroups.scheduling.x-k8s.io": gangs.PodGroupObject,
    "podgroups.scheduling.volcano.sh": gangs.PodGroupObject,
    "queues.scheduling.volcano.sh": gangs.VolcanoQueueObject,
    "jobs.batch.volcano.sh": workloads.VolcanoJobObject,
    "hypernodes.topology.volcano.sh": gangs.HyperNodeObject,
    "podgroups.scheduling.run.ai": gangs.PodGroupObject,
    "topologies.kai.scheduler": gangs.TopologyObject,
    "podgangs.scheduler.grove.io": gangs.PodGangObject,
    "podcliquesets.grove.io": workloads.PodCliqueSetObject,
    "clustertopologybindings.grove.io": gangs.TopologyObject,
    "podcliques.grove.io": workloads.OwnedObject,
    "podcliquescalinggroups.grove.io": workloads.OwnedObject,
    "clusterqueues.kueue.x-k8s.io": gangs.ClusterQueueObject,
    "localqueues.kueue.x-k8s.io": gangs.LocalQueueObject,
    "resourceflavors.kueue.x-k8s.io": gangs.ResourceFlavorObject,
    "topologies.kueue.x-k8s.io": gangs.TopologyObject,
    "workloads.kueue.x-k8s.io": gangs.WorkloadObject,
    "jobsets.jobset.x-k8s.io": workloads.JobSetObject,
    "leaderworkersets.leaderworkerset.x-k8s.io": workloads.LeaderWorkerSetObject,
    "rayclusters.ray.io": workloads.RayClusterObject,
    "rayjobs.ray.io": workloads.RayJobObject,
    "rayservices.ray.io": workloads.RayServiceObject,
    "trainjobs.trainer.kubeflow.org": workloads.TrainJobObject,
    "trainingruntimes.trainer.kubeflow.org": workloads.TrainingRuntimeObject,
    "clustertrainingruntimes.trainer.kubeflow.org": workloads.TrainingRuntimeObject,
    "pytorchjobs.kubeflow.org": workloads.OperatorJobObject,
    "mpijobs.kubeflow.org": workloads.OperatorJobObject,
    "tfjobs.kubeflow.org": workloads.OperatorJobObject,
    "xgboostjobs.kubeflow.org": workloads.OperatorJobObject,
    "paddlejobs.kubeflow.org": workloads.OperatorJobObject,
    "jaxjobs.kubeflow.org": workloads.OperatorJobObject,
    "inferenceservices.serving.kserve.io": workloads.InferenceServiceObject,
    "llminferenceservices.serving.kserve.io": workloads.LlmServiceObject,
}


@dataclass(frozen=True, slots=True)
class RawCluster:
    """Everything read from one cluster, before anything is made of it."""

    objects: dict[str, tuple[Object, ...]]  # by Resource.key; all but the pods
    pods: GatheredPods = NO_PODS
    version: VersionInfo | None = None
    apis: dict[str, tuple[str, ...]] | None = None  # "group/version" -> resources; None: not read
    reads: tuple[ReadResult, ...] = ()
    problems: tuple[str, ...] = ()
    taken_at: datetime | None = None

    def of[T: Object](self, kind: type[T], key: str) -> tuple[T, ...]:
        """The objects of one resource, typed."""
        return cast("tuple[T, ...]", self.objects.get(key, ()))


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list, cut apart: the items are not decoded yet.

    has_items: an ``items`` was there, be it null. remaining: objects of which the server says that
    they are on later pages.
    """

    kind: str
    api_version: str
    items: list[Raw]
    has_items: bool = True
    remaining: int = 0
    continue_token: str = ""
    resource_version: str = ""


class _ListMeta(Struct):
    continue_: str | None = msgspec.field(default=None, name="continue")
    resourceVersion: str | None = None
    remainingItemCount: int | None = None


class _List(Struct):
    kind: str = ""
    apiVersion: str = ""
    items: list[Raw] | UnsetType | None = UNSET
    metadata: _ListMeta | None = None


_LIST = msgspec.json.Decoder(_List)


@cache
def decoder(key: str) -> msgspec.json.Decoder[Object]:
    """The decoder of one resource, by ``Resource.key``. Raises ``KeyError`` for another."""
    return msgspec.json.Decoder(TYPES[key])


@cache
def resource_of(group: str, kind: str) -> Resource | None:
    """The resource that we read for an object of that group and kind, or None."""
    return next((r for r in RESOURCES if (r.group, r.kind) == (group, kind)), None)


def cut_page(body: bytes) -> Page:
    """One page of a list as the API server sends it. ``items: null`` is empty; whether a page
    without any ``items`` is one is for the caller to say.

    Raises ``msgspec.DecodeError`` when the body is not such a list at all.
    """
    listing = _LIST.decode(body)
    meta = listing.metadata or _ListMeta()
    return Page(
        kind=listing.kind,
        api_version=listing.apiVersion,
        items=listing.items or [],
        has_items=listing.items is not UNSET,
        remaining=meta.remainingItemCount or 0,
        continue_token=meta.continue_ or "",
        resource_version=meta.resourceVersion or "",
    )


def decode_items(
    resource: Resource, items: Iterable[Raw | bytes | memoryview], api_version: str = ""
) -> tuple[tuple[Object, ...], tuple[str, ...]]:
    """Decode items of one resource one by one: the good ones, and a line for each odd one.

    Items of a typed list do not repeat their version: ``api_version`` is that of the list.
    """
    decode = decoder(resource.key).decode
    best = f"{resource.group}/{resource.versions[0]}" if resource.group else resource.versions[0]
    good: list[Object] = []
    problems: list[str] = []
    for raw in items:
        try:
            found = decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            is_claim = resource.key == _CLAIMS
            if is_claim:  # what it holds is held, however odd the rest is
                good.append(dra.claim_remnant(raw))
            if len(problems) <= MAX_PROBLEMS:  # to find its name means to decode it once more
                what = "not read as a whole" if is_claim else "left out"
                note(problems, f"{resource.key} {_name_of(raw)}: {what}, {error}")
            continue
        if not found.metadata.name:
            note(problems, f"{resource.key}: an object without a name was left out")
            continue
        if not found.apiVersion:
            found.apiVersion = api_version or best
        good.append(found)
    return tuple(good), tuple(problems)


def unique(key: str, items: Iterable[Object], problems: list[str]) -> tuple[Object, ...]:
    """The objects of one resource, each name once; the last one of a name counts."""
    items = tuple(items)
    found = {(item.metadata.namespace, item.metadata.name): item for item in items}
    if len(found) < len(items):
        note(problems, f"{key}: {len(items) - len(found)} objects came twice, the last one counts")
    return tuple(found.values())


def note(problems: list[str], line: str) -> None:
    """Add a line of bounded length; the list is bounded as well."""
    if len(problems) < MAX_PROBLEMS:
        problems.append(line[:400])
    elif len(problems) == MAX_PROBLEMS:
        problems.append("more such lines were left out")


class _LooseMeta(Struct):
    name: Any = None
    namespace: Any = None


class _Loose(Struct):
    metadata: _LooseMeta | None = None


_LOOSE = msgspec.json.Decoder(_Loose)


def _name_of(raw: Raw | bytes | memoryview) -> str:
    try:
        meta = _LOOSE.decode(raw).metadata or _LooseMeta()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "(no readable name)"
    parts = [str(part)[:100] for part in (meta.namespace, meta.name) if part]
    return "/".join(parts) or "(no name)"
