"""Boards that a reservation pod holds for the pods that share them. Case 54, changed."""

from __future__ import annotations

import pytest

from fleet.inventory import Inventory, Pod
from tests.fleet.kubernetes.written import Json, cluster, node, pod

A100 = {
    "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB",
    "nvidia.com/gpu.memory": "40960",
    "nvidia.com/gpu.count": "2",
}


def sharing(name: str, group: str = "g", on: str = "node-a", **notes: str) -> Json:
    written = {key.replace("_", "-"): value for key, value in notes.items()}
    meta = {"labels": {"runai-gpu-group": group} if group else {}, "annotations": written}
    return pod(name, on, meta=meta)


def reservation(
    group: str = "g", on: str = "node-a", space: str = "kai-resource-reservation"
) -> Json:
    meta = {"labels": {"runai-gpu-group": group}, "namespace": space}
    return pod(f"reservation-{on}-{group}", on, gpus=1, meta=meta)


def read(*objects: Json) -> tuple[Inventory, dict[str, Pod]]:
    found = cluster(node(labels=A100, gpus=2), *objects)
    return found, {item.name: item for item in found.pods}


@pytest.mark.parametrize("space", ["kai-resource-reservation", "runai-reservation"])
def test_a_reservation_names_the_pods_that_it_stands_for(space: str) -> None:
    inventory, pods = read(
        reservation(space=space),
        sharing("a", gpu_fraction="0.5"), sharing("b", gpu_fraction="0.25"),
        sharing("other", group="h", gpu_fraction="0.5"),
        sharing("elsewhere", on="node-b", gpu_fraction="0.5"),
    )  # fmt: skip
    held = pods["reservation-node-a-g"]
    assert (held.is_infrastructure, held.stands_for) == (True, ("team-a/a", "team-a/b"))
    assert inventory.nodes[0].groups[0].units[0].requested == 1  # one board, by its reservation
    assert [pods[name].gpu_fraction for name in ("a", "b")] == [0.5, 0.25]


def test_pods_that_ended_share_nothing() -> None:
    done = sharing("a", gpu_fraction="0.5")
    done["status"]["phase"] = "Succeeded"
    _, pods = read(reservation(), done)
    assert pods["reservation-node-a-g"].stands_for == ()


def test_memory_is_a_part_of_the_board_once_it_is_known_which_board() -> None:
    _, pods = read(
        sharing("bound", gpu_memory="10240"), sharing("free", "", "", gpu_memory="10240")
    )
    assert (pods["bound"].gpu_memory_mib, pods["bound"].gpu_fraction) == (10240, 0.25)
    assert (pods["free"].gpu_memory_mib, pods["free"].gpu_fraction) == (10240, None)


@pytest.mark.parametrize(
    ("notes", "fraction", "memory"),
    [
        ({"gpu_fraction": "0.5", "gpu_fraction_num_devices": "4"}, 2.0, None),
        ({"gpu_memory": "2000", "gpu_fraction_num_devices": "2"}, None, 4000),
        ({"gpu_fraction": "0.5", "gpu_fraction_num_devices": "many"}, 0.5, None),
        ({"gpu_fraction": "0.5", "gpu_fraction_num_devices": "0"}, 0.5, None),
        ({"gpu_fraction": "nan"}, None, None),
        ({"gpu_fraction": "-1"}, None, None),
        ({"gpu_fraction": "1e9"}, None, None),
        ({"gpu_memory": "-5"}, None, None),
    ],
)
def test_a_part_of_several_boards_counts_on_each_of_them(
    notes: dict[str, str], fraction: float | None, memory: int | None
) -> None:
    _, pods = read(sharing("a", "", "", **notes))
    assert (pods["a"].gpu_fraction, pods["a"].gpu_memory_mib) == (fraction, memory)
