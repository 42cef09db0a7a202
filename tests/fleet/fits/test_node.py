"""Whether one node takes one more pod: every reason for a no, and what is counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.fits.ask import Ask, ask
from fleet.fits.node import No, Refusal, matches, refusal
from fleet.fits.room import Room
from fleet.inventory import (
    DeviceGroup,
    NodeRule,
    Sharing,
    Taint,
    Toleration,
    UnitKind,
    Units,
)
from tests.fleet.inventories import gpu_node, group, units

GPU = "nvidia.com/gpu"
ANY_GPU_TAINT = (Toleration(GPU, "Exists"),)


def one(gpus: int = 1, **more: Any) -> Ask:
    more.setdefault("tolerations", ANY_GPU_TAINT)
    return ask({GPU: gpus}, **more)


def no(asked: Ask, *groups: DeviceGroup, **node: Any) -> Refusal | None:
    return refusal(Room(gpu_node("n", *(groups or (group("T4"),)), **node), {}), asked)


def test_a_node_with_room_takes_the_pod() -> None:
    assert no(one(8, cpu_milli=96_000, memory_mib=1_000_000)) is None


@pytest.mark.parametrize(
    ("asked", "node", "reason"),
    [
        (one(), {"is_virtual": True}, Refusal(No.NOT_REAL)),
        (one(), {"is_simulated": True}, Refusal(No.NOT_REAL)),
        (ask({"amd.com/gpu": 1}), {}, Refusal(No.NOT_OFFERED, "amd.com/gpu")),
        (one(node_selector={"pool": "a"}), {}, Refusal(No.SELECTOR, "pool=a")),
        (one(tolerations=()), {}, Refusal(No.TAINT, "nvidia.com/gpu=present:NoSchedule")),
        (
            one(),
            {"schedulable": False, "not_schedulable_reason": "cordoned"},
            Refusal(No.STATE, "cordoned"),
        ),
        (one(9), {}, Refusal(No.TOO_SMALL, GPU, 8)),
        (one(cpu_milli=96_001), {}, Refusal(No.CPU, has=96_000)),
        (one(memory_mib=1_000_001), {}, Refusal(No.MEMORY, has=1_000_000)),
        (one(), {"pods_count": 110}, Refusal(No.PODS, has=0)),
    ],
)
def test_each_reason_is_told_with_what_it_is_about(
    asked: Ask, node: dict[str, Any], reason: Refusal
) -> None:
    assert no(asked, **node) == reason


def test_units_that_pods_hold_are_in_use() -> None:
    assert no(one(4), group("T4", units(requested=5))) == Refusal(No.IN_USE, GPU, 3)


def test_more_held_than_allocatable_is_nothing_free_and_not_less() -> None:
    assert no(one(), group("T4", units(requested=11))) == Refusal(No.IN_USE, GPU, 0)


def test_taints_of_controllers_are_the_state_of_the_node() -> None:
    taints = (Taint("node.kubernetes.io/not-ready", "", "NoExecute"),)
    found = no(one(), taints=taints, schedulable=False, not_schedulable_reason="NotReady")
    assert found == Refusal(No.STATE, "NotReady")


def test_a_taint_that_is_only_a_wish_keeps_nobody_away() -> None:
    assert no(one(), taints=(Taint("a", "", "PreferNoSchedule"),)) is None


def rule(operator: str, *values: str, key: str = "zone", is_field: bool = False) -> NodeRule:
    return NodeRule(key, operator, values, is_field)


@pytest.mark.parametrize(
    ("rules", "holds"),
    [
        ((rule("In", "a", "b"),), True),
        ((rule("In", "c"),), False),
        ((rule("NotIn", "a"),), False),
        ((rule("NotIn", "x", key="none"),), True),  # absent is not in any list
        ((rule("Exists"),), True),
        ((rule("Exists", key="none"),), False),
        ((rule("DoesNotExist", key="none"),), True),
        ((rule("DoesNotExist"),), False),
        ((rule("Gt", "7", key="gpus"),), True),
        ((rule("Gt", "8", key="gpus"),), False),
        ((rule("Lt", "9", key="gpus"),), True),
        ((rule("Lt", "9"),), False),  # "a" is no number
        ((rule("Gt", key="gpus"),), False),
        ((rule("In", "n", key="metadata.name", is_field=True),), True),
        ((rule("In", "m", key="metadata.name", is_field=True),), False),
        ((rule("In", "n", key="metadata.name"),), False),  # a label of that name
        ((rule("In", "a"), rule("Exists", key="none")), False),  # all rules of a term
        ((), False),  # an empty term
        ((rule("Nearly", "a"),), False),
    ],
)
def test_required_node_affinity(rules: tuple[NodeRule, ...], *, holds: bool) -> None:
    node = gpu_node("n", group("T4"), labels={"zone": "a", "gpus": "8"})
    assert matches(node, (rules,)) is holds
    assert matches(node, (rules, (rule("Exists"),))) is True  # one term is enough
    found = refusal(Room(node, {}), one(node_affinity=(rules,)))
    assert (found is None) is holds
    assert found is None or found.reason is No.AFFINITY


# Boards that a sharing system cuts by memory.


def hami(
    boards: int, idle: int, held: Sequence[Ask] = (), memory: int = 24_000, split: int = 10
) -> Room:
    offered = Units(GPU, UnitKind.SHARE, boards * split, boards * split, 0, memory)
    found = DeviceGroup(
        "nvidia", "T4", "", boards, "", False, memory, Sharing.FRACTIONAL, split, (offered,),
        whole_free=idle,
    )  # fmt: skip
    return Room(gpu_node("n", found, taints=()), {}, held)


def part(gpus: int = 1, **side: int) -> Ask:
    names = {"mib": "gpumem", "percent": "gpumem-percentage", "cores": "gpucores"}
    return ask({GPU: gpus} | {f"nvidia.com/{names[key]}": n for key, n in side.items()})


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        (part(), 2),  # without a size, each unit is a whole board
        (part(2), 1),
        (part(3), 0),
        (part(mib=12_000), 4),
        (part(mib=12_001), 2),
        (part(7, mib=3_000), 2),
        (part(mib=1), 20),  # the units run out first
        (part(percent=50), 4),
        (part(percent=100), 2),
        (part(cores=50), 2),  # cores alone leave the memory whole
        (part(cores=50, mib=1_000), 4),
        (part(mib=24_001), 0),  # larger than any board
    ],
)
def test_parts_of_idle_boards(asked: Ask, count: int) -> None:
    assert hami(2, idle=2).count(asked) == count


def test_what_others_leave_of_a_board_can_be_had_in_parts_and_never_whole() -> None:
    room = hami(2, idle=1, held=[part(mib=10_000)])
    assert room.count(part(mib=14_000)) == 2  # one on the idle board, one on the rest
    assert room.count(part()) == 1


def test_a_pod_without_a_size_holds_a_whole_board() -> None:
    room = hami(2, idle=1, held=[part()])
    assert room.count(part(mib=12_000)) == 2
    assert room.count(part()) == 1
    assert hami(3, idle=1, held=[part(2)]).count(part(2)) == 0


def test_memory_units_of_one_pod_lie_on_one_board() -> None:
    offered = Units("aliyun.com/gpu-mem", UnitKind.MEMORY, 62, 62, 0)
    found = DeviceGroup(
        "nvidia", "V100", "", 2, "", False, None, Sharing.FRACTIONAL, None, (offered,),
        memory_gib=31, whole_free=2,
    )  # fmt: skip
    room = Room(gpu_node("n", found, taints=()), {})
    assert room.count(ask({"aliyun.com/gpu-mem": 31})) == 2
    assert room.count(ask({"aliyun.com/gpu-mem": 32})) == 0
    found_no = refusal(room, ask({"aliyun.com/gpu-mem": 32}))
    assert found_no == Refusal(No.BOARD_MEMORY, "aliyun.com/gpu-mem", 62)


# Devices of DRA that answer to an extended resource.


def dra(idle: int, driver: str = "dra:gpu.nvidia.com") -> DeviceGroup:
    offered = Units(driver, UnitKind.DRA, 8, 8, 0)
    return DeviceGroup(
        "nvidia", "T4", "", 2, "", False, None, Sharing.DRA, None, (offered,), whole_free=idle
    )


def test_a_device_class_offers_boards_and_not_the_cuts_published_beside_them() -> None:
    mapped = {GPU: frozenset({"dra:gpu.nvidia.com"})}
    room = Room(gpu_node("n", dra(2), taints=()), mapped)
    assert room.count(one()) == 2
    assert refusal(room, one(3)) == Refusal(No.TOO_SMALL, GPU, 2)
    assert refusal(Room(gpu_node("n", dra(0), taints=()), mapped), one()) == Refusal(
        No.IN_USE, GPU, 0
    )


def test_without_a_class_or_with_that_of_another_driver_nothing_is_offered() -> None:
    node = gpu_node("n", dra(2), taints=())
    for mapped in ({}, {GPU: frozenset({"dra:other"})}):
        assert refusal(Room(node, mapped), one()) == Refusal(No.NOT_OFFERED, GPU)


# Counting and taking agree.


@given(
    st.integers(0, 16), st.integers(0, 20), st.integers(0, 96_000), st.integers(0, 110),
    st.integers(1, 9), st.integers(0, 9_000),
)  # fmt: skip
def test_as_many_fit_as_can_be_taken_one_after_the_other(
    gpus: int, held: int, cpu_held: int, pods: int, each: int, cpu: int
) -> None:
    node = gpu_node(
        "n", group("T4", units(count=gpus, requested=held)), cpu_requested=cpu_held, pods_count=pods
    )
    asked = one(each, cpu_milli=cpu)
    counted = Room(node, {}).count(asked)
    room, taken = Room(node, {}), 0
    while gpus and refusal(room, asked) is None:
        room.take(asked)
        taken += 1
    by_hand = min(
        max(0, gpus - held) // each, 110 - pods, (96_000 - cpu_held) // cpu if cpu else 10**9
    )
    assert counted == taken == by_hand


@given(
    st.integers(1, 4), st.integers(0, 4), st.integers(1, 30_000),
    st.lists(st.integers(1, 24_000), max_size=6),
)  # fmt: skip
def test_what_is_taken_and_undone_is_there_again(
    boards: int, idle: int, held: int, parts: list[int]
) -> None:
    room = hami(boards, min(idle, boards), held=[part(mib=held)])
    before = [room.count(part(mib=m)) for m in (1, 1_000, 12_000, 24_000)]
    undo = room.mark()
    for mib in parts:
        if refusal(room, part(mib=mib)) is None:
            room.take(part(mib=mib))
    undo()
    assert [room.count(part(mib=m)) for m in (1, 1_000, 12_000, 24_000)] == before
