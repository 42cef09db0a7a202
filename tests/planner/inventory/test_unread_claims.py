"""Pages of a cluster whose DRA claims or slices could not be read: unknown, never 0 or all free."""

from __future__ import annotations

import pytest

from fleet.inventory import Inventory, ReadStatus
from planner.accounts.models import Team
from planner.inventory import fleet_figures, snapshots
from planner.inventory.models import Cluster, NodeRow, Snapshot
from planner.inventory.queries import node_sums
from tests.fleet.kubernetes.test_dra_claims import device_class
from tests.fleet.kubernetes.test_dra_unread import CLAIMS, IN_USE, SLICES, refused
from tests.fleet.kubernetes.written import node

pytestmark = pytest.mark.django_db


def stored(team: Team, found: Inventory) -> Snapshot:
    cluster = Cluster.objects.create(team=team, name="dra", source=Cluster.Source.FILE)
    snapshot = snapshots.build(cluster=cluster, inventory=found)
    snapshots.publish(snapshot)
    return Snapshot.objects.get(pk=snapshot.pk)


@pytest.fixture
def no_claims(team: Team) -> Snapshot:
    return stored(team, refused(CLAIMS, ReadStatus.FORBIDDEN, *IN_USE))


@pytest.fixture
def no_slices(team: Team) -> Snapshot:
    classes = device_class("gpu.nvidia.com", driver="gpu.nvidia.com")
    return stored(team, refused(SLICES, ReadStatus.FORBIDDEN, node(), classes))


def test_without_claims_the_snapshot_counts_boards_and_not_their_use(no_claims: Snapshot) -> None:
    assert no_claims.physical_gpus == no_claims.partly_used_gpus == 8
    assert no_claims.requested_gpus is no_claims.free_gpus is None
    row = NodeRow.objects.get(snapshot=no_claims)
    assert (row.physical, row.requested, row.free, row.squares) == (8, None, None, "x" * 8)
    assert node_sums(NodeRow.objects.filter(snapshot=no_claims))["unknown"] == 1


def test_without_slices_the_snapshot_counts_nothing_and_is_flagged(no_slices: Snapshot) -> None:
    assert no_slices.physical_gpus is no_slices.requested_gpus is no_slices.free_gpus is None
    assert "ResourceSlices" in no_slices.flagged


def test_the_overview_says_what_its_sums_leave_out(team: Team, no_claims: Snapshot) -> None:
    figures = fleet_figures.figures(team, [no_claims.cluster])
    assert (figures.physical, figures.requested, figures.free) == (8, None, None)
    assert figures.requested_note == ""
    assert figures.free_note == "of 8 the use is unknown"
    assert not figures.models[0].is_known


def test_the_overview_knows_no_number_of_a_cluster_without_slices(
    team: Team, no_slices: Snapshot
) -> None:
    figures = fleet_figures.figures(team, [no_slices.cluster])
    assert figures.physical is figures.requested is figures.free is None
    assert figures.free_note == "1 cluster may have more than is counted"
