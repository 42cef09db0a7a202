"""Devices through DRA: what we call free is what kube-scheduler still gives away.

The oracle asks the scheduler about each device alone: a pod with a claim for just this device is
bound, or is not. Nobody runs who makes claims from templates, so tests create the claims.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable
from typing import Any

import pytest

from fleet.inventory import DeviceGroup, Inventory, Node, UnitKind, Units
from tests.cluster.client import Client, Object
from tests.cluster.dra_objects import (
    DRIVER,
    claim,
    claiming,
    device,
    device_class,
    gpu_slices,
    names_of,
    partitionable,
    request,
    slices,
)
from tests.cluster.objects import container, gpus, namespace, node, pod
from tests.cluster.planes import Running
from tests.cluster.product import inventory_of
from tests.cluster.verdicts import bound, place, refused
from tests.processes import wait_for

SETTLED_S = 2.5
"""A refusal that stands so long is none of a scheduler that has not yet heard of the last change:
it tries such a pod again within 1 s of hearing."""

_numbers = itertools.count()


def inventory(running: Running) -> Inventory:
    return inventory_of(running.plane.access(running.token))


def group_of(running: Running, name: str = "a") -> tuple[Node, DeviceGroup]:
    (found,) = (n for n in inventory(running).nodes if n.name == name)
    (group,) = found.groups
    return found, group


def dra_units(group: DeviceGroup) -> Units:
    (units,) = group.units_of(UnitKind.DRA)
    return units


def use(admin: Client, item: Object, *users: str) -> list[str]:
    """Create a claim and pods that use it; the devices that the scheduler allocated."""
    admin.create(item)
    name = item["metadata"]["name"]
    space = item["metadata"]["namespace"]
    place(admin, *(claiming(user, name, namespace=space) for user in users or (f"{name}-user",)))
    results = admin.read(item)["status"]["allocation"]["devices"]["results"]
    return [result["device"] for result in results]


def would_give(admin: Client, item: Object, *, settled: bool = False) -> bool:
    """Whether the scheduler binds one more pod with this claim; nothing of it stays.

    settled: whether nothing has changed for a while, so that its first word is its last.
    """
    user = claiming(f"probe-{next(_numbers)}", item["metadata"]["name"])
    admin.create_all([item, user])

    def is_bound() -> bool:
        return bool(admin.read(user)["spec"].get("nodeName"))

    def has_verdict() -> bool:
        return is_bound() or bool(admin.read(user)["status"].get("conditions"))

    try:
        wait_for("the scheduler has looked at the claim", has_verdict)
        end = time.monotonic() + (0 if settled else SETTLED_S)
        while not is_bound() and time.monotonic() < end:
            time.sleep(0.1)
        return is_bound()
    finally:
        admin.delete(user)
        admin.patch(item, {"metadata": {"finalizers": None}})
        admin.delete(item)
        wait_for("the claim is gone", lambda: admin.send("GET", admin.path(item))[0] == 404)


def given_alone(admin: Client, names: Iterable[str], **exactly: Any) -> list[str]:
    """Of these devices, those that the scheduler would give to a claim for just that one."""
    given: list[str] = []
    settled = False
    for name in names:
        item = claim(f"probe-{next(_numbers)}", request(slot=name, **exactly))
        is_given = would_give(admin, item, settled=settled)
        settled = not is_given  # a device that was given has just been handed back
        given += [name] if is_given else []
    return given


@pytest.fixture
def dra(cluster: Running) -> Running:
    """A node named a without any extended resource, and a class for the GPUs of its driver."""
    cluster.admin.create_all([node("a"), device_class()])
    return cluster


def assert_free_is_what_is_given(running: Running, published: list[Object]) -> list[str]:
    """Our count of free devices against the scheduler's verdict on each; those it would give."""
    found, group = group_of(running)
    units = dra_units(group)
    names = names_of(published)
    given = given_alone(running.admin, names)
    shared = [part.device for part in group.partly_used if part.more]
    assert units.capacity == len(names)
    assert found.free(units) + len(shared) == len(given), (given, group)
    return given


