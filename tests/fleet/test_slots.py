"""Gangs that still fit: the rule on examples, and against a search that tries every placement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.inventory import Inventory, Node, Taint, TopologyLevel, UnitKind
from fleet.inventory_report.topology import topology_report
from fleet.slots import SIZES, ModelSlots, Place, pod_size, slots
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


def pods(where: Place) -> dict[int, int]:
    """GPUs of one pod, by size of the gang."""
    return dict(zip(SIZES, where.pod_gpus, strict=True))


def a100(name: str, free: int, of: int, **topology: str | None) -> Node:
    """A node that hands out ``of`` whole GPUs."""
    return gpu_node(
        name,
        group("A100-SXM4-80GB", units(count=of, requested=of - free), physical=of),
        topology=levels(**topology),
        taints=(),
    )


@pytest.mark.parametrize(
    ("gpus", "node_gpus", "pod"),
    [(1, 8, 1), (8, 8, 8), (64, 8, 8), (8, 4, 4), (16, 1, 1), (8, 7, 4), (64, 10, 8), (4, 3, 2),
     (8, 0, 0)],
)  # fmt: skip
def test_a_gang_is_as_few_equal_pods_as_the_nodes_allow(
    gpus: int, node_gpus: int, pod: int
) -> None:
    assert pod_size(gpus, node_gpus) == pod


def test_pods_are_of_the_sizes_that_the_nodes_of_their_place_hand_out() -> None:
    small = [a100(f"small-{n}", 4, 4, rack="r1") for n in range(32)]
    model = only(with_levels(*small, a100("big", 8, 8, rack="r2"), names=("rack",)))
    assert gangs(place(model, "r1")) == {1: 128, 2: 64, 4: 32, 8: 16, 16: 8, 64: 2}
    assert pods(place(model, "r1")) == {1: 1, 2: 2, 4: 4, 8: 4, 16: 4, 64: 4}
    assert gangs(place(model, "r2")) == {1: 8, 2: 4, 4: 2, 8: 1, 16: 0, 64: 0}
    assert pods(place(model, "r2"))[16] == 8
    assert gangs(place(model)) == {1: 136, 2: 68, 4: 34, 8: 17, 16: 8, 64: 2}
    assert pods(place(model))[8] == 4  # 17 gangs of 2 pods of 4; of 1 pod of 8 only one fits


def test_the_report_for_programs_has_them_too() -> None:
    found = with_levels(a100("a", 8, 8, rack="r1"), a100("lost", 4, 8, rack=None), names=("rack",))
    (model,) = topology_report(found)["slots"]
    assert (model["gang_sizes"], model["place_count"]) == (list(SIZES), 3)
    assert [(p["path"], p["free"], p["gangs"]) for p in model["places"]] == [
        ([], 12, [12, 6, 3, 1, 0, 0]),
        (["r1"], 8, [8, 4, 2, 1, 0, 0]),
        ([None], 4, [4, 2, 1, 0, None, None]),
    ]


def test_scattered_gpus_of_large_nodes_are_no_gang() -> None:
    model = only(inventory(*(a100(f"n{n}", 2, 8) for n in range(8))))
    assert gangs(place(model)) == {1: 16, 2: 8, 4: 0, 8: 0, 16: 0, 64: 0}


def test_of_equally_many_gangs_those_of_the_fewest_pods_are_told() -> None:
    whole = place(only(inventory(a100("big", 8, 8), a100("small", 0, 4))))
    assert (gangs(whole)[8], pods(whole)[8]) == (1, 8)


def test_unplaced_nodes_of_several_sizes_promise_what_stands_on_one_of_them() -> None:
    lost = [a100("big", 8, 8), a100("s1", 4, 4), a100("s2", 4, 4)]
    model = only(with_levels(a100("in", 8, 8, rack="r"), *lost, names=("rack",)))
    assert gangs(place(model, None))[8] == 1  # and perhaps one more, of 2 pods of 4
    full = [a100("big", 0, 8), *lost[1:]]
    model = only(with_levels(a100("in", 8, 8, rack="r"), *full, names=("rack",)))
    assert gangs(place(model, None))[8] is None


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
    size: int  # GPUs that it hands out
    rack: str = "r0"


@st.composite
def small_nodes(draw: st.DrawFn) -> Small:
    size = draw(st.sampled_from((1, 2, 3, 4)))
    return Small(
        free=draw(st.integers(0, size)),
        cpu=draw(st.integers(0, 5)),
        memory=draw(st.integers(0, 5)),
        pods=draw(st.integers(0, 4)),
        size=size,
        rack=draw(st.sampled_from(("r0", "r1"))),
    )


def most_gangs(nodes: Sequence[Small], gpus: int) -> int:
    """The most gangs by trying every size of pods that divides the gang, but none between the
    sizes of the nodes: such pods only leave more behind."""
    sizes = {max(g for g in range(1, gpus + 1) if gpus % g == 0 and g <= n.size) for n in nodes}
    return max((most_of_a_shape(nodes, gpus // size, size) for size in sizes), default=0)


def most_of_a_shape(nodes: Sequence[Small], pods: int, gpus: int) -> int:
    """The most gangs by trying: place one gang in every way, then search what is left."""
    best = 0
    for after in set(one_gang(tuple(nodes), pods, gpus)):
        best = max(best, 1 + most_of_a_shape(after, pods, gpus))
    return best


def one_gang(nodes: tuple[Small, ...], pods: int, gpus: int) -> list[tuple[Small, ...]]:
    if not pods:
        return [nodes]
    found = []
    for n, item in enumerate(nodes):
        left = replace(
            item,
            free=item.free - gpus,
            cpu=item.cpu - gpus,
            memory=item.memory - gpus,
            pods=item.pods - 1,
        )
        if min(left.free, left.cpu, left.memory, left.pods) >= 0:
            found += one_gang((*nodes[:n], left, *nodes[n + 1 :]), pods - 1, gpus)
    return found


def built(nodes: Sequence[Small]) -> Inventory:
    return with_levels(
        *(
            gpu_node(
                f"n{n}",
                group(
                    "A100-SXM4-80GB",
                    units(count=item.size, requested=item.size - item.free),
                    physical=item.size,
                ),
                topology=levels(rack=item.rack),
                taints=(),
                cpu_allocatable=8_000,
                cpu_requested=8_000 - item.cpu * 1_000,
                memory_allocatable_mib=16_384,
                memory_requested_mib=16_384 - item.memory * 2_048,
                pods_allocatable=9,
                pods_count=9 - item.pods,
            )
            for n, item in enumerate(nodes)
        ),
        names=("rack",),
    )


@settings(max_examples=80, deadline=None)
@given(st.lists(small_nodes(), min_size=1, max_size=3), st.sampled_from((1, 2, 4, 8)))
def test_no_search_finds_more_gangs_and_none_fewer(nodes: list[Small], gpus: int) -> None:
    (model,) = slots(built(nodes), (gpus,))
    for where in model.places:
        inside = [node for node in nodes if where.path in ((), (node.rack,))]
        assert where.gangs == (most_gangs(inside, gpus),)


@settings(max_examples=100, deadline=None)
@given(st.lists(small_nodes(), min_size=1, max_size=8))
def test_a_place_never_has_fewer_gangs_than_one_inside_it(nodes: list[Small]) -> None:
    model = only(built(nodes))
    whole = gangs(place(model))
    for size in SIZES:
        inside = [gangs(where)[size] or 0 for where in model.places if where.path]
        assert (whole[size] or 0) >= max(inside)
