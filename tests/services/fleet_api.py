"""A small live cluster for the service tests: the fake API server with nodes and pods."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from planner.accounts.models import Team
from planner.inventory import clusters
from planner.inventory.models import Cluster
from planner.jobs.models import Job
from tests.fakes.kubeapi import Authority, FakeKubeApi


def node(number: int) -> dict[str, Any]:
    resources = {"cpu": "32", "memory": "128Gi", "pods": "110", "nvidia.com/gpu": "4"}
    return {
        "metadata": {
            "name": f"node-{number}",
            "labels": {"nvidia.com/gpu.product": "Tesla-T4", "nvidia.com/gpu.count": "4"},
        },
        "spec": {},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kubeletVersion": "v1.36.3"},
        },
    }


def pod(number: int, nodes: int) -> dict[str, Any]:
    wanted = {"cpu": "1", "memory": "1Gi"} | ({"nvidia.com/gpu": "1"} if number < nodes else {})
    return {
        "metadata": {"name": f"pod-{number}", "namespace": "serving", "uid": f"uid-{number}"},
        "spec": {
            "nodeName": f"node-{number % nodes}",
            "containers": [{"name": "main", "resources": {"requests": wanted, "limits": wanted}}],
        },
        "status": {"phase": "Running"},
    }


@contextmanager
def fleet_api(*, nodes: int = 3, pods: int = 6, token: str = "good-token") -> Iterator[FakeKubeApi]:
    """An API server over TLS that accepts ``token``."""
    authority = Authority()
    with FakeKubeApi(tls=authority.server(), ca_pem=authority.pem, token=token) as api:
        api.add("/api/v1/nodes", "NodeList", [node(i) for i in range(nodes)])
        api.add("/api/v1/pods", "PodList", [pod(i, nodes) for i in range(pods)])
        yield api


def add_cluster(api: FakeKubeApi, name: str = "live") -> tuple[Cluster, Job]:
    """A live cluster that is read by hand only, and its first sync as asked for."""
    team, _ = Team.objects.get_or_create(name="Search", slug="search")
    return clusters.create_live(
        team=team,
        name=name,
        source=Cluster.Source.KUBECONFIG,
        access=api.access(),
        by=None,
        sync_interval_s=0,
    )
