"""Objects as people and device plugins write them, for tests on a real API server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.cluster.client import Object

READY = [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "it runs"}]


def node(
    name: str,
    resources: Mapping[str, str] | None = None,
    *,
    labels: Mapping[str, str] | None = None,
    **spec: Any,
) -> Object:
    """A ready node. ``resources`` join 32 CPUs, 128 GiB and 110 pods; capacity = allocatable."""
    amounts = {"cpu": "32", "memory": "128Gi", "pods": "110"} | dict(resources or {})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name} | dict(labels or {})},
        "spec": spec,
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": READY,
            "nodeInfo": {
                "kubeletVersion": "v1.36.3",
                "architecture": "amd64",
                "operatingSystem": "linux",
                **dict.fromkeys(
                    (
                        "machineID",
                        "systemUUID",
                        "bootID",
                        "kernelVersion",
                        "osImage",
                        "containerRuntimeVersion",
                        "kubeProxyVersion",
                    ),
                    "",
                ),
            },
        },
    }


def gpu_node(name: str, gpus: int = 8, model: str = "NVIDIA-H100-80GB-HBM3", **more: Any) -> Object:
    """A node with whole NVIDIA boards and the labels of GPU feature discovery."""
    labels = {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": model,
        "nvidia.com/gpu.count": str(gpus),
        "nvidia.com/gpu.memory": "81559",
        "nvidia.com/mig.capable": "true",
        "nvidia.com/mig.strategy": "single",
        "nvidia.com/gpu.replicas": "1",
    }
    labels |= more.pop("labels", {})
    return node(
        name, {"nvidia.com/gpu": str(gpus)} | more.pop("resources", {}), labels=labels, **more
    )


def container(
    name: str = "main",
    requests: Mapping[str, str] | None = None,
    limits: Mapping[str, str] | None = None,
    **more: Any,
) -> Object:
    resources = {
        key: dict(value) for key, value in (("requests", requests), ("limits", limits)) if value
    }
    return {"name": name, "image": "registry.test/image:1", "resources": resources, **more}


def pod(
    name: str,
    *containers: Object,
    namespace: str = "default",
    metadata: Mapping[str, Any] | None = None,
    **spec: Any,
) -> Object:
    """A pod; ``gpus(n)`` and ``container(...)`` make its containers."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, **(metadata or {})},
        "spec": {"containers": list(containers) or [container()], **spec},
    }


def gpus(count: int, resource: str = "nvidia.com/gpu", cpu: str = "1") -> Object:
    """A container that names its GPUs only as a limit, as most people write it."""
    return container(requests={"cpu": cpu}, limits={resource: str(count)})


def namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def crd(group: str, version: str, kind: str, plural: str, *, namespaced: bool = True) -> Object:
    """A definition that accepts any field: what is tested is our reading, not its schema."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced" if namespaced else "Cluster",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "x-kubernetes-preserve-unknown-fields": True,
                        }
                    },
                }
            ],
        },
    }
