"""Devices offered through ResourceSlices: boards are counted, not entries."""

from __future__ import annotations

from fleet.inventory import Sharing, UnitKind
from tests.fleet.kubernetes.written import (
    Json,
    claim,
    cluster,
    gpu_device,
    gpu_slice,
    node,
    only_node,
    pod,
)

TWO = (gpu_device("gpu-0", "GPU-0"), gpu_device("gpu-1", "GPU-1"))
MORE = (gpu_device("gpu-2", "GPU-2"), gpu_device("gpu-3", "GPU-3"))
CUT = (
    gpu_device("gpu-0", "GPU-0"),
    *(gpu_device(f"gpu-0-mig-{i}", "GPU-0", "mig") for i in range(7)),
    gpu_device("gpu-vfio-0", "GPU-0", "vfio"),
)


def numbers(*objects: Json) -> tuple[int | None, int | None, int, int]:
    """(boards, whole boards free, devices free, devices requested)."""
    found = only_node(node(), *objects)
    (group,) = found.groups
    (units,) = group.units_of(UnitKind.DRA)
    return group.physical, group.whole_free, found.free(units), units.requested


def test_cuts_and_passthrough_twins_are_one_board() -> None:
    assert numbers(gpu_slice(*CUT)) == (1, 1, 9, 0)


def test_a_held_cut_takes_the_whole_board_off_the_shelf() -> None:
    # 9 entries: one cut is held, the whole GPU and its twin can no longer be had, 6 cuts can.
    assert numbers(gpu_slice(*CUT), claim("c", "gpu-0-mig-3")) == (1, 0, 6, 1)


def test_a_held_board_takes_its_cuts_along() -> None:
    assert numbers(gpu_slice(*CUT), claim("c", "gpu-0"))[2:] == (0, 1)


def test_a_claim_that_several_pods_share_counts_once() -> None:
    pods = [
        pod(f"pod-{i}", "node-a", resourceClaims=[{"name": "g", "resourceClaimName": "c"}])
        for i in range(4)
    ]
    assert numbers(gpu_slice(*TWO), claim("c", "gpu-0"), *pods) == (2, 1, 1, 1)


def test_admin_access_holds_nothing() -> None:
    assert numbers(gpu_slice(*TWO), claim("monitor", "gpu-0", admin=True)) == (2, 2, 2, 0)


def test_a_stale_generation_is_not_counted_beside_the_new_one() -> None:
    old = gpu_slice(*TWO, name="old", generation=1)
    new = gpu_slice(TWO[0], name="new", generation=2)
    assert numbers(old, new)[0] == 1
    assert numbers(new, old)[0] == 1


def test_an_incomplete_pool_is_named_and_unknown_on_its_node() -> None:
    inventory = cluster(node(), gpu_slice(*TWO, count=2))
    (group,) = inventory.nodes[0].groups
    assert (group.physical, group.units) == (None, ())
    assert "1 of 2 slices" in group.physical_source
    assert "1 of 2 slices" in inventory.problems[0]


def test_a_tainted_device_cannot_be_had() -> None:
    sick = gpu_device("gpu-1", "GPU-1", taints=[{"key": "xid", "effect": "NoSchedule"}])
    assert numbers(gpu_slice(TWO[0], sick)) == (2, 1, 1, 0)


def test_device_names_repeat_across_nodes() -> None:
    inventory = cluster(
        node("node-a"), node("node-b"), gpu_slice(*TWO),
        gpu_slice(*TWO, on="node-b", name="b"), claim("c", "gpu-0"),
    )  # fmt: skip
    free = [n.free(next(n.groups[0].units_of(UnitKind.DRA))) for n in inventory.nodes]
    assert free == [1, 2]


def test_drivers_of_other_things_are_no_gpus() -> None:
    other = gpu_slice(*TWO)
    other["spec"]["driver"] = "compute-domain.nvidia.com"
    assert not only_node(node(), other).is_gpu_node


def test_plugin_and_dra_on_one_node_count_the_boards_once() -> None:
    found = only_node(node(gpus=2), gpu_slice(*TWO))
    (group,) = found.groups
    assert (group.physical, group.sharing) == (2, Sharing.WHOLE)
    assert "counted once" in group.notes[0]


def test_a_board_that_a_claim_holds_is_not_free_through_the_plugin() -> None:
    asking = pod(on="node-a", gpus=1)
    found = only_node(node(gpus=4), gpu_slice(*TWO, *MORE), claim("c", "gpu-0"), asking)
    (group,) = found.groups
    assert (group.physical, group.whole_free) == (4, 2)


def test_a_pod_knows_the_devices_it_claims() -> None:
    asking = pod(resourceClaims=[{"name": "g", "resourceClaimName": "c"}])
    (found,) = cluster(node(), gpu_slice(*TWO), claim("c", count=2), asking).pods
    assert (found.claims, found.claim_devices, found.is_demand) == (("c",), 2, True)


def test_a_claim_that_no_pod_uses_is_said_to_hold_its_device_idle() -> None:
    used = claim("used", "gpu-0")
    used["status"]["reservedFor"] = [{"resource": "pods", "name": "pod-a", "uid": "1"}]
    found = only_node(node(), gpu_slice(*TWO), used, claim("left", "gpu-1"))
    assert found.groups[0].notes == ("1 devices are held by claims that no pod uses",)
