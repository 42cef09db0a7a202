"""Boards that a sharing system hands out in parts: HAMi, Volcano, Aliyun, vGPU plugins."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fleet.inventory import DeviceGroup, Node, Sharing, UnitKind
from fleet.kubernetes.dump import Source, load
from fleet.kubernetes.hami import is_stale
from fleet.kubernetes.reader import read
from tests.fleet.kubernetes.written import Json, node, only_node, pod

HAMI = "hami.io/node-nvidia-register"
VOLCANO = "volcano.sh/node-vgpu-register"
NOW = datetime(2026, 1, 5, 10, 0, tzinfo=UTC)


def hami_text(boards: int, split: int = 10, memory: int = 81559, sick: int = 0) -> str:
    name = "NVIDIA-NVIDIA H100 80GB HBM3"
    return "".join(
        f"GPU-{i},{split},{memory},100,{name},0,{str(i >= sick).lower()}:" for i in range(boards)
    )


def hami_json(boards: int, split: int = 10, memory: int = 81559, sick: int = 0) -> str:
    return json.dumps([
        {"id": f"GPU-{i}", "index": i, "count": split, "devmem": memory, "devcore": 100,
         "type": "NVIDIA H100 80GB HBM3", "mode": "hami-core", "health": i >= sick}
        for i in range(boards)
    ])  # fmt: skip


def volcano_text(boards: int, split: int = 10, memory: int = 81559, sick: int = 0) -> str:
    name = "NVIDIA-NVIDIA H100 80GB HBM3"
    return "".join(
        f"GPU-{i},{split},{memory},{name},{str(i >= sick).lower()},hami-core:"
        for i in range(boards)
    )


def group(annotations: Json, resources: Json, *pods: Json, **more: Any) -> DeviceGroup:
    (found,) = only_node(node(annotations=annotations, resources=resources, **more), *pods).groups
    return found


@pytest.mark.parametrize("written", [hami_text, hami_json])
@pytest.mark.parametrize(("boards", "split"), [(1, 10), (8, 10), (4, 2), (2, 100)])
def test_hami_multiplies_the_resource_and_its_register_tells_the_boards(
    written: Any, boards: int, split: int
) -> None:
    units = str(boards * split)
    found = group({HAMI: written(boards, split)}, {"nvidia.com/gpu": units})
    assert (found.physical, found.replicas, found.sharing) == (boards, split, Sharing.FRACTIONAL)
    assert (found.model, found.memory_mib) == ("H100-SXM5-80GB", 81559)
    assert [(u.kind, u.capacity) for u in found.units] == [(UnitKind.SHARE, boards * split)]
    assert found.whole_free == boards


@pytest.mark.parametrize("written", [hami_text, hami_json])
def test_boards_that_hami_calls_sick_are_sick_and_those_that_pods_hold_are_not_free(
    written: Any,
) -> None:
    holder = pod(
        on="node-a",
        gpus=1,
        meta={"annotations": {"hami.io/vgpu-devices-allocated": "GPU-3,NVIDIA,20000,30:;"}},
    )
    found = group(
        {HAMI: written(8, sick=2)}, {"nvidia.com/gpu": "80"}, holder,
        allocatable={"nvidia.com/gpu": "60"},
    )  # fmt: skip
    assert (found.physical, found.unhealthy, found.whole_free) == (8, 2, 5)


def test_boards_of_two_models_in_one_register_are_no_single_model() -> None:
    register = (
        "GPU-1,10,81559,100,NVIDIA-NVIDIA H100 80GB HBM3,0,true:"
        "GPU-2,5,24564,100,NVIDIA-NVIDIA GeForce RTX 4090,0,true:"
    )
    found = group({HAMI: register}, {"nvidia.com/gpu": "15"})
    assert (found.physical, found.model, found.memory_mib, found.replicas) == (2, None, None, None)
    assert not found.model_certain
    assert "the register names 2 models" in found.notes


@pytest.mark.parametrize(
    ("handshake", "stale"),
    [("Reported 2026-01-05 09:59:50.1 +0000 UTC m=+1.0", False),
     ("Requesting_2026.01.05 09:59:40", False),  # just asked: it is asked every 30 seconds
     ("Requesting_2026.01.05 09:54:59", True), ("Requesting_2024.05.21 09:00:00", True),
     ("Requesting_nonsense", True), ("Requesting_2026.99.99 99:99:99", True),
     ("Deleted_2026.01.05 09:59:59", True), ("", False), ("x" * 10_000, False)],
    ids=str,
)  # fmt: skip
def test_a_question_that_is_not_answered_for_five_minutes_makes_the_register_stale(
    handshake: str, stale: bool
) -> None:
    assert is_stale(handshake, NOW) is stale
    assert is_stale(handshake, NOW + timedelta(hours=1)) is (stale or "Requesting" in handshake)


@pytest.mark.parametrize("key", ["hami.io/node-handshake", "hami.io/node-handshake-nvidia"])
def test_staleness_is_judged_at_the_time_of_reading(key: str) -> None:
    raw = json.dumps(node(gpus=10, annotations={HAMI: hami_text(1), key: "Requesting_2026.01.05 "
                                                "09:59:00"})).encode()  # fmt: skip
    for taken_at, stale in ((NOW, None), (NOW + timedelta(minutes=10), "true"), (None, "true")):
        (found,) = read(load([Source("test", raw)]), taken_at=taken_at).nodes
        assert found.groups[0].details.get("stale") == stale


@pytest.mark.parametrize("written", [volcano_text, hami_json])
def test_volcano_registers_boards_the_same_way(written: Any) -> None:
    resources = {"volcano.sh/vgpu-number": "20", "volcano.sh/vgpu-memory": "163118",
                 "volcano.sh/vgpu-cores": "200"}  # fmt: skip
    found = group({VOLCANO: written(2, sick=1)}, resources)
    assert (found.physical, found.sharing, found.unhealthy) == (2, Sharing.FRACTIONAL, 1)
    assert found.model == "H100-SXM5-80GB"
    assert {u.resource.partition("/")[2]: u.kind for u in found.units} == {
        "vgpu-number": UnitKind.SHARE,
        "vgpu-memory": UnitKind.MEMORY,
        "vgpu-cores": UnitKind.CORE,
    }
    assert (found.whole_free, found.use_unknown) == (1, "")  # nobody holds anything


def test_volcanos_older_resource_counts_boards_and_memory() -> None:
    found = group({}, {"volcano.sh/gpu-number": "4", "volcano.sh/gpu-memory": "65536"})
    assert (found.physical, found.sharing) == (4, Sharing.FRACTIONAL)


@pytest.mark.parametrize(("boards", "gib"), [(8, 31), (1, 11), (4, 80), (2, 24)])
def test_aliyun_counts_memory_in_gib_and_boards_apart(boards: int, gib: int) -> None:
    resources = {"aliyun.com/gpu-count": str(boards), "aliyun.com/gpu-mem": str(boards * gib)}
    holder = pod(
        on="node-a",
        requests={"aliyun.com/gpu-mem": "3"},
        meta={"annotations": {"ALIYUN_COM_GPU_MEM_IDX": "0"}},
    )
    found = group({}, resources, holder)
    assert (found.physical, found.memory_gib, found.whole_free) == (boards, gib, boards - 1)
    assert [(u.kind, u.capacity, u.requested) for u in found.units] == [
        (UnitKind.MEMORY, boards * gib, 3)
    ]
    uncounted = group({}, {"aliyun.com/gpu-mem": "248"})
    assert (uncounted.physical, uncounted.sharing) == (None, Sharing.FRACTIONAL)
    cores = group({}, {"aliyun.com/gpu-mem": "248", "aliyun.com/gpu-core.percentage": "800"})
    assert (cores.physical, cores.physical_estimated) == (8, True)


def test_aws_vgpus_are_shares_of_the_boards_of_the_machine() -> None:
    labels = {"node.kubernetes.io/instance-type": "p3.8xlarge"}
    found = group({}, {"k8s.amazonaws.com/vgpu": "40"}, labels=labels)
    assert (found.physical, found.replicas) == (4, 10)
    assert [u.kind for u in found.units] == [UnitKind.SHARE]


# --- nodes that pretend


@pytest.mark.parametrize(
    "change",
    [{"labels": {"type": "virtual-kubelet"}}, {"labels": {"type": "virtual-node"}},
     {"labels": {"liqo.io/type": "virtual-node"}},
     {"taints": [{"key": "virtual-kubelet.io/provider", "effect": "NoSchedule"}]},
     {"taints": [{"key": "virtual-node.liqo.io/not-allowed", "effect": "NoExecute"}]}],
    ids=str,
)  # fmt: skip
def test_a_door_to_elsewhere_is_virtual(change: Json) -> None:
    found = only_node(node(gpus=64, **change))
    assert (found.is_virtual, found.is_simulated) == (True, False)


@pytest.mark.parametrize(
    "change",
    [{"labels": {"type": "kwok"}}, {"annotations": {"kwok.x-k8s.io/node": "fake"}},
     {"taints": [{"key": "kwok.x-k8s.io/node", "effect": "NoSchedule"}]},
     {"providerID": "kwok://node-a"},
     {"labels": {"run.ai/simulated-gpu-node-pool": "default"}}],
    ids=str,
)  # fmt: skip
def test_a_node_of_a_simulator_is_simulated(change: Json) -> None:
    found = only_node(node(gpus=8, **change))
    assert (found.is_virtual, found.is_simulated) == (False, True)


# --- devices that pods hold and that are sick


def holding(name: str, *health: tuple[str, str], resource: str = "nvidia.com/gpu") -> Json:
    devices = [{"resourceID": device, "health": state} for device, state in health]
    status = {"name": "main", "allocatedResourcesStatus": [
        {"name": resource, "resources": devices}]}  # fmt: skip
    return pod(name, on="node-a", gpus=1, status={"containerStatuses": [status]})


def sick(labels: Json, gpus: int, *pods: Json) -> Node:
    return only_node(node(labels=labels, gpus=gpus), *pods)


def test_a_board_that_a_pod_holds_and_the_kubelet_calls_unhealthy_is_sick() -> None:
    found = sick({}, 8, holding("a", ("GPU-1", "Unhealthy"), ("GPU-2", "Healthy")),
                 holding("b", ("GPU-3", "Unknown")))  # fmt: skip
    (group_,) = found.groups
    assert group_.unhealthy == 1
    assert "pods hold 1 devices whose health is Unhealthy" in group_.notes
    assert "pods hold 1 devices whose health is Unknown" in group_.notes


def test_two_shares_of_one_board_are_one_sick_board() -> None:
    labels = {"nvidia.com/gpu.count": "2", "nvidia.com/gpu.replicas": "4"}
    found = sick(labels, 8, holding("a", ("GPU-1::0", "Unhealthy")),
                 holding("b", ("GPU-1::3", "Unhealthy")))  # fmt: skip
    assert found.groups[0].unhealthy == 1


def test_a_sick_mig_device_does_not_condemn_its_board() -> None:
    holder = holding("a", ("MIG-1", "Unhealthy"), resource="nvidia.com/mig-1g.10gb")
    found = sick({"nvidia.com/gpu.count": "1"}, 0, holder)
    assert found.groups[0].unhealthy == 0
    assert any("MIG" not in note and "Unhealthy" in note for note in found.groups[0].notes)


@pytest.mark.parametrize(
    "odd",
    [None, [], [{}], [{"name": "nvidia.com/gpu", "resources": None}],
     [{"name": "cpu", "resources": [{"resourceID": "1", "health": "Unhealthy"}]}]],
    ids=str,
)  # fmt: skip
def test_odd_health_says_nothing(odd: Any) -> None:
    status = {"name": "main", "allocatedResourcesStatus": odd}
    held = pod(on="node-a", gpus=1, status={"containerStatuses": [status]})
    assert sick({}, 8, held).groups[0].unhealthy == 0
