"""What the remarks of the real cases (``filled``, ``derived``, words of ``checks``) say about the
reading, as numbers. Remarks that only name what was invented for a file (cpu, memory, pod names)
state nothing that could be asserted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fleet.boards.states import node_figures
from fleet.catalogue.mig_profiles import agreed_profile
from fleet.fits.ask import ask
from fleet.fits.cluster import Cluster
from fleet.inventory import UnitKind
from fleet.inventory_report.report import as_report
from fleet.readiness.sharing_agrees import mig_slices
from tests.fleet.kubernetes.known_cases import (
    EXPECTED,
    Json,
    inventory_of,
    objects_of,
    of_objects,
    report_of,
)

GPU = "nvidia.com/gpu"


def node(number: str, name: str = "node-a") -> Json:
    found: Json = report_of(number)["nodes"][name]
    return found


def controllers(number: str) -> dict[str, Any]:
    return {c.name: c for c in inventory_of(number).controllers}


def test_a_vendor_is_no_model_and_a_third_of_a_board_no_board() -> None:  # 10
    for name in ("gpu-0", "gpu-1", "gpu-2", "gpu-3"):
        assert node("10", name)["model"] == "A10"
        assert node("10", name)["physical_gpus"] is None
    assert report_of("10")["totals"]["physical_gpus"] is None  # not 0
    assert report_of("10")["totals"]["by_model"] == {"A10": {"total": None, "free": 0}}


@pytest.mark.parametrize(("number", "name"), [("08", "node-b"), ("09", "node-a"), ("18", "node-b")])
def test_model_and_count_come_from_the_instance_type(number: str, name: str) -> None:
    assert "instance type" in node(number, name)["model_source"]


def test_simulated_boards_are_in_no_other_total() -> None:  # 15
    totals = report_of("15")["totals"]
    assert totals["simulated_gpus"] == 8
    assert totals["physical_gpus"] == totals["free_whole_gpus"] == totals["gpu_nodes"] == 0
    assert totals["units"] == totals["by_model"] == {}


def test_four_slices_of_one_board_are_one_board() -> None:  # 21
    assert (node("21")["physical_gpus"], node("21")["resources"][GPU]["requested"]) == (1, 4)
    assert report_of("21")["totals"]["free_whole_gpus"] == 0


def test_ten_of_sixteen_slices_hold_three_or_four_boards() -> None:  # 25
    (only,) = inventory_of("25").nodes
    figures = node_figures(only)
    assert figures.requested == 3
    assert figures.requested + (figures.unknown or 0) == 4


def test_devices_of_a_single_profile_stand_for_boards() -> None:  # 28, 29, 30
    assert node("28")["physical_gpus"] == 14 // 7
    assert node("29")["physical_gpus"] == 56 // 7
    assert node("30")["physical_gpus"] == node("30")["mig_devices"] == 4


def test_cut_boards_use_all_of_their_slices() -> None:  # 27, 31
    (cut,) = (g for n in inventory_of("27").nodes for g in n.groups)
    assert mig_slices(cut) == (7, 7)
    memory = 0
    for unit in cut.units_of(UnitKind.MIG):
        found = agreed_profile((cut.model or "",), unit.profile or "")
        assert found is not None
        assert found.memory_slices_total == 8
        memory += unit.capacity * found.memory_slices
    assert memory == 8
    (two,) = (g for n in inventory_of("31").nodes for g in n.groups)
    assert mig_slices(two) == (14, 14)


def claim(device: str) -> Json:
    (pool,) = {
        (o["spec"]["driver"], o["spec"]["pool"]["name"])
        for o in objects_of("32")
        if o["kind"] == "ResourceSlice" and o["spec"].get("devices")
    }
    result = {"request": "gpu", "driver": pool[0], "pool": pool[1], "device": device}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "held", "namespace": "team-a"},
        "spec": {"devices": {"requests": [{"name": "gpu"}]}},
        "status": {"allocation": {"devices": {"results": [result]}}},
    }


def devices(kind: str) -> list[str]:
    return [
        device["name"]
        for o in objects_of("32")
        if o["kind"] == "ResourceSlice"
        for device in o["spec"].get("devices") or ()
        if device["attributes"]["type"]["string"] == kind
    ]


@pytest.mark.parametrize(("kind", "left"), [("gpu", 0), ("mig", 6)])
def test_a_board_is_taken_whole_or_in_parts(kind: str, left: int) -> None:  # 32
    found = as_report(of_objects([*objects_of("32"), claim(devices(kind)[0])]))
    assert found["nodes"]["node-a"]["dra_free"] == left
    assert found["totals"]["free_whole_gpus"] == 0
    assert found["totals"]["physical_gpus"] == 1


def test_partitions_of_one_parent_are_one_board() -> None:  # 36, 38, 39
    assert node("36")["physical_gpus"] == 2
    assert node("38")["physical_gpus"] == 5 + 24 // 8
    assert node("39")["physical_gpus"] == 64 // 8


def test_the_model_comes_from_the_device_id_where_no_product_is_named() -> None:  # 37
    assert node("37")["model"] == "MI300X"
    assert "device" in node("37")["model_source"] or "instance type" in node("37")["model_source"]


def test_devices_for_virtual_machines_are_for_no_pod() -> None:  # 46
    assert node("46")["kvm"] == 1000
    assert report_of("46")["totals"]["gpu_devices"] == 5
    assert Cluster(inventory_of("46")).fit(ask({GPU: 1})).nodes == ()


def test_free_boards_are_the_healthy_ones_that_nobody_holds() -> None:  # 49
    found = node("49")
    healthy = found["physical_gpus"] - found["unhealthy"]
    assert found["whole_free_gpus"] == healthy - len(inventory_of("49").pods) == 2
    fit = Cluster(inventory_of("49"))
    assert [len(fit.fit(ask({GPU: n})).nodes) for n in (1, 2, 3)] == [1, 1, 0]


def test_a_sidecar_adds_to_what_runs_and_to_what_initialises() -> None:  # 53
    app, sidecar, init = 100, 100, 200
    requests = report_of("53")["pods"]["team-a/sidecar-then-init"]["requests"]
    assert requests["cpu_millis"] == max(app + sidecar, sidecar + init)


def test_memory_is_asked_for_each_virtual_gpu() -> None:  # 55
    assert report_of("55")["pods"]["team-a/vgpu-pod"]["gpu_memory_mib"] == 2 * 8000


def test_a_template_that_is_refused_would_ask_for_its_limit() -> None:  # 58
    asked = [c.requests for c in inventory_of("58").controllers]
    assert sorted(n for requests in asked for n in requests.values()) == [3, 8]
    works = report_of("58")["fits"]["workloads"]
    assert {work["fits"] for work in works.values()} == {False}
    assert {work["unknown"] for work in works.values()} == {"the API server refuses its pods"}


def test_a_full_quota_refuses_a_pod_that_a_node_could_take() -> None:  # 69
    assert report_of("69")["quota"]["team-a/gpu-quota"]["free"] == 0
    assert Cluster(inventory_of("69")).fit(ask({GPU: 1})).nodes == ("node-a",)


def test_two_keys_that_count_the_same_devices_are_not_added() -> None:  # 71
    found = report_of("71")["quota"]["team-a/gpu"]
    assert found["do_not_add"] is True
    assert "used" not in found
    plugin, through_claims = 1, 4
    assert sorted(key["used"] for key in found["keys"].values()) == [
        through_claims,
        plugin + through_claims,
    ]


def test_the_last_counted_failure_lands_one_period_before_the_formula() -> None:  # 72, 73, 75
    for number in ("72", "73", "75"):
        for controller in inventory_of(number).controllers:
            (container,) = controller.probes
            probe = container.startup or container.liveness
            assert probe is not None
            found = report_of(number)["probes"][f"team-a/{controller.name}"]
            by_hand = probe.initial_delay_s + (probe.failure_threshold - 1) * probe.period_s
            assert found["kill_earliest_s"] == by_hand
            assert found["kill_nominal_s"] == by_hand + probe.period_s
    assert report_of("75")["probes"]["team-a/worker-before"]["probe_timeout_s"] == 30


def test_a_queue_with_sixteen_gpus_lets_a_group_set_of_four_in() -> None:  # 68
    work = report_of("68")["fits"]["workloads"]["team-a/nginx-leaderworkerset"]
    assert work["queue"] == {"kind": "ClusterQueue", "name": "tas-cluster-queue", "fits": True}
    assert report_of("68")["queues"]["tas-cluster-queue"]["left"][GPU] == 16


def test_a_gang_that_waits_for_a_pod_that_is_not_made_is_counted_with_it() -> None:  # 66
    assert report_of("66")["gang"]["team-a/dist-mnist"]["pods_per_group"] == 2
    assert report_of("66")["totals"]["gang_pods_present"] == 1


def test_every_conclusion_is_held_by_some_test() -> None:
    """Above, or in ``test_cases.py``: 05 (model_certain), 14 (free), 26 (a device each), 62
    (GPUs out of limits), 74 (verdicts)."""
    text = Path(__file__).read_text(encoding="utf-8")
    above = {number for line in text.splitlines() for number in _numbers(line)}
    derived = {case["id"] for case in EXPECTED if case.get("derived")}
    assert derived - above == {"05", "14", "26", "62", "74"}


def _numbers(line: str) -> list[str]:
    _, mark, numbers = line.partition("-> None:  # ")
    return numbers.split(", ") if mark else []
