"""Who says that boards are sick: capacity minus allocatable, a register, labels, the kubelet about
a pod's devices, or the driver by device taints."""

from __future__ import annotations

from typing import Any

import pytest

from fleet.inventory_report.nodes import node_report
from fleet.kubernetes.device_health import HELD_SICK, WITHDRAWN, most_sick
from tests.fleet.kubernetes.written import Json, gpu_device, node, only_node, pod
from tests.fleet.kubernetes.written_dra import pool_slice

NVIDIA = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "nvidia.com/gpu.count": "8"}
AMD = {
    "amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM",
    "metricsexporter.amd.com.gpu.0.state": "unhealthy",
}
XID = [{"key": "gpu.nvidia.com/xid", "effect": "NoSchedule", "value": "79"}]


def register(*healthy: bool) -> Json:
    boards = (
        f"GPU-{n},10,81920,100,NVIDIA-A100-SXM4-80GB,0,{str(good).lower()}"
        for n, good in enumerate(healthy)
    )
    return {"hami.io/node-nvidia-register": ":".join(boards) + ":"}


def holding(device: str) -> Json:
    resources = [{"resourceID": device, "health": "Unhealthy"}]
    status = {"name": "main", "allocatedResourcesStatus": [
        {"name": "nvidia.com/gpu", "resources": resources}
    ]}  # fmt: skip
    return pod("a", "node-a", gpus=1, status={"containerStatuses": [status]})


def told(*objects: Json) -> tuple[int | None, str]:
    (group,) = only_node(*objects).groups
    return group.unhealthy, group.unhealthy_source


CASES: dict[str, tuple[list[Any], tuple[int, str]]] = {
    "withdrawn": (
        [node(labels=NVIDIA, gpus=8, allocatable={"nvidia.com/gpu": "7"})],
        (1, WITHDRAWN),
    ),
    "held by a pod": ([node(labels=NVIDIA, gpus=8), holding("GPU-1")], (1, HELD_SICK)),
    "both of one board": (
        [node(labels=NVIDIA, gpus=8, allocatable={"nvidia.com/gpu": "7"}), holding("GPU-1")],
        (1, f"{WITHDRAWN} and {HELD_SICK}"),
    ),
    "register": (
        [node(labels=NVIDIA, gpus=30, annotations=register(True, False, False))],
        (2, "annotation hami.io/node-nvidia-register"),
    ),
    "label": (
        [node(labels=AMD, resources={"amd.com/gpu": "8"})],
        (1, "labels of AMD's exporter"),
    ),
    "device taint": (
        [node(), pool_slice(gpu_device("gpu-0", "GPU-0") | {"taints": XID})],
        (1, "device taints of the driver"),
    ),
    "nothing": ([node(labels=NVIDIA, gpus=8)], (0, "")),
}


@pytest.mark.parametrize(("objects", "said"), CASES.values(), ids=CASES)
def test_the_source_is_told(objects: list[Json], said: tuple[int, str]) -> None:
    assert told(*objects) == said
    report = node_report(only_node(*objects))
    assert report.get("unhealthy_source", "") == said[1]


def test_the_largest_count_is_kept_with_all_that_say_it() -> None:
    assert most_sick((1, "a"), (3, "b"), (3, "c")) == (3, "b and c")
    assert most_sick((0, "a"), (0, "b")) == (0, "")
