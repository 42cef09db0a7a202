"""AMD and Intel GPUs, and accelerators that are no GPUs: each by its maker's own rules."""

from __future__ import annotations

from typing import Any

import pytest

from fleet.inventory import DeviceGroup, Sharing, UnitKind
from fleet.inventory_totals import totals as totals_of
from fleet.other_accelerators import OtherAccelerators, other_accelerators
from tests.fleet.kubernetes.written import Json, cluster, node, only_node

TYPE = "node.kubernetes.io/instance-type"
MI300X = {"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM"}
MODE = "amd.com/compute-memory-partition"


def group(labels: Json, resources: Json | None = None, **more: Any) -> DeviceGroup:
    (found,) = only_node(node(labels=labels, resources=resources or {}, **more)).groups
    return found


def others(labels: Json, resources: Json | None = None, **more: Any) -> OtherAccelerators:
    found = only_node(node(labels=labels, resources=resources or {}, **more))
    assert not found.is_gpu_node
    (only,) = other_accelerators(found)
    return only


# --- AMD


@pytest.mark.parametrize(
    "labels",
    [{"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM"},
     {"beta.amd.com/gpu.product-name": "AMD_Instinct_MI300X"},
     {"beta.amd.com/gpu.product-name.AMD_Instinct_MI300X_OAM": "8"},
     {"amd.com/gpu.product-name.AMD_Instinct_MI300X_OAM": "8"},
     {"amd.com/gpu.device-id": "74a1"}, {"beta.amd.com/gpu.device-id": "74b5"},
     {"beta.amd.com/gpu.device-id.74a9": "8"}, {TYPE: "Standard_ND96isr_MI300X_v5"}],
    ids=str,
)  # fmt: skip
def test_the_amd_model_stands_in_a_label_in_a_key_in_a_device_id_or_in_the_machine(
    labels: Json,
) -> None:
    found = group(labels, {"amd.com/gpu": "8"})
    assert (found.model, found.physical, found.sharing) == ("MI300X", 8, Sharing.WHOLE)


def test_two_amd_models_on_one_node_are_neither() -> None:
    labels = {
        "amd.com/gpu.product-name.AMD_Instinct_MI300X": "4",
        "amd.com/gpu.product-name.AMD_Instinct_MI210": "2",
        "amd.com/gpu.device-id.74a1": "4",
        "amd.com/gpu.device-id.740f": "2",
    }
    found = group(labels, {"amd.com/gpu": "6"})
    assert (found.model, found.physical) == (None, 6)


@pytest.mark.parametrize(
    ("product", "mode", "parts"),
    [("AMD_Instinct_MI300X", "spx_nps1", 1), ("AMD_Instinct_MI300X", "dpx_nps2", 2),
     ("AMD_Instinct_MI300X", "qpx_nps1", 4), ("AMD_Instinct_MI300X", "cpx_nps1", 8),
     ("AMD_Instinct_MI325X", "CPX_NPS4", 8), ("AMD_Instinct_MI308X", "cpx_nps4", 4),
     ("AMD_Instinct_MI355X", "dpx_nps1", 2)],
)  # fmt: skip
@pytest.mark.parametrize("boards", [1, 8])
def test_partitions_of_an_amd_board_are_devices_by_the_mode_whatever_they_are_called(
    product: str, mode: str, parts: int, boards: int
) -> None:
    labels = {"amd.com/gpu.product-name": product, MODE: mode}
    single = group(labels, {"amd.com/gpu": str(boards * parts)})
    mixed = group(labels, {f"amd.com/{mode.lower()}": str(boards * parts)})
    for found in (single, mixed):
        assert (found.physical, found.physical_estimated) == (boards, False)
        assert found.sharing == (Sharing.AMD_PARTITION if parts > 1 else Sharing.WHOLE)
        kind = UnitKind.PARTITION if parts > 1 else UnitKind.WHOLE
        assert [u.kind for u in found.units] == [kind]


