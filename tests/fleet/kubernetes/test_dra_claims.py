"""Claims: who holds which device, what is held for nobody, and what pods ask for."""

from __future__ import annotations

from typing import Any

import pytest

from fleet.inventory import DeviceHolder, Pod
from fleet.inventory_report.report import as_report
from tests.fleet.kubernetes.written import Json, cluster, gpu_device, node, only_node, pod
from tests.fleet.kubernetes.written_dra import device, dra_numbers, group_of, held, pool_slice

TWO = pool_slice(gpu_device("gpu-0", "GPU-0"), gpu_device("gpu-1", "GPU-1"))


def device_class(name: str, driver: str = "", resource: str = "", created: str = "") -> Json:
    spec: Json = {"extendedResourceName": resource} if resource else {}
    if driver:
        spec["selectors"] = [{"cel": {"expression": f'device.driver == "{driver}"'}}]
    meta = {"name": name} | ({"creationTimestamp": created} if created else {})
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": meta,
        "spec": spec,
    }


def waiting(name: str, *requests: Json, kind: str = "ResourceClaim") -> Json:
    spec: Json = {"devices": {"requests": list(requests)}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": spec if kind == "ResourceClaim" else {"spec": spec},
    }


def asks(class_name: str = "gpu.nvidia.com", name: str = "gpu", **more: Any) -> Json:
    return {"name": name, "exactly": {"deviceClassName": class_name} | more}


def using(*claims: str, on: str = "", template: str = "", **more: Any) -> Json:
    """A pod that names claims, or one template."""
    items = [{"name": name, "resourceClaimName": name} for name in claims]
    if template:
        items.append({"name": "made", "resourceClaimTemplateName": template})
    return pod("pod-a", on, resourceClaims=items, **more)


def only_pod(*objects: Json) -> Pod:
    (found,) = cluster(*objects).pods
    return found


# Who holds what


def test_the_holder_of_a_device_is_its_claim_and_the_pods_of_it() -> None:
    group = group_of(
        node(), TWO, held("train", "gpu-0", by=("pod-a", "pod-b")), using("train", on="node-a")
    )
    assert group.holders == (
        DeviceHolder(
            driver="gpu.nvidia.com",
            pool="pool",
            device="gpu-0",
            claim="team-a/train",
            request="gpu",
            consumers=("pod pod-a", "pod pod-b"),
        ),
    )


def test_a_pod_group_holds_as_a_pod_does() -> None:
    found = held("c", "gpu-0")
    found["status"]["reservedFor"] = [
        {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "gang", "uid": "1"}
    ]
    (holder,) = group_of(node(), TWO, found, pod("other", "node-a")).holders
    assert (holder.consumers, holder.idle) == (("podgroup gang",), "")


def test_the_choice_of_a_prioritised_list_is_told() -> None:
    (holder,) = group_of(
        node(), TWO, held("c", {"device": "gpu-0", "request": "main/small"})
    ).holders
    assert holder.request == "main/small"


@pytest.mark.parametrize(
    ("phase", "idle"),
    [("Running", ""), ("Succeeded", "its pods are finished"), ("Failed", "its pods are finished")],
)
def test_a_claim_of_finished_pods_holds_its_device_idle(phase: str, idle: str) -> None:
    user = using("c", on="node-a", phase=phase)
    found = only_node(node(), TWO, held("c", "gpu-0", by=("pod-a",)), user)
    (holder,) = found.groups[0].holders
    assert holder.idle == idle
    assert dra_numbers(found) == (2, 1, 1)  # held all the same: nobody else can have it


def test_a_claim_of_deleted_pods_holds_its_device_idle() -> None:
    group = group_of(
        node(), TWO, held("c", "gpu-0", by=("gone",)), held("d", "gpu-1"), pod("b", "node-a")
    )
    assert [h.idle for h in group.holders] == ["its pods are gone", "no pod uses the claim"]
    assert group.notes == ("2 devices are held by claims that no pod uses",)


def test_without_pods_nobody_is_said_to_be_gone() -> None:
    (holder,) = group_of(node(), TWO, held("c", "gpu-0", by=("pod-a",))).holders
    assert holder.idle == ""


def test_one_claim_of_four_pods_is_one_device() -> None:
    pods = [
        pod(f"pod-{n}", "node-a", resourceClaims=[{"name": "g", "resourceClaimName": "c"}])
        for n in range(4)
    ]
    names = tuple(f"pod-{n}" for n in range(4))
    found = cluster(node(), TWO, held("c", "gpu-0", by=names), *pods)
    sums = as_report(found)["totals"]
    assert (sums["running"], sums["running_gpus"], sums["running_units"]) == (4, 1, 1)
    assert dra_numbers(found.nodes[0]) == (2, 1, 1)
    assert {(p.claims, p.claim_counts) for p in found.pods} == {(("c",), (1,))}


