"""What a node's labels and resources say about its GPUs, where the real cases leave gaps."""

from __future__ import annotations

import pytest

from fleet.inventory import Sharing, UnitKind
from tests.fleet.kubernetes.written import Json, cluster, node, only_node, pod

H100: Json = {
    "nvidia.com/gpu.present": "true",
    "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
    "nvidia.com/gpu.count": "8",
    "nvidia.com/gpu.memory": "81559",
}


def test_a_vanished_plugin_leaves_zero_and_its_pods_still_count() -> None:
    found = only_node(node(labels=H100, gpus=0), pod(on="node-a", gpus=8))
    (group,) = found.groups
    (units,) = group.units
    assert (units.allocatable, units.requested) == (0, 8)
    assert found.free(units) == 0
    assert (group.physical, group.sharing) == (8, Sharing.NONE)


def test_a_resource_that_is_gone_altogether_is_still_shown_as_asked_for() -> None:
    (group,) = only_node(node(labels=H100), pod(on="node-a", gpus=2)).groups
    assert [(u.resource, u.capacity, u.requested) for u in group.units] == [
        ("nvidia.com/gpu", 0, 2)
    ]


def test_an_invalid_mig_layout_gives_no_boards_and_no_devices() -> None:
    labels = {
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB-MIG-INVALID",
        "nvidia.com/gpu.count": "0",
        "nvidia.com/gpu.replicas": "0",
        "nvidia.com/gpu.memory": "0",
        "nvidia.com/mig.strategy": "single",
    }
    (group,) = only_node(node(labels=labels, gpus=0)).groups
    assert group.model == "A100-SXM4-80GB"
    assert (group.physical, group.memory_mib, group.sharing) == (None, None, Sharing.NONE)


def test_sick_units_of_a_shared_board_are_one_sick_board() -> None:
    labels = H100 | {
        "nvidia.com/gpu.count": "4",
        "nvidia.com/gpu.replicas": "10",
        "nvidia.com/gpu.sharing-strategy": "time-slicing",
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-SHARED",
    }
    (group,) = only_node(node(labels=labels, gpus=40, allocatable={"nvidia.com/gpu": "30"})).groups
    assert (group.physical, group.unhealthy, group.replicas) == (4, 1, 10)
    assert [u.kind for u in group.units] == [UnitKind.SHARE]


def test_mig_single_under_time_slicing_names_both() -> None:
    labels = {
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED",
        "nvidia.com/gpu.count": "7",
        "nvidia.com/gpu.replicas": "2",
        "nvidia.com/gpu.sharing-strategy": "time-slicing",
        "nvidia.com/gpu.memory": "4864",
        "nvidia.com/mig.strategy": "single",
    }
    (group,) = only_node(node(labels=labels, gpus=14)).groups
    assert group.sharing == "mig-single+time-slicing"
    assert (group.physical, group.physical_estimated) == (1, True)
    assert [(u.kind, u.profile, u.memory_mib) for u in group.units] == [
        (UnitKind.MIG, "1g.5gb", 4864)
    ]


def test_a_media_profile_keeps_its_plus() -> None:
    resources = {"nvidia.com/gpu": "0", "nvidia.com/mig-1g.10gb.me": "1"}
    (group,) = only_node(node(labels=H100, resources=resources)).groups
    assert [u.profile for u in group.units_of(UnitKind.MIG)] == ["1g.10gb+me"]
    assert group.physical == 8


def test_a_renamed_mig_share_is_a_share_of_a_mig_device() -> None:
    resources = {"nvidia.com/mig-1g.10gb.shared": "4"}
    (group,) = only_node(node(labels=H100, resources=resources)).groups
    assert [(u.kind, u.profile) for u in group.units] == [(UnitKind.SHARE, "1g.10gb")]


@pytest.mark.parametrize(
    ("labels", "model"),
    [
        ({"gpu.nvidia.com/class": "H100_NVLINK_80GB"}, "H100-SXM5-80GB"),
        ({"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"}, "T4"),
        ({"karpenter.k8s.aws/instance-gpu-name": "a100",
          "karpenter.k8s.aws/instance-gpu-memory": "81920"}, "A100-SXM4-80GB"),
        ({"karpenter.k8s.aws/instance-gpu-name": "a100",
          "karpenter.k8s.aws/instance-gpu-memory": "40960"}, "A100-SXM4-40GB"),
        ({"cloud.google.com/gke-accelerator": "nvidia-tesla-v100",
          "node.kubernetes.io/instance-type": "p3.8xlarge"}, "V100-SXM2-16GB"),
        ({"accelerator": "nvidia"}, None),
        ({"nvidia.com/gpu.product": "NVIDIA-RTX-6000"}, None),
    ],
)  # fmt: skip
def test_the_model_comes_from_the_best_label_there_is(labels: Json, model: str | None) -> None:
    (group,) = only_node(node(labels=labels, gpus=4)).groups
    assert group.model == model
    assert group.model_source