def test_dies_of_a_board_that_nobody_names_are_an_estimate() -> None:
    found = group({MODE: "cpx_nps4"}, {"amd.com/gpu": "64"})
    assert (found.physical, found.physical_estimated) == (8, True)


def test_memory_that_is_a_part_of_the_board_shows_partitions_that_no_label_names() -> None:
    labels = MI300X | {"amd.com/gpu.vram": "24G"}
    found = group(labels, {"amd.com/gpu": "64"})
    assert (found.physical, found.physical_estimated) == (8, True)
    assert [(u.kind, u.memory_mib) for u in found.units] == [(UnitKind.PARTITION, 24 * 1024)]
    assert found.memory_gib == 192
    whole = group(MI300X | {"amd.com/gpu.vram": "191G"}, {"amd.com/gpu": "8"})
    assert (whole.physical, whole.memory_gib, whole.sharing) == (8, 191, Sharing.WHOLE)


def test_more_amd_devices_than_the_machine_has_boards_are_partitions() -> None:
    found = group({TYPE: "Standard_ND96isr_MI300X_v5"}, {"amd.com/gpu": "64"})
    assert (found.physical, found.physical_estimated) == (8, True)
    assert found.sharing == Sharing.AMD_PARTITION


def test_a_module_of_two_dies_shows_two_devices_with_half_of_its_memory() -> None:
    found = group({"amd.com/gpu.product-name": "AMD_Instinct_MI250X"}, {"amd.com/gpu": "8"})
    assert (found.model, found.memory_gib) == ("MI250X", 64)


def test_amd_boards_that_the_exporter_calls_unhealthy_are_sick() -> None:
    labels = MI300X | {
        "metricsexporter.amd.com.gpu.0.state": "unhealthy",
        "metricsexporter.amd.com.gpu.3.state": "unhealthy",
        "metricsexporter.amd.com.gpu.4.state": "healthy",
    }
    assert group(labels, {"amd.com/gpu": "8"}).unhealthy == 2
    withdrawn = group(labels, {"amd.com/gpu": "8"}, allocatable={"amd.com/gpu": "5"})
    assert withdrawn.unhealthy == 3
    cut = group(MI300X | {MODE: "cpx_nps1"}, {"amd.com/gpu": "64"},
                allocatable={"amd.com/gpu": "55"})  # fmt: skip
    assert cut.unhealthy == 2  # nine partitions of eight to a board


@pytest.mark.parametrize("mode", ["", "xpx_nps9", "cpx", "x" * 63])
def test_a_mode_that_nobody_knows_cuts_nothing(mode: str) -> None:
    found = group(MI300X | {MODE: mode}, {"amd.com/gpu": "8"})
    assert found.model == "MI300X"
    assert found.physical == (1 if mode == "cpx" else 8)
    assert bool(found.notes) is (mode != "cpx")


# --- Intel


@pytest.mark.parametrize("driver", ["i915", "xe"])
def test_intel_units_are_gpus_and_monitoring_is_none(driver: str) -> None:
    resources = {f"gpu.intel.com/{driver}": "4", f"gpu.intel.com/{driver}_monitoring": "1",
                 "gpu.intel.com/monitoring": "1"}  # fmt: skip
    found = group({"gpu.intel.com/product": "Flex_170"}, resources)
    assert (found.model, found.physical) == ("Flex-170", 4)
    assert [u.resource for u in found.units] == [f"gpu.intel.com/{driver}"]
    assert "no label says whether the units are shared" in found.notes


@pytest.mark.parametrize("factor", [2, 10])
def test_intel_units_beyond_the_counted_devices_are_shares(factor: int) -> None:
    for counted in ({"gpu.intel.com/device.count": "2"},
                    {"gpu.intel.com/device-id.0380-56c0.count": "2"}):  # fmt: skip
        found = group(counted, {"gpu.intel.com/i915": str(2 * factor)})
        assert (found.physical, found.replicas) == (2, factor)
        assert found.sharing == f"shared-x{factor}"
        assert [u.kind for u in found.units] == [UnitKind.SHARE]


