"""One logical inventory in the shapes of v1, v1beta2 and v1beta1, and whatever else is written."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.inventory import Inventory, decode, encode
from fleet.inventory_report.report import as_report
from tests.fleet.kubernetes.written import Json, cluster, node, pod
from tests.fleet.kubernetes.written_dra import (
    as_served,
    device,
    held,
    pool_slice,
    taint_rule,
    values,
)

VERSIONS = ("v1", "v1beta2", "v1beta1")
SETS = {"gpu-0": {"slices": 8}, "gpu-1": {"slices": 8}}


@st.composite
def devices(draw: st.DrawFn) -> Json:
    number, kind = draw(st.integers(0, 5)), draw(st.sampled_from(["gpu", "mig", "vfio", ""]))
    board = f"GPU-{draw(st.integers(0, 1))}"
    texts = {"productName": draw(st.sampled_from(["NVIDIA H100 80GB HBM3", "NVIDIA L4", ""]))}
    texts |= {"type": kind} if kind else {}
    texts["parentUUID" if kind == "mig" else "uuid"] = board
    more: dict[str, Any] = {}
    if draw(st.booleans()):
        more["draws"] = {draw(st.sampled_from(list(SETS))): {"slices": draw(st.integers(0, 8))}}
    if draw(st.booleans()):
        more["taints"] = [
            {"key": "gpu.nvidia.com/xid", "effect": draw(st.sampled_from(["NoSchedule", "None"]))}
        ]
    if draw(st.booleans()):
        more["allowMultipleAllocations"] = True
    memory: Json = {"value": draw(st.sampled_from(["80Gi", "9728Mi"]))}
    if draw(st.booleans()):
        memory["requestPolicy"] = {"default": "1Gi", "validValues": ["1Gi", "2Gi"]}
    return device(f"d{number}", texts=texts, capacity={"memory": memory}, **more)


@st.composite
def claims(draw: st.DrawFn) -> Json:
    results = []
    for _ in range(draw(st.integers(0, 3))):
        result: Json = {"device": f"d{draw(st.integers(0, 6))}"}
        if draw(st.booleans()):
            result |= {
                "shareID": str(draw(st.integers(0, 9))),
                "consumedCapacity": {"memory": "2Gi"},
            }
        if draw(st.integers(0, 4)) == 0:
            result["adminAccess"] = True
        results.append(result)
    users = tuple(draw(st.sets(st.sampled_from(["pod-a", "pod-b"]))))
    name = f"c{draw(st.integers(0, 3))}"
    return held(name, *results, by=users, count=draw(st.integers(1, 3)))


@st.composite
def clusters(draw: st.DrawFn) -> list[Json]:
    count = draw(st.sampled_from([1, 1, 1, 2]))
    slices = [
        pool_slice(
            *draw(st.lists(devices(), max_size=6, unique_by=lambda d: d["name"])),
            counters=SETS,
            count=count,
        )
    ]
    rules = [taint_rule("r", device="d1")] if draw(st.booleans()) else []
    pods = [
        pod("pod-a", "node-a", resourceClaims=[{"name": "x", "resourceClaimName": "c0"}]),
        pod("pod-b", resourceClaims=[{"name": "x", "resourceClaimName": "c1"}]),
    ]
    return [node(), *slices, *rules, *draw(st.lists(claims(), max_size=4)), *pods]


def read_as(version: str, objects: list[Json]) -> Inventory:
    """The inventory of objects as one version serves them (rules have versions of their own)."""
    found = cluster(
        *(o if o["kind"] == "DeviceTaintRule" else as_served(o, version) for o in objects)
    )
    return dataclasses.replace(found, reads=())


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(clusters())
def test_every_served_shape_says_the_same(objects: list[Json]) -> None:
    first, *others = (read_as(version, objects) for version in VERSIONS)
    assert others == [first, first]


def test_the_shapes_do_differ() -> None:
    item = pool_slice(device("gpu-0", texts={"type": "gpu"}))
    assert "basic" in as_served(item, "v1beta1")["spec"]["devices"][0]
    asked = held("c")
    assert "exactly" not in as_served(asked, "v1beta1")["spec"]["devices"]["requests"][0]
    assert as_served(asked, "v1beta2")["spec"] == asked["spec"]


@given(clusters())
def test_numbers_of_any_pool_are_possible(objects: list[Json]) -> None:
    found = cluster(*objects)
    for each in found.nodes:
        for group in each.groups:
            for units in group.units:
                held = units.requested or 0
                assert 0 <= held <= units.allocatable <= units.capacity
                assert 0 <= each.free(units) <= units.capacity - held
                assert (units.requested is None) == bool(group.use_unknown)
            if group.physical is not None and group.whole_free is not None:
                assert 0 <= group.whole_free <= group.physical
            if group.incomplete:
                assert group.physical is None


ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**70, 1.5, 1e308, "", "x" * 300, "9" * 20, "1e99", "-5", "NaN", "²",
    "\u0000", [], {}, [None], {"a": None}, {"value": "-1"}, {"value": None},
)  # fmt: skip
WHOLE_POOL = (
    pool_slice(
        device(
            "gpu-0",
            draws={"gpu-0": {"slices": 4}},
            texts={"type": "gpu", "uuid": "GPU-0", "productName": "NVIDIA L4"},
            taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}],
            allowMultipleAllocations=True,
            capacity={
                "memory": {
                    "value": "80Gi",
                    "requestPolicy": {
                        "default": "1Gi",
                        "validValues": ["1Gi"],
                        "validRange": {"min": "1Gi", "max": "2Gi", "step": "1Gi"},
                    },
                }
            },
            nodeSelector={
                "nodeSelectorTerms": [
                    {
                        "matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}],
                        "matchFields": [
                            {"key": "metadata.name", "operator": "In", "values": ["node-a"]}
                        ],
                    }
                ]
            },
        ),
        counters=SETS,
        perDeviceNodeSelection=True,
    ),
    held(
        "c",
        {"device": "gpu-0", "shareID": "1", "consumedCapacity": {"memory": "1Gi"},
         "tolerations": [{"key": "k", "operator": "Exists"}]},
        by=("pod-a",),
        count=1,
        tolerations=[{"key": "k"}],
    ),
    taint_rule("r", driver="gpu.nvidia.com", pool="pool", device="gpu-0"),
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    inner = (
        value.items() if isinstance(value, dict)
        else enumerate(value) if isinstance(value, list) else ()
    )  # fmt: skip
    for key, item in inner:
        found += places(item, (*path, key))
    return found


PLACES = places(list(WHOLE_POOL))


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(PLACES), st.sampled_from(ODD))
def test_any_value_at_any_place_costs_at_most_its_object(path: tuple[Any, ...], odd: Any) -> None:
    objects = json.loads(json.dumps(WHOLE_POOL))
    target = objects
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = odd
    objects = [item for item in objects if isinstance(item, dict) and item.get("kind")]
    good = pool_slice(device("gpu-0", texts={"uuid": "GPU-9"}), pool="good", name="good")
    found = cluster(node(labels={"a": "2"}), *objects, good)
    assert decode(encode(found)) == found
    json.dumps(as_report(found))
    units = [u for group in found.nodes[0].groups for u in group.units]
    assert sum(u.capacity for u in units) >= 1  # the sound pool is counted whatever the other is


@pytest.mark.parametrize("bad", ["-1", "1e40", "much"])
def test_a_counter_set_that_cannot_be_read_closes_its_pool_and_says_so(bad: str) -> None:
    item = pool_slice(device("gpu-0", draws={"gpu-0": {"slices": 1}}), counters=SETS)
    item["spec"]["sharedCounters"][1]["counters"] = values({"slices": 8}) | {"odd": {"value": bad}}
    found = cluster(node(), item)
    (units,) = found.nodes[0].groups[0].units
    assert (units.capacity, units.allocatable) == (1, 0)
    assert "its counters cannot be read" in found.problems[0]
