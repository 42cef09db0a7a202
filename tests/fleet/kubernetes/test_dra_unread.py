"""Slices and claims that could not be read: what is unknown then, and what is not."""

from __future__ import annotations

import dataclasses
import json
from datetime import date
from typing import Any

import pytest

from fleet.boards.states import node_figures
from fleet.costs import boards_used
from fleet.inventory import Inventory, Node, ReadResult, ReadStatus, UnitKind
from fleet.inventory_report.report import as_report
from fleet.kubernetes import reader
from fleet.kubernetes.dump import Source, load
from fleet.readiness import dra
from fleet.readiness.subject import Subject
from fleet.slots import slots
from fleet.summary import SummaryRow, merged, summarise
from tests.fleet.kubernetes.test_dra_claims import device_class, using
from tests.fleet.kubernetes.written import Json, cluster, gpu_device, node
from tests.fleet.kubernetes.written_dra import held, pool_slice

CLAIMS = "resourceclaims.resource.k8s.io"
SLICES = "resourceslices.resource.k8s.io"
REFUSED = (ReadStatus.FORBIDDEN, ReadStatus.FAILED)
EIGHT = pool_slice(*(gpu_device(f"gpu-{k}", f"GPU-{k}") for k in range(8)))
IN_USE = (node(), EIGHT, held("c", "gpu-0", "gpu-1", by=("pod-a",)), using("c", on="node-a"))


def refused(resource: str, status: ReadStatus, *objects: Json) -> Inventory:
    """The cluster as a server shows it that refuses one resource."""
    listing = {"apiVersion": "v1", "kind": "List", "items": objects}
    raw = load([Source("test", json.dumps(listing).encode())])
    left = {key: found for key, found in raw.objects.items() if key != resource}
    reads = tuple(
        ReadResult(read.resource, status, 0) if read.resource == resource else read
        for read in raw.reads
    )
    return reader.read(dataclasses.replace(raw, objects=left, reads=reads))


def totals_of(found: Inventory) -> Any:
    return as_report(found)["totals"]


def summary_of(found: Inventory) -> SummaryRow:
    return summarise({"": found}).totals


def dra_requested(found: Node) -> list[int | None]:
    return [u.requested for group in found.groups for u in group.units_of(UnitKind.DRA)]


# Claims


@pytest.mark.parametrize("status", REFUSED)
def test_without_claims_nobody_knows_what_is_free(status: ReadStatus) -> None:
    found = refused(CLAIMS, status, *IN_USE)
    (only,) = found.nodes
    (group,) = only.groups
    assert group.physical == 8
    assert (group.whole_free, dra_requested(only)) == (None, [None])
    assert "ResourceClaims" in group.use_unknown
    figures = node_figures(only)
    assert (figures.physical, figures.requested, figures.free, figures.unknown) == (
        8,
        None,
        None,
        8,
    )
    (line,) = [line for line in found.problems if "ResourceClaims" in line]
    assert "unknown" in line


@pytest.mark.parametrize("status", REFUSED)
def test_no_sum_takes_unknown_use_for_free_or_idle(status: ReadStatus) -> None:
    found = refused(CLAIMS, status, *IN_USE)
    totals = totals_of(found)
    assert totals["physical_gpus"] == totals["gpus_of_unknown_use"] == 8
    assert totals["requested"] is totals["free_units"] is totals["free_whole_gpus"] is None
    assert totals["units"]["dra"] | {"requested": None, "free": None} == totals["units"]["dra"]
    assert all(row["free"] is None for row in totals["by_model"].values())
    row = summary_of(found)
    assert (row.known_physical, row.known_requested, row.known_free, row.unread) == (
        8,
        None,
        None,
        8,
    )
    assert boards_used(found.nodes[0].groups[0]) is None
    (model,) = slots(found)
    assert (model.places[0].uncounted, model.places[0].free) == (1, None)
    shown = as_report(found)["nodes"]["node-a"]
    assert shown["whole_free_gpus"] is shown["dra_free"] is None
    assert shown["use_unknown"]


def test_a_file_without_claims_in_which_no_pod_names_any_has_all_devices_free() -> None:
    (only,) = cluster(node(), EIGHT).nodes
    assert dra_requested(only) == [0]
    assert node_figures(only).free == 8


def test_a_bound_pod_whose_claim_is_not_there_makes_the_use_of_its_node_unknown() -> None:
    other = pool_slice(gpu_device("gpu-9", "GPU-9"), pool="b", name="b", nodeName="node-b")
    objects = (node(), node("node-b"), EIGHT, other, held("c", "gpu-0", by=("pod-x",)))
    found = cluster(*objects, using("missing", on="node-a"))
    first, second = found.nodes
    assert (dra_requested(first), dra_requested(second)) == ([None], [0])
    figures = node_figures(first)
    # What a claim that was read holds is held all the same; of the rest nobody knows.
    assert (figures.unknown, figures.free) == (7, None)
    row = summary_of(found)
    assert (row.physical, row.known_requested, row.known_free, row.unread) == (9, 1, 1, 7)
    assert sum("team-a/missing" in line for line in found.problems) == 1


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_finished_pod_holds_nothing_whatever_its_claim_was(phase: str) -> None:
    (only,) = cluster(node(), EIGHT, using("missing", on="node-a", phase=phase)).nodes
    assert dra_requested(only) == [0]