def test_intel_model_by_device_id() -> None:
    labels = {"gpu.intel.com/device-id.0300-e211.present": "true",
              "gpu.intel.com/device-id.0300-e211.count": "4"}  # fmt: skip
    found = group(labels, {"gpu.intel.com/xe": "4"})
    assert (found.model, found.physical) == ("Arc-Pro-B60", 4)
    present = {"gpu.intel.com/device-id.0380-0bd5.present": "true"}
    assert (group(present).model, group(present).physical) == ("Max-1550", None)


# --- TPU, Neuron, Gaudi and others: never GPUs


@pytest.mark.parametrize(
    ("label", "model"),
    [("tpu-v4-podslice", "TPU-v4"), ("tpu-v5-lite-podslice", "TPU-v5e"),
     ("tpu-v5-lite-device", "TPU-v5e"), ("tpu-v5p-slice", "TPU-v5p"), ("tpu-v6e-slice", "TPU-v6e"),
     ("tpu7x", "TPU-v7x"), ("tpu-v99", None)],
)  # fmt: skip
def test_tpu_chips_have_a_model_and_the_topology_of_their_slice(
    label: str, model: str | None
) -> None:
    labels = {
        "cloud.google.com/gke-tpu-accelerator": label,
        "cloud.google.com/gke-tpu-topology": "4x4",
    }
    found = others(labels, {"google.com/tpu": "4"})
    assert (found.vendor, found.model, found.devices) == ("google", model, 4)
    assert found.topology == "4x4"


