"""Pools: which slices count, and when nothing of a pool can be counted or had."""

from __future__ import annotations

import pytest

from tests.fleet.kubernetes.written import Json, cluster, gpu_device, node, only_node
from tests.fleet.kubernetes.written_dra import device, dra_numbers, group_of, held, pool_slice

TWO = (gpu_device("gpu-0", "GPU-0"), gpu_device("gpu-1", "GPU-1"))


def test_two_drivers_may_use_one_pool_name() -> None:
    amd = device("gpu-0", texts={"type": "amdgpu", "pciAddr": "0000:01:00.0"})
    found = only_node(node(), pool_slice(*TWO), pool_slice(amd, driver="gpu.amd.com", name="amd"))
    assert [(g.vendor, g.physical) for g in found.groups] == [("nvidia", 2), ("amd", 1)]


def test_a_claim_on_one_driver_leaves_the_same_names_of_another_alone() -> None:
    other = pool_slice(device("gpu-0"), driver="gpu.amd.com", name="amd")
    found = only_node(node(), pool_slice(*TWO), other, held("c", "gpu-0", driver="gpu.amd.com"))
    assert [next(iter(g.units)).requested for g in found.groups] == [0, 1]


@pytest.mark.parametrize("order", [1, -1])
def test_slices_of_an_older_generation_do_not_count(order: int) -> None:
    slices = [
        pool_slice(*TWO, name="old", generation=6),
        pool_slice(TWO[0], name="new", generation=7),
    ]
    assert group_of(node(), *slices[::order]).physical == 1


def test_a_pool_in_the_middle_of_a_roll_is_unknown_on_all_its_nodes() -> None:
    old = [pool_slice(*TWO, name=f"old-{n}", count=2, nodeName=f"node-{n}") for n in "ab"]
    new = pool_slice(*TWO, name="new", generation=2, count=2)
    found = cluster(node("node-a"), node("node-b"), *old, new)
    for each in found.nodes:
        (group,) = each.groups
        assert group.physical is None
        assert group.incomplete == ("DRA pool pool of gpu.nvidia.com: 1 of 2 slices are there",)
        assert dra_numbers(each) == (0, 0, 0)
    assert len(found.problems) == 1


@pytest.mark.parametrize(
    ("count", "reason"),
    [
        (0, "state 0 as their number"),
        (-1, "state -1 as their number"),
        (2**62, "1 of 4,611,686,018,427,387,904 slices"),
    ],
)
def test_an_absurd_number_of_slices_is_no_empty_node(count: int, reason: str) -> None:
    group = group_of(node(), pool_slice(*TWO, count=count))
    assert group.physical is None
    assert reason in group.physical_source


def test_more_slices_than_stated_are_not_counted_either() -> None:
    group = group_of(node(), pool_slice(TWO[0], name="a"), pool_slice(TWO[1], name="b"))
    assert "2 of 1 slices" in group.physical_source


def test_slices_that_state_different_numbers_are_not_counted() -> None:
    group = group_of(node(), pool_slice(TWO[0], name="a", count=2), pool_slice(name="b", count=3))
    assert "disagree on how many they are (2, 3)" in group.physical_source


def test_a_complete_pool_beside_an_incomplete_one_offers_what_it_has() -> None:
    found = only_node(node(), pool_slice(*TWO), pool_slice(pool="b", name="b", count=2))
    (group,) = found.groups
    assert (group.physical, group.whole_free) == (None, 2)
    assert group.physical_source.startswith("ResourceSlices: 2 counted, DRA pool b")
    assert dra_numbers(found) == (2, 2, 0)


def test_labels_that_count_boards_are_believed_while_slices_are_missing() -> None:
    labels = {"nvidia.com/gpu.count": "8", "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
    group = group_of(node(labels=labels), pool_slice(*TWO, count=2))
    assert (group.physical, group.physical_source) == (8, "label nvidia.com/gpu.count")
    assert len(group.incomplete) == 1


def test_a_device_name_used_twice_spoils_its_pool_and_no_other() -> None:
    twice = pool_slice(
        gpu_device("gpu-0", "GPU-2"), gpu_device("gpu-0", "GPU-3"), pool="b", name="b"
    )
    found = only_node(node(), pool_slice(*TWO), twice)
    (group,) = found.groups
    assert (group.physical, group.whole_free) == (4, 2)
    assert dra_numbers(found) == (4, 2, 0)
    assert any("device gpu-0 is there twice" in note for note in group.notes)


def test_counters_that_nobody_publishes_spoil_the_pool() -> None:
    found = cluster(node(), pool_slice(device("gpu-0", draws={"set-0": {"slices": 1}})))
    assert dra_numbers(found.nodes[0]) == (1, 0, 0)
    assert "counter set set-0 is not published" in found.problems[0]


def test_a_counter_set_that_comes_twice_spoils_the_pool() -> None:
    counters = [
        pool_slice(name=name, count=3, counters={"set-0": {"slices": 1}}) for name in ("a", "b")
    ]
    part = pool_slice(device("gpu-0", draws={"set-0": {"slices": 1}}), count=3)
    assert dra_numbers(only_node(node(), *counters, part)) == (1, 0, 0)


def test_a_slice_without_devices_shows_no_gpu() -> None:
    assert not only_node(node(), pool_slice()).is_gpu_node


def test_devices_that_a_claim_holds_and_no_slice_lists_are_named() -> None:
    found = cluster(node(), pool_slice(*TWO), held("c", "gpu-7"))
    assert found.problems == (
        "ResourceClaim team-a/c: holds device gpu-7 of DRA pool pool of gpu.nvidia.com, which no "
        "slice lists",
    )


def test_a_held_channel_of_a_gpu_driver_is_listed_and_no_gpu() -> None:
    channel = device("channel-0", texts={"type": "channel"})
    found = cluster(node(), pool_slice(*TWO, channel), held("c", "channel-0"))
    assert found.problems == ()
    assert found.nodes[0].other_devices == {"gpu.nvidia.com": 1}
    assert dra_numbers(found.nodes[0]) == (2, 2, 0)


def models(*found: Json) -> list[tuple[str | None, int | None]]:
    return [(group.model, group.physical) for group in only_node(*found).groups]


def test_two_models_on_one_node_are_two_groups() -> None:
    small = device("gpu-2", texts={"type": "gpu", "uuid": "GPU-2", "productName": "NVIDIA L4"})
    assert models(node(), pool_slice(*TWO, small)) == [("H100-SXM5-80GB", 2), ("L4", 1)]


def test_a_board_that_two_drivers_of_one_vendor_publish_is_one_board() -> None:
    shared = pool_slice(TWO[0], driver="vgpu.nvidia.com", name="other")
    group = group_of(node(), pool_slice(*TWO), shared)
    assert (group.physical, len(group.units)) == (2, 2)
