"""GPUs without the vendor's discovery: cloud labels, machine types, PCI labels, in that order."""

from __future__ import annotations

import pytest

from fleet.inventory import DeviceGroup, Sharing, UnitKind
from tests.fleet.kubernetes.written import Json, cluster, node, only_node

TYPE = "node.kubernetes.io/instance-type"
NFD = "feature.node.kubernetes.io/pci-"


def group(labels: Json, resources: Json | None = None) -> DeviceGroup:
    (found,) = only_node(node(labels=labels, resources=resources or {})).groups
    return found


# One row for each provider's label: labels, vendor, model, boards (None: the label does not say).
LABELS: list[tuple[Json, str, str | None, int | None]] = [
    ({"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"}, "nvidia", "T4", None),
    ({"cloud.google.com/gke-accelerator": "nvidia-tesla-a100"}, "nvidia", "A100-SXM4-40GB", None),
    ({"cloud.google.com/gke-accelerator": "nvidia-h100-mega-80gb"}, "nvidia", "H100-SXM5-80GB",
     None),
    ({"cloud.google.com/gke-accelerator": "nvidia-gb200"}, "nvidia", "GB200", None),
    ({"cloud.google.com/gke-accelerator": "nvidia-tesla-v100"}, "nvidia", "V100", None),
    ({"cloud.google.com/gke-accelerator": "nvidia-z999"}, "nvidia", None, None),
    ({"k8s.amazonaws.com/accelerator": "nvidia-tesla-v100"}, "nvidia", "V100", None),
    ({"k8s.amazonaws.com/accelerator": "nvidia-l4"}, "nvidia", "L4", None),
    ({"karpenter.k8s.aws/instance-gpu-name": "l40s",
      "karpenter.k8s.aws/instance-gpu-manufacturer": "nvidia",
      "karpenter.k8s.aws/instance-gpu-count": "4"}, "nvidia", "L40S", 4),
    ({"karpenter.k8s.aws/instance-gpu-name": "v100",
      "karpenter.k8s.aws/instance-gpu-memory": "32768",
      "karpenter.k8s.aws/instance-gpu-count": "8"}, "nvidia", "V100-SXM2-32GB", 8),
    ({"karpenter.k8s.aws/instance-gpu-name": "radeon-pro-v520",
      "karpenter.k8s.aws/instance-gpu-manufacturer": "amd",
      "karpenter.k8s.aws/instance-gpu-count": "2"}, "amd", "Radeon-Pro-V520", 2),
    ({"eks.amazonaws.com/instance-gpu-name": "a10g",
      "eks.amazonaws.com/instance-gpu-manufacturer": "nvidia",
      "eks.amazonaws.com/instance-gpu-count": "1"}, "nvidia", "A10G", 1),
    ({"karpenter.azure.com/sku-gpu-name": "A100",
      "karpenter.azure.com/sku-gpu-manufacturer": "nvidia",
      "karpenter.azure.com/sku-gpu-count": "2"}, "nvidia", "A100", 2),
    ({"karpenter.azure.com/sku-gpu-manufacturer": "nvidia",
      "karpenter.azure.com/sku-gpu-count": "2"}, "nvidia", None, 2),
    ({"kubernetes.azure.com/accelerator": "nvidia"}, "nvidia", None, None),
    ({"accelerator": "nvidia"}, "nvidia", None, None),
    ({"accelerator": "nvidia-tesla-p100"}, "nvidia", "P100", None),
    ({"gpu.nvidia.com/class": "A100_NVLINK_80GB", "gpu.nvidia.com/count": "8"}, "nvidia",
     "A100-SXM4-80GB", 8),
    ({"gpu.nvidia.com/model": "A100", "gpu.nvidia.com/vram": "40"}, "nvidia", "A100", None),
    ({"gpu.nvidia.com/model": "H200"}, "nvidia", "H200", None),
    ({"aliyun.accelerator/nvidia_name": "NVIDIA-A10", "aliyun.accelerator/nvidia_count": "2",
      "aliyun.accelerator/nvidia_mem": "23028MiB"}, "nvidia", "A10", 2),
    ({"cloud.tencent.com/tke-accelerator": "tesla-v100-sxm2-32gb"}, "nvidia", "V100-SXM2-32GB",
     None),
    ({"k8s.scw.cloud/gpu": "l4"}, "nvidia", "L4", None),
    ({"k8s.scw.cloud/gpu": "true"}, "unknown", None, None),
    ({"cloud.digitalocean.com/gpu-node": "true"}, "unknown", None, None),
    ({"doks.digitalocean.com/gpu-brand": "amd", "doks.digitalocean.com/gpu-model": "mi300x"},
     "amd", "MI300X", None),
    ({"doks.digitalocean.com/gpu-brand": "nvidia", "doks.digitalocean.com/gpu-model": "h100"},
     "nvidia", "H100", None),
    ({"node.kubernetes.ovhcloud.com/gpu": "tesla-v100s-pcie-32gb"}, "nvidia", "V100S-PCIe-32GB",
     None),
    ({"magnum.openstack.org/gpu": "true"}, "unknown", None, None),
    ({"cluster-api/accelerator": "nvidia-a100-80gb"}, "nvidia", "A100", None),
    ({"nebius.com/gpu-name": "l40s"}, "nvidia", "L40S", None),
]  # fmt: skip


