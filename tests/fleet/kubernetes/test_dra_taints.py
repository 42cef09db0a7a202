"""Taints on devices: what they block, what is sick, and whom a rule evicts."""

from __future__ import annotations

import pytest

from fleet.inventory import DeviceTaint
from tests.fleet.kubernetes.written import Json, cluster, gpu_device, node, only_node
from tests.fleet.kubernetes.written_dra import (
    dra_numbers,
    group_of,
    held,
    pool_slice,
    taint_rule,
)


def tainted(key: str, effect: str, value: str = "") -> Json:
    return gpu_device(
        "gpu-1",
        "GPU-1",
        taints=[{"key": key, "effect": effect} | ({"value": value} if value else {})],
    )


GOOD = gpu_device("gpu-0", "GPU-0")
TWO = pool_slice(GOOD, gpu_device("gpu-1", "GPU-1"))


@pytest.mark.parametrize(
    ("effect", "free"), [("NoSchedule", 1), ("NoExecute", 1), ("None", 2), ("Someday", 2), ("", 2)]
)
def test_only_known_effects_keep_a_device_from_being_given(effect: str, free: int) -> None:
    found = only_node(node(), pool_slice(GOOD, tainted("example.com/check", effect)))
    assert dra_numbers(found) == (2, free, 0)
    assert (found.groups[0].whole_free, found.groups[0].physical) == (free, 2)


@pytest.mark.parametrize(
    ("key", "effect", "unhealthy"),
    [
        ("gpu.nvidia.com/xid", "NoSchedule", 1),
        ("gpu.nvidia.com/gpu-lost", "NoExecute", 1),
        ("gpu.nvidia.com/xid", "None", 0),  # an application's error, the board is fine
        ("gpu.nvidia.com/unmonitored", "None", 0),
        ("example.com/reserved", "NoSchedule", 0),  # a wish, no sickness
    ],
)
def test_a_board_is_sick_when_its_own_driver_blocks_it(
    key: str, effect: str, unhealthy: int
) -> None:
    group = group_of(node(), pool_slice(GOOD, tainted(key, effect, "79")))
    assert (group.unhealthy or 0) == unhealthy
    assert f"1 devices carry the taint {key}=79:{effect}" in group.notes[0]


def test_cuts_of_a_sick_board_are_one_sick_board() -> None:
    taint = [{"key": "gpu.nvidia.com/xid", "effect": "NoSchedule"}]
    cuts = [gpu_device(f"mig-{i}", "GPU-0", "mig", taints=taint) for i in range(3)]
    assert group_of(node(), pool_slice(GOOD | {"taints": taint}, *cuts)).unhealthy == 1


@pytest.mark.parametrize(
    ("selector", "devices"),
    [
        ({}, 2),
        ({"driver": "gpu.nvidia.com"}, 2),
        ({"driver": "gpu.nvidia.com", "pool": "pool", "device": "gpu-1"}, 1),
        ({"device": "gpu-1"}, 1),
        ({"driver": "gpu.amd.com"}, 0),
        ({"pool": "other"}, 0),
    ],
)
def test_a_rule_taints_the_devices_that_it_selects(selector: dict[str, str], devices: int) -> None:
    found = only_node(node(), TWO, taint_rule("r", **selector))
    assert dra_numbers(found)[1] == 2 - devices
    assert sum(t.devices for t in found.groups[0].device_taints) == devices


def test_a_rule_without_a_selector_taints_nothing() -> None:
    rule = taint_rule("r")
    del rule["spec"]["deviceSelector"]
    assert dra_numbers(only_node(node(), TWO, rule)) == (2, 2, 0)


def test_a_rule_that_selects_by_expression_is_named_and_not_guessed() -> None:
    rule = taint_rule("r")
    rule["apiVersion"] = "resource.k8s.io/v1alpha3"
    rule["spec"]["deviceSelector"]["selectors"] = [{"cel": {"expression": "true"}}]
    found = cluster(node(), TWO, rule)
    assert "DeviceTaintRule r selects by class or expression" in found.problems[0]


def test_a_taint_says_how_many_held_devices_it_hits() -> None:
    tolerant = held("c", "gpu-0", tolerations=[{"operator": "Exists"}])
    other = held("d", "gpu-1", tolerations=[{"key": "other", "operator": "Exists"}])
    group = group_of(node(), TWO, taint_rule("r", "NoExecute"), tolerant, other)
    assert group.device_taints == (
        DeviceTaint(
            key="maintenance",
            value="",
            effect="NoExecute",
            source="DeviceTaintRule r",
            devices=2,
            hit=1,
            is_sick=False,
            example="pool/gpu-0",
        ),
    )


def test_a_taint_of_the_drivers_key_set_by_a_person_is_no_sickness() -> None:
    rule = taint_rule("r", key="gpu.nvidia.com/xid")
    assert not group_of(node(), TWO, rule).unhealthy


@pytest.mark.parametrize(
    ("toleration", "hit"),
    [
        ({"key": "maintenance", "operator": "Exists"}, 0),
        ({"key": "maintenance"}, 0),  # Equal to an empty value
        ({"key": "maintenance", "value": "x"}, 1),
        ({"operator": "Exists", "effect": "NoSchedule"}, 1),
        ({"key": "maintenance", "operator": "Perhaps"}, 1),
    ],
)
def test_tolerations_match_as_the_scheduler_matches_them(
    toleration: dict[str, str], hit: int
) -> None:
    result = {"device": "gpu-0", "tolerations": [toleration]}
    group = group_of(node(), TWO, taint_rule("r", "NoExecute"), held("c", result))
    assert group.device_taints[0].hit == hit
