"""Our sums against kube-scheduler's own: what we call free fits, and not one unit more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fleet.inventory import Inventory, Node
from tests.cluster.client import Client, Object
from tests.cluster.objects import container, gpu_node, gpus, node, pod
from tests.cluster.planes import Running
from tests.cluster.product import inventory_of
from tests.cluster.verdicts import bound, fits, place, refused

GPU = "nvidia.com/gpu"


def inventory(running: Running) -> Inventory:
    return inventory_of(running.plane.access(running.token))


def only_node(running: Running) -> Node:
    (found,) = inventory(running).nodes
    return found


def free_gpus(found: Node) -> int:
    (group,) = found.groups
    (units,) = group.units
    return found.free(units)


def test_what_the_scheduler_binds_is_requested_and_the_rest_is_free(cluster: Running) -> None:
    cluster.admin.create_all([gpu_node("a"), gpu_node("b")])
    placed = place(cluster.admin, *(pod(f"p{i}", gpus(3)) for i in range(4)))
    assert sorted(placed) == ["a", "a", "b", "b"]  # two of three GPUs each, and 2 are left
    waiting = pod("too-large", gpus(3))
    cluster.admin.create(waiting)
    refused(cluster.admin, waiting, because="Insufficient nvidia.com/gpu")
    found = inventory(cluster)
    assert [free_gpus(n) for n in found.nodes] == [2, 2]
    assert {p.name: (p.node != "", p.is_demand) for p in found.pods} == {
        **{f"p{i}": (True, False) for i in range(4)},
        "too-large": (False, True),
    }
    # A pod of two finds room where three do not: the 2 are really free.
    assert place(cluster.admin, pod("two", gpus(2)))[0] in ("a", "b")


def test_a_cordoned_node_has_nothing_free(cluster: Running) -> None:
    cluster.admin.create(gpu_node("a", unschedulable=True))
    cluster.admin.create(waiting := pod("p", gpus(1)))
    refused(cluster.admin, waiting, because="unschedulable")
    found = only_node(cluster)
    assert (found.cordoned, found.schedulable, free_gpus(found)) == (True, False, 0)
    cluster.admin.patch(gpu_node("a"), {"spec": {"unschedulable": None}})
    assert bound(cluster.admin, waiting) == "a"
    assert free_gpus(only_node(cluster)) == 7


def with_resources(**amounts: str) -> Object:
    """A container that asks for as much as it may use."""
    wanted = {GPU if name == "gpu" else name: amount for name, amount in amounts.items()}
    return container(requests=wanted, limits=wanted)


def several(*items: Object, **more: Any) -> list[Object]:
    return [{**item, "name": f"c{i}", **more} for i, item in enumerate(items)]


def init(item: Object, name: str = "init") -> Object:
    return {**item, "name": name}


def sidecar(item: Object, name: str = "sidecar") -> Object:
    return {**item, "name": name, "restartPolicy": "Always"}


SHAPES: dict[str, dict[str, Any]] = {
    "one container": {"containers": [with_resources(cpu="1500m", gpu="2")]},
    "limits become requests": {"containers": [container(limits={"cpu": "700m", GPU: "1"})]},
    "containers add up": {
        "containers": several(with_resources(cpu="1", gpu="1"), with_resources(cpu="250m", gpu="2"))
    },
    "a large init container": {
        "containers": [with_resources(cpu="1", gpu="1")],
        "initContainers": [init(with_resources(cpu="3", gpu="4"))],
    },
    "a small init container": {
        "containers": [with_resources(cpu="3", gpu="4")],
        "initContainers": [init(with_resources(cpu="1", gpu="1"))],
    },
    "init containers one after the other": {
        "containers": [with_resources(cpu="1")],
        "initContainers": [
            init(with_resources(cpu="2", gpu="1"), "i1"),
            init(with_resources(cpu="1", gpu="3"), "i2"),
        ],
    },
    "a sidecar stays": {
        "containers": [with_resources(cpu="1", gpu="2")],
        "initContainers": [sidecar(with_resources(cpu="500m", gpu="1"))],
    },
    "a sidecar before a large init container": {
        "containers": [with_resources(cpu="1")],
        "initContainers": [
            sidecar(with_resources(cpu="2", gpu="1")),
            init(with_resources(cpu="3", gpu="2")),
        ],
    },
    "a sidecar after a large init container": {
        "containers": [with_resources(cpu="1")],
        "initContainers": [
            init(with_resources(cpu="3", gpu="2")),
            sidecar(with_resources(cpu="1500m", gpu="1")),
        ],
    },
    "overhead": {
        "containers": [with_resources(cpu="1", gpu="1")],
        "runtimeClassName": "sandboxed",
        "overhead": {"cpu": "250m"},
    },
    "overhead on a large init container": {
        "containers": [with_resources(cpu="1")],
        "initContainers": [init(with_resources(cpu="2"))],
        "runtimeClassName": "sandboxed",
        "overhead": {"cpu": "250m"},
    },
    "resources of the pod": {
        "containers": [with_resources(gpu="1"), init(with_resources(cpu="100m"), "second")],
        "resources": {"requests": {"cpu": "2300m"}, "limits": {"cpu": "3"}},
    },
    "resources of the pod, limits only": {
        "containers": [with_resources(gpu="1")],
        "resources": {"limits": {"cpu": "1200m"}},
    },
}


def free_cpu(found: Node) -> int:
    return found.cpu_allocatable - found.cpu_requested


def assert_same_free(running: Running) -> None:
    """What we call free on the only node is what the scheduler still gives away there."""
    found = only_node(running)
    cpu, gpu = free_cpu(found), free_gpus(found)
    assert cpu > 0
    assert gpu > 0

    def asks(cpu_milli: int, gpu_count: int) -> Object:
        wanted = {"cpu": f"{cpu_milli}m", GPU: str(gpu_count)}
        return pod("last", container(requests=wanted, limits=wanted))

    verdicts = {
        "all that is free": fits(running.admin, asks(cpu, gpu)),
        "a thousandth of a CPU more": fits(running.admin, asks(cpu + 1, gpu)),
        "a GPU more": fits(running.admin, asks(cpu, gpu + 1)),
    }
    assert verdicts == {
        "all that is free": True,
        "a thousandth of a CPU more": False,
        "a GPU more": False,
    }, f"free by our sums: {cpu}m CPU, {gpu} GPUs"


@pytest.mark.parametrize("shape", SHAPES)
def test_requests_add_up_as_the_scheduler_does(cluster: Running, shape: str) -> None:
    admin = cluster.admin
    admin.create(gpu_node("a"))
    if "overhead" in SHAPES[shape]:
        admin.create(
            {
                "apiVersion": "node.k8s.io/v1",
                "kind": "RuntimeClass",
                "metadata": {"name": "sandboxed"},
                "handler": "test",
                "overhead": {"podFixed": SHAPES[shape]["overhead"]},
            }
        )
    place(admin, pod("p", **SHAPES[shape]))
    assert_same_free(cluster)


def finished(admin: Client, item: Object) -> None:
    """It has ended: its resources are free again."""
    admin.patch(item, {"status": {"phase": "Succeeded"}}, status=True)


def terminating(admin: Client, item: Object) -> None:
    """It is being deleted and still runs."""
    admin.call("DELETE", f"{admin.path(item)}?gracePeriodSeconds=3600")
    assert admin.read(item)["metadata"]["deletionTimestamp"]


def shrinking(admin: Client, item: Object) -> None:
    """Fewer CPUs are wanted, but the kubelet has not taken them back yet."""
    _resized(admin, item, wanted="1", allocated="4", actual="4")


def growing(admin: Client, item: Object) -> None:
    """More CPUs are wanted, and the kubelet has not given them yet."""
    _resized(admin, item, wanted="6", allocated="4", actual="4")


def growing_in_vain(admin: Client, item: Object) -> None:
    """More CPUs are wanted than the node has: the pod keeps what it has."""
    _resized(admin, item, wanted="30", allocated="4", actual="4")
    condition = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
    admin.patch(item, {"status": {"conditions": [condition]}}, status=True)


def shrunk(admin: Client, item: Object) -> None:
    _resized(admin, item, wanted="1", allocated="1", actual="1")


def _resized(admin: Client, item: Object, *, wanted: str, allocated: str, actual: str) -> None:
    def amounts(cpu: str) -> dict[str, str]:
        return {"cpu": cpu, GPU: "2"}

    status = {
        "name": "main",
        "ready": True,
        "restartCount": 0,
        "image": "registry.test/image:1",
        "imageID": "",
        "allocatedResources": amounts(allocated),
        "resources": {"requests": amounts(actual), "limits": amounts(actual)},
    }
    admin.patch(item, {"status": {"phase": "Running", "containerStatuses": [status]}}, status=True)
    resources = {"requests": amounts(wanted), "limits": amounts(wanted)}
    admin.call(
        "PATCH",
        f"{admin.path(item)}/resize",
        {"spec": {"containers": [{"name": "main", "resources": resources}]}},
        "application/strategic-merge-patch+json",
    )


@pytest.mark.parametrize(
    "change", [finished, terminating, shrinking, growing, growing_in_vain, shrunk]
)
def test_a_pod_counts_in_each_state_as_the_scheduler_counts_it(
    cluster: Running, change: Callable[[Client, Object], None]
) -> None:
    cluster.admin.create(gpu_node("a"))
    item = pod("p", with_resources(cpu="4", gpu="2"))
    place(cluster.admin, item)
    change(cluster.admin, item)
    assert_same_free(cluster)


def test_pods_without_a_number_limit_the_node_by_their_count(cluster: Running) -> None:
    cluster.admin.create(node("a", {"pods": "3"}))
    place(cluster.admin, pod("p1"), pod("p2"))
    found = only_node(cluster)
    assert (found.pods_allocatable, found.pods_count) == (3, 2)
    place(cluster.admin, pod("p3"))
    cluster.admin.create(last := pod("p4"))
    refused(cluster.admin, last, because="Too many pods")
    found = only_node(cluster)
    assert (found.pods_allocatable, found.pods_count) == (3, 3)
