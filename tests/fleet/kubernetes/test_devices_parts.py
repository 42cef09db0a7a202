"""Cut and shared boards, parts of boards, and boards that labels and plugins count differently:
how many there are, how many are sick, how many can be had."""

from __future__ import annotations

from typing import Any

import pytest

from fleet.catalogue.card_names import candidates
from fleet.inventory import DeviceGroup, Sharing, UnitKind
from fleet.inventory_report.report import as_report
from fleet.inventory_totals import totals as totals_of
from tests.fleet.kubernetes.written import Json, cluster, node, only_node, pod

GPU, MIG = "nvidia.com/gpu", "nvidia.com/mig-1g.5gb"
A100 = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB", "nvidia.com/gpu.memory": "40960"}
MIXED = A100 | {"nvidia.com/mig.strategy": "mixed", "nvidia.com/gpu.replicas": "1"}
SHARED_MIG = MIXED | {
    f"{MIG}.count": "7",
    f"{MIG}.replicas": "4",
    f"{MIG}.sharing-strategy": "time-slicing",
}
SINGLE = {
    "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb",
    "nvidia.com/gpu.memory": "4864",
    "nvidia.com/mig.strategy": "single",
    "nvidia.com/gpu.count": "56",
}
H100 = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.replicas": "1"}
AMD = {"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM"}
TYPE = "node.kubernetes.io/instance-type"


def text(amounts: dict[str, int]) -> Json:
    return {name: str(number) for name, number in amounts.items()}


def numbers(labels: Json, capacity: dict[str, int], left: dict[str, int] | None = None) -> Any:
    item = node(labels=labels, resources=text(capacity), allocatable=text(left or {}))
    return as_report(cluster(item))


def group(labels: Json, capacity: dict[str, int], **more: Any) -> DeviceGroup:
    (found,) = only_node(node(labels=labels, resources=text(capacity), **more)).groups
    return found


# --- Sick boards


@pytest.mark.parametrize(
    ("capacity", "left", "sick"),
    [({"amd.com/cpx_nps1": 24}, {"amd.com/cpx_nps1": 16}, 1),
     ({"amd.com/cpx_nps1": 24}, {"amd.com/cpx_nps1": 15}, 2),
     ({"amd.com/dpx_nps2": 16}, {"amd.com/dpx_nps2": 12}, 2),
     ({"amd.com/spx_nps1": 5, "amd.com/cpx_nps1": 24},
      {"amd.com/spx_nps1": 4, "amd.com/cpx_nps1": 16}, 2)],
)  # fmt: skip
def test_withdrawn_partitions_are_boards_by_the_mode_of_each(
    capacity: dict[str, int], left: dict[str, int], sick: int
) -> None:
    assert group(AMD, capacity, allocatable=text(left)).unhealthy == sick


def test_shares_of_mig_devices_that_are_withdrawn_are_no_boards() -> None:
    labels = SHARED_MIG | {"nvidia.com/gpu.count": "2"}
    for name in (MIG, f"{MIG}.shared"):
        report = numbers(labels, {GPU: 1, name: 28}, {name: 20})
        assert report["nodes"]["node-a"]["unhealthy"] is None
        assert report["totals"]["unhealthy_gpus"] is None
        assert report["totals"]["uncounted_unhealthy_nodes"] == 1


def test_whole_boards_that_are_withdrawn_count_also_beside_cut_ones() -> None:
    labels, cut = MIXED | {"nvidia.com/gpu.count": "8"}, "nvidia.com/mig-3g.20gb"
    report = numbers(labels, {GPU: 6, cut: 4}, {GPU: 5, cut: 3})
    assert report["totals"]["unhealthy_gpus"] == report["nodes"]["node-a"]["unhealthy"] == 1
    assert report["totals"]["uncounted_unhealthy_nodes"] == 1
    well = numbers(labels, {GPU: 6, cut: 4}, {GPU: 5})["totals"]
    assert (well["unhealthy_gpus"], well["uncounted_unhealthy_nodes"]) == (1, 0)


def test_withdrawn_mig_devices_leave_the_number_of_sick_boards_unknown() -> None:
    report = numbers(SINGLE, {GPU: 56}, {GPU: 49})
    assert report["nodes"]["node-a"]["unhealthy"] is None
    assert report["totals"]["unhealthy_gpus"] is None
    assert numbers(SINGLE, {GPU: 56})["totals"]["unhealthy_gpus"] == 0


