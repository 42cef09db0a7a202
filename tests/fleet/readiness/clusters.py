"""Small inventories to judge, built by hand: only what a test is about is stated."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any

from fleet.inventory import (
    ContainerProbes,
    Controller,
    DeviceGroup,
    Inventory,
    Node,
    Owner,
    Pod,
    ProbeTimes,
    Quota,
    ReadResult,
    ReadStatus,
    ServerVersion,
    UnitKind,
    Units,
)

TAKEN_AT = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)

READ = (
    "nodes",
    "pods",
    "namespaces",
    "resourcequotas",
    "deployments.apps",
    "jobs.batch",
    "podgroups.scheduling.k8s.io",
)


def cluster(**fields: Any) -> Inventory:
    """A cluster of 1.36 whose usual resources were all read and hold nothing."""
    base = Inventory(
        version=ServerVersion("v1.36.3", 1, 36, "GET /version"),
        provider="",
        apis={},
        nodes=(),
        pods=(),
        controllers=(),
        quotas=(),
        namespaces=(),
        priority_classes=(),
        device_classes=(),
        gang_objects=(),
        topology_keys=(),
        reads=tuple(ReadResult(name, ReadStatus.READ, 0) for name in READ),
        problems=(),
        taken_at=TAKEN_AT,
    )
    return dataclasses.replace(base, **fields)


def reads(**states: ReadStatus) -> tuple[ReadResult, ...]:
    """The usual reads, some of them with another outcome: ``resourcequotas=FORBIDDEN``."""
    found = dict.fromkeys(READ, ReadStatus.READ)
    found.update(states)
    return tuple(ReadResult(name, status, 0) for name, status in found.items())


def gpu_node(
    name: str = "gpu-1", gpus: int = 8, allocatable: int | None = None, **fields: Any
) -> Node:
    units = Units(
        "nvidia.com/gpu", UnitKind.WHOLE, gpus, gpus if allocatable is None else allocatable
    )
    group = DeviceGroup(
        vendor="nvidia",
        model="H100-SXM5-80GB",
        model_source="label",
        physical=gpus,
        physical_source="label",
        physical_estimated=False,
        memory_mib=81559,
        sharing="whole" if allocatable != 0 else "none",
        replicas=None,
        units=(units,),
        unhealthy=gpus - units.allocatable or None,
    )
    base = Node(
        name=name,
        labels={},
        annotations={},
        taints=(),
        ready=True,
        cordoned=False,
        schedulable=True,
        not_schedulable_reason="",
        kubelet_version="v1.36.3",
        instance_type="",
        pool="",
        region="",
        zone="",
        arch="amd64",
        os="linux",
        cpu_allocatable=64_000,
        cpu_requested=0,
        memory_allocatable_mib=512 * 1024,
        memory_requested_mib=0,
        pods_allocatable=110,
        pods_count=0,
        groups=(group,),
        topology=(),
    )
    return dataclasses.replace(base, **fields)


def pod(name: str, gpus: int = 1, namespace: str = "team-a", **fields: Any) -> Pod:
    base = Pod(
        namespace=namespace,
        name=name,
        uid=name,
        node="gpu-1",
        phase="Running",
        owner=Owner("Pod", name),
        requests={"nvidia.com/gpu": gpus} if gpus else {},
        cpu_milli=2000,
        memory_mib=4096,
        priority=0,
        priority_class="",
        preemption_policy="",
        scheduler="default-scheduler",
        tolerations=(),
        node_selector={},
        gang=None,
        state="running",
        created=TAKEN_AT - timedelta(hours=2),
        started=TAKEN_AT - timedelta(hours=2),
    )
    return dataclasses.replace(base, **fields)


def waiting(name: str, gpus: int = 1, **fields: Any) -> Pod:
    """A pod without a node."""
    fields = {"started": None, "waiting_reason": "Unschedulable", **fields}
    return pod(name, gpus, node="", phase="Pending", state="pending", **fields)


def controller(kind: str, name: str, gpus: int = 1, pods: int = 1, **fields: Any) -> Controller:
    version = {"Deployment": "apps/v1", "Job": "batch/v1"}.get(kind, "example.com/v1")
    base = Controller(
        api_version=version,
        kind=kind,
        namespace="team-a",
        name=name,
        pods_wanted=pods,
        gang_size=1 if kind in ("Deployment", "StatefulSet") else pods,
        requests={"nvidia.com/gpu": gpus},
        total_requests={"nvidia.com/gpu": gpus * pods},
        suspended=False,
        gang=None,
        scheduler="",
        labels={},
        tolerations=(),
        node_selector={},
        topology_keys=(),
    )
    return dataclasses.replace(base, **fields)


def quota(hard: dict[str, str], used: dict[str, str] | None = None, **fields: Any) -> Quota:
    base = Quota(
        namespace="team-a",
        name="gpus",
        hard=hard,
        used=used if used is not None else dict.fromkeys(hard, "0"),
        scopes=(),
        created=TAKEN_AT - timedelta(days=1),
    )
    return dataclasses.replace(base, **fields)


def times(kind: str = "httpGet", delay: int = 0, period: int = 10, failures: int = 3) -> ProbeTimes:
    return ProbeTimes(kind, delay, period, failures, 1)


def probes(
    startup: ProbeTimes | None = None,
    readiness: ProbeTimes | None = None,
    liveness: ProbeTimes | None = None,
) -> tuple[ContainerProbes, ...]:
    return (ContainerProbes("main", startup, readiness, liveness, wants_gpu=True, ports=1),)
