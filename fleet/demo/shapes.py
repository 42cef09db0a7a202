"""What synthetic clusters are made of: machines and pod templates."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

GPU = "nvidia.com/gpu"
GPU_TOLERATION: Json = {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}


@dataclass(frozen=True, slots=True)
class Machine:
    """An instance type and what GFD says about its cards."""

    instance_type: str
    cpu: int
    memory_gib: int
    gpus: int = 0
    product: str = ""
    memory_mib: int = 0
    family: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """The pods of one workload. ``load_s``: from container start to Ready."""

    pool: str
    cpu: float
    memory_gib: float
    devices: dict[str, int] = field(default_factory=dict)
    tolerations: tuple[Json, ...] = ()
    probes: Json = field(default_factory=dict)
    ports: tuple[int, ...] = ()
    load_s: int = 30
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    priority_class: str = ""
    priority: int = 0
    image: str = "registry.example/app:1"

    def spec(self, *, in_template: bool) -> Json:
        """A pod spec. Templates carry device limits only, as people write them."""
        memory = f"{round(self.memory_gib * 1024)}Mi"
        wanted = {"cpu": f"{round(self.cpu * 1000)}m", "memory": memory}
        devices = {name: str(count) for name, count in self.devices.items()}
        resources: Json = {"requests": wanted if in_template else wanted | devices}
        if devices:
            resources["limits"] = devices
        container: Json = {"name": "main", "image": self.image, "resources": resources}
        if self.ports:
            container["ports"] = [{"containerPort": port} for port in self.ports]
        found: Json = {"containers": [container | self.probes], "nodeSelector": self.selector()}
        if self.tolerations:
            found["tolerations"] = list(self.tolerations)
        if self.priority_class:
            found["priorityClassName"] = self.priority_class
            if not in_template:
                found["priority"] = self.priority
        return found

    def selector(self) -> dict[str, str]:
        return {"node-pool": self.pool} if self.pool else {}

    def template(self) -> Json:
        return {
            "metadata": {"labels": dict(self.labels), "annotations": dict(self.annotations)},
            "spec": self.spec(in_template=True),
        }


def http_probe(path: str = "/health", port: int = 8000, **timing: int) -> Json:
    """A probe by HTTP; timings by their API names."""
    return {"httpGet": {"path": path, "port": port}, **timing}


def good_probes(load_s: int, port: int = 8000) -> Json:
    """Probes as they should be: two and a half times the load to start, readiness by HTTP."""
    return {
        "startupProbe": http_probe(
            port=port, periodSeconds=10, failureThreshold=math.ceil(load_s / 4)
        ),
        "readinessProbe": http_probe(port=port, periodSeconds=5, timeoutSeconds=5),
        "livenessProbe": http_probe(port=port, periodSeconds=10, timeoutSeconds=5),
    }


CORE_APIS: dict[str, tuple[str, ...]] = {
    "v1": ("namespaces", "nodes", "pods", "resourcequotas"),
    "apps/v1": ("daemonsets", "deployments", "replicasets", "statefulsets"),
    "batch/v1": ("cronjobs", "jobs"),
    "scheduling.k8s.io/v1": ("priorityclasses",),
}