def test_what_the_scheduler_allocates_is_requested(dra: Running) -> None:
    published = gpu_slices("a", 4)
    dra.admin.create_all(published)
    held = use(dra.admin, claim("two", request(count=2)))
    held += use(dra.admin, claim("one"))
    given = assert_free_is_what_is_given(dra, published)
    assert sorted(held + given) == sorted(names_of(published))
    _, group = group_of(dra)
    assert (group.physical, dra_units(group).requested, group.whole_free) == (4, 3, 1)
    assert group.model == "H100-SXM5-80GB"


def test_a_pod_whose_claim_cannot_be_met_is_demand(dra: Running) -> None:
    dra.admin.create_all(gpu_slices("a", 2))
    dra.admin.create(claim("three", request(count=3)))
    dra.admin.create(waiting := claiming("p", "three"))
    refused(dra.admin, waiting)
    (found,) = (p for p in inventory(dra).pods if p.name == "p")
    assert (found.is_demand, found.claim_devices, found.claims) == (True, 3, ("three",))
    _, group = group_of(dra)
    assert (dra_units(group).requested, group.whole_free) == (0, 2)


def test_a_claim_of_two_pods_counts_its_devices_once(dra: Running) -> None:
    published = gpu_slices("a", 3)
    dra.admin.create_all(published)
    use(dra.admin, claim("shared"), "p1", "p2")
    assert len(assert_free_is_what_is_given(dra, published)) == 2
    _, group = group_of(dra)
    assert dra_units(group).requested == 1


def test_admin_access_takes_nothing(dra: Running) -> None:
    published = gpu_slices("a", 2)
    dra.admin.create_all(published)
    space = namespace("monitoring")
    space["metadata"]["labels"] = {"resource.kubernetes.io/admin-access": "true"}
    dra.admin.ensure(space)
    everything = request(adminAccess=True, allocationMode="All")
    watched = use(dra.admin, claim("watch", everything, namespace="monitoring"))
    assert sorted(watched) == ["gpu-0", "gpu-1"]
    assert len(assert_free_is_what_is_given(dra, published)) == 2
    _, group = group_of(dra)
    assert (dra_units(group).requested, group.whole_free) == (0, 2)


def test_the_chosen_one_of_a_prioritised_list_is_held(dra: Running) -> None:
    published = gpu_slices("a", 2)
    dra.admin.create_all(published)
    many, one = ({"deviceClassName": DRIVER, "count": count} for count in (8, 1))
    wish = {"name": "gpu", "firstAvailable": [{"name": "many", **many}, {"name": "one", **one}]}
    assert len(use(dra.admin, claim("either", wish))) == 1
    assert len(assert_free_is_what_is_given(dra, published)) == 1


PARTITIONS = {
    "nothing held": ((), 14, 2),
    "a whole board held": (("gpu-0",), 7, 1),
    "a half held": (("gpu-0-half-1",), 7 + 5, 1),
    "a quarter held": (("gpu-1-quarter-0",), 7 + 5, 1),
    "both halves held": (("gpu-0-half-0", "gpu-0-half-1"), 7, 1),
    "half and two quarters held": (("gpu-0-half-0", "gpu-0-quarter-0", "gpu-0-quarter-1"), 7, 1),
}


@pytest.mark.parametrize("held", PARTITIONS)
def test_partitions_draw_on_the_counters_of_their_board(dra: Running, held: str) -> None:
    first, of_first = partitionable("GPU-0", 0)
    second, of_second = partitionable("GPU-1", 1)
    published = slices(
        "a", {"sharedCounters": [first, second]}, {"devices": [*of_first, *of_second]}
    )
    dra.admin.create_all(published)
    slots, free, whole = PARTITIONS[held]
    for number, slot in enumerate(slots):
        assert use(dra.admin, claim(f"held-{number}", request(slot=slot))) == [slot]
    given = assert_free_is_what_is_given(dra, published)
    _, group = group_of(dra)
    assert group.physical == 2
    assert len(given) == free
    assert group.whole_free == len({"gpu-0", "gpu-1"} & set(given)) == whole
    assert dra_units(group).requested == len(slots)


def taint(effect: str = "NoSchedule", key: str = "gpu.nvidia.com/xid") -> dict[str, str]:
    return {"key": key, "value": "79", "effect": effect}


