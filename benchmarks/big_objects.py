"""What all objects of the big synthetic cluster have in common, and its nodes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from benchmarks import big_machines
from benchmarks.big_machines import Json, Place

CREATED = "2026-11-12T08:30:00Z"


def uid(*parts: object) -> str:
    digest = hashlib.md5(":".join(map(str, parts)).encode(), usedforsecurity=False).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-8{digest[17:20]}-{digest[20:]}"


def head(
    version: str, kind: str, namespace: str, name: str, labels: dict[str, str] | None = None
) -> Json:
    meta: Json = {"name": name, "uid": uid(kind, namespace, name), "resourceVersion": "812345",
                  "creationTimestamp": CREATED}  # fmt: skip
    if namespace:
        meta["namespace"] = namespace
    if labels:
        meta["labels"] = labels
    return {"apiVersion": version, "kind": kind, "metadata": meta}


def managed(manager: str, part: str, fields: Json) -> Json:
    entry = {"manager": manager, "operation": "Update", "apiVersion": "v1", "time": CREATED,
             "fieldsType": "FieldsV1", "fieldsV1": fields}  # fmt: skip
    return entry | {"subresource": part} if part else entry


def fields(names: Iterable[str]) -> Json:
    return {".": {}, **{f"f:{name}": {} for name in names}}


_CONDITION_FIELDS = {
    f'k:{{"type":"{kind}"}}': fields(("lastTransitionTime", "reason", "status", "type"))
    for kind in ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
}


def node(place: Place) -> Json:
    machine = place.machine
    item = head("v1", "Node", "", place.name, big_machines.labels(place))
    item["metadata"]["annotations"] = {
        "node.alpha.kubernetes.io/ttl": "30",
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
        "csi.volume.kubernetes.io/nodeid": f'{{"csi.example.invalid":"{place.name}"}}',
    }
    item["metadata"]["managedFields"] = [
        managed("kubelet", "", {"f:metadata": {"f:labels": fields(item["metadata"]["labels"])}}),
        managed("kubelet", "status", {"f:status": {"f:conditions": _CONDITION_FIELDS}}),
    ]
    taints = [{"key": machine.taint, "value": "present", "effect": "NoSchedule"}]
    item["spec"] = {"providerID": f"synthetic:///{place.zone}/{place.name}"}
    if machine.taint:
        item["spec"]["taints"] = taints
    if place.cordoned:
        item["spec"]["unschedulable"] = True
        item["spec"]["taints"] = [*item["spec"].get("taints", ()), _CORDON]
    item["status"] = _node_status(place)
    return item


_CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def _node_status(place: Place) -> Json:
    machine = place.machine
    devices = {} if place.driverless else machine.devices
    room = {"ephemeral-storage": "1800000Mi", "hugepages-2Mi": "0", "pods": "110"}
    capacity = room | {"cpu": str(machine.cpu), "memory": f"{machine.memory_gib}Gi"}
    allocatable = room | {
        "cpu": f"{machine.cpu * 1000 - 500}m",
        "memory": f"{machine.memory_gib * 1024 - 4096}Mi",
    }
    ready = "True" if place.ready else "Unknown"
    return {
        "capacity": capacity | {name: str(number) for name, number in devices.items()},
        "allocatable": allocatable | {name: str(n) for name, n in place.offered.items()},
        "conditions": [
            {"type": kind, "status": status, "reason": reason, "message": reason,
             "lastHeartbeatTime": "2026-12-01T08:55:00Z", "lastTransitionTime": CREATED}
            for kind, status, reason in (
                ("MemoryPressure", "False", "KubeletHasSufficientMemory"),
                ("DiskPressure", "False", "KubeletHasNoDiskPressure"),
                ("PIDPressure", "False", "KubeletHasSufficientPID"),
                ("Ready", ready, "KubeletReady" if place.ready else "NodeStatusUnknown"),
            )
        ],
        "addresses": [{"type": "InternalIP", "address": address(place.number)},
                      {"type": "Hostname", "address": place.name}],
        "nodeInfo": {"architecture": machine.arch, "operatingSystem": "linux",
                     "kubeletVersion": "v1.36.3", "osImage": "Ubuntu 24.04.3 LTS",
                     "kernelVersion": "6.8.0-1021-generic", "kubeProxyVersion": "",
                     "containerRuntimeVersion": "containerd://2.1.4", "bootID": "",
                     "machineID": "", "systemUUID": ""},
        "images": _IMAGES,
    }  # fmt: skip


def address(number: int) -> str:
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


_IMAGES = [
    {"names": [f"registry.example.invalid/platform/image-{n:02d}@sha256:{uid('image', n)}",
               f"registry.example.invalid/platform/image-{n:02d}:2026.11.{n}"],
     "sizeBytes": 40_000_000 * (n + 1)}
    for n in range(25)
]  # fmt: skip
