"""The synthetic fleet: labelled as such, consistent in itself, with its gaps in place."""

from __future__ import annotations

from datetime import date
from functools import cache

import pytest

from fleet.catalogue.instance_types import instance_type
from fleet.demo import demo_clusters
from fleet.inventory import Inventory
from fleet.kubernetes.dump import load
from fleet.kubernetes.reader import read
from fleet.readiness import report
from fleet.readiness.finding import Verdict
from fleet.summary import summarise

NAMES = ("demo-prod-tokyo", "demo-train-tokyo", "demo-legacy-osaka")


@cache
def inventory(name: str) -> Inventory:
    return read(load(demo_clusters()[name]))


def test_the_fleet_is_three_clusters_of_about_forty_nodes() -> None:
    assert tuple(demo_clusters()) == NAMES
    for name in NAMES:
        assert 35 <= len(inventory(name).nodes) <= 45


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_labelled_synthetic(name: str) -> None:
    assert name.startswith("demo-")
    for node in inventory(name).nodes:
        assert node.annotations["gpu-fleet-planner/synthetic"] == "true"


def test_the_fleet_is_the_same_on_every_call() -> None:
    assert demo_clusters() == demo_clusters()
    assert demo_clusters() is not demo_clusters()


@pytest.mark.parametrize("name", NAMES)
def test_the_objects_are_read_without_a_problem(name: str) -> None:
    found = inventory(name)
    assert found.problems == ()
    assert found.version.source == "GET /version"
    assert found.apis


@pytest.mark.parametrize("name", NAMES)
def test_no_node_is_promised_more_than_it_has(name: str) -> None:
    for node in inventory(name).nodes:
        assert node.cpu_requested <= node.cpu_allocatable
        assert node.memory_requested_mib <= node.memory_allocatable_mib
        assert node.pods_count <= node.pods_allocatable
        for group in node.groups:
            for units in group.units:
                assert units.requested <= units.allocatable


@pytest.mark.parametrize("name", NAMES)
def test_every_gpu_node_has_an_instance_type_of_the_catalogue(name: str) -> None:
    for node in inventory(name).nodes:
        for group in node.groups:
            kind = instance_type(node.instance_type)
            assert kind is not None
            assert (kind.gpu_model, kind.gpu_count) == (group.model, group.physical)
            assert kind.on_demand is not None


def test_about_two_thirds_of_the_boards_are_in_use() -> None:
    totals = summarise({name: inventory(name) for name in NAMES}).totals
    assert 0.6 <= totals.requested / totals.physical <= 0.8


def failed(name: str) -> set[str]:
    findings = report.check(inventory(name), today=date(2026, 12, 1))
    return {f.check for f in findings if f.verdict is Verdict.FAIL}


def test_production_has_the_gaps_that_the_checklist_is_shown_with() -> None:
    assert {"gpu-taint", "quota-coverage", "gang-partial", "probe-readiness", "probe-startup"} <= (
        failed("demo-prod-tokyo")
    )
    row = summarise({"prod": inventory("demo-prod-tokyo")}).totals
    assert set(row.stranded_causes) == {"cpu", "memory"}
    pods = inventory("demo-prod-tokyo").pods
    states = [p.state for p in pods if p.owner.name == "finetune-13b"]
    assert sorted(states) == ["pending", "pending", "running", "running"]
    nodes = inventory("demo-prod-tokyo").nodes
    assert [n.name for n in nodes if n.cordoned] == ["h100-09"]
    assert sum(g.unhealthy or 0 for n in nodes for g in n.groups) == 1


def test_training_does_most_things_right() -> None:
    assert failed("demo-train-tokyo") == set()
    found = inventory("demo-train-tokyo")
    assert [name for name, _ in found.topology_keys] == ["zone", "block", "rack", "nvlink"]
    assert {g.sharing for n in found.nodes for g in n.groups} == {"whole", "mig-mixed"}


def test_the_legacy_cluster_is_out_of_support() -> None:
    assert inventory("demo-legacy-osaka").version.minor == 30
    assert {"version-support", "gpu-taint"} <= failed("demo-legacy-osaka")