def test_tpu_chips_that_are_not_offered_are_known_by_label_or_unknown() -> None:
    label = {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice"}
    assert others(label).devices is None
    counted = label | {"cloud.google.com/gke-accelerator-count": "8"}
    assert (others(counted).devices, others(counted).model) == (8, "TPU-v6e")


def test_a_neuron_chip_and_its_cores_are_the_same_silicon() -> None:
    both = {"aws.amazon.com/neuron": "12", "aws.amazon.com/neuroncore": "24"}
    found = others({TYPE: "inf2.48xlarge"}, both)
    assert (found.vendor, found.model, found.devices) == ("aws", "Inferentia2", 12)
    assert {u.resource: u.capacity for u in found.units} == {n: int(c) for n, c in both.items()}
    cores = {"aws.amazon.com/neuroncore": "24"}
    assert others({}, cores).devices is None  # how many cores a chip has is not told
    assert others({TYPE: "inf2.48xlarge"}, cores).devices == 12
    karpenter = {
        "karpenter.k8s.aws/instance-accelerator-name": "trainium",
        "karpenter.k8s.aws/instance-accelerator-manufacturer": "aws",
        "karpenter.k8s.aws/instance-accelerator-count": "16",
    }
    assert (others(karpenter, cores).model, others(karpenter, cores).devices) == ("Trainium", 16)


def test_gaudi_cards_are_counted_apart_also_where_karpenter_calls_them_gpus() -> None:
    labels = {
        "karpenter.k8s.aws/instance-gpu-name": "gaudi-hl-205",
        "karpenter.k8s.aws/instance-gpu-manufacturer": "habana",
        "karpenter.k8s.aws/instance-gpu-count": "8",
    }
    for resources in ({"habana.ai/gaudi": "8"}, {}):
        found = others(labels, resources)
        assert (found.vendor, found.model, found.devices) == ("habana", "Gaudi", 8)


def test_totals_count_other_accelerators_by_kind_and_never_as_gpus() -> None:
    inventory = cluster(
        node("a", resources={"google.com/tpu": "4"}),
        node("b", resources={"aws.amazon.com/neuron": "2", "aws.amazon.com/neuroncore": "4"}),
        node("c", resources={"habana.ai/gaudi": "8"}),
        node("d", resources={"aws.amazon.com/neuroncore": "4"}),
        node("e", gpus=1),
    )
    totals = totals_of(inventory)
    assert totals["physical_gpus"] == 1
    assert (totals["tpu_chips"], totals["neuron_devices"], totals["gaudi_devices"]) == (4, 2, 8)
    assert totals["uncounted_other_accelerators"] == 1


@pytest.mark.parametrize(
    ("vendor", "resources", "devices", "kind"),
    [("cambricon", {"cambricon.com/mlu": "4"}, 4, UnitKind.WHOLE),
     ("cambricon", {"cambricon.com/vmlu": "40"}, 40, UnitKind.SHARE),
     ("cambricon", {"cambricon.com/mlu.smlu.vmemory": "400", "cambricon.com/mlu.smlu.vcore": "99"},
      None, None),
     ("hygon", {"hygon.com/dcunum": "8", "hygon.com/dcumem": "65536", "hygon.com/dcucores": "120"},
      8, UnitKind.SHARE),
     ("hygon", {"hygon.com/dcu": "2"}, 2, UnitKind.WHOLE),
     ("metax", {"metax-tech.com/gpu": "8"}, 8, UnitKind.WHOLE),
     ("metax", {"metax-tech.com/sgpu": "16", "metax-tech.com/vmemory": "64"}, 16, UnitKind.SHARE),
     ("enflame", {"enflame.com/drs-gcu": "6"}, 6, UnitKind.SHARE),
     ("kunlunxin", {"kunlunxin.com/xpu": "8"}, 8, UnitKind.WHOLE),
     ("kunlunxin", {"kunlunxin.com/vxpu": "8", "kunlunxin.com/vxpu-memory": "9"}, 8,
      UnitKind.SHARE),
     ("biren", {"birentech.com/gpu": "8"}, 8, UnitKind.WHOLE),
     ("biren", {"birentech.com/1-4-gpu": "32"}, 32, UnitKind.PARTITION),
     ("huawei", {"huawei.com/Ascend910": "8"}, 8, UnitKind.WHOLE),
     ("huawei", {"huawei.com/Ascend310P-2c": "4"}, 4, UnitKind.PARTITION),
     ("huawei", {"huawei.com/Ascend910B": "7", "huawei.com/Ascend910B-memory": "900"}, 7,
      UnitKind.WHOLE),
     ("mthreads", {"mthreads.com/vgpu": "16"}, 16, UnitKind.SHARE),
     ("iluvatar", {"iluvatar.com/gpu": "4"}, 4, UnitKind.WHOLE),
     ("iluvatar", {"iluvatar.ai/thing": "4"}, None, None)],
    ids=str,
)  # fmt: skip
def test_other_makers_count_devices_shares_and_memory_apart(
    vendor: str, resources: Json, devices: int | None, kind: UnitKind | None
) -> None:
    found = others({}, resources)
    assert (found.vendor, found.devices, found.kind) == (vendor, devices, kind)
    assert {u.resource: u.capacity for u in found.units} == {
        n: int(c) for n, c in resources.items()
    }


def test_the_register_of_another_maker_counts_its_boards() -> None:
    notes = {
        "hami.io/node-mlu-register": "MLU-1,10,23308,0,MLU-MLU370-X4,0,false:"
        "MLU-2,10,23308,0,MLU-MLU370-X4,0,true:MLU-3,10,23308,0,",
        "hami.io/node-dcu-register": "DCU-0,4,65536,100,DCU-Z100,0,true:",
    }
    resources = {"cambricon.com/vmlu": "20", "hygon.com/dcunum": "4"}
    found = other_accelerators(only_node(node(resources=resources, annotations=notes)))
    assert [(o.vendor, o.devices) for o in found] == [("cambricon", 2), ("hygon", 1)]