@pytest.mark.parametrize(("labels", "vendor", "model", "boards"), LABELS, ids=lambda v: str(v)[:60])
def test_each_cloud_says_it_by_its_own_label(
    labels: Json, vendor: str, model: str | None, boards: int | None
) -> None:
    found = group(labels)
    assert (found.vendor, found.model, found.physical) == (vendor, model, boards)
    assert found.sharing == Sharing.NONE  # nothing is offered
    assert found.units == ()


@pytest.mark.parametrize(
    "labels",
    [{"gpu": "on"}, {"gpu": "true"}, {"accelerator": "none"}, {"k8s.scw.cloud/gpu": "false"},
     {"cloud.digitalocean.com/gpu-node": ""}, {"gpu.nvidia.com/count": "0"},
     {"karpenter.k8s.aws/instance-gpu-count": "0"}, {"cloud.google.com/gke-accelerator": ""},
     {"model.a4000": "false"}, {TYPE: "k3s"}, {TYPE: "Standard_D8s_v5"}, {TYPE: "rke2"},
     {"k8s.amazonaws.com/accelerator": "inferentia2"}, {TYPE: "trn1.32xlarge"},
     {"karpenter.k8s.aws/instance-gpu-name": "gaudi-hl-205",
      "karpenter.k8s.aws/instance-gpu-manufacturer": "habana"}],
    ids=str,
)  # fmt: skip
def test_words_without_a_gpu_make_no_gpu_node(labels: Json) -> None:
    assert not only_node(node(labels=labels)).is_gpu_node


MACHINES = [
    ("g4dn.12xlarge", "nvidia", "T4", 4),
    ("g5.48xlarge", "nvidia", "A10G", 8),
    ("g6e.24xlarge", "nvidia", "L40S", 4),
    ("p3dn.24xlarge", "nvidia", "V100-SXM2-32GB", 8),
    ("p4de.24xlarge", "nvidia", "A100-SXM4-80GB", 8),
    ("p5.48xlarge", "nvidia", "H100-SXM5-80GB", 8),
    ("p5en.48xlarge", "nvidia", "H200-SXM-141GB", 8),
    ("g4ad.16xlarge", "amd", "Radeon-Pro-V520", 4),
    ("ml.p4d.24xlarge", "nvidia", "A100-SXM4-40GB", 8),
    ("Standard_NC96ads_A100_v4", "nvidia", "A100-PCIe-80GB", 4),
    ("Standard_ND96isr_H100_v5", "nvidia", "H100-SXM5-80GB", 8),
    ("Standard_ND96isr_MI300X_v5", "amd", "MI300X", 8),
    ("Standard_NV36ads_A10_v5", "nvidia", "A10", 1),
    ("Standard_NV12ads_A10_v5", "nvidia", "A10", None),
    ("g6f.xlarge", "nvidia", "L4", None),
    ("a2-ultragpu-8g", "nvidia", "A100-SXM4-80GB", 8),
    ("a3-highgpu-8g", "nvidia", "H100-SXM5-80GB", 8),
    ("a4-highgpu-8g", "nvidia", "B200", 8),
    ("g2-standard-96", "nvidia", "L4", 8),
    ("BM.GPU.H100.8", "nvidia", "H100-SXM5-80GB", 8),
    ("BM.GPU.MI300X.8", "amd", "MI300X", 8),
]


@pytest.mark.parametrize(("machine", "vendor", "model", "boards"), MACHINES)
def test_the_machine_type_tells_model_and_boards(
    machine: str, vendor: str, model: str, boards: int | None
) -> None:
    for key in (TYPE, "beta.kubernetes.io/instance-type"):
        found = group({key: machine})
        assert (found.vendor, found.model, found.physical) == (vendor, model, boards)


def test_the_machine_type_narrows_what_a_label_leaves_open() -> None:
    labels = {"accelerator": "nvidia-tesla-v100", TYPE: "Standard_NC24s_v3"}
    assert group(labels).model == "V100-PCIe-16GB"
    labels = {"karpenter.azure.com/sku-gpu-name": "H100", TYPE: "Standard_NC40ads_H100_v5"}
    assert group(labels).model == "H100-NVL-94GB"


