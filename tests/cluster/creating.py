"""Creating what a cluster file holds on a real API server: the reverse of an export."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

from tests.cluster.client import Client, Object
from tests.cluster.objects import crd, namespace
from tests.processes import wait_for

# What others refer to comes first, what would refuse others (a quota) last.
_ORDER = (
    "CustomResourceDefinition",
    "Namespace",
    "PriorityClass",
    "RuntimeClass",
    "DeviceClass",
    "ResourceSlice",
    "Node",
    "ResourceClaimTemplate",
    "ResourceClaim",
    "Pod",
    "*",
    "ResourceQuota",
)
_BUILT_IN = frozenset({"", "apps", "batch", "node.k8s.io", "resource.k8s.io", "scheduling.k8s.io"})


def create_whole(client: Client, items: Iterable[Object]) -> None:
    """Create objects with their status, with the namespaces, CRDs and runtime classes that they
    need. Raises ``ApiError`` with the server's words when it refuses one."""
    wanted = [copy.deepcopy(item) for item in items]
    for definition in _definitions(wanted):
        client.ensure(definition)
        wait_until_served(client, definition)
    client.forget_apis()
    for item in [*_namespaces(wanted), *_runtime_classes(wanted)]:
        client.ensure(item)
    uids: dict[str, str] = {}
    for item in sorted(wanted, key=_place):
        _complete(item, uids)
        made = client.create(item)
        uids[f"{item['kind']}/{item['metadata']['name']}"] = made["metadata"]["uid"]
    for item in wanted:
        if item.get("status") and item["kind"] != "Node":
            client.patch(item, {"status": item["status"]}, status=True)


def _place(item: Object) -> int:
    kind = item["kind"]
    return _ORDER.index(kind if kind in _ORDER else "*")


def _complete(item: Object, uids: dict[str, str]) -> None:
    """What a server demands and a shortened export lacks: the uid of each owner."""
    for owner in item["metadata"].get("ownerReferences") or ():
        name = f"{owner['kind']}/{owner['name']}"
        owner["uid"] = uids.get(name) or owner.get("uid") or f"uid-of-{name}".lower()


def _namespaces(items: Iterable[Object]) -> list[Object]:
    names = {item["metadata"].get("namespace") for item in items} - {None, ""}
    return [namespace(name) for name in sorted(str(name) for name in names)]


def _runtime_classes(items: Iterable[Object]) -> Iterator[Object]:
    """Admission demands that a pod's overhead is that of its runtime class."""
    for item in items:
        spec: dict[str, Any] = item.get("spec") or {}
        if item["kind"] == "Pod" and spec.get("runtimeClassName"):
            yield {
                "apiVersion": "node.k8s.io/v1",
                "kind": "RuntimeClass",
                "metadata": {"name": spec["runtimeClassName"]},
                "handler": "test",
                "overhead": {"podFixed": spec.get("overhead") or {}},
            }


def _definitions(items: Iterable[Object]) -> list[Object]:
    found: dict[str, Object] = {}
    for item in items:
        group, _, version = item["apiVersion"].rpartition("/")
        if group in _BUILT_IN:
            continue
        plural = _plural(item["kind"])
        found[f"{plural}.{group}"] = crd(
            group, version, item["kind"], plural, namespaced="namespace" in item["metadata"]
        )
    return list(found.values())


def _plural(kind: str) -> str:
    lower = kind.lower()
    return f"{lower[:-1]}ies" if lower.endswith("y") else f"{lower}s"


def wait_until_served(client: Client, definition: Object) -> None:
    """A CRD takes a moment until its objects can be created."""
    spec = definition["spec"]
    path = f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}"
    wait_for(f"{path} is served", lambda: client.send("GET", path)[0] == 200)
