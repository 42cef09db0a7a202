"""Gangs that still fit: the rule on examples, and against a search that tries every placement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.inventory import Inventory, Node, Taint, TopologyLevel, UnitKind
from fleet.slots import SIZES, ModelSlots, Place, gang_shape, slots
from tests.fleet.inventories import gpu_node, group, inventory, levels, units
from tests.fleet.kubernetes.written import cluster, node, pod


def with_levels(*nodes: Node, names: Sequence[str] = ("block", "rack")) -> Inventory:
    found = inventory(*nodes)
    keys = tuple((name, f"label/{name}") for name in names)
    return Inventory(**{f: getattr(found, f) for f in found.__slots__} | {"topology_keys": keys})


def h100(
    name: str, requested: int = 0, *, topology: tuple[TopologyLevel, ...] = (), **more: object
) -> Node:
    return gpu_node(
        name,
        group("H100-SXM5-80GB", units(requested=requested)),
        topology=topology,
        **{"taints": ()} | more,
    )


def only(found: Inventory) -> ModelSlots:
    (model,) = slots(found)
    return model


def place(model: ModelSlots, *path: str | None) -> Place:
    (found,) = [p for p in model.places if p.path == path]
    return found


def gangs(where: Place) -> dict[int, int | None]:
    return dict(zip(SIZES, where.gangs, strict=True))


@pytest.mark.parametrize(
    ("gpus", "node_gpus", "shape"),
    [(1, 8, (1, 1)), (8, 8, (1, 8)), (64, 8, (8, 8)), (8, 4, (2, 4)), (16, 1, (16, 1)),
     (8, 7, (2, 4)), (64, 10, (8, 8)), (4, 3, (2, 2)), (8, 0, (0, 0))],
)  # fmt: skip
def test_a_gang_is_as_few_equal_pods_as_the_nodes_allow(
    gpus: int, node_gpus: int, shape: tuple[int, int]
) -> None:
    assert gang_shape(gpus, node_gpus) == shape


def test_a_gang_up_to_a_node_stands_on_one_node() -> None:
    whole = place(only(inventory(h100("a", 2), h100("b", 5))))
    assert gangs(whole) == {1: 9, 2: 4, 4: 1, 8: 0, 16: 0, 64: 0}
    assert (whole.free, whole.largest, whole.nodes) == (9, 9, 2)


def test_a_larger_gang_takes_whole_nodes_of_one_domain() -> None:
    nodes = [
        h100(f"{block}-{rack}-{n}", topology=levels(block=block, rack=rack))
        for block in ("a", "b")
        for rack in ("rack-1", "rack-2")
        for n in range(3)
    ]
    model = only(with_levels(*nodes))
    assert gangs(place(model))[64] == 1
    assert gangs(place(model))[16] == 6
    assert gangs(place(model, "a"))[64] == 0
    assert gangs(place(model, "a"))[16] == 3
    assert gangs(place(model, "a", "rack-1"))[16] == 1
    assert [p.path for p in model.places] == [
        (), ("a",), ("a", "rack-1"), ("a", "rack-2"), ("b",), ("b", "rack-1"), ("b", "rack-2"),
    ]  # fmt: skip


def test_nodes_without_a_label_are_apart_below_their_parent_and_promise_single_nodes_only() -> None:
    model = only(
        with_levels(
            h100("in", topology=levels(block="a", rack="r")),
            h100("lost-1", topology=levels(block="a", rack=None)),
            h100("lost-2", topology=levels(block="a", rack=None)),
            h100("nowhere", topology=levels(block=None, rack=None)),
        )
    )
    lost = place(model, "a", None)
    assert gangs(lost) == {1: 16, 2: 8, 4: 4, 8: 2, 16: None, 64: None}
    assert (lost.nodes, lost.largest, lost.is_known) == (2, 8, False)
    assert place(model, None).nodes == 1
    assert gangs(place(model, "a"))[16] == 1  # three nodes of one block, wherever their racks are


def test_a_level_that_no_node_of_a_place_carries_does_not_divide_it() -> None:
    nodes = [h100(name, topology=levels(block="a", rack=None)) for name in ("x", "y")]
    assert [p.path for p in only(with_levels(*nodes)).places] == [(), ("a",)]


def test_cpu_memory_and_pod_places_beside_the_gpus_count() -> None:
    assert gangs(place(only(inventory(h100("a", cpu_requested=91_500)))))[4] == 1
    assert gangs(place(only(inventory(h100("a", cpu_requested=91_500)))))[8] == 0
    assert gangs(place(only(inventory(h100("a", memory_requested_mib=993_904)))))[1] == 2
    assert gangs(place(only(inventory(h100("a", pods_count=107)))))[1] == 3
    assert gangs(place(only(inventory(h100("a", pods_count=107)))))[2] == 3


def test_shared_and_cut_boards_are_no_whole_gpus() -> None:
    shared = cluster(
        node(
            labels={
                "nvidia.com/gpu.count": "4",
                "nvidia.com/gpu.replicas": "4",
                "nvidia.com/gpu.sharing-strategy": "time-slicing",
            },
            gpus=16,
        )
    )
    assert gangs(place(only(shared)))[1] == 0
    cut = gpu_node(
        "m",
        group(
            "H100-SXM5-80GB",
            units("nvidia.com/mig-1g.10gb", 14, kind=UnitKind.MIG, profile="1g.10gb"),
            units(count=6),
            sharing="mig-mixed",
        ),
        taints=(),
    )
    assert gangs(place(only(inventory(cut))))[1] == 6


def test_a_node_that_hides_its_number_is_uncounted_and_never_zero() -> None:
    hidden = gpu_node("h", group("H100-SXM5-80GB", units(count=0), physical=None), taints=())
    alone = place(only(inventory(hidden)))
    assert (alone.free, alone.largest, set(alone.gangs)) == (None, None, {None})
    beside = place(only(inventory(hidden, h100("a"))))
    assert (beside.free, beside.uncounted, gangs(beside)[8]) == (8, 1, 1)


def test_nodes_that_take_no_pods_have_no_slots() -> None:
    away = h100("a", schedulable=False, not_schedulable_reason="cordoned")
    assert set(place(only(inventory(away))).gangs) == {0}


def test_taints_of_an_owner_are_told_and_those_that_nobody_tolerates_leave_no_slot() -> None:
    ours = {"key": "team", "value": "a", "effect": "NoSchedule"}
    theirs = {"key": "team", "value": "b", "effect": "NoSchedule"}
    found = cluster(
        node("a", gpus=8, taints=[ours]),
        node("b", gpus=8, taints=[theirs]),
        pod(gpus=1, tolerations=[{"key": "team", "value": "a"}]),
    )
    whole = place(only(found))
    assert (whole.free, whole.largest, whole.tainted) == (8, 8, 8)
    assert gangs(whole)[8] == 1


def test_a_vendors_gpu_taint_is_no_owners_taint() -> None:
    tainted = h100("a", taints=(Taint("nvidia.com/gpu", "present", "NoSchedule"),))
    assert place(only(inventory(tainted))).tainted == 0


@dataclass(frozen=True)
class Small:
    """A node of the oracle: free GPUs, and how many GPUs its CPU and memory serve."""

    free: int
    cpu: int
    memory: int
    pods: int


SMALL = st.builds(Small, st.integers(0, 4), st.integers(0, 5), st.integers(0, 5), st.integers(0, 4))


def most_gangs(nodes: Sequence[Small], pods: int, gpus: int) -> int:
    """The most gangs by trying: place one gang in every way, then search what is left."""
    best = 0
    for after in set(one_gang(tuple(nodes), pods, gpus)):
        best = max(best, 1 + most_gangs(after, pods, gpus))
    return best


def one_gang(nodes: tuple[Small, ...], pods: int, gpus: int) -> list[tuple[Small, ...]]:
    if not pods:
        return [nodes]
    found = []
    for n, item in enumerate(nodes):
        left = Small(item.free - gpus, item.cpu - gpus, item.memory - gpus, item.pods - 1)
        if min(left.free, left.cpu, left.memory, left.pods) >= 0:
            found += one_gang((*nodes[:n], left, *nodes[n + 1 :]), pods - 1, gpus)
    return found


@settings(max_examples=60, deadline=None)
@given(st.lists(SMALL, min_size=1, max_size=3), st.sampled_from((1, 2, 4, 8)))
def test_no_search_finds_more_gangs_and_none_fewer(nodes: list[Small], gpus: int) -> None:
    built = [
        gpu_node(
            f"n{n}",
            group("A100-SXM4-80GB", units(count=4, requested=4 - item.free), physical=4),
            taints=(),
            cpu_allocatable=8_000,
            cpu_requested=8_000 - item.cpu * 1_000,
            memory_allocatable_mib=16_384,
            memory_requested_mib=16_384 - item.memory * 2_048,
            pods_allocatable=9,
            pods_count=9 - item.pods,
        )
        for n, item in enumerate(nodes)
    ]
    (model,) = slots(inventory(*built), (gpus,))
    pods, each = model.pods[0]
    assert model.places[0].gangs == (most_gangs(nodes, pods, each),)