def test_never_more_boards_are_sick_than_there_are() -> None:
    found = group(H100 | {"nvidia.com/gpu.count": "4"}, {GPU: 6}, allocatable={GPU: "0"})
    assert (found.physical, found.unhealthy) == (4, 4)
    slices = group({}, {"nvidia.com/GRID_T4-4Q": 8}, allocatable={"nvidia.com/GRID_T4-4Q": "4"})
    assert (slices.physical, slices.unhealthy) == (None, None)


# --- MIG devices that pods share


@pytest.mark.parametrize(
    ("labels", "capacity", "devices", "sharing"),
    [(SINGLE | {"nvidia.com/gpu.replicas": "4"}, {GPU: 224}, 56, "mig-single+shared-x4"),
     (SINGLE, {GPU: 224}, 56, "mig-single+shared-x4"),
     (SHARED_MIG | {"nvidia.com/gpu.count": "1"}, {GPU: 0, f"{MIG}.shared": 28}, 7,
      "mig-mixed+time-slicing"),
     (SHARED_MIG | {"nvidia.com/gpu.count": "1"}, {GPU: 0, MIG: 28}, 7, "mig-mixed+time-slicing"),
     (SHARED_MIG | {"nvidia.com/gpu.count": "2"}, {GPU: 1, f"{MIG}.shared": 28}, 7,
      "mig-mixed+time-slicing"),
     (SHARED_MIG | {"nvidia.com/gpu.count": "2"}, {GPU: 1, MIG: 28}, 7, "mig-mixed+time-slicing"),
     (MIXED | {f"{MIG}.count": "7", "nvidia.com/gpu.count": "2"}, {GPU: 1, f"{MIG}.shared": 28},
      7, "mig-mixed+shared-x4"),
     (MIXED | {"nvidia.com/gpu.count": "2"}, {GPU: 1, MIG: 7}, 7, "mig-mixed")],
)  # fmt: skip
def test_a_mig_device_counts_once_however_many_pods_share_it(
    labels: Json, capacity: dict[str, int], devices: int, sharing: str
) -> None:
    report = numbers(labels, capacity)
    shown, totals = report["nodes"]["node-a"], report["totals"]
    assert shown["mig_devices"] == totals["mig_devices"] == totals["free_mig_devices"] == devices
    assert shown["sharing"] == sharing
    assert totals["advertised"] == sum(capacity.values())  # units stay units
    assert totals["free_whole_gpus"] == shown["whole_gpus"]


def test_a_shared_mig_device_is_surely_free_only_when_no_pod_may_be_on_it() -> None:
    item = node(
        labels=SHARED_MIG | {"nvidia.com/gpu.count": "1"}, resources={f"{MIG}.shared": "28"}
    )
    held = pod(on="node-a", requests={f"{MIG}.shared": "2"})
    assert totals_of(cluster(item, held))["free_mig_devices"] == 5


# --- Machines with a part of a board, and plugins that count otherwise


@pytest.mark.parametrize(
    ("kind", "resource"),
    [
        ("Standard_NV12ads_A10_v5", GPU),
        ("g6f.4xlarge", GPU),
        ("Standard_NV8ads_V710_v5", "amd.com/gpu"),
    ],
)
def test_a_part_of_a_board_is_no_board(kind: str, resource: str) -> None:
    labels = {TYPE: kind, "nvidia.com/gpu.count": "1"} if resource == GPU else {TYPE: kind}
    item = node(labels=labels, resources={resource: "1"})
    (found,) = only_node(item).groups
    assert (found.physical, found.sharing) == (None, Sharing.VGPU)
    assert found.physical_source.endswith(f"{kind}: a part of a board")
    assert [unit.kind for unit in found.units] == [UnitKind.VGPU]
    totals = totals_of(cluster(item))
    assert (totals["physical_gpus"], totals["free_whole_gpus"]) == (None, 0)
    assert (totals["uncounted_nodes"], totals["free_units"]) == (1, 1)


@pytest.mark.parametrize(("boards", "units", "free"), [(4, 6, 4), (8, 4, 4), (8, 6, 6)])
def test_a_plugin_that_offers_another_number_than_there_are_boards_is_noted(
    boards: int, units: int, free: int
) -> None:
    labels = H100 | {"nvidia.com/gpu.count": str(boards)}
    report = numbers(labels, {GPU: units})
    assert report["totals"]["free_whole_gpus"] == free
    (line,) = report["nodes"]["node-a"]["notes"]
    assert f"{units} units on {boards} GPU" in line
    held = pod(on="node-a", gpus=2)
    item = node(labels=labels, gpus=units)
    assert totals_of(cluster(item, held))["free_whole_gpus"] == min(units - 2, boards - 2)


