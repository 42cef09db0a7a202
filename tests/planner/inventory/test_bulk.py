"""Plain rows go in without model instances, and never with a column forgotten."""

from __future__ import annotations

import pytest
from django.db import IntegrityError

from planner.accounts.models import Team
from planner.inventory import bulk, clusters
from planner.inventory.models import PodRow
from planner.inventory.rows import POD_COLUMNS
from tests.planner.inventory.builders import dump, node, pod

pytestmark = pytest.mark.django_db


def test_the_pods_of_a_snapshot_are_read_back_as_they_were(team: Team) -> None:
    objects = [node("n1"), pod("a", "n1"), pod("b\0", "n1", gpus=2), pod("c-é", "", gpus=4)]
    cluster = clusters.create_from_files(team=team, name="x", sources=[dump(*objects)], by=None)
    assert cluster.current_snapshot is not None
    rows = {row.name: row for row in PodRow.objects.filter(snapshot=cluster.current_snapshot)}
    assert sorted(rows) == ["a", "b\ufffd", "c-é"]
    assert [(rows["c-é"].gpu_units, rows["c-é"].gpu_resource)] == [(4, "nvidia.com/gpu")]
    assert (rows["a"].node_name, rows["a"].state, rows["a"].owner) == ("n1", "running", "Pod a")
    assert rows["b\ufffd"].requests == {"nvidia.com/gpu": 2}


def test_a_forgotten_column_is_refused_before_anything_is_written(team: Team) -> None:
    with pytest.raises(ValueError, match="every column"):
        bulk.insert(PodRow, POD_COLUMNS[:-1], [])


def test_a_row_that_the_database_refuses_takes_its_whole_batch_with_it(team: Team) -> None:
    cluster = clusters.create_from_files(
        team=team, name="x", sources=[dump(node("n1"), pod("a", "n1"))], by=None
    )
    key = cluster.current_snapshot_id
    good = (key, "n1", "team-a", "fresh", "", "running", 0, "", {}, {})
    bad = (key, "n1", "team-a", None, "", "x", 0, "", {}, {})
    with pytest.raises(IntegrityError):
        bulk.insert(PodRow, POD_COLUMNS, [good, bad])
    assert not PodRow.objects.filter(name="fresh").exists()
