"""Writing Kubernetes objects: nodes with room, and pods that take it.

A small first-fit scheduler binds pods, so that sums, quotas and free GPUs agree with each other
as they would in a real cluster. Plain dictionaries, as ``kubectl get -o json`` prints them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from fleet.demo.shapes import GPU, Json, Machine, Template
from fleet.kubernetes.dump import Source

SYNTHETIC = "gpu-fleet-planner/synthetic"
NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
"""All times lie before this moment."""


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(slots=True)
class Room:
    """What is left on a node."""

    name: str
    pool: str
    cpu: float
    memory_gib: float
    devices: dict[str, int]
    cordoned: bool = False


class ClusterBuilder:
    """One synthetic cluster under construction."""

    def __init__(self, name: str, region: str, git_version: str, kubelet: str, seed: int) -> None:
        self.name = name
        self.region = region
        self.git_version = git_version
        self.kubelet = kubelet
        self.random = random.Random(seed)  # noqa: S311 the same fleet every time, no secret
        self.objects: dict[str, list[Json]] = {}
        self.rooms: list[Room] = []
        self.apis: dict[str, tuple[str, ...]] = {}

    def add(self, api_version: str, kind: str, name: str, body: Json, **meta: Any) -> None:
        """Any other object."""
        metadata = {"name": name, "uid": self._uid(), **meta}
        metadata.setdefault("creationTimestamp", stamp(NOW - timedelta(days=90)))
        item = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}
        self.objects.setdefault(kind, []).append(item)

    def _uid(self) -> str:
        return f"00000000-0000-4000-8000-{self.random.getrandbits(48):012x}"

    def _suffix(self) -> str:
        return "".join(self.random.choice("bcdfghjklmnpqrstvwxz2456789") for _ in range(5))

    def node(
        self,
        name: str,
        pool: str,
        machine: Machine,
        zone: str,
        *,
        labels: dict[str, str] | None = None,
        taints: Iterable[Json] = (),
        sick: int = 0,
        cordoned: bool = False,
        devices: dict[str, int] | None = None,
        kubelet: str = "",
    ) -> None:
        """A Ready node; ``devices`` replaces the plain ``nvidia.com/gpu`` (MIG, sharing)."""
        capacity = {"cpu": str(machine.cpu), "memory": f"{machine.memory_gib}Gi", "pods": "110"}
        allocatable = {
            "cpu": f"{machine.cpu * 1000 - 200}m",
            "memory": f"{round(machine.memory_gib * 0.96)}Gi",
            "pods": "110",
        }
        offered = devices if devices is not None else ({GPU: machine.gpus} if machine.gpus else {})
        for resource, count in offered.items():
            capacity[resource] = str(count)
            allocatable[resource] = str(count - (sick if resource == GPU else 0))
        found = list(taints)
        if cordoned:
            found.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
        spec: Json = {"taints": found} if found else {}
        if cordoned:
            spec["unschedulable"] = True
        created = NOW - timedelta(days=self.random.randint(20, 200))
        metadata = {
            "name": name,
            "uid": self._uid(),
            "creationTimestamp": stamp(created),
            "annotations": {SYNTHETIC: "true"},
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "node.kubernetes.io/instance-type": machine.instance_type,
                "topology.kubernetes.io/region": self.region,
                "topology.kubernetes.io/zone": zone,
                "node-pool": pool,
                **_gfd(machine),
                **(labels or {}),
            },
        }
        conditions = [
            {"type": "Ready", "status": "True", "reason": "KubeletReady",
             "lastTransitionTime": stamp(created + timedelta(minutes=2))}
        ]  # fmt: skip
        self.objects.setdefault("Node", []).append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": metadata,
                "spec": spec,
                "status": {
                    "capacity": capacity,
                    "allocatable": allocatable,
                    "conditions": conditions,
                    "nodeInfo": {
                        "kubeletVersion": kubelet or self.kubelet,
                        "architecture": "amd64",
                        "operatingSystem": "linux",
                    },
                },
            }
        )
        left = {name: int(allocatable[name]) for name in offered}
        room = Room(name, pool, machine.cpu - 0.2, machine.memory_gib * 0.96, left, cordoned)
        self.rooms.append(room)

    def pod(
        self,
        namespace: str,
        name: str,
        template: Template,
        owner: tuple[str, str],
        *,
        node: str = "",
        age_h: float = 24.0,
        pending: bool = False,
        labels: dict[str, str] | None = None,
    ) -> str:
        """A pod, bound to the first node with room (or to ``node``); Pending without one."""
        room = None if pending else self._room(template, node)
        created = NOW - timedelta(hours=age_h)
        meta: Json = {
            "name": name,
            "namespace": namespace,
            "uid": self._uid(),
            "creationTimestamp": stamp(created),
            "labels": {**template.labels, **(labels or {})},
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": owner[0], "name": owner[1],
                 "uid": "00000000-0000-4000-8000-000000000000", "controller": True}
            ],
        }  # fmt: skip
        if template.annotations:
            meta["annotations"] = dict(template.annotations)
        spec = template.spec(in_template=False)
        if room is None:
            reason = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
            reason["lastTransitionTime"] = stamp(created)
            status: Json = {"phase": "Pending", "conditions": [reason]}
        else:
            spec["nodeName"] = room.name
            status = self._running(created, template)
        item = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}
        self.objects.setdefault("Pod", []).append(item)
        return room.name if room is not None else ""

    def _running(self, created: datetime, template: Template) -> Json:
        started = created + timedelta(seconds=self.random.randint(15, 60))
        ready = started + timedelta(seconds=round(template.load_s * self.random.uniform(0.95, 1.1)))
        return {
            "phase": "Running",
            "startTime": stamp(created),
            "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": stamp(created)},
                {"type": "Ready", "status": "True", "lastTransitionTime": stamp(ready)},
            ],
            "containerStatuses": [
                {
                    "name": "main",
                    "ready": True,
                    "restartCount": 0,
                    "state": {"running": {"startedAt": stamp(started)}},
                }
            ],
        }

    def _room(self, template: Template, node: str) -> Room | None:
        for room in self.rooms:
            if node and room.name != node:
                continue
            if not node and (room.cordoned or (template.pool and room.pool != template.pool)):
                continue
            fits = template.cpu <= room.cpu and template.memory_gib <= room.memory_gib
            if fits and all(room.devices.get(n, 0) >= c for n, c in template.devices.items()):
                room.cpu -= template.cpu
                room.memory_gib -= template.memory_gib
                for name, count in template.devices.items():
                    room.devices[name] -= count
                return room
        return None

    def deployment(
        self,
        namespace: str,
        name: str,
        replicas: int,
        template: Template,
        *,
        nodes: Iterable[str] = (),
        deadline_s: int | None = None,
    ) -> None:
        """A Deployment with its ReplicaSet and pods; ``nodes`` binds the first ones by hand."""
        labelled = _labelled(template, {"app": name})
        spec: Json = {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": labelled.template(),
        }
        if deadline_s is not None:
            spec["progressDeadlineSeconds"] = deadline_s
        self.add("apps/v1", "Deployment", name, {"spec": spec}, namespace=namespace)
        digest = f"{self.random.getrandbits(36):09x}"[:9]
        set_name = f"{name}-{digest}"
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": ""}
        self.add(
            "apps/v1",
            "ReplicaSet",
            set_name,
            {"spec": {"replicas": replicas, "template": labelled.template()}},
            namespace=namespace,
            ownerReferences=[{**owner, "controller": True}],
        )
        fixed = iter(nodes)
        for _ in range(replicas):
            self.pod(
                namespace,
                f"{set_name}-{self._suffix()}",
                labelled,
                ("ReplicaSet", set_name),
                node=next(fixed, ""),
                age_h=self.random.uniform(5, 400),
                labels={"pod-template-hash": digest},
            )

    def daemon_set(
        self, namespace: str, name: str, template: Template, nodes: Iterable[str]
    ) -> None:
        """A DaemonSet with a pod on each of the nodes."""
        self.add(
            "apps/v1", "DaemonSet", name, {"spec": {"template": template.template()}},
            namespace=namespace,
        )  # fmt: skip
        for node in nodes:
            pod = f"{name}-{self._suffix()}"
            self.pod(namespace, pod, template, ("DaemonSet", name), node=node, age_h=300)

    def namespaces(self, *names: str) -> None:
        for name in names:
            self.add("v1", "Namespace", name, {})

    def quota(self, namespace: str, hard: dict[str, int], used: dict[str, int]) -> None:
        """A ResourceQuota as its controller leaves it."""
        limits = {key: str(value) for key, value in hard.items()}
        body = {
            "spec": {"hard": limits},
            "status": {"hard": limits, "used": {key: str(value) for key, value in used.items()}},
        }
        self.add("v1", "ResourceQuota", "gpu-quota", body, namespace=namespace)

    def held(self, namespace: str, resource: str) -> int:
        """Units of a resource that the namespace's pods ask for, for quotas."""
        return sum(
            int(container["resources"]["requests"].get(resource, 0))
            for pod in self.objects.get("Pod", ())
            if pod["metadata"]["namespace"] == namespace
            for container in pod["spec"]["containers"]
        )

    def names(self, pool: str = "") -> list[str]:
        return [room.name for room in self.rooms if not pool or room.pool == pool]

    def sources(self) -> tuple[Source, ...]:
        """The cluster as files: one a kind, the server's version, and discovery."""
        found = []
        for kind, items in sorted(self.objects.items()):
            listing = {"apiVersion": "v1", "kind": "List", "items": items}
            found.append(Source(f"{self.name}/{kind.lower()}.json", _dump(listing)))
        major, minor = self.git_version.lstrip("v").split(".")[:2]
        version = {"major": major, "minor": minor, "gitVersion": self.git_version}
        found.append(Source(f"{self.name}/version.json", _dump({"serverVersion": version})))
        for group_version, resources in sorted(self.apis.items()):
            listing = {
                "kind": "APIResourceList",
                "apiVersion": "v1",
                "groupVersion": group_version,
                "resources": [{"name": name} for name in resources],
            }
            file = f"{self.name}/api-{group_version.replace('/', '-')}.json"
            found.append(Source(file, _dump(listing)))
        return tuple(found)


def _dump(value: Json) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _labelled(template: Template, labels: dict[str, str]) -> Template:
    return replace(template, labels={**template.labels, **labels})


def _gfd(machine: Machine) -> dict[str, str]:
    if not machine.gpus:
        return {}
    return {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": machine.product,
        "nvidia.com/gpu.count": str(machine.gpus),
        "nvidia.com/gpu.memory": str(machine.memory_mib),
        "nvidia.com/gpu.family": machine.family,
        "nvidia.com/gpu.replicas": "1",
        "nvidia.com/gpu.sharing-strategy": "none",
    }
