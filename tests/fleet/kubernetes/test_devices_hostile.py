"""Device counts, labels and registers that lie, overflow or are garbage: a note, never a crash,
never a zero that is not one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.board_registers import HAMI, VOLCANO, registered_boards
from fleet.boards.states import node_figures, node_squares
from fleet.inventory import decode, encode
from fleet.inventory_totals import totals
from fleet.kubernetes.devices import MOST_BOARDS
from fleet.other_accelerators import other_accelerators
from tests.fleet.kubernetes.written import Json, cluster, node, only_node, pod

RESOURCES = ("nvidia.com/gpu", "nvidia.com/gpu.shared", "amd.com/gpu", "gpu.intel.com/xe",
             "nvidia.com/a100")  # fmt: skip
COUNTED: Json = {"nvidia.com/gpu.count": "8", "nvidia.com/gpu.product": "NVIDIA-L4"}


@pytest.mark.parametrize("resource", RESOURCES)
@pytest.mark.parametrize(
    "amount", ["-5", "0.5", "1500m", "1e99", "NaN", "", "eight", "9" * 25, "1e-3", "²", "٣", "0x8",
               "+-3", "1 000", "99999999999"],
)  # fmt: skip
def test_a_number_that_is_no_count_makes_the_count_unknown_and_not_zero(
    resource: str, amount: str
) -> None:
    inventory = cluster(node(resources={resource: amount}))
    (found,) = inventory.nodes
    assert found.is_gpu_node
    assert [group.physical for group in found.groups] == [None]
    assert found.groups[0].unreadable == (resource,)
    assert any(resource in line for line in inventory.problems)
    assert node_figures(found).free is None


def test_a_whole_number_in_any_writing_of_the_api_is_a_count() -> None:
    for amount, boards in (("8", 8), ("8e0", 8), ("8.0", 8), ("8000m", 8), (8, 8), ("+8", 8)):
        (group,) = only_node(node(resources={"nvidia.com/gpu": amount})).groups
        assert group.physical == boards, amount


@pytest.mark.parametrize("amount", ["8k", "1M", "1025", "1Ki", "1000000000"])
def test_more_boards_than_a_machine_has_are_no_count(amount: str) -> None:
    (group,) = only_node(node(resources={"nvidia.com/gpu": amount})).groups
    assert (group.physical is None) is (amount != "1Ki")
    if group.physical is None:
        assert "more than a machine has" in group.physical_source


def test_a_resource_of_nobody_we_know_makes_no_count_of_gpus_unknown() -> None:
    inventory = cluster(node(labels=COUNTED, resources={"nvidia.com/gpu": "8", "foo.bar/gpu": "2"}))
    (found,) = inventory.nodes
    assert [(g.vendor, g.physical) for g in found.groups] == [("nvidia", 8), ("unknown", None)]
    assert (node_figures(found).physical, node_figures(found).free) == (8, 8)
    assert totals(inventory)["uncounted_nodes"] == 0
    (alone,) = cluster(node(resources={"foo.bar/gpu": "2"})).nodes
    assert node_figures(alone).physical is None


def test_an_unreadable_resource_beside_a_counted_label_keeps_nothing_of_a_guess() -> None:
    found = only_node(node(labels=COUNTED, resources={"nvidia.com/gpu": "eight"}))
    (group,) = found.groups
    assert (group.physical, group.model, group.unreadable) == (None, "L4", ("nvidia.com/gpu",))


@pytest.mark.parametrize(
    "count", ["-8", "8.0", "8k", "eight", "9" * 20, "", " 8", "0x8", "²", "٨", "1" * 63]
)
def test_a_count_label_that_is_no_count_says_nothing(count: str) -> None:
    labels = COUNTED | {"nvidia.com/gpu.count": count}
    (group,) = only_node(node(labels=labels, gpus=4)).groups
    assert (group.physical, group.model) == (4, "L4")
    (alone,) = only_node(node(labels=labels)).groups
    assert alone.physical is None


@pytest.mark.parametrize("replicas", ["-1", "0", "1e9", "999999999", "x", "4.5", "9" * 30])
def test_a_factor_that_is_no_factor_shares_nothing(replicas: str) -> None:
    labels = COUNTED | {"nvidia.com/gpu.replicas": replicas}
    (group,) = only_node(node(labels=labels, gpus=8)).groups
    assert (group.physical, group.replicas) == (8, None)
    assert sum(u.capacity for u in group.units) == 8


@pytest.mark.parametrize("memory", ["-1", "0", "9" * 9, "9" * 40, "24GB", "NaN", "x" * 63])
def test_memory_that_no_card_has_never_changes_the_card(memory: str) -> None:
    labels = COUNTED | {"nvidia.com/gpu.memory": memory}
    (group,) = only_node(node(labels=labels, gpus=8)).groups
    assert (group.model, group.physical) == ("L4", 8)
    assert group.memory_mib in (None, 999_999_999)
    assert bool(group.notes) is (group.memory_mib is not None)


@pytest.mark.parametrize(
    "garbage",
    ["x" * 63, "-MIG-" * 12, "NVIDIA-" * 9, "-SHARED", "-MIG-INVALID", "MIG-1g.5gb", "<script>",
     "NVIDIA-A100-MIG-" + "9" * 40, "\u202e\u0000", "=cmd()", "GRID--1Q", "nvidia", "A" * 250],
)  # fmt: skip
def test_garbage_for_a_model_is_an_unknown_model_of_boards_that_are_there(garbage: str) -> None:
    labels = COUNTED | {"nvidia.com/gpu.product": garbage}
    (group,) = only_node(node(labels=labels, gpus=8)).groups
    assert group.model in (None, "A100")
    assert group.physical in (8, None)
    assert (group.physical is None) is ("-MIG-" in garbage)  # then the label counts devices


REGISTERS = [
    "", ":", ":::::", "x" * 10_000, "GPU-1", "GPU-1,10", ",,,,,,", "GPU-1,x,y,z,t,n,true:",
    "GPU-1,-10,81559,100,T,0,true:", "GPU-1,0,81559,100,T,0,true:", "GPU-1,10,-1,100,T,0,true:",
    "GPU-1,9999999,81559,100,T,0,true:", "GPU-1,10,99999999999,100,T,0,true:",
    ",10,81559,100,T,0,true:", "[", "[]", "[{}]", "[null]", "[1,2]", '[{"id":1}]', "{}", "null",
    '[{"id":"GPU-1","count":-1,"devmem":1,"type":"T","health":true}]',
    '[{"id":"GPU-1","count":10,"devmem":1e400,"type":"T","health":true}]',
    "[" * 5000, '[{"id":"' + "x" * 9000 + '"}]',
]  # fmt: skip


@pytest.mark.parametrize("register", REGISTERS, ids=lambda text: text[:30])
@pytest.mark.parametrize("key", ["hami.io/node-nvidia-register", "volcano.sh/node-vgpu-register"])
def test_a_register_that_nobody_can_read_registers_nothing(key: str, register: str) -> None:
    (group,) = only_node(node(gpus=10, annotations={key: register})).groups
    assert (group.physical, group.physical_source) == (10, "capacity, which may be shared")


def test_a_board_named_twice_is_one_and_an_odd_entry_costs_itself() -> None:
    good = "GPU-1,10,24564,100,NVIDIA-NVIDIA GeForce RTX 4090,0,true:"
    notes = {
        "hami.io/node-nvidia-register": good + good + "GPU-2,broken:" + good.replace("1,", "3,", 1)
    }
    (group,) = only_node(node(gpus=20, annotations=notes)).groups
    assert (group.physical, group.model) == (2, "RTX-4090")
    assert "1 entries of the register cannot be read" in group.notes


def test_a_register_of_thousands_is_more_than_a_machine_has() -> None:
    text = "".join(f"G{i},1,2,3,T,0,true:" for i in range(2500))
    (group,) = only_node(node(gpus=10, annotations={"hami.io/node-nvidia-register": text})).groups
    assert (group.physical, group.whole_free) == (None, None)


@given(st.text(max_size=400), st.sampled_from([HAMI, VOLCANO]))
def test_any_text_is_a_register_or_none(text: str, form: Any) -> None:
    boards, unreadable = registered_boards(text, form)
    assert unreadable >= 0
    assert all(board.uuid and board.split > 0 and board.memory_mib >= 0 for board in boards)
    assert len({board.uuid for board in boards}) == len(boards)


KEYS = (
    "nvidia.com/gpu.count", "nvidia.com/gpu.replicas", "nvidia.com/gpu.product",
    "nvidia.com/gpu.memory", "nvidia.com/gpu.sharing-strategy", "nvidia.com/mig.strategy",
    "nvidia.com/mig.config", "nvidia.com/gpu.workload.config", "nvidia.com/vgpu.present",
    "nvidia.com/mig-1g.5gb.product", "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-gpu-sharing-strategy", "cloud.google.com/gke-gpu-partition-size",
    "cloud.google.com/gke-max-shared-clients-per-gpu", "karpenter.k8s.aws/instance-gpu-name",
    "karpenter.k8s.aws/instance-gpu-count", "karpenter.k8s.aws/instance-gpu-memory",
    "gpu.nvidia.com/vram", "aliyun.accelerator/nvidia_mem", "node.kubernetes.io/instance-type",
    "amd.com/gpu.product-name", "amd.com/gpu.vram", "amd.com/compute-memory-partition",
    "beta.amd.com/gpu.device-id.74a1", "amd.com/gpu.vram.16G", "gpu.intel.com/device.count",
    "gpu.intel.com/device-id.0380-56c0.count", "metricsexporter.amd.com.gpu.0.state",
    "feature.node.kubernetes.io/pci-0302_10de_2330.present", "accelerator", "type",
    "cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-accelerator-count",
)  # fmt: skip
VALUES = st.one_of(
    st.sampled_from([
        "true", "0", "1", "3", "8", "64", "9" * 9, "-1", "NVIDIA-A100-SXM4-40GB", "Tesla-T4",
        "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb-SHARED", "NVIDIA-A100-SXM4-80GB-MIG-INVALID",
        "GRID-A100-40C", "time-slicing", "mps", "single", "mixed", "all-1g.5gb", "1g.5gb",
        "vm-passthrough", "nvidia-tesla-a100", "a100", "81920", "24G", "AMD_Instinct_MI300X",
        "cpx_nps4", "p4d.24xlarge", "Standard_NV12ads_A10_v5", "unhealthy", "tpu-v6e-slice",
    ]),
    st.text(max_size=63),
)  # fmt: skip
AMOUNTS = st.sampled_from(
    ["0", "1", "2", "7", "8", "10", "56", "64", "100", "1e3", "x", "-1", "0.5"]
)
DEVICES = (*RESOURCES, "nvidia.com/mig-1g.5gb", "nvidia.com/mig-3g.40gb", "amd.com/cpx_nps4",
         "nvidia.com/GRID_P40-1Q", "nvidia.com/GA102_GEFORCE_RTX_3090", "aliyun.com/gpu-mem",
         "aliyun.com/gpu-count", "volcano.sh/vgpu-number", "volcano.sh/gpu-number",
         "google.com/tpu", "nvidia.com/gadget", "k8s.amazonaws.com/vgpu",
         "huawei.com/Ascend910")  # fmt: skip


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    labels=st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8),
    capacity=st.dictionaries(st.sampled_from(DEVICES), AMOUNTS, max_size=5),
    allocatable=st.dictionaries(st.sampled_from(DEVICES), AMOUNTS, max_size=3),
    asked=st.dictionaries(st.sampled_from(DEVICES), st.integers(1, 9), max_size=2),
    register=st.sampled_from(["", *REGISTERS, "GPU-1,10,40960,100,NVIDIA A100-PCIE-40GB,0,true:"]),
)
def test_whatever_a_node_says_the_numbers_stay_numbers_of_one_machine(
    labels: Json, capacity: Json, allocatable: Json, asked: Json, register: str
) -> None:
    notes = {"hami.io/node-nvidia-register": register} if register else {}
    item = node(labels=labels, resources=capacity, allocatable=allocatable, annotations=notes)
    inventory = cluster(item, pod(on="node-a", requests={k: str(v) for k, v in asked.items()}))
    (found,) = inventory.nodes
    for group in found.groups:
        assert group.physical is None or 1 <= group.physical <= MOST_BOARDS
        assert group.physical_source
        assert group.unhealthy is None or group.unhealthy >= 0
        assert group.whole_free is None or group.whole_free >= 0
        assert group.replicas is None or group.replicas >= 1
        assert all(found.free(unit) >= 0 for unit in group.units)
        assert all(unit.capacity >= unit.allocatable >= 0 for unit in group.units)
        assert len(group.model_label) <= 253
    figures = node_figures(found)
    if figures.physical is not None:
        assert len(node_squares(found)) == figures.physical
        parts = (figures.requested, figures.free, figures.stranded, figures.not_schedulable,
                 figures.unknown)  # fmt: skip
        told = sum(part or 0 for part in parts)
        assert told == figures.physical or (figures.requested is None and told < figures.physical)
    for other in other_accelerators(found):
        assert other.devices is None or other.devices >= 0
    assert decode(encode(inventory)) == inventory
    json.dumps(found.labels)
