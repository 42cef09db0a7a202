"""NVIDIA GPUs by the labels of GPU feature discovery, the plugin's names and the operator's labels.

Each expectation is a rule of the discovery or of the plugin, not a habit of our reader.
"""

from __future__ import annotations

from typing import Any

import pytest

from fleet.inventory import DeviceGroup, Sharing, UnitKind
from tests.fleet.kubernetes.written import Json, node, only_node, pod

A100: Json = {
    "nvidia.com/gpu.present": "true",
    "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
    "nvidia.com/gpu.count": "8",
    "nvidia.com/gpu.memory": "81920",
    "nvidia.com/gpu.replicas": "1",
    "nvidia.com/gpu.sharing-strategy": "none",
    "nvidia.com/mig.capable": "true",
}


def group(labels: Json, resources: Json | None = None, **more: Any) -> DeviceGroup:
    (found,) = only_node(node(labels=labels, resources=resources or {}, **more)).groups
    return found


def units(found: DeviceGroup) -> list[tuple[str, UnitKind, int]]:
    return [(u.resource, u.kind, u.capacity) for u in found.units]


def test_a_factor_of_one_is_no_sharing_and_a_count_is_a_count_of_boards() -> None:
    found = group(A100, {"nvidia.com/gpu": "8"})
    assert (found.model, found.physical, found.sharing) == ("A100-SXM4-80GB", 8, Sharing.WHOLE)
    assert (found.replicas, found.physical_estimated, found.notes) == (None, False, ())


@pytest.mark.parametrize("strategy", ["time-slicing", "mps"])
@pytest.mark.parametrize("name", ["nvidia.com/gpu", "nvidia.com/gpu.shared"])
def test_units_are_boards_times_the_factor_renamed_or_not(strategy: str, name: str) -> None:
    labels = A100 | {
        "nvidia.com/gpu.replicas": "10",
        "nvidia.com/gpu.sharing-strategy": strategy,
        "nvidia.com/gpu.product": A100["nvidia.com/gpu.product"]
        + ("" if name.endswith(".shared") else "-SHARED"),
    }
    found = group(labels, {name: "80"})
    assert (found.physical, found.replicas, found.sharing) == (8, 10, strategy)
    assert units(found) == [(name, UnitKind.SHARE, 80)]
    without_count = {k: v for k, v in labels.items() if k != "nvidia.com/gpu.count"}
    derived = group(without_count, {name: "80"})
    assert (derived.physical, derived.physical_estimated) == (8, True)


def test_a_client_of_mps_has_its_share_of_the_memory_and_a_time_slice_all_of_it() -> None:
    shared = A100 | {"nvidia.com/gpu.replicas": "4"}
    for strategy, memory in (("mps", 20480), ("time-slicing", 81920)):
        labels = shared | {"nvidia.com/gpu.sharing-strategy": strategy}
        found = group(labels, {"nvidia.com/gpu": "32"})
        assert [u.memory_mib for u in found.units] == [memory]


@pytest.mark.parametrize("name", ["nvidia.com/gpu", "nvidia.com/gpu.shared"])
@pytest.mark.parametrize("labelled", ["1", "4", None])
def test_units_that_contradict_the_factor_win_and_the_contradiction_is_told(
    name: str, labelled: str | None
) -> None:
    labels = {k: v for k, v in A100.items() if k != "nvidia.com/gpu.replicas"}
    labels |= {"nvidia.com/gpu.count": "2"}
    if labelled is not None:
        labels["nvidia.com/gpu.replicas"] = labelled
    found = group(labels, {name: "100"})
    assert (found.physical, found.replicas) == (2, 50)
    assert units(found) == [(name, UnitKind.SHARE, 100)]
    assert any("100" in note and "2 GPU" in note for note in found.notes)


def test_a_stale_factor_does_not_share_boards_that_are_offered_once() -> None:
    labels = A100 | {"nvidia.com/gpu.replicas": "4"}
    found = group(labels, {"nvidia.com/gpu": "8"})
    assert (found.sharing, found.replicas) == (Sharing.WHOLE, None)
    assert any("contradicts 8 units on 8 GPU" in note for note in found.notes)


def test_fewer_units_than_boards_are_boards_that_the_plugin_does_not_see() -> None:
    found = group(A100, {"nvidia.com/gpu": "7"})
    assert (found.physical, found.sharing) == (8, Sharing.WHOLE)
    shared = A100 | {"nvidia.com/gpu.replicas": "10"}
    found = group(shared, {"nvidia.com/gpu": "70"})
    assert (found.physical, found.replicas) == (8, 10)