@pytest.mark.parametrize("clients", [2, 5, 48])
@pytest.mark.parametrize(
    ("strategy", "sharing"), [("time-sharing", Sharing.TIME_SLICING), ("mps", Sharing.MPS)]
)
def test_gke_names_the_clients_of_each_board(strategy: str, sharing: str, clients: int) -> None:
    labels = {
        "cloud.google.com/gke-accelerator": "nvidia-l4",
        "cloud.google.com/gke-gpu-sharing-strategy": strategy,
        "cloud.google.com/gke-max-shared-clients-per-gpu": str(clients),
    }
    found = group(labels, {"nvidia.com/gpu": str(4 * clients)})
    assert (found.physical, found.replicas, found.sharing) == (4, clients, sharing)
    assert [u.kind for u in found.units] == [UnitKind.SHARE]


@pytest.mark.parametrize(
    ("accelerator", "size", "per_board"),
    [("nvidia-tesla-a100", "1g.5gb", 7), ("nvidia-tesla-a100", "3g.20gb", 2),
     ("nvidia-a100-80gb", "1g.10gb", 7), ("nvidia-h100-80gb", "7g.80gb", 1)],
)  # fmt: skip
def test_gke_names_the_partition_of_each_board(accelerator: str, size: str, per_board: int) -> None:
    labels = {
        "cloud.google.com/gke-accelerator": accelerator,
        "cloud.google.com/gke-gpu-partition-size": size,
    }
    found = group(labels, {"nvidia.com/gpu": str(8 * per_board)})
    assert (found.physical, found.physical_estimated) == (8, True)
    assert found.sharing == Sharing.MIG_SINGLE
    both = labels | {
        "cloud.google.com/gke-gpu-sharing-strategy": "time-sharing",
        "cloud.google.com/gke-max-shared-clients-per-gpu": "2",
    }
    found = group(both, {"nvidia.com/gpu": str(16 * per_board)})
    assert (found.physical, found.sharing) == (8, "mig-single+time-slicing")


def test_more_units_than_the_machine_has_boards_are_shares() -> None:
    found = group({TYPE: "g5.xlarge"}, {"nvidia.com/gpu": "50"})
    assert (found.physical, found.replicas, found.sharing) == (1, 50, "shared-x50")
    assert any("no label explains 50 units on 1 GPU" in note for note in found.notes)


def test_a_number_that_nothing_explains_is_taken_and_marked() -> None:
    found = group({}, {"nvidia.com/gpu": "64"})
    assert (found.physical, found.physical_source) == (64, "capacity, which may be shared")
    assert found.notes == ("no label says whether the units are shared",)


@pytest.mark.parametrize(
    "fields",
    ["10de", "0302_10de", "0300_10de", "10de_0302", "0302_10de_20b2", "10de_20b2",
     "0302_10de_20b2_10de_1463", "0302-10de"],
)  # fmt: skip
def test_a_pci_label_says_that_there_is_a_gpu_and_the_device_id_which(fields: str) -> None:
    found = group({f"{NFD}{fields}.present": "true"})
    assert (found.vendor, found.physical, found.sharing) == ("nvidia", None, Sharing.NONE)
    assert found.model == ("A100-SXM4-80GB" if "20b2" in fields else None)


def test_pci_labels_of_other_makers() -> None:
    assert group({f"{NFD}1200_1002_74a1.present": "true"}).model == "MI300X"
    assert group({f"{NFD}0380_1002.present": "true"}).vendor == "amd"
    assert group({f"{NFD}0380_8086_0bd5.present": "true"}).model == "Max-1550"


@pytest.mark.parametrize(
    "fields",
    ["0403_10de", "0680_10de", "0c03_10de", "0200_10de", "0300_8086", "0300_1002", "0302_15b3",
     "0300_1a03"],
)  # fmt: skip
def test_sound_switches_ports_and_display_adapters_are_no_gpus(fields: str) -> None:
    assert not only_node(node(labels={f"{NFD}{fields}.present": "true"})).is_gpu_node


def test_a_label_of_any_cloud_on_a_node_that_nothing_describes_costs_no_other_node() -> None:
    odd = {key: "x" * 63 for labels, *_ in LABELS for key in labels}
    found = cluster(node("odd", odd), node("good", {TYPE: "g5.xlarge"}, gpus=1))
    by_name = {n.name: n for n in found.nodes}
    assert [g.model for g in by_name["good"].groups] == ["A10G"]
    assert [g.model for g in by_name["odd"].groups] == [None]