def test_a_pci_label_alone_says_only_that_a_gpu_is_there() -> None:
    labels = {"feature.node.kubernetes.io/pci-0302_10de.present": "true"}
    (group,) = only_node(node(labels=labels)).groups
    assert (group.vendor, group.model, group.physical) == ("nvidia", None, None)


@pytest.mark.parametrize(
    "resource",
    ["nvidia.com/hostdev", "vpc.amazonaws.com/efa", "rdma/hca", "gpu.intel.com/i915_monitoring",
     "devices.kubevirt.io/kvm", "hugepages-2Mi"],
)  # fmt: skip
def test_what_is_no_accelerator_makes_no_gpu_node(resource: str) -> None:
    assert not only_node(node(resources={resource: "4"})).is_gpu_node


def test_an_unknown_accelerator_is_shown_and_never_summed() -> None:
    found = only_node(node(resources={"foo.example/gpu": "3"}))
    (group,) = found.groups
    assert (group.vendor, group.physical) == ("unknown", None)
    assert [u.kind for u in group.units] == [UnitKind.UNCLASSIFIED]


def test_other_accelerators_stand_apart_from_gpus() -> None:
    resources = {"habana.ai/gaudi": "8", "google.com/tpu": "4", "aws.amazon.com/neuroncore": "2"}
    found = only_node(node(resources=resources))
    assert not found.is_gpu_node
    assert found.extended == {name: int(count) for name, count in resources.items()}


def test_two_vendors_on_one_node_are_two_groups() -> None:
    found = only_node(node(resources={"nvidia.com/gpu": "2", "amd.com/gpu": "4"}))
    assert [(g.vendor, g.physical) for g in found.groups] == [("nvidia", 2), ("amd", 4)]


def test_one_label_for_many_boards_is_not_certain() -> None:
    (many,) = only_node(node(labels=H100, gpus=8)).groups
    (one,) = only_node(node(labels=H100 | {"nvidia.com/gpu.count": "1"}, gpus=1)).groups
    assert (many.model_certain, one.model_certain) == (False, True)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"ready": "False"}, "NotReady"),
        ({"ready": "Unknown"}, "NotReady"),
        ({"ready": None}, "no Ready condition"),
        ({"unschedulable": True}, "cordoned"),
        ({"taints": [{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}]},
         "taint karpenter.sh/unregistered"),
        ({"taints": [{"key": "DeletionCandidateOfClusterAutoscaler",
                      "effect": "PreferNoSchedule"}]}, ""),
        ({"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]}, ""),
    ],
)  # fmt: skip
def test_a_node_takes_pods_unless_it_starts_ails_or_leaves(change: Json, reason: str) -> None:
    found = only_node(node(gpus=1, **change))
    assert found.not_schedulable_reason == reason
    assert found.schedulable is (reason == "")


def test_unreadable_quantities_cost_only_themselves() -> None:
    resources = {"nvidia.com/gpu": "8", "memory": "lots", "nvidia.com/mig-1g.5gb": "1e99"}
    inventory = cluster(node(resources=resources))
    assert inventory.nodes[0].groups[0].physical == 8
    assert inventory.nodes[0].memory_allocatable_mib == 0
    assert len(inventory.problems) == 2
    assert all(line.startswith("node node-a: ") for line in inventory.problems)


def test_hami_entries_that_nobody_can_read_are_passed_over() -> None:
    register = "GPU-1,10,81559,100,NVIDIA-NVIDIA H100 80GB HBM3,0,true:broken:a,b,c,d,e,f,g:"
    notes = {"hami.io/node-nvidia-register": register}
    (group,) = only_node(node(gpus=10, annotations=notes)).groups
    assert (group.physical, group.replicas, group.sharing) == (1, 10, Sharing.FRACTIONAL)


def test_gke_says_how_boards_are_shared_and_cut_without_gfd() -> None:
    gke = {"cloud.google.com/gke-accelerator": "nvidia-a100-80gb"}
    shared = gke | {
        "cloud.google.com/gke-gpu-sharing-strategy": "time-sharing",
        "cloud.google.com/gke-max-shared-clients-per-gpu": "5",
    }
    (group,) = only_node(node(labels=shared, gpus=10)).groups
    assert (group.physical, group.replicas, group.sharing) == (2, 5, Sharing.TIME_SLICING)
    cut = gke | {"cloud.google.com/gke-gpu-partition-size": "1g.10gb"}
    (group,) = only_node(node(labels=cut, gpus=14)).groups
    assert (group.physical, group.sharing) == (2, Sharing.MIG_SINGLE)
    assert [(u.kind, u.profile) for u in group.units] == [(UnitKind.MIG, "1g.10gb")]
