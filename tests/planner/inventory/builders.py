"""Small cluster objects for tests, as kubectl prints them."""

from __future__ import annotations

import json
from typing import Any

from fleet.kubernetes.dump import Source


def node(name: str, *, gpus: int = 8, model: str = "NVIDIA-H100-80GB-HBM3", **labels: str) -> Any:
    """A ready node with ``gpus`` whole GPUs. ``labels`` with "_" for "/" are not understood:
    pass full keys by ``**{"topology.kubernetes.io/zone": "a"}``."""
    amounts = {
        "cpu": "96",
        "memory": "1024Gi",
        "pods": "110",
        **({"nvidia.com/gpu": str(gpus)} if gpus else {}),
    }
    gpu_labels = {"nvidia.com/gpu.product": model, "nvidia.com/gpu.count": str(gpus)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**(gpu_labels if gpus else {}), **labels}},
        "spec": {},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {
                "kubeletVersion": "v1.36.3",
                "operatingSystem": "linux",
                "architecture": "amd64",
            },
        },
    }


def pod(name: str, on: str, *, gpus: int = 1, namespace: str = "team-a", **env: str) -> Any:
    """A running pod that holds ``gpus`` GPUs of node ``on``; ``env`` must never be stored."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}"},
        "spec": {
            "nodeName": on,
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example/app:1",
                    "env": [{"name": key, "value": value} for key, value in env.items()],
                    "resources": {
                        "requests": {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": str(gpus)},
                        "limits": {"nvidia.com/gpu": str(gpus)},
                    },
                }
            ],
        },
        "status": {"phase": "Running"},
    }


def listing(*objects: Any) -> dict[str, Any]:
    """A List, as ``kubectl get … -o json`` prints it."""
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}


def dump(*objects: Any, name: str = "fleet.json") -> Source:
    """The objects as one file."""
    return Source(name, json.dumps(listing(*objects)).encode())