def test_a_pod_that_waits_holds_nothing_yet() -> None:
    (only,) = cluster(node(), EIGHT, using("missing")).nodes
    assert dra_requested(only) == [0]


def test_devices_that_several_nodes_reach_are_unknown_with_any_of_them() -> None:
    fabric = pool_slice(gpu_device("gpu-0", "GPU-0"), allNodes=True)
    found = cluster(node(), node("node-b"), fabric, using("missing", on="node-b"))
    (pool,) = found.attached
    assert pool.group.units[0].requested is pool.group.whole_free is None
    totals = totals_of(found)
    assert (totals["attached_gpus"], totals["requested"], totals["free_whole_gpus"]) == (
        1,
        None,
        None,
    )


def odd(claim: Json, **result: Any) -> Json:
    claim["status"]["allocation"]["devices"]["results"][0] |= result
    return claim


def test_an_odd_claim_still_holds_the_device_that_it_names() -> None:
    found = cluster(node(), EIGHT, odd(held("c", "gpu-3"), request=5))
    (only,) = found.nodes
    assert dra_requested(only) == [1]
    assert node_figures(only).free == 7
    assert sum("team-a/c" in line for line in found.problems) == 1


def test_a_claim_of_which_no_device_can_be_read_may_hold_any() -> None:
    found = cluster(node(), EIGHT, odd(held("c", "gpu-3"), device=5))
    (only,) = found.nodes
    assert dra_requested(only) == [None]
    assert node_figures(only).unknown == 8
    assert "team-a/c" in only.groups[0].use_unknown


def test_boards_that_the_plugin_offers_as_well_are_not_free_while_claims_are_unknown() -> None:
    objects = (node(gpus=8), *IN_USE[1:])
    (only,) = refused(CLAIMS, ReadStatus.FORBIDDEN, *objects).nodes
    assert (node_figures(only).physical, node_figures(only).unknown) == (8, 8)
    assert node_figures(only).free is None


# Slices


EVIDENCE: dict[str, tuple[Json, ...]] = {
    "a claim that holds a GPU": (held("c", "gpu-0", pool="elsewhere"),),
    "a class of a GPU driver": (device_class("gpu.nvidia.com", driver="gpu.nvidia.com"),),
}


@pytest.mark.parametrize("status", [*REFUSED, ReadStatus.NOT_IN_FILE])
@pytest.mark.parametrize("named", EVIDENCE)
def test_without_slices_a_cluster_with_dra_gpus_has_an_unknown_number(
    status: ReadStatus, named: str
) -> None:
    found = refused(SLICES, status, node(), EIGHT, *EVIDENCE[named])
    assert "ResourceSlices" in found.uncounted
    totals = totals_of(found)
    assert totals["physical_gpus"] is None
    assert totals["uncounted"] == found.uncounted
    assert totals["requested"] is totals["free_units"] is totals["free_whole_gpus"] is None
    row = summary_of(found)
    assert row.known_physical is row.known_requested is row.known_free is None
    assert sum(found.uncounted in line for line in found.problems) == 1
    assert not any("which no slice lists" in line for line in found.problems)


def test_a_node_after_which_a_held_pool_is_named_has_gpus_in_unknown_number() -> None:
    objects = (node(), node("node-b"), held("c", "gpu-0", pool="node-a"))
    first, second = refused(SLICES, ReadStatus.FORBIDDEN, *objects).nodes
    assert [group.physical for group in first.groups] == [None]
    assert not second.is_gpu_node


@pytest.mark.parametrize("status", REFUSED)
def test_slices_of_a_cluster_in_which_nothing_speaks_of_dra_are_not_missed(
    status: ReadStatus,
) -> None:
    found = refused(SLICES, status, node(gpus=8))
    assert found.uncounted == ""
    assert totals_of(found)["physical_gpus"] == 8


def test_what_is_counted_of_a_fleet_stays_counted_beside_a_cluster_that_is_not() -> None:
    known = cluster(node(), EIGHT)
    hidden = refused(SLICES, ReadStatus.FORBIDDEN, node(), *EVIDENCE["a class of a GPU driver"])
    row = merged(summarise({name: inventory}) for name, inventory in (("a", known), ("b", hidden)))
    assert (row.totals.known_physical, row.totals.known_free) == (8, 8)
    assert row.totals.uncounted_clusters == 1


# What readiness says


def findings_of(found: Inventory) -> dict[str, str]:
    checked = dra.check(Subject(found, date(2026, 1, 1)))
    return {finding.title: str(finding.verdict) for finding in checked}


def test_readiness_does_not_know_who_holds_what_while_claims_may_not_be_listed() -> None:
    titles = findings_of(refused(CLAIMS, ReadStatus.FORBIDDEN, *IN_USE))
    assert titles["Who holds the DRA devices of 1 node is unknown"] == "unknown"
    titles = findings_of(cluster(node(), EIGHT, using("missing", on="node-a")))
    assert titles["Who holds the DRA devices of 1 node is unknown"] == "unknown"
    assert "Who holds the DRA devices of 1 node is unknown" not in findings_of(cluster(*IN_USE))


@pytest.mark.parametrize("status", [*REFUSED, ReadStatus.NOT_IN_FILE])
def test_readiness_says_that_gpus_are_not_counted_and_blames_no_driver(status: ReadStatus) -> None:
    objects = (node(), held("c", "gpu-0", pool="node-a"))
    titles = findings_of(refused(SLICES, status, *objects))
    assert titles == {"GPUs offered through DRA are not counted": "unknown"}
