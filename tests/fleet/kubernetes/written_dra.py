"""DRA objects as kubectl prints them, short to write, in the shapes of three API versions."""

from __future__ import annotations

import copy
from typing import Any

from fleet.inventory import DeviceGroup, Node, UnitKind
from tests.fleet.kubernetes.written import Json, only_node

Counters = dict[str, int]


def device(name: str, *, draws: dict[str, Counters] | None = None, **more: Any) -> Json:
    """A device; ``draws``: what it consumes of each counter set. Text attributes by keyword
    ``texts``, capacities by ``capacity``."""
    texts = more.pop("texts", {})
    found: Json = {"name": name, "attributes": {k: {"string": v} for k, v in texts.items()}}
    if draws:
        found["consumesCounters"] = [
            {"counterSet": name, "counters": values(counters)} for name, counters in draws.items()
        ]
    return found | more


def values(counters: Counters) -> Json:
    return {name: {"value": str(amount)} for name, amount in counters.items()}


def pool_slice(
    *devices: Json,
    pool: str = "pool",
    driver: str = "gpu.nvidia.com",
    name: str = "slice",
    count: int = 1,
    generation: int = 1,
    counters: dict[str, Counters] | None = None,
    **where: Any,
) -> Json:
    """A ResourceSlice, of node-a unless ``where`` says otherwise."""
    spec: Json = {
        "driver": driver,
        "pool": {"name": pool, "generation": generation, "resourceSliceCount": count},
        "devices": list(devices),
    } | (where or {"nodeName": "node-a"})
    if counters is not None:
        sets = [{"name": name, "counters": values(found)} for name, found in counters.items()]
        spec["sharedCounters"] = sets
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": spec,
    }


def held(
    name: str,
    *devices: str | Json,
    pool: str = "pool",
    driver: str = "gpu.nvidia.com",
    by: tuple[str, ...] = (),
    **spec: Any,
) -> Json:
    """An allocated claim. A device may be a whole result, to say more than its name."""
    results = []
    for found in devices:
        more = {"device": found} if isinstance(found, str) else found
        results.append({"request": "gpu", "driver": driver, "pool": pool} | more)
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"} | spec}
    users = [{"resource": "pods", "name": user, "uid": user} for user in by]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": {"devices": {"requests": [request]}},
        "status": {"allocation": {"devices": {"results": results}}, "reservedFor": users},
    }


def taint_rule(name: str, effect: str = "NoSchedule", key: str = "maintenance", **at: str) -> Json:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": name},
        "spec": {"deviceSelector": at, "taint": {"key": key, "effect": effect}},
    }


def group_of(*objects: Json) -> DeviceGroup:
    """The one device group of the one node."""
    (group,) = only_node(*objects).groups
    return group


def dra_numbers(node: Node) -> tuple[int, int, int]:
    """(devices published, free, requested) over all DRA units of a node."""
    units = [u for group in node.groups for u in group.units_of(UnitKind.DRA)]
    return (
        sum(u.capacity for u in units),
        sum(node.free(u) for u in units),
        sum(u.requested for u in units),
    )


def as_served(item: Json, version: str) -> Json:
    """The object as ``version`` of the API serves it.

    v1beta1 wraps a device's fields in ``basic`` and keeps a request's fields flat.
    """
    found = copy.deepcopy(item)
    if not found["apiVersion"].startswith("resource.k8s.io/"):
        return found
    found["apiVersion"] = f"resource.k8s.io/{version}"
    if version != "v1beta1":
        return found
    spec = found["spec"]
    if found["kind"] == "ResourceSlice":
        spec["devices"] = [
            {"name": d["name"], "basic": {k: v for k, v in d.items() if k != "name"}}
            for d in spec.get("devices", ())
        ]
    elif found["kind"] == "ResourceClaim":
        for request in spec["devices"]["requests"]:
            request |= request.pop("exactly", {})
    elif found["kind"] == "ResourceClaimTemplate":
        for request in spec["spec"]["devices"]["requests"]:
            request |= request.pop("exactly", {})
    return found