def test_admin_access_holds_nothing_and_asks_for_nothing() -> None:
    found = held("c", {"device": "gpu-0", "adminAccess": True}, by=("pod-a",), adminAccess=True)
    inventory = cluster(node(), TWO, found, using("c", on="node-a"))
    assert dra_numbers(inventory.nodes[0]) == (2, 2, 0)
    assert inventory.nodes[0].groups[0].holders == ()
    assert inventory.pods[0].claim_devices == 0


# What pods ask for


@pytest.mark.parametrize(
    ("wanted", "gpus"),
    [
        (asks(), 1),
        (asks(count=4), 4),
        (asks(allocationMode="All"), 1),
        (asks(count=2, adminAccess=True), 0),
        (asks("mig.nvidia.com", count=3), 3),
        (asks("vfio.gpu.nvidia.com"), 1),
        (asks("compute-domain-default-channel.nvidia.com"), 0),
        (asks("dra.net", count=2), 0),
        ({"name": "gpu", "firstAvailable": [
            {"name": "big", "deviceClassName": "gpu.nvidia.com", "count": 2},
            {"name": "small", "deviceClassName": "mig.nvidia.com"},
        ]}, 2),
    ],
)  # fmt: skip
def test_a_claim_that_waits_asks_for_its_requests(wanted: Json, gpus: int) -> None:
    assert only_pod(node(), waiting("c", wanted), using("c")).claim_devices == gpus


def test_a_class_is_known_by_the_driver_that_it_selects() -> None:
    classes = [device_class("fast", "gpu.nvidia.com"), device_class("fabric", "dra.net")]
    wants = [asks("fast", "a", count=2), asks("fabric", "b", count=8)]
    found = only_pod(node(), *classes, waiting("c", *wants), using("c"))
    assert (found.claim_devices, found.claim_classes) == (2, {"fast": 2, "fabric": 8})


def test_a_claim_of_a_template_is_known_before_and_after_it_is_made() -> None:
    template = waiting("t", asks(count=2), kind="ResourceClaimTemplate")
    before = only_pod(node(), template, using(template="t"))
    assert (before.claims, before.claim_devices) == ((), 2)
    made = {"resourceClaimStatuses": [{"name": "made", "resourceClaimName": "t-x7"}]}
    after = only_pod(node(), TWO, template, held("t-x7", "gpu-0"), using(template="t", status=made))
    assert (after.claims, after.claim_devices) == (("t-x7",), 1)


def test_an_allocated_claim_counts_what_it_got() -> None:
    every = held("c", "gpu-0", "gpu-1", allocationMode="All")
    nic = {"device": "nic-0", "driver": "dra.net"}
    mixed = held("d", "gpu-0", nic)
    assert only_pod(node(), TWO, every, using("c", on="node-a")).claim_devices == 2
    assert only_pod(node(), TWO, mixed, using("d", on="node-a")).claim_devices == 1


def test_an_extended_resource_through_a_claim_counts_once() -> None:
    name = "pod-a-extended-resources-x"
    status = {
        "extendedResourceClaimStatus": {
            "resourceClaimName": name,
            "requestMappings": [{"resourceName": "nvidia.com/gpu", "requestName": "r"}],
        }
    }
    asking = pod("pod-a", "node-a", gpus=1, status=status)
    found = cluster(node(), TWO, held(name, "gpu-0", by=("pod-a",)), asking)
    (group,) = found.nodes[0].groups
    assert [(u.resource, u.requested) for u in group.units] == [("dra:gpu.nvidia.com", 1)]
    (user,) = found.pods
    assert (user.requests, user.claims, user.claim_devices) == ({"nvidia.com/gpu": 1}, (name,), 0)
    assert group.holders[0].consumers == ("pod pod-a",)


# What is no GPU


@pytest.mark.parametrize("driver", ["compute-domain.nvidia.com", "dra.net", "tpu.google.com"])
def test_devices_of_other_drivers_are_listed_and_never_gpus(driver: str) -> None:
    found = only_node(node(), pool_slice(device("a"), device("b"), driver=driver))
    assert (found.is_gpu_node, found.other_devices) == (False, {driver: 2})


@pytest.mark.parametrize(
    ("driver", "vendor"),
    [
        ("gpu.nvidia.com", "nvidia"),
        ("gpu.amd.com", "amd"),
        ("gpu.intel.com", "intel"),
        ("gpu.example.com", "unknown"),
        ("gpu.notnvidia.com", "unknown"),
    ],
)
def test_a_gpu_driver_is_known_by_its_name(driver: str, vendor: str) -> None:
    group = group_of(node(), pool_slice(device("gpu-0"), driver=driver))
    assert (group.vendor, group.physical, group.whole_free) == (vendor, 1, 1)
