"""Boards by state: each board in exactly one, and why free ones cannot be had."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fleet.boards.states import STATES, node_figures, node_squares
from fleet.demo import demo_clusters
from fleet.inventory import Inventory
from fleet.kubernetes.dump import Source, load
from fleet.kubernetes.reader import read
from fleet.summary import merged, summarise
from tests.fleet.kubernetes.written import Json, cluster, node, only_node, pod

CASES = Path(__file__).parents[1] / "data" / "cases"
FILES = sorted(CASES.glob("[0-9]*.json"))


def case(number: str) -> Inventory:
    (path,) = CASES.glob(f"{number}-*.json")
    return read(load([Source(path.name, path.read_bytes())]))


def squares(*objects: Json) -> dict[str, int]:
    found = node_squares(only_node(*objects))
    return {state: found.count(state) for state in STATES if state in found}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_board_is_in_exactly_one_state(path: Path) -> None:
    inventory = read(load([Source(path.name, path.read_bytes())]))
    for item in inventory.nodes:
        figures = node_figures(item)
        if figures.physical is None:
            assert figures.free is None
            continue
        states = (figures.requested, figures.free, figures.stranded, figures.not_schedulable)
        total = sum(count or 0 for count in states) + (figures.unknown or 0)
        assert total == figures.physical == len(node_squares(item))
    totals = summarise({"one": inventory}).totals
    parts = totals.requested + totals.free + totals.stranded + totals.not_schedulable
    assert parts + totals.unknown == totals.physical


@pytest.mark.parametrize(
    ("number", "physical", "requested", "free", "not_schedulable"),
    [("06", 8, 1, 7, 0), ("12", 56, 8, 48, 0), ("13", 64, 0, 48, 16), ("16", 16, 0, 16, 0),
     ("03", 8, 0, 5, 3), ("49", 8, 5, 2, 1), ("35", 2, 1, 1, 0), ("52", 2, 0, 0, 2)],
)  # fmt: skip
def test_real_cases_sum_up(
    number: str, physical: int, requested: int, free: int, not_schedulable: int
) -> None:
    found = summarise({"one": case(number)}).totals
    assert (found.physical, found.requested, found.free) == (physical, requested, free)
    assert found.not_schedulable == not_schedulable


def test_nodes_without_a_count_are_said_to_be_uncounted() -> None:
    found = summarise({"one": case("12")}).totals
    assert (found.gpu_nodes, found.uncounted_nodes) == (8, 1)


@pytest.mark.parametrize(
    ("taken", "stranded", "cause"),
    [
        ({"cpu": "1", "memory": "1Gi"}, 0, ""),
        ({"cpu": "93", "memory": "1Gi"}, 5, "cpu"),
        ({"cpu": "96", "memory": "1Gi"}, 8, "cpu"),
        ({"cpu": "1", "memory": "996Gi"}, 6, "memory"),
    ],
)
def test_free_boards_without_room_beside_them_are_stranded(
    taken: Json, stranded: int, cause: str
) -> None:
    found = node_figures(only_node(node(gpus=8), pod(on="node-a", requests=taken)))
    assert (found.stranded, found.stranded_cause) == (stranded, cause)
    assert (found.free or 0) + (found.stranded or 0) == 8


def test_a_node_full_of_pods_strands_its_boards() -> None:
    full = node(gpus=2, resources={"pods": "3"})
    pods = [pod(f"pod-{i}", "node-a") for i in range(3)]
    found = node_figures(only_node(full, *pods))
    assert (found.free, found.stranded, found.stranded_cause) == (0, 2, "pods")


def test_boards_held_on_a_cordoned_node_are_held_and_the_rest_is_gone() -> None:
    found = squares(node(gpus=8, unschedulable=True), pod(on="node-a", gpus=3))
    assert found == {"requested": 3, "unschedulable": 5}


def test_shared_boards_in_use_in_part_are_unknown() -> None:
    labels = {
        "nvidia.com/gpu.count": "4",
        "nvidia.com/gpu.replicas": "4",
        "nvidia.com/gpu.sharing-strategy": "time-slicing",
    }
    pods = [pod(f"pod-{i}", "node-a", gpus=1) for i in range(3)]
    # Three units sit on at least one and at most three of four boards.
    assert squares(node(labels=labels, gpus=16), *pods) == {
        "requested": 1, "unknown": 2, "free": 1,
    }  # fmt: skip


def test_the_largest_gang_is_told_per_node_rack_and_cluster() -> None:
    def placed(name: str, block: str, rack: str, gpus: int) -> Json:
        block_key = "cloud.google.com/gce-topology-block"
        rack_key = "cloud.google.com/gce-topology-subblock"
        return node(name, {block_key: block, rack_key: rack}, gpus=gpus)

    inventory = cluster(
        placed("a", "b1", "r1", 8), placed("b", "b1", "r1", 4),
        placed("c", "b2", "r1", 8), placed("d", "b2", "r2", 2),
    )  # fmt: skip
    largest = summarise({"one": inventory, "two": cluster(node(gpus=4))}).totals.largest
    assert (largest.node, largest.rack, largest.cluster) == (8, 12, 22)


def test_without_rack_labels_the_rack_is_unknown() -> None:
    assert summarise({"one": cluster(node(gpus=8))}).totals.largest.rack is None


def test_simulated_and_virtual_nodes_are_in_no_sum() -> None:
    assert summarise({"one": case("15"), "two": case("47")}).totals.physical == 0


def test_rows_add_up_to_the_totals() -> None:
    fleet = {name: read(load(sources)) for name, sources in demo_clusters().items()}
    found = summarise(fleet)
    for rows in (found.models, found.clusters):
        for name in ("physical", "requested", "free", "stranded", "not_schedulable", "unknown"):
            assert sum(getattr(row, name) for row in rows) == getattr(found.totals, name)
    assert sum(found.totals.stranded_causes.values()) == found.totals.stranded


def test_an_empty_fleet_is_all_zero() -> None:
    found = summarise({})
    assert (found.models, found.clusters, found.totals.physical) == ((), (), 0)
    assert json.dumps(found.totals.largest.node) == "0"


def test_models_that_the_catalogue_lacks_have_a_row_by_label() -> None:
    labels = [{"nvidia.com/gpu.product": name} for name in ("NVIDIA-GB999", "NVIDIA-ZZ1", "")]
    nodes = [node(f"n{i}", label, gpus=8) for i, label in enumerate(labels)]
    rows = summarise({"one": cluster(*nodes)}).models
    assert [(row.name, row.label) for row in rows] == [
        ("unknown", ""),
        ("unknown", "NVIDIA-GB999"),
        ("unknown", "NVIDIA-ZZ1"),
    ]


def test_a_fleet_is_the_sum_of_its_clusters_without_their_inventories() -> None:
    demo = {name: read(load(sources)) for name, sources in demo_clusters().items()}
    fleet = demo | {path.stem: case(path.stem[:2]) for path in FILES}
    apart = [summarise({name: inventory}) for name, inventory in fleet.items()]
    together = summarise(fleet)
    assert merged(apart) == together
    assert together.totals.gpu_nodes == sum(row.gpu_nodes for row in together.clusters)
    assert sum(row.physical for row in together.models) == together.totals.physical
    for row in together.models:
        same = (row.name, row.label)
        found = [one for part in apart for one in part.models if (one.name, one.label) == same]
        assert row.free == sum(one.free for one in found)
        assert row.largest.cluster == max(one.largest.cluster for one in found)
