"""The parts of the sync benchmark on a small fake cluster: each tells what it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import big_cluster
from benchmarks.sync_parts.measuring import measured_part
from fleet.kubernetes.kubeconfig import ClusterAccess
from fleet.kubernetes.resources import RESOURCES
from fleet.kubernetes.served import api_path
from tests.fakes.kubeapi import FakeKubeApi

NODES, PODS = 4, 120


@pytest.fixture
def access() -> Iterator[ClusterAccess]:
    by_key = {resource.key: resource for resource in RESOURCES}
    with FakeKubeApi(token="t") as fake:
        for key, items in big_cluster.resources(PODS, NODES).items():
            resource = by_key[key]
            path = f"{api_path(resource.group, resource.versions[0])}/{resource.plural}"
            fake.add(path, f"{resource.kind}List", list(items))
        yield fake.access()


def test_the_floor_looks_at_every_page(access: ClusterAccess) -> None:
    found = measured_part("floor", access)
    assert found["pages"] == len(list(big_cluster.resources(PODS, NODES)))
    assert found["plain_mib"] > found["wire_mib"] > 0
    assert found["peak_mib"] > 0


def test_our_sync_is_timed_step_by_step_and_stores_every_node(
    access: ClusterAccess, tmp_path: Path
) -> None:
    found = measured_part("product", access, env={"PLANNER_DATA_DIR": str(tmp_path)})
    assert (found["nodes"], found["pods_read"]) == (NODES, PODS)
    assert found["objects"]["pods"] == PODS
    steps = {step["phase"]: step for step in found["phases"]}
    # Every step has a clock: one that was renamed or moved would go without.
    assert len(steps) == 12
    assert all(step["calls"] for step in steps.values())
    assert all(step["wall_s"] >= 0 for step in steps.values())
    assert found["peak_mib"] >= found["idle_mib"]
