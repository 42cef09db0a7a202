"""“Test connection” says how a sync would start, and stores nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from planner.accounts.models import Team
from planner.inventory.models import Cluster, Snapshot
from planner.inventory.probing import probe
from planner.inventory.reaching import keep_access
from planner.jobs.models import Job
from tests.fakes.kubeapi import FakeKubeApi, status
from tests.planner.inventory.builders import node


@pytest.fixture
def fake() -> Iterator[FakeKubeApi]:
    with FakeKubeApi(token=None) as server:  # as kubectl proxy speaks
        server.add("/api/v1/nodes", "NodeList", [node(f"n{i}") for i in range(30)])
        server.add("/api/v1/pods", "PodList", [])
        yield server


@pytest.fixture
def cluster(team: Team, fake: FakeKubeApi) -> Cluster:
    made = Cluster.objects.create(
        team=team, name="prod", source=Cluster.Source.FIELDS, server=fake.url
    )
    keep_access(made, fake.access())
    return made


def test_one_node_is_enough(cluster: Cluster, fake: FakeKubeApi) -> None:
    result = probe(cluster)
    assert result.reached
    assert fake.paths().count("/api/v1/nodes") == 1
    assert "/api/v1/pods" not in fake.paths()
    assert not Snapshot.objects.exists()
    assert not Job.objects.exists()


def test_an_account_that_may_not_list_nodes_hears_of_the_role(
    cluster: Cluster, fake: FakeKubeApi
) -> None:
    fake.script("/api/v1/nodes", status(403), repeat_last=True)
    result = probe(cluster)
    assert (result.reached, result.code) == (False, "forbidden")
    assert result.way_out


def test_a_refused_credential_is_said_with_its_way_out(cluster: Cluster, fake: FakeKubeApi) -> None:
    fake.script("/version", status(401), repeat_last=True)
    result = probe(cluster)
    assert (result.reached, result.code) == (False, "unauthorized")
    assert "SECRET TEXT" not in result.message + result.way_out


def test_a_cluster_without_a_credential_says_so(team: Team) -> None:
    made = Cluster.objects.create(team=team, name="bare", source=Cluster.Source.FIELDS)
    assert probe(made).code == "credential"