def test_a_tainted_device_is_not_free(dra: Running) -> None:
    devices = [
        device("gpu-0", "GPU-0", taints=[taint()]),
        device("gpu-1", "GPU-1"),
        device("gpu-2", "GPU-2", taints=[taint("NoExecute")]),
    ]
    published = slices("a", {"devices": devices})
    dra.admin.create_all(published)
    assert assert_free_is_what_is_given(dra, published) == ["gpu-1"]
    _, group = group_of(dra)
    assert (group.physical, group.whole_free) == (3, 1)
    # Whoever tolerates it still gets it.
    tolerations = [{"operator": "Exists"}]
    assert given_alone(dra.admin, ["gpu-0"], tolerations=tolerations) == ["gpu-0"]


def taint_rule(running: Running) -> Object:
    """A rule that takes gpu-0 away, in the version that this minor serves it."""
    version = {"1.36": "v1beta2", "1.37": "v1"}[running.minor]
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "maintenance"},
        "spec": {
            "deviceSelector": {"driver": DRIVER, "pool": "a", "device": "gpu-0"},
            "taint": {"key": "example.com/maintenance", "value": "now", "effect": "NoSchedule"},
        },
    }


def test_a_taint_rule_takes_a_device_away(rich_cluster: Running) -> None:
    admin = rich_cluster.admin
    published = gpu_slices("a", 2)
    admin.create_all([node("a"), device_class(), *published])
    admin.create(taint_rule(rich_cluster))
    assert assert_free_is_what_is_given(rich_cluster, published) == ["gpu-1"]


def shared_device(name: str, board: str) -> Object:
    """A device that any number of claims may share, 10 GiB and more for each."""
    made = device(name, board, allowMultipleAllocations=True)
    made["capacity"] = {
        "memory": {
            "value": "80Gi",
            "requestPolicy": {
                "default": "10Gi",
                "validRange": {"min": "10Gi", "step": "5Gi", "max": "80Gi"},
            },
        }
    }
    return made


def memory_of(amount: str) -> dict[str, Any]:
    return {"capacity": {"requests": {"memory": amount}}}


def test_a_device_with_consumable_capacity_is_used_in_part(dra: Running) -> None:
    published = slices(
        "a", {"devices": [shared_device("gpu-0", "GPU-0"), shared_device("gpu-1", "GPU-1")]}
    )
    dra.admin.create_all(published)
    use(dra.admin, claim("some", request(slot="gpu-0", **memory_of("33Gi"))))
    use(dra.admin, claim("more", request(slot="gpu-0", **memory_of("30Gi"))))
    assert assert_free_is_what_is_given(dra, published) == ["gpu-0", "gpu-1"]
    _, group = group_of(dra)
    (part,) = group.partly_used
    left = part.left["memory"] // 2**30
    assert (part.device, left) == ("gpu-0", 80 - 35 - 30)  # 33 is rounded up to a step
    assert group.whole_free == 1
    # The scheduler's own verdict on what is left, to the step.
    assert given_alone(dra.admin, ["gpu-0"], **memory_of(f"{left}Gi")) == ["gpu-0"]
    assert given_alone(dra.admin, ["gpu-0"], **memory_of(f"{left + 5}Gi")) == []


def test_a_device_whose_capacity_is_used_up_is_not_free(dra: Running) -> None:
    published = slices("a", {"devices": [shared_device("gpu-0", "GPU-0")]})
    dra.admin.create_all(published)
    use(dra.admin, claim("most", request(**memory_of("75Gi"))))
    assert assert_free_is_what_is_given(dra, published) == []


def test_an_extended_resource_through_dra_counts_once(dra: Running) -> None:
    """The scheduler makes the claim itself; the node advertises no such resource."""
    admin = dra.admin
    admin.create(device_class("named", extendedResourceName="nvidia.com/gpu"))
    published = gpu_slices("a", 4)
    admin.create_all(published)
    place(admin, pod("p", gpus(2)))
    made = admin.read(pod("p"))["status"]["extendedResourceClaimStatus"]["resourceClaimName"]
    assert admin.listed("/apis/resource.k8s.io/v1/resourceclaims")[0]["metadata"]["name"] == made
    found = inventory(dra)
    _, group = group_of(dra)
    assert (group.physical, dra_units(group).requested, group.whole_free) == (4, 2, 2)
    assert [u.resource for u in group.units] == [f"dra:{DRIVER}"]
    (reader,) = (p for p in found.pods if p.name == "p")
    assert reader.requests == {"nvidia.com/gpu": 2}
    assert len(assert_free_is_what_is_given(dra, published)) == 2
    place(admin, pod("q", gpus(2)))
    admin.create(last := pod("r", gpus(1)))
    refused(admin, last)
    _, group = group_of(dra)
    assert (dra_units(group).requested, group.whole_free) == (4, 0)