MIG_SINGLE = [
    ("NVIDIA-A100-SXM4-40GB", "1g.5gb", 7), ("NVIDIA-A100-SXM4-40GB", "2g.10gb", 3),
    ("NVIDIA-A100-SXM4-80GB", "1g.10gb", 7), ("NVIDIA-A100-SXM4-80GB", "1g.20gb", 4),
    ("NVIDIA-H100-80GB-HBM3", "3g.40gb", 2), ("NVIDIA-H100-NVL", "7g.94gb", 1),
    ("NVIDIA-H200", "1g.18gb", 7), ("NVIDIA-B200", "2g.45gb", 3), ("NVIDIA-A30", "1g.6gb", 4),
    ("NVIDIA-GB300", "1g.35gb", 7), ("NVIDIA-H200", "1g.35gb", 4),
    ("NVIDIA-A100-SXM4-80GB", "1g.10gbme", 1),
    ("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "1g.24gb-me", 4),
    ("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "1g.24gbme.all", 1),
    ("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "2g.48gbgfx", 2),
    ("NVIDIA-A100-SXM4-80GB", "1c.3g.40gb", 6),  # three compute instances in each of two devices
]  # fmt: skip


@pytest.mark.parametrize(("product", "profile", "per_board"), MIG_SINGLE)
@pytest.mark.parametrize("boards", [1, 8])
@pytest.mark.parametrize("replicas", [1, 3])
def test_under_strategy_single_the_count_is_of_devices_and_boards_are_estimated(
    product: str, profile: str, per_board: int, boards: int, replicas: int
) -> None:
    devices = per_board * boards
    labels = {
        "nvidia.com/gpu.product": f"{product}-MIG-{profile}" + ("-SHARED" if replicas > 1 else ""),
        "nvidia.com/gpu.count": str(devices),
        "nvidia.com/gpu.replicas": str(replicas),
        "nvidia.com/gpu.sharing-strategy": "time-slicing" if replicas > 1 else "none",
        "nvidia.com/gpu.memory": "4864",
        "nvidia.com/mig.strategy": "single",
    }
    found = group(labels, {"nvidia.com/gpu": str(devices * replicas)})
    assert (found.physical, found.physical_estimated) == (boards, True)
    assert found.memory_mib is None  # the label speaks of one device
    assert [(u.kind, u.capacity, u.memory_mib) for u in found.units] == [
        (UnitKind.MIG, devices * replicas, 4864)
    ]
    assert found.sharing == ("mig-single+time-slicing" if replicas > 1 else "mig-single")
    uncounted = {k: v for k, v in labels.items() if k != "nvidia.com/gpu.count"}
    assert group(uncounted, {"nvidia.com/gpu": str(devices * replicas)}).physical == boards


def test_devices_of_an_unknown_board_or_profile_are_devices_of_nobody_knows_how_many() -> None:
    for product in ("NVIDIA-GB999-MIG-1g.10gb", "NVIDIA-A100-SXM4-80GB-MIG-7g.79gb"):
        labels = A100 | {"nvidia.com/gpu.product": product, "nvidia.com/gpu.count": "56"}
        found = group(labels, {"nvidia.com/gpu": "56"})
        assert found.physical is None
        assert [u.kind for u in found.units] == [UnitKind.MIG]


def test_an_uneven_layout_under_single_takes_the_boards_from_the_machine_if_it_is_known() -> None:
    labels = {
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-INVALID",
        "nvidia.com/gpu.count": "0",
        "nvidia.com/gpu.replicas": "0",
        "nvidia.com/gpu.memory": "0",
        "nvidia.com/gpu.sharing-strategy": "",
        "nvidia.com/mig.strategy": "single",
    }
    assert group(labels).physical is None
    on_ec2 = labels | {"node.kubernetes.io/instance-type": "p4d.24xlarge"}
    assert (group(on_ec2).physical, group(on_ec2).sharing) == (8, Sharing.NONE)


def test_strategy_single_alone_cuts_nothing() -> None:
    """The operator's default strategy is single; boards that are not cut are labelled whole."""
    found = group(A100 | {"nvidia.com/mig.strategy": "single"}, {"nvidia.com/gpu": "8"})
    assert (found.physical, found.sharing) == (8, Sharing.WHOLE)


def test_under_strategy_mixed_the_count_is_of_boards_whatever_they_are_cut_into() -> None:
    resources = {
        "nvidia.com/gpu": "6",
        "nvidia.com/mig-1g.10gb": "7",
        "nvidia.com/mig-3g.40gb": "2",
    }
    found = group(A100 | {"nvidia.com/mig.strategy": "mixed"}, resources)
    assert (found.physical, found.physical_estimated) == (8, False)
    assert found.sharing == Sharing.MIG_MIXED
    assert units(found) == [
        ("nvidia.com/gpu", UnitKind.WHOLE, 6),
        ("nvidia.com/mig-1g.10gb", UnitKind.MIG, 7),
        ("nvidia.com/mig-3g.40gb", UnitKind.MIG, 2),
    ]


def test_mixed_without_a_count_takes_the_machine_before_a_sum_of_slices() -> None:
    labels = {k: v for k, v in A100.items() if k != "nvidia.com/gpu.count"}
    resources = {
        "nvidia.com/gpu": "0",
        "nvidia.com/mig-1g.10gb": "14",
        "nvidia.com/mig-3g.40gb": "2",
    }
    found = group(labels, resources)
    assert (found.physical, found.physical_estimated) == (3, True)
    machine = labels | {"node.kubernetes.io/instance-type": "p4de.24xlarge"}
    assert group(machine, resources).physical == 8


def test_mixed_labels_name_model_and_memory_of_each_profile() -> None:
    labels = {
        "nvidia.com/mig-2g.20gb.product": "NVIDIA-A100-SXM4-80GB-MIG-2g.20gb",
        "nvidia.com/mig-2g.20gb.count": "3",
        "nvidia.com/mig-2g.20gb.memory": "19968",
        "nvidia.com/gpu.count": "1",
    }
    found = group(labels, {"nvidia.com/mig-2g.20gb": "3"})
    assert (found.model, found.physical) == ("A100-SXM4-80GB", 1)
    assert [u.memory_mib for u in found.units] == [19968]


@pytest.mark.parametrize("name", ["nvidia.com/mig-1g.10gb", "nvidia.com/mig-1g.10gb.shared"])
@pytest.mark.parametrize("replicas", [2, 4])
def test_mig_devices_may_be_shared_in_turn(name: str, replicas: int) -> None:
    labels = {
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
        "nvidia.com/mig.strategy": "mixed",
        "nvidia.com/mig-1g.10gb.count": "14",
        "nvidia.com/mig-1g.10gb.replicas": str(replicas),
        "nvidia.com/mig-1g.10gb.sharing-strategy": "time-slicing",
    }
    found = group(labels, {name: str(14 * replicas)})
    assert (found.physical, found.physical_estimated, found.replicas) == (2, True, replicas)
    assert found.sharing == "mig-mixed+time-slicing"
    counted = group(labels | {"nvidia.com/gpu.count": "8"}, {name: str(14 * replicas)})
    assert (counted.physical, counted.sharing) == (8, "mig-mixed+time-slicing")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("nvidia.com/a100", UnitKind.WHOLE), ("nvidia.com/gpu-a100-80gb", UnitKind.WHOLE),
     ("nvidia.com/tesla-t4", UnitKind.WHOLE), ("nvidia.com/big-one", UnitKind.WHOLE),
     ("nvidia.com/big-one.shared", UnitKind.SHARE)],
)  # fmt: skip
def test_a_renamed_resource_is_still_the_gpu(name: str, kind: UnitKind) -> None:
    factor = 4 if kind is UnitKind.SHARE else 1
    labels = A100 | {"nvidia.com/gpu.replicas": str(factor)}
    found = only_node(
        node(labels=labels, resources={name: str(8 * factor)}), pod(on="node-a", requests={name: 3})
    )
    (one,) = found.groups
    assert [(u.resource, u.kind, u.capacity, u.requested) for u in one.units] == [
        (name, kind, 8 * factor, 3)
    ]
    assert (one.physical, one.model) == (8, "A100-SXM4-80GB")
    assert found.extended == {}


def test_an_invented_name_that_nothing_explains_is_shown_and_never_counted() -> None:
    found = group(A100, {"nvidia.com/gpu": "8", "nvidia.com/gadget": "5"})
    assert units(found)[1] == ("nvidia.com/gadget", UnitKind.UNCLASSIFIED, 5)
    assert found.physical == 8
    alone = only_node(node(resources={"nvidia.com/gadget": "5"}))
    assert not alone.is_gpu_node
    assert alone.extended == {"nvidia.com/gadget": 5}


@pytest.mark.parametrize("profile", ["40C", "4C", "1-5C", "24Q", "8A"])
def test_a_vgpu_is_a_slice_and_its_profile_is_named(profile: str) -> None:
    labels = {
        "nvidia.com/gpu.product": f"GRID-A100-{profile}",
        "nvidia.com/gpu.count": "2",
        "nvidia.com/gpu.memory": "40960",
        "nvidia.com/vgpu.present": "true",
    }
    found = group(labels, {"nvidia.com/gpu": "2"})
    assert (found.model, found.sharing) == (f"A100 vGPU {profile}", Sharing.VGPU)
    assert [(u.kind, u.profile) for u in found.units] == [(UnitKind.VGPU, profile)]


@pytest.mark.parametrize(
    ("config", "sharing"),
    [("vm-passthrough", Sharing.PASSTHROUGH), ("vm-vgpu", Sharing.VGPU),
     ("container", Sharing.NONE)],
)  # fmt: skip
def test_a_node_prepared_for_virtual_machines_is_a_gpu_node_without_container_gpus(
    config: str, sharing: str
) -> None:
    found = group({"nvidia.com/gpu.present": "true", "nvidia.com/gpu.workload.config": config})
    assert (found.sharing, found.physical) == (sharing, None)


@pytest.mark.parametrize(
    ("name", "model"),
    [("nvidia.com/GA102_GEFORCE_RTX_3090", "RTX-3090"), ("nvidia.com/TU104GL_Tesla_T4", "T4"),
     ("nvidia.com/GH100_H100_SXM5_80GB", "H100-SXM5-80GB"), ("nvidia.com/GA100_A100_PCIE_40GB",
      "A100-PCIe-40GB")],
)  # fmt: skip
def test_a_board_passed_through_is_a_board_and_no_gpu_for_containers(name: str, model: str) -> None:
    found = group({}, {name: "4"})
    assert (found.model, found.physical, found.sharing) == (model, 4, Sharing.PASSTHROUGH)


def test_a_slice_for_virtual_machines_does_not_tell_how_many_boards() -> None:
    found = group({}, {"nvidia.com/NVIDIA_A10-24Q": "3"})
    assert (found.model, found.physical, found.sharing) == ("A10 vGPU 24Q", None, Sharing.VGPU)


def test_memory_that_no_such_card_has_is_kept_and_told() -> None:
    labels = A100 | {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"}
    found = group(labels, {"nvidia.com/gpu": "8"})
    assert (found.model, found.memory_mib) == ("A100-SXM4-40GB", 81920)
    assert any("81,920 MiB" in note and "40 GiB" in note for note in found.notes)


def test_a_machine_that_has_another_card_is_told() -> None:
    labels = A100 | {"node.kubernetes.io/instance-type": "p5.48xlarge"}
    found = group(labels, {"nvidia.com/gpu": "8"})
    assert found.model == "A100-SXM4-80GB"
    assert any("p5.48xlarge has H100-SXM5-80GB" in note for note in found.notes)


def test_memory_alone_tells_variants_of_one_label_apart() -> None:
    for memory, model in (("96256", "H100-SXM5-94GB"), ("81559", "H100")):
        labels = A100 | {"nvidia.com/gpu.product": "NVIDIA-H100", "nvidia.com/gpu.memory": memory}
        assert group(labels, {"nvidia.com/gpu": "8"}).model == model


def test_sick_boards_are_counted_as_boards_not_as_units() -> None:
    shared = A100 | {"nvidia.com/gpu.replicas": "10", "nvidia.com/gpu.sharing-strategy": "mps"}
    for labels, capacity, left, sick in (
        (A100, "8", "5", 3), (shared, "80", "50", 3), (shared, "80", "75", 1), (A100, "8", "8", 0),
    ):  # fmt: skip
        found = group(labels, {"nvidia.com/gpu": capacity}, allocatable={"nvidia.com/gpu": left})
        assert found.unhealthy == sick


def test_withdrawn_mig_devices_do_not_tell_how_many_boards_are_sick() -> None:
    labels = A100 | {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb",
                     "nvidia.com/gpu.count": "56"}  # fmt: skip
    found = group(labels, {"nvidia.com/gpu": "56"}, allocatable={"nvidia.com/gpu": "50"})
    assert found.unhealthy is None
