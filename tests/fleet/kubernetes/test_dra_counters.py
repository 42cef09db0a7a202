"""Partitions draw on counters: a device is free when what is left carries it, and only then."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.fleet.kubernetes.written import Json, cluster, gpu_device, node, only_node
from tests.fleet.kubernetes.written_dra import device, dra_numbers, group_of, held, pool_slice

SETS = {"gpu-0-counter-set": {"memory-slices": 8, "compute": 7}}


def whole(number: int = 0) -> Json:
    draws = {f"gpu-{number}-counter-set": {"memory-slices": 8, "compute": 7}}
    return gpu_device(f"gpu-{number}", f"GPU-{number}") | device(
        f"gpu-{number}",
        draws=draws,
        texts={"type": "gpu", "uuid": f"GPU-{number}", "productName": "NVIDIA H100 80GB HBM3"},
    )


def cut(name: str, memory: int, compute: int, profile: str) -> Json:
    return device(
        name,
        draws={"gpu-0-counter-set": {"memory-slices": memory, "compute": compute}},
        texts={"type": "mig", "parentUUID": "GPU-0", "profile": profile},
    )


BOARD = (
    whole(),
    cut("mig-3g-0", 4, 3, "3g.40gb"),
    cut("mig-3g-4", 4, 3, "3g.40gb"),
    *(cut(f"mig-1g-{i}", 1, 1, "1g.10gb") for i in range(7)),
    device(
        "gpu-vfio-0",
        draws=SETS,
        texts={"type": "vfio", "uuid": "GPU-0"},
        capacity={"addressableMemory": {"value": "80Gi"}},
    ),
)


def board(*claims: Json) -> tuple[int | None, int | None, int]:
    """(boards, whole boards free, devices free) of one board with its cuts and its twin."""
    counters = pool_slice(name="counters", count=2, counters=SETS)
    found = only_node(node(), counters, pool_slice(*BOARD, count=2), *claims)
    (group,) = found.groups
    return group.physical, group.whole_free, dra_numbers(found)[1]


def test_nothing_held_everything_can_be_had() -> None:
    assert board() == (1, 1, 11)


def test_a_held_board_leaves_nothing() -> None:
    assert board(held("c", "gpu-0")) == (1, 0, 0)


def test_a_passthrough_twin_takes_the_board_and_its_cuts() -> None:
    assert board(held("c", "gpu-vfio-0")) == (1, 0, 0)


def test_a_small_cut_leaves_what_the_counters_carry() -> None:
    # 7 memory slices and 6 compute are left: both 3g placements and the other six 1g.
    assert board(held("c", "mig-1g-0")) == (1, 0, 8)


def test_cuts_that_use_the_compute_up_leave_memory_that_nobody_can_have() -> None:
    # 3g + 3g + 1g: compute 7 of 7.
    assert board(held("c", "mig-3g-0", "mig-3g-4", "mig-1g-0")) == (1, 0, 0)


def test_counters_beside_the_devices_are_read_as_well() -> None:
    old = pool_slice(*BOARD, counters=SETS)
    assert dra_numbers(only_node(node(), old, held("c", "mig-3g-0"))) == (11, 8, 1)


def test_boards_without_an_identity_are_told_apart_by_their_counters() -> None:
    sets = {name: {"slices": 4} for name in ("a", "b")}
    parts = [
        device(f"{name}-{size}", draws={name: {"slices": size}}) for name in sets for size in (4, 2)
    ]
    group = group_of(node(), pool_slice(*parts, driver="gpu.example.com", counters=sets))
    assert (group.physical, group.cuts_possible, group.whole_free) == (2, 2, 2)


def test_a_budget_that_boards_share_makes_no_cuts_of_them() -> None:
    budget = {"power": {"watts": 1000}}
    boards = [device(f"gpu-{n}", draws={"power": {"watts": 400}}) for n in range(4)]
    found = only_node(
        node(),
        pool_slice(*boards, driver="gpu.example.com", counters=budget),
        held("c", "gpu-0", driver="gpu.example.com"),
    )
    (group,) = found.groups
    assert (group.physical, group.cuts_possible, group.whole_free) == (4, 0, 3)
    again = held("d", "gpu-1", driver="gpu.example.com")
    full = only_node(
        node(),
        pool_slice(*boards, driver="gpu.example.com", counters=budget),
        held("c", "gpu-0", driver="gpu.example.com"),
        again,
    )
    assert dra_numbers(full) == (4, 0, 2)


def test_a_pool_that_was_given_more_than_it_has_gives_nothing_more() -> None:
    # The scheduler compares every counter of the pool, so one below zero closes both boards.
    sets = SETS | {"gpu-1-counter-set": SETS["gpu-0-counter-set"]}
    both = pool_slice(*BOARD, whole(1), counters=sets)
    found = only_node(node(), both, held("c", "gpu-0"), held("d", "mig-1g-0"))
    assert dra_numbers(found)[1:] == (0, 2)


def test_an_unreadable_counter_closes_its_device_and_says_so() -> None:
    odd = cut("mig-1g-9", 1, 1, "1g.10gb")
    odd["consumesCounters"][0]["counters"]["compute"] = {"value": "many"}
    found = cluster(node(), pool_slice(whole(), odd, counters=SETS))
    assert dra_numbers(found.nodes[0]) == (2, 1, 0)
    assert "device mig-1g-9: " in found.problems[0]


counters = st.dictionaries(st.sampled_from(["x", "y", "z"]), st.integers(0, 4), min_size=1)
pools = st.fixed_dictionaries(
    {
        "sets": st.dictionaries(st.sampled_from(["s", "t"]), counters, min_size=1),
        "draws": st.lists(st.dictionaries(st.sampled_from(["s", "t"]), counters), max_size=6),
        "held": st.sets(st.integers(0, 5), max_size=4),
    }
)


def carried(sets: dict[str, dict[str, int]], devices: list[dict[str, Any]]) -> bool:
    """Whether these devices together stay within every counter: the plain statement."""
    return all(
        sum(d.get(name, {}).get(counter, 0) for d in devices) <= limit
        for name, found in sets.items()
        for counter, limit in found.items()
    )


@given(pools)
def test_a_device_is_free_exactly_when_the_counters_carry_it_too(pool: dict[str, Any]) -> None:
    sets = pool["sets"]
    draws = [  # only counters that exist, or the pool is spoilt as a whole
        {
            name: {c: n for c, n in found.items() if c in sets[name]}
            for name, found in draw.items()
            if name in sets
        }
        for draw in pool["draws"]
    ]
    taken = {number for number in pool["held"] if number < len(draws)}
    devices = [device(f"d{i}", draws=draw) for i, draw in enumerate(draws)]
    published = pool_slice(*devices, driver="gpu.example.com", counters=sets)
    claims = [held(f"c{i}", f"d{i}", driver="gpu.example.com") for i in taken]
    found = only_node(node(), published, *claims)
    used = [draws[i] for i in taken]
    expected = [
        i
        for i, draw in enumerate(draws)
        if i not in taken and (not draw or carried(sets, [*used, draw]))
    ]
    assert dra_numbers(found)[1] == len(expected)
