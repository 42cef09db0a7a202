"""Accelerators that are no GPUs have three numbers as well, and pods find them."""

from __future__ import annotations

import pytest

from fleet.inventory_report.report import as_report
from tests.fleet.kubernetes.written import cluster, node, pod

NAMES = ("habana.ai/gaudi", "google.com/tpu", "aws.amazon.com/neuron", "huawei.com/Ascend910")


@pytest.mark.parametrize("name", NAMES)
def test_capacity_what_is_withdrawn_and_what_pods_hold_are_told_apart(name: str) -> None:
    report = as_report(
        cluster(
            node(resources={name: "8"}, allocatable={name: "6"}),
            pod(on="node-a", requests={name: "4"}),
        )
    )
    numbers = {"capacity": 8, "allocatable": 6, "requested": 4, "free": 2}
    (maker,) = report["nodes"]["node-a"]["other_accelerators_by_maker"]
    assert (maker["devices"], maker["resources"]) == (8, {name: numbers})
    assert report["totals"]["other_units"] == {name: numbers}
    assert report["totals"]["physical_gpus"] == report["totals"]["advertised"] == 0


def test_what_a_pod_holds_and_the_node_no_longer_offers_stays_in_sight() -> None:
    held = pod(on="node-a", requests={NAMES[0]: "4"})
    (maker,) = as_report(cluster(node(), held))["nodes"]["node-a"]["other_accelerators_by_maker"]
    numbers = {"capacity": 0, "allocatable": 0, "requested": 4, "free": 0}
    assert (maker["devices"], maker["resources"]) == (None, {NAMES[0]: numbers})


def test_a_node_that_takes_no_pods_has_none_free() -> None:
    report = as_report(cluster(node(resources={NAMES[0]: "8"}, unschedulable=True)))
    assert report["totals"]["other_units"][NAMES[0]]["free"] == 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("held", "fits", "reason"), [(0, True, ""), (4, True, ""), (5, False, "in-use")]
)
def test_a_pod_fits_where_enough_of_them_are_free(
    name: str, held: int, fits: bool, reason: str
) -> None:
    objects = [node(resources={name: "8"}), pod("waits", requests={name: "4"})]
    if held:
        objects.append(pod("runs", on="node-a", requests={name: str(held)}))
    answer = as_report(cluster(*objects))["fits"]["pods"]["team-a/waits"]
    assert answer["fits"] is fits
    assert [line["reason"] for line in answer.get("why_not", ())] == ([reason] if reason else [])


def test_none_offered_stays_the_answer_where_none_is() -> None:
    objects = [node(gpus=8), pod("waits", requests={NAMES[0]: "4"})]
    answer = as_report(cluster(*objects))["fits"]["pods"]["team-a/waits"]
    assert (answer["fits"], answer["why_not"][0]["reason"]) == (False, "not-offered")
