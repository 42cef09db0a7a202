"""A big synthetic cluster as Kubernetes objects: the same one every time, one object at a time.

The objects look as an API server gives them out (``list_pages``); ``creatable`` takes away what a
server sets itself, so that the rest can be sent to one. Nothing is kept: 150,000 pods cost no more
memory than one, except for the sums of ``owners``.

    pods(150_000, 5_000)   some 6.9 kB each: 25 environment variables, 5 annotations, 2 containers
    nodes(5_000)           mixed generations of GPUs, racks, taints, some of them sick
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import batched
from typing import Any

import msgspec

from benchmarks.big_machines import Json, place
from benchmarks.big_objects import head, node
from benchmarks.big_pod_objects import PRIORITIES, pod, workload
from benchmarks.big_pods import APPS, TEAMS, OwnerPlan, PodPlan, plans

PAGE = 500


def nodes(count: int) -> Iterator[Json]:
    """``count`` nodes."""
    return (node(place(number)) for number in range(count))


def pods(count: int, nodes: int) -> Iterator[Json]:
    """Exactly ``count`` pods over as many ``nodes``, bound to them but for a few that wait."""
    return (pod(plan) for plan in plans(count, nodes))


def namespaces() -> Iterator[Json]:
    """Every namespace that a pod may be in."""
    names = ["kube-system", "monitoring", "logging", "gpu-operator"]
    names += [f"team-{number:02d}" for number in range(TEAMS)]
    names += [f"app-{number:03d}" for number in range(APPS)]
    for name in names:
        labels = {"kubernetes.io/metadata.name": name}
        yield {**head("v1", "Namespace", "", name, labels), "status": {"phase": "Active"}}


def quotas() -> Iterator[Json]:
    """One ResourceQuota on GPUs for each team."""
    for number in range(TEAMS):
        hard = {"requests.nvidia.com/gpu": str(500 + number * 20), "pods": "4000"}
        used = {"requests.nvidia.com/gpu": str(300 + number * 7), "pods": "900"}
        named = head("v1", "ResourceQuota", f"team-{number:02d}", "gpus")
        yield {**named, "spec": {"hard": hard}, "status": {"hard": hard, "used": used}}


def priority_classes() -> Iterator[Json]:
    """The priority classes that the pods name."""
    for name, value in PRIORITIES.items():
        yield {**head("scheduling.k8s.io/v1", "PriorityClass", "", name), "value": value}


def owners(pods: int, nodes: int) -> Iterator[Json]:
    """The workload objects of those pods, ReplicaSets between Deployments and pods included."""
    sizes: Counter[OwnerPlan] = Counter()
    samples: dict[OwnerPlan, PodPlan] = {}
    for plan in plans(pods, nodes):
        sizes[plan.owner] += 1
        samples.setdefault(plan.owner, plan)
    for owner, size in sizes.items():
        yield from workload(owner, size, samples[owner])


def resources(pods_wanted: int, nodes_wanted: int) -> dict[str, Iterable[Json]]:
    """All of the cluster by the key of the resource, namespaces first and pods last."""
    by_kind = {"Deployment": "deployments.apps", "ReplicaSet": "replicasets.apps",
               "StatefulSet": "statefulsets.apps", "DaemonSet": "daemonsets.apps",
               "Job": "jobs.batch"}  # fmt: skip
    workloads: dict[str, list[Json]] = {key: [] for key in by_kind.values()}
    for item in owners(pods_wanted, nodes_wanted):
        workloads[by_kind[item["kind"]]].append(item)
    return {
        "namespaces": namespaces(),
        "priorityclasses.scheduling.k8s.io": priority_classes(),
        "nodes": nodes(nodes_wanted),
        **workloads,
        "resourcequotas": quotas(),
        "pods": pods(pods_wanted, nodes_wanted),
    }


def list_pages(items: Iterable[Json], limit: int = PAGE) -> Iterator[bytes]:
    """``items`` of one kind as the bodies of a paged LIST: at least one, the last has no token."""
    page: bytes | None = None
    number = 0
    for chunk in batched(items, limit):
        if page is not None:
            yield page
        number += 1
        page = _page(chunk, f"page-{number}")
    yield page.replace(f'"page-{number}"'.encode(), b'""', 1) if page else _page((), "")


def creatable(item: Json) -> Json:
    """``item`` as one sends it to be created: without what the server sets itself."""
    own = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
    metadata = {key: value for key, value in item["metadata"].items() if key not in own}
    kept_status = {"status"} if item["kind"] == "Node" else set()
    return {
        key: metadata if key == "metadata" else value
        for key, value in item.items()
        if key != "status" or key in kept_status
    }


def _page(items: Iterable[Json], token: str) -> bytes:
    items = list(items)
    first = items[0] if items else {"apiVersion": "v1", "kind": ""}
    bare = [{k: v for k, v in i.items() if k not in ("kind", "apiVersion")} for i in items]
    meta = {"continue": token, "resourceVersion": "900000"}
    kind, version = f"{first['kind']}List", first["apiVersion"]
    return msgspec.json.encode(
        {"kind": kind, "apiVersion": version, "metadata": meta, "items": bare}
    )


def encoded(items: Iterable[Any]) -> Iterator[bytes]:
    """Each object as JSON."""
    return map(msgspec.json.encode, items)
