"""Devices offered through DRA on the checklist: taints, incomplete pools, classes that lack."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from fleet.inventory import (
    AttachedDevices,
    DeviceClass,
    DeviceTaint,
    Node,
    ReadResult,
    ReadStatus,
    UnitKind,
    Units,
)
from fleet.readiness.finding import Verdict
from tests.fleet.readiness.answers import answers, verdicts
from tests.fleet.readiness.clusters import READ, cluster, gpu_node, waiting

CLASSES = "deviceclasses.resource.k8s.io"
RULES = "devicetaintrules.resource.k8s.io"


def dra_node(name: str = "gpu-1", devices: int = 8, **fields: Any) -> Node:
    node = gpu_node(name)
    units = (Units("dra:gpu.nvidia.com", UnitKind.DRA, devices, devices),) if devices else ()
    (group,) = node.groups
    changed = dataclasses.replace(group, units=units, sharing="dra", **fields)
    return dataclasses.replace(node, groups=(changed,))


def taint(effect: str, **fields: Any) -> DeviceTaint:
    base = DeviceTaint("maintenance", "", effect, "DeviceTaintRule r", 2, 0, False, "pool/gpu-0")
    return dataclasses.replace(base, **fields)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ((), Verdict.PASS),
        ((taint("None"), taint("Someday")), Verdict.PASS),
        ((taint("NoSchedule"),), Verdict.WARN),
        ((taint("NoExecute"),), Verdict.WARN),  # nobody holds what it hits, or tolerates it
        ((taint("NoSchedule", hit=1),), Verdict.WARN),  # holders stay
        ((taint("NoExecute", hit=1),), Verdict.FAIL),
    ],
)
def test_taints_on_devices(found: tuple[DeviceTaint, ...], verdict: Verdict) -> None:
    assert verdicts(cluster(nodes=(dra_node(device_taints=found),)), "device-taints") == [verdict]


def test_both_kinds_of_taints_are_two_findings() -> None:
    node = dra_node(device_taints=(taint("NoExecute", hit=1), taint("NoSchedule", is_sick=True)))
    evicting, blocked = answers(cluster(nodes=(node,)), "device-taints")
    assert "evicts the pods of 1 device" in evicting.title
    assert "Of 2 devices the driver itself says" in blocked.detail
    assert blocked.evidence[0].value == (
        "maintenance:NoSchedule on 2 devices such as pool/gpu-0, by DeviceTaintRule r"
    )


def test_devices_that_several_nodes_reach_are_judged_as_well() -> None:
    (group,) = dra_node(device_taints=(taint("NoSchedule"),)).groups
    pool = AttachedDevices("gpu.nvidia.com", "fabric", group, 2, ("a", "b"))
    (finding,) = answers(cluster(attached=(pool,)), "device-taints")
    assert finding.verdict is Verdict.WARN
    assert "fabric" in finding.evidence[0].object


def test_rules_that_may_not_be_read_leave_it_unknown() -> None:
    reads = (*(ReadResult(n, ReadStatus.READ, 0) for n in READ),)
    forbidden = (*reads, ReadResult(RULES, ReadStatus.FORBIDDEN, 0))
    found = cluster(nodes=(dra_node(),), reads=forbidden)
    assert verdicts(found, "device-taints") == [Verdict.UNKNOWN]


def test_without_dra_there_is_nothing_to_judge() -> None:
    assert verdicts(cluster(nodes=(gpu_node(),)), "device-taints") == [Verdict.NOT_APPLICABLE]


def test_an_incomplete_pool_is_a_warning_and_what_it_offers_unknown() -> None:
    reason = "DRA pool a of gpu.nvidia.com: 1 of 2 slices are there"
    found = cluster(nodes=(dra_node(devices=0, incomplete=(reason,)), gpu_node("gpu-2")))
    finding = answers(found, "dra")[0]
    assert (finding.verdict, finding.evidence[0].value) == (Verdict.WARN, reason)
    assert verdicts(found, "devices-advertised") == [Verdict.UNKNOWN, Verdict.PASS]


def test_a_class_that_is_not_there_fails() -> None:
    reads = (*cluster().reads, ReadResult(CLASSES, ReadStatus.READ, 1))
    pod = dataclasses.replace(
        waiting("p"), claims=("c",), claim_classes={"gpu.nvidia.com": 1, "gpu.nvidia.con": 1}
    )
    classes = (DeviceClass("gpu.nvidia.com", "", ("gpu.nvidia.com",)),)
    found = cluster(nodes=(dra_node(),), pods=(pod,), reads=reads, device_classes=classes)
    finding = answers(found, "dra")[0]
    assert finding.verdict is Verdict.FAIL
    assert finding.evidence[0].value == "deviceClassName gpu.nvidia.con"
    unread = cluster(nodes=(dra_node(),), pods=(pod,), device_classes=classes)
    assert verdicts(unread, "dra") == [Verdict.PASS]
