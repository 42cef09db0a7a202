"""Objects as kubectl prints them, short to write."""

from __future__ import annotations

import json
from typing import Any

from fleet.inventory import Inventory, Node
from fleet.kubernetes.dump import Source, load
from fleet.kubernetes.reader import read

Json = dict[str, Any]


def node(
    name: str = "node-a",
    labels: Json | None = None,
    *,
    gpus: int | None = None,
    allocatable: Json | None = None,
    taints: list[Json] | None = None,
    ready: str | None = "True",
    annotations: Json | None = None,
    **capacity: Any,
) -> Json:
    """A node; other resources by keyword with ``__`` for ``/`` are not needed: pass a dict."""
    held = {"cpu": "96", "memory": "1000Gi", "pods": "110"} | capacity.pop("resources", {})
    if gpus is not None:
        held["nvidia.com/gpu"] = str(gpus)
    conditions = [{"type": "Ready", "status": ready}] if ready is not None else []
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {}},
        "spec": {"taints": taints or []} | capacity,
        "status": {
            "capacity": held,
            "allocatable": held | (allocatable or {}),
            "conditions": conditions,
            "nodeInfo": {"kubeletVersion": "v1.36.1"},
        },
    }


def pod(
    name: str = "pod-a",
    on: str = "",
    *,
    gpus: int = 0,
    requests: Json | None = None,
    phase: str = "",
    meta: Json | None = None,
    status: Json | None = None,
    **spec: Any,
) -> Json:
    """A pod with one container, bound to ``on``."""
    wanted = dict(requests or {})
    if gpus:
        wanted["nvidia.com/gpu"] = str(gpus)
    body: Json = {"containers": [{"name": "main", "resources": {"requests": wanted}}]} | spec
    if on:
        body["nodeName"] = on
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "team-a"} | (meta or {}),
        "spec": body,
        "status": {"phase": phase or ("Running" if on else "Pending")} | (status or {}),
    }


def cluster(*objects: Json) -> Inventory:
    """The inventory of these objects."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}).encode()
    return read(load([Source("test", text)]))


def only_node(*objects: Json) -> Node:
    (found,) = cluster(*objects).nodes
    return found


def gpu_slice(
    *devices: Json, name: str = "slice", generation: int = 1, count: int = 1, on: str = "node-a"
) -> Json:
    """A ResourceSlice of NVIDIA's GPU driver."""
    pool = {"name": on, "generation": generation, "resourceSliceCount": count}
    spec = {"driver": "gpu.nvidia.com", "nodeName": on, "pool": pool, "devices": list(devices)}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": spec,
    }


def gpu_device(name: str, uuid: str, kind: str = "gpu", **more: Any) -> Json:
    attributes = {"type": {"string": kind}, "productName": {"string": "NVIDIA H100 80GB HBM3"}}
    if kind == "mig":
        attributes |= {"parentUUID": {"string": uuid}, "profile": {"string": "1g.10gb"}}
    else:
        attributes["uuid"] = {"string": uuid}
    size = "9728Mi" if kind == "mig" else "80Gi"
    return {"name": name, "attributes": attributes, "capacity": {"memory": {"value": size}}} | more


def claim(name: str, *devices: str, admin: bool = False, count: int = 1) -> Json:
    """An allocated ResourceClaim (not allocated without devices)."""
    results = [
        {"request": "gpu", "driver": "gpu.nvidia.com", "pool": "node-a", "device": device}
        | ({"adminAccess": True} if admin else {})
        for device in devices
    ]
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": count}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": {"devices": {"requests": [request]}},
        "status": {"allocation": {"devices": {"results": results}}} if results else {},
    }
