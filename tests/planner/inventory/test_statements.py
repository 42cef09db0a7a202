"""How many statements a page runs: as many for fifty nodes as for five, and no writing one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from planner.accounts.models import Team, User
from planner.inventory import clusters
from planner.inventory.models import Cluster
from tests.planner.inventory.builders import dump, node, pod


def make(team: Team, name: str, count: int) -> Cluster:
    objects = [node(f"n{i}", **{"topology.kubernetes.io/zone": f"z{i % 3}"}) for i in range(count)]
    objects += [pod(f"p{i}", f"n{i}") for i in range(count)]
    return clusters.create_from_files(team=team, name=name, sources=[dump(*objects)], by=None)


def addresses(cluster: Cluster) -> dict[str, str]:
    found = {
        name: reverse(f"inventory:{name}")
        for name in (
            "overview",
            "cluster-list",
            "cluster-csv",
            "node-list",
            "node-csv",
            "readiness",
            "readiness-csv",
            "cluster-add",
        )
    }
    for name in (
        "cluster-detail",
        "cluster-topology",
        "cluster-topology-csv",
        "cluster-levels",
        "cluster-slots-csv",
        "cluster-running",
        "cluster-running-csv",
        "cluster-waiting-csv",
        "cluster-readiness",
        "cluster-readiness-csv",
        "snapshot-list",
        "cluster-edit",
        "cluster-delete",
        "cluster-import",
    ):
        found[name] = reverse(f"inventory:{name}", args=[cluster.uuid])
    found["snapshot-detail"] = reverse("inventory:snapshot-detail", args=[cluster.uuid, 1])
    found["node-detail"] = reverse("inventory:node-detail", args=[cluster.uuid, "n1"])
    found["search"] = reverse("frame:search") + "?q=n"
    return found


def statements(client: Client, address: str) -> list[str]:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(address).status_code == 200
    return [query["sql"] for query in captured.captured_queries]


def test_the_number_of_statements_does_not_grow_with_nodes_or_clusters(
    team: Team, ada: User, client_for: Callable[..., Client]
) -> None:
    client = client_for(ada)
    small = {
        name: len(statements(client, address))
        for name, address in addresses(make(team, "a", 5)).items()
    }
    make(team, "b", 50)
    large = {
        name: len(statements(client, address))
        for name, address in addresses(make(team, "c", 50)).items()
    }
    assert large == small
    assert max(large.values()) <= 25


def test_no_get_writes(team: Team, ada: User, client_for: Callable[..., Client]) -> None:
    client = client_for(ada)
    for name, address in addresses(make(team, "a", 5)).items():
        for statement in statements(client, address):
            verb = statement.lstrip().split(" ", 1)[0].upper()
            assert verb in {"SELECT", "SAVEPOINT", "RELEASE", "BEGIN"}, (name, statement)


@pytest.mark.parametrize(
    "page",
    ["overview", "node-list", "node-csv", "cluster-list", "cluster-detail", "cluster-running",
     "readiness", "cluster-readiness", "snapshot-list", "snapshot-detail", "search"],
)  # fmt: skip
def test_nothing_is_decoded_to_browse(
    page: str, team: Team, ada: User, client_for: Callable[..., Client]
) -> None:
    """The first visitor of a snapshot waits no longer than the second."""
    found = addresses(make(team, "a", 5))
    for statement in statements(client_for(ada), found[page]):
        assert '"inventory_noderow"."value"' not in statement
        assert '"inventory_snapshot"."value"' not in statement
