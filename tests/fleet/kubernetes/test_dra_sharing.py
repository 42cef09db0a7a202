"""Devices that several claims share: what a claim takes, what is left, what still fits."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.inventory import PartlyUsed
from fleet.kubernetes.dra_counters import Shared, consumption
from fleet.kubernetes.objects_dra import Basic, Capacity
from tests.fleet.kubernetes.written import Json, node, only_node
from tests.fleet.kubernetes.written_dra import device, dra_numbers, group_of, held, pool_slice

GIB = 2**30
POLICY = {"default": "10Gi", "validRange": {"min": "5Gi", "max": "40Gi", "step": "5Gi"}}


def shared(name: str = "gpu-0", **policy: Any) -> Json:
    return device(
        name,
        texts={"type": "gpu", "uuid": name.upper()},
        allowMultipleAllocations=True,
        capacity={"memory": {"value": "80Gi"} | ({"requestPolicy": policy} if policy else {})},
    )


def share(memory: str, number: int = 0, name: str = "gpu-0") -> Json:
    return {"device": name, "shareID": f"share-{number}", "consumedCapacity": {"memory": memory}}


def test_a_device_with_something_left_is_partly_used_and_not_free_whole() -> None:
    both = pool_slice(shared(**POLICY), shared("gpu-1", **POLICY))
    found = only_node(node(), both, held("c", share("30Gi")))
    (group,) = found.groups
    assert (group.physical, group.whole_free) == (2, 1)
    assert dra_numbers(found) == (2, 1, 1)
    assert group.partly_used == (
        PartlyUsed(
            "gpu.nvidia.com",
            "pool",
            "gpu-0",
            left={"memory": 50 * GIB},
            of={"memory": 80 * GIB},
            more=10,
            open=True,
        ),
    )


def test_a_tainted_device_takes_no_further_claim() -> None:
    sick = shared(**POLICY) | {"taints": [{"key": "k", "effect": "NoSchedule"}]}
    (part,) = group_of(node(), pool_slice(sick), held("c", share("30Gi"))).partly_used
    assert (part.left, part.more, part.open) == ({"memory": 50 * GIB}, 0, False)


def test_shares_of_several_claims_add_up_on_one_device() -> None:
    claims = [held(f"c{n}", share("20Gi", n)) for n in range(4)]
    found = only_node(node(), pool_slice(shared(**POLICY)), *claims)
    (group,) = found.groups
    assert (group.partly_used[0].left, group.partly_used[0].more) == ({"memory": 0}, 0)
    assert dra_numbers(found) == (1, 0, 1)
    assert [h.claim for h in group.holders] == [f"team-a/c{n}" for n in range(4)]


def test_a_claim_without_a_share_holds_the_device_whole() -> None:
    group = group_of(node(), pool_slice(shared(**POLICY)), held("c", "gpu-0"))
    assert (group.partly_used, group.whole_free) == ((), 0)


def test_a_shared_device_in_use_has_paid_its_counters_once() -> None:
    sets = {"gpu-0": {"slices": 1}}
    both = [shared("gpu-0", **POLICY), shared("gpu-0-twin", **POLICY)]
    for found in both:
        found["consumesCounters"] = [
            {"counterSet": "gpu-0", "counters": {"slices": {"value": "1"}}}
        ]
    claims = [held(f"c{n}", share("10Gi", n)) for n in range(2)]
    found = only_node(node(), pool_slice(*both, counters=sets), *claims)
    # The twin cannot be had; the counters are not overdrawn by the second share.
    assert dra_numbers(found) == (2, 0, 1)


@pytest.mark.parametrize(
    ("policy", "asked", "taken"),
    [
        ({}, None, 80),  # nothing said, nothing asked: the whole capacity
        ({}, 3, 3),
        (POLICY, None, 10),
        (POLICY, 1, 5),
        (POLICY, 12, 15),
        (POLICY, 40, 40),
        (POLICY, 41, None),
        ({"default": "1Gi", "validValues": ["1Gi", "2Gi", "4Gi"]}, 3, 4),
        ({"default": "1Gi", "validValues": ["1Gi", "2Gi", "4Gi"]}, 5, None),
        ({"default": "3Gi", "validRange": {"min": "2Gi"}}, 7, 7),
    ],
)
def test_what_a_claim_takes(policy: dict[str, Any], asked: int | None, taken: int | None) -> None:
    found = consumption(capacity("80Gi", policy), None if asked is None else Decimal(asked * GIB))
    assert found == (None if taken is None else taken * GIB)


def capacity(value: str, policy: dict[str, Any] | None) -> Capacity:
    text = {"value": value} | ({"requestPolicy": policy} if policy else {})
    return msgspec.convert(text, Capacity)


ranges = st.tuples(st.integers(0, 6), st.integers(0, 30), st.integers(0, 5)).map(
    lambda t: {"min": str(t[0]), "max": str(t[0] + t[1])} | ({"step": str(t[2])} if t[2] else {})
)
lists = st.lists(st.integers(0, 30).map(str), min_size=1, max_size=5, unique=True).map(
    lambda found: sorted(found, key=int)
)


@st.composite
def policies(draw: st.DrawFn) -> tuple[dict[str, Any], list[int]]:
    """A policy, and every amount that it allows, written out."""
    if draw(st.booleans()):
        limits = draw(ranges)
        step = int(limits.get("step", "1"))
        allowed = list(range(int(limits["min"]), int(limits["max"]) + 1, step))
        policy: dict[str, Any] = {"validRange": limits}
    else:
        found = draw(lists)
        allowed, policy = [int(text) for text in found], {"validValues": found}
    return policy | {"default": str(draw(st.sampled_from(allowed)))}, allowed


@given(policies(), st.integers(0, 60))
def test_a_claim_takes_the_smallest_allowed_amount_that_is_enough(
    pair: tuple[dict[str, Any], list[int]], asked: int
) -> None:
    policy, allowed = pair
    enough = [amount for amount in allowed if amount >= asked]
    assert consumption(capacity("100", policy), Decimal(asked)) == (min(enough) if enough else None)
    assert consumption(capacity("100", policy), None) == int(policy["default"])


@given(
    policies(),
    st.lists(st.integers(0, 20), max_size=5),
    st.integers(0, 60),
    st.integers(0, 80),
)
def test_a_claim_fits_when_all_amounts_together_stay_within_the_capacity(
    pair: tuple[dict[str, Any], list[int]], taken: list[int], asked: int, size: int
) -> None:
    policy, allowed = pair
    text = {"capacity": {"memory": {"value": str(size), "requestPolicy": policy}}}
    found = Shared(msgspec.convert(text, Basic), [{"memory": amount} for amount in taken])
    options = [amount for amount in allowed if amount >= asked]
    fits = bool(options) and sum(taken) + min(options) <= size
    assert found.fits({"memory": Decimal(asked)}) is fits
    assert found.fits({"other": Decimal(1)}) is False
    smallest = min(allowed)
    more = found.more()
    if smallest == 0:
        assert more is None
    else:
        assert more is not None
        assert sum(taken) + more * smallest <= size or more == 0
        assert sum(taken) + (more + 1) * smallest > size


def test_fractions_step_exactly() -> None:
    policy = {"default": "500m", "validRange": {"min": "500m", "max": "2", "step": "250m"}}
    assert consumption(capacity("4", policy), Decimal("0.6")) == Decimal("0.75")


def test_an_unreadable_share_closes_the_device() -> None:
    found = only_node(node(), pool_slice(shared(**POLICY)), held("c", share("lots")))
    assert dra_numbers(found) == (1, 0, 1)