# --- Systems that cut boards by memory

HAMI, VOLCANO = "hami.io/node-nvidia-register", "volcano.sh/node-vgpu-register"


def hami(boards: int) -> Json:
    entry = "GPU-{},10,81559,100,NVIDIA-NVIDIA H100 80GB HBM3,0,true:"
    return {HAMI: "".join(entry.format(i) for i in range(boards))}


def volcano(boards: int) -> Json:
    entry = "GPU-{},10,15360,NVIDIA-Tesla T4,true,hami-core:"
    return {VOLCANO: "".join(entry.format(i) for i in range(boards))}


@pytest.mark.parametrize(("pods", "free"), [(0, 8), (3, 5), (8, 0), (9, 0)])
def test_pods_of_hami_that_name_no_board_leave_the_others_surely_free(pods: int, free: int) -> None:
    item = node(annotations=hami(8), resources={GPU: "80"})
    held = [pod(f"pod-{i}", on="node-a", gpus=1) for i in range(pods)]
    assert totals_of(cluster(item, *held))["free_whole_gpus"] == free


def test_idle_boards_of_volcano_are_free_and_those_of_unknown_use_unknown() -> None:
    share = "volcano.sh/vgpu-number"
    item = node(annotations=volcano(3), resources={share: "30"})
    assert totals_of(cluster(item))["free_whole_gpus"] == 3
    some = as_report(cluster(item, pod(on="node-a", requests={share: "11"})))
    assert some["nodes"]["node-a"]["whole_free_gpus"] is None
    assert some["totals"]["free_whole_gpus"] is None
    assert some["totals"]["gpus_of_unknown_use"] == 3
    assert some["totals"]["units"]["share"]["free"] == 19
    every = totals_of(cluster(item, pod(on="node-a", requests={share: "21"})))
    assert (every["free_whole_gpus"], every["gpus_of_unknown_use"]) == (0, 0)


def test_boards_of_unknown_number_are_no_boards_that_pods_hide() -> None:
    found = group({}, {"aliyun.com/gpu-mem": 88})
    assert (found.physical, found.whole_free) == (None, None)
    assert found.use_unknown == "no object says how many boards"


def test_memory_units_are_summed_in_mebibytes_whatever_the_plugin_counts_in() -> None:
    totals = totals_of(
        cluster(
            node(
                "a", resources={"volcano.sh/vgpu-number": "20", "volcano.sh/vgpu-memory": "30720"}
            ),
            node("b", resources={"aliyun.com/gpu-mem": "88", "aliyun.com/gpu-count": "4"}),
            node("c", resources={"example.com/gpu": "3"}),
        )
    )
    assert totals["units"]["memory"]["capacity"] == 30720 + 88 * 1024
    assert totals["free_gib"] == 30 + 88
    assert "unclassified" not in totals["units"]


# --- Several models, and nothing said


def test_two_sizes_of_amd_memory_are_summed_and_no_board_has_either() -> None:
    sizes = {"beta.amd.com/gpu.vram.192G": "4", "beta.amd.com/gpu.vram.64G": "4"}
    ids = {"beta.amd.com/gpu.device-id.74a1": "4", "beta.amd.com/gpu.device-id.740f": "4"}
    report = numbers(sizes | ids, {"amd.com/gpu": 8})
    shown = report["nodes"]["node-a"]
    assert (shown["model"], shown["model_certain"]) == (None, False)
    assert "memory_gib_per_gpu" not in shown
    assert shown["memory_mib_total"] == report["totals"]["memory_mib"] == 256 * 4 * 1024


def test_a_partition_mode_without_anything_offered_shares_nothing() -> None:
    labels = AMD | {"amd.com/compute-memory-partition": "CPX_NPS4"}
    assert group(labels, {"amd.com/gpu": 0}).sharing == Sharing.NONE


def test_an_intel_gpu_that_only_pci_tells_of_is_one_of_unknown_number() -> None:
    found = group({"feature.node.kubernetes.io/pci-0380_8086.present": "true"}, {})
    assert (found.physical, found.physical_source) == (None, "no object says how many")


@pytest.mark.parametrize("text", ["Tesla-P100-PCIE-12GB", "NVIDIA-H100-PCIe-64GB"])
def test_a_size_that_no_card_of_the_catalogue_has_is_no_neighbour_of_it(text: str) -> None:
    assert candidates(text) == ()
