"""The checks on what is known of GPU nodes: model, sharing, network devices, topology."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from fleet.inventory import DeviceGroup, Node, TopologyLevel, UnitKind, Units
from fleet.readiness.finding import Verdict
from fleet.readiness.sharing_agrees import mig_slices
from tests.fleet.readiness.answers import answers, verdicts
from tests.fleet.readiness.clusters import cluster, gpu_node


def group(**fields: Any) -> DeviceGroup:
    (found,) = gpu_node().groups
    return dataclasses.replace(found, **fields)


def shared(label: str, units: int, boards: int = 1, **fields: Any) -> Node:
    of_board = (Units("nvidia.com/gpu.shared", UnitKind.SHARE, units, units),)
    found = group(physical=boards, sharing="time-slicing", units=of_board, **fields)
    return gpu_node(groups=(found,), labels={"nvidia.com/gpu.replicas": label})


def mig(boards: int, *units: Units, model: str = "H100-SXM5-80GB") -> DeviceGroup:
    return group(physical=boards, sharing="mig-mixed", model=model, units=units)


def devices(profile: str, number: int) -> Units:
    name = f"nvidia.com/mig-{profile}"
    return Units(name, UnitKind.MIG, number, number, profile=profile)


def test_one_unknown_model_is_named_and_counted() -> None:
    nodes = (gpu_node("a"), gpu_node("b", groups=(group(model=None, model_label="NVIDIA-GB999"),)))
    (finding,) = answers(cluster(nodes=nodes), "models-known")
    assert finding.verdict is Verdict.WARN
    assert finding.title == "The GPU model of 1 of 2 nodes is not known"
    assert [(e.node, e.value) for e in finding.evidence] == [("b", "NVIDIA-GB999")]


def test_known_models_pass_and_no_gpu_node_is_no_pass() -> None:
    assert verdicts(cluster(nodes=(gpu_node(),)), "models-known") == [Verdict.PASS]
    assert verdicts(cluster(), "models-known") == [Verdict.NOT_APPLICABLE]


@pytest.mark.parametrize(
    ("label", "units", "boards", "verdict"),
    [
        ("4", 4, 1, Verdict.PASS),
        ("4", 8, 2, Verdict.PASS),
        ("1", 50, 1, Verdict.WARN),
        ("4", 10, 2, Verdict.WARN),
        ("0", 7, 1, Verdict.PASS),  # GFD's word for "does not apply"
        ("", 7, 1, Verdict.PASS),  # no label contradicts nothing
        ("many", 7, 1, Verdict.PASS),
    ],
)
def test_units_are_boards_times_the_factor_of_the_label(
    label: str, units: int, boards: int, verdict: Verdict
) -> None:
    node = shared(label, units, boards)
    assert verdicts(cluster(nodes=(node,)), "sharing-agrees") == [verdict]


def test_boards_that_were_computed_from_the_units_prove_nothing() -> None:
    node = shared("1", 50, 1, physical_estimated=True)
    assert verdicts(cluster(nodes=(node,)), "sharing-agrees") == [Verdict.PASS]


@pytest.mark.parametrize(("boards", "units"), [(4, 6), (8, 4)])
def test_a_plugin_that_offers_more_or_fewer_whole_boards_than_there_are_is_told(
    boards: int, units: int
) -> None:
    offered = (Units("nvidia.com/gpu", UnitKind.WHOLE, units, units),)
    node = gpu_node(groups=(group(physical=boards, units=offered),))
    (finding,) = answers(cluster(nodes=(node,)), "sharing-agrees")
    assert finding.verdict is Verdict.WARN
    assert [e.value for e in finding.evidence] == [f"{units} units on {boards} GPUs"]


def test_a_node_of_whole_boards_is_not_asked() -> None:
    assert verdicts(cluster(nodes=(gpu_node(),)), "sharing-agrees") == [Verdict.NOT_APPLICABLE]


def test_mig_devices_fit_the_slices_of_their_boards() -> None:
    full = mig(1, devices("1g.10gb", 4), devices("3g.40gb", 1))
    assert mig_slices(full) == (7, 7)
    over = mig(1, devices("4g.40gb", 2))
    assert mig_slices(over) == (8, 7)
    found = [
        verdicts(cluster(nodes=(gpu_node(groups=(g,)),)), "sharing-agrees") for g in (full, over)
    ]
    assert found == [[Verdict.PASS], [Verdict.WARN]]


def test_an_a30_has_four_slices_and_an_unknown_board_seven() -> None:
    assert mig_slices(mig(1, devices("1g.6gb", 4), model="A30")) == (4, 4)
    unknown = dataclasses.replace(mig(1, devices("2g.99gb", 3)), model=None)
    assert mig_slices(unknown) == (6, 7)


@pytest.mark.parametrize(
    ("extended", "verdict"),
    [
        ({"rdma/shared_a": 8}, Verdict.PASS),
        ({"rdma/shared_a": 8, "rdma/shared_b": 0}, Verdict.WARN),
        ({"vpc.amazonaws.com/efa": 4}, Verdict.PASS),
        ({"nvidia.com/hostdev": 0}, Verdict.WARN),
        ({"example.com/fibre-licence": 0}, Verdict.NOT_APPLICABLE),
        ({}, Verdict.NOT_APPLICABLE),
    ],
)
def test_a_network_device_at_zero_is_told(extended: dict[str, int], verdict: Verdict) -> None:
    node = gpu_node(extended=extended)
    assert verdicts(cluster(nodes=(node,)), "network-devices") == [verdict]


def placed(name: str, block: str, rack: str | None) -> Node:
    levels = (TopologyLevel("block", "l/block", block), TopologyLevel("rack", "l/rack", rack))
    return gpu_node(name, topology=levels)


KEYS = (("block", "l/block"), ("rack", "l/rack"))


def test_a_node_without_its_rack_is_named() -> None:
    nodes = (placed("a", "b1", "r1"), placed("b", "b1", None))
    (finding,) = answers(cluster(nodes=nodes, topology_keys=KEYS), "topology-known")
    assert finding.verdict is Verdict.WARN
    assert [(e.node, e.field) for e in finding.evidence] == [("b", "l/rack")]


def test_a_rack_label_below_a_missing_block_is_not_called_missing() -> None:
    found = gpu_node(
        "b",
        labels={"l/rack": "r1"},
        topology=(TopologyLevel("block", "l/block", None), TopologyLevel("rack", "l/rack", None)),
    )
    taken = cluster(nodes=(placed("a", "b1", "r1"), found), topology_keys=KEYS)
    (finding,) = answers(taken, "topology-known")
    assert [(e.node, e.field) for e in finding.evidence] == [("b", "l/block")]


def test_domains_are_told_by_path() -> None:
    nodes = (placed("a", "b1", "r1"), placed("b", "b2", "r1"))
    (finding,) = answers(cluster(nodes=nodes, topology_keys=KEYS), "topology-known")
    assert finding.verdict is Verdict.PASS
    assert [e.value for e in finding.evidence] == ["b1", "b2", "b1/r1", "b2/r1"]
    assert verdicts(cluster(nodes=nodes), "topology-known") == [Verdict.NOT_APPLICABLE]


def test_withdrawn_mig_devices_are_told_though_nobody_knows_of_how_many_boards() -> None:
    cut = Units("nvidia.com/mig-1g.10gb", UnitKind.MIG, 7, 6, profile="1g.10gb")
    node = gpu_node(groups=(mig(1, cut),))
    (finding,) = answers(cluster(nodes=(node,)), "devices-usable")
    assert finding.verdict is Verdict.WARN
    assert finding.title == "Parts of GPUs withdrawn as unhealthy on 1 node"