def test_an_incomplete_pool_is_not_counted_and_gives_nothing(dra: Running) -> None:
    first, second = slices(
        "a", {"devices": [device("gpu-0", "GPU-0")]}, {"devices": [device("gpu-1", "GPU-1")]}
    )
    dra.admin.create(first)
    assert given_alone(dra.admin, ["gpu-0"]) == []
    found = inventory(dra)
    assert sum(n.free(u) for n in found.nodes for g in n.groups for u in g.units) == 0
    assert all(group.physical is None for n in found.nodes for group in n.groups)
    assert any("1 of 2 slices" in line for line in found.problems)
    dra.admin.create(second)
    assert assert_free_is_what_is_given(dra, [first, second]) == ["gpu-0", "gpu-1"]
    assert inventory(dra).problems == ()


def test_only_the_newest_generation_of_a_pool_counts(dra: Running) -> None:
    dra.admin.create_all(gpu_slices("a", 4))
    newest = gpu_slices("a", 3, generation=2)
    dra.admin.create_all(newest)
    assert assert_free_is_what_is_given(dra, newest) == ["gpu-0", "gpu-1", "gpu-2"]


def test_devices_that_are_no_gpus_are_not_counted(dra: Running) -> None:
    channels = [
        {"name": f"channel-{i}", "attributes": {"type": {"string": "channel"}}} for i in range(4)
    ]
    dra.admin.create_all(
        [
            *slices("a", {"devices": channels}, driver="compute-domain.nvidia.com"),
            device_class("channels", "compute-domain.nvidia.com"),
            *gpu_slices("a", 2),
        ]
    )
    channel = request("channel", class_name="channels")
    assert use(dra.admin, claim("channel", channel)) != []
    _, group = group_of(dra)
    assert (group.physical, dra_units(group).capacity, group.whole_free) == (2, 2, 2)


def test_a_slice_that_selects_its_node_by_label_belongs_to_it(dra: Running) -> None:
    (by_name,) = gpu_slices("a", 2)
    spec = by_name["spec"]
    del spec["nodeName"]
    expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["a"]}
    spec["nodeSelector"] = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    dra.admin.create(by_name)
    use(dra.admin, claim("one"))
    assert len(assert_free_is_what_is_given(dra, [by_name])) == 1


def test_each_device_may_name_its_own_node(dra: Running) -> None:
    dra.admin.create(node("b"))
    devices = [
        device("gpu-0", "GPU-0", nodeName="a"),
        device("gpu-1", "GPU-1", nodeName="b"),
        device("gpu-2", "GPU-2", nodeName="b"),
    ]
    (published,) = slices("a", {"devices": devices}, pool="fabric")
    del published["spec"]["nodeName"]
    published["spec"]["perDeviceNodeSelection"] = True
    dra.admin.create(published)
    dra.admin.create(claim("of-b", request(slot="gpu-2")))
    dra.admin.create(user := claiming("p", "of-b"))
    assert bound(dra.admin, user) == "b"
    counted = {
        found.name: [(g.physical, dra_units(g).requested, g.whole_free) for g in found.groups]
        for found in inventory(dra).nodes
    }
    assert counted == {"a": [(1, 0, 1)], "b": [(2, 1, 1)]}


def test_a_template_without_its_claim_is_demand(dra: Running) -> None:
    dra.admin.create_all(gpu_slices("a", 4))
    dra.admin.create(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "pair", "namespace": "default"},
            "spec": {"spec": claim("x", request(count=2))["spec"]},
        }
    )
    user = pod(
        "p",
        {**container(), "resources": {"claims": [{"name": "gpus"}]}},
        resourceClaims=[{"name": "gpus", "resourceClaimTemplateName": "pair"}],
    )
    dra.admin.create(user)  # the scheduler does not even look at it
    (found,) = (p for p in inventory(dra).pods if p.name == "p")
    assert (found.is_demand, found.claim_devices) == (True, 2)
