"""A page runs as many statements for three hundred nodes as for ten, whatever it filters, sorts or
searches, and its answer does not become endless."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchmarks import big_cluster
from fleet.kubernetes.dump import Source
from planner.accounts.models import Role, Team
from planner.inventory import clusters
from planner.inventory.models import Cluster, NodeRow, PodRow
from tests.planner.people import make_person

SMALL, LARGE = 10, 300
PODS_A_NODE = 8
MOST_BYTES = 400_000

NODE_QUERIES = {
    "": "",
    "one cluster": "cluster=fleet",
    "a model": "model=H100-SXM5-80GB",
    "a pool": "pool=h100-serve",
    "all nodes": "kind=all",
    "no GPU": "kind=cpu",
    "two free": "free=2",
    "a domain": "domain=zone:zone-a",
    "search": "text=r00",
    **{
        f"state {state}": f"state={state}"
        for state in ("free", "full", "requested", "withheld", "not-schedulable")
    },
    **{
        f"sorted by {column}": f"sort={column}"
        for column in ("-name", "cluster", "gpu_model", "pool", "state", "physical",
                       "allocatable", "-requested", "-free", "stranded")
    },
    "filter and sort": "kind=all&state=free&sort=-free&page=2",
    "last page": "kind=all&page=last",
}  # fmt: skip
PAGES = (
    "overview",
    *(f"nodes, {name}" for name in NODE_QUERIES),
    "node",
    "nodes as CSV",
    "clusters",
    "cluster",
    "topology",
    "running",
    "running, an owner",
    "running, searched",
    "cluster readiness",
    "readiness",
    "snapshots",
    "snapshot",
    "search",
    "plan form",
    "plans",
    "workload form",
    "prices",
)


def addresses(cluster: Cluster) -> dict[str, str]:
    """Each page by its name in ``PAGES``."""
    at = [cluster.uuid]
    nodes = reverse("inventory:node-list")
    node = NodeRow.objects.filter(snapshot=cluster.current_snapshot_id, is_gpu_node=True)[0]
    pod = PodRow.objects.filter(snapshot=cluster.current_snapshot_id, gpu_units__gt=0)[0]
    running = reverse("inventory:cluster-running", args=at)
    return {
        "overview": reverse("inventory:overview"),
        **{f"nodes, {name}": f"{nodes}?{query}" for name, query in NODE_QUERIES.items()},
        "node": reverse("inventory:node-detail", args=[*at, node.name]),
        "nodes as CSV": reverse("inventory:node-csv"),
        "clusters": reverse("inventory:cluster-list"),
        "cluster": reverse("inventory:cluster-detail", args=at),
        "topology": reverse("inventory:cluster-topology", args=at),
        "running": running,
        "running, an owner": f"{running}?namespace={pod.namespace}&owner={pod.owner}",
        "running, searched": f"{running}?text=train",
        "cluster readiness": reverse("inventory:cluster-readiness", args=at),
        "readiness": reverse("inventory:readiness"),
        "snapshots": reverse("inventory:snapshot-list", args=at),
        "snapshot": reverse("inventory:snapshot-detail", args=[*at, 1]),
        "search": reverse("frame:search") + "?q=r00",
        "plan form": reverse("plans:plan-create"),
        "plans": reverse("plans:plan-list"),
        "workload form": reverse("plans:workload-create", args=["llm"]),
        "prices": reverse("plans:price-list"),
    }


def _made(nodes: int) -> Cluster:
    """A team of its own with one cluster of so many nodes."""
    team = Team.objects.create(name=f"team-{nodes}", slug=f"team-{nodes}")
    make_person(f"admin-{nodes}", team, Role.ADMIN)
    sources = [
        Source(f"{key}-{number}.json", body)
        for key, items in big_cluster.resources(nodes * PODS_A_NODE, nodes).items()
        for number, body in enumerate(big_cluster.list_pages(items))
    ]
    return clusters.create_from_files(team=team, name="fleet", sources=sources, by=None)


@pytest.fixture(scope="module")
def sizes(django_db_setup: None, django_db_blocker: Any) -> Iterator[dict[int, Cluster]]:
    """A small and a large cluster, made once for all tests of this file and rolled back."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield {nodes: _made(nodes) for nodes in (SMALL, LARGE)}
        transaction.set_rollback(True)


def _asked(cluster: Cluster, page: str) -> tuple[int, int]:
    """Statements and bytes of a page."""
    client = Client()
    client.force_login(cluster.team.memberships.get().user)
    with CaptureQueriesContext(connection) as captured:
        response = client.get(addresses(cluster)[page])
    assert response.status_code == 200
    sums = (response.context or {}).get("sums")
    asked_for_no_row = sums is not None and not sums["nodes"]  # nothing to fetch: one less
    return len(captured.captured_queries) + asked_for_no_row, len(response.content)


@pytest.mark.parametrize("page", PAGES)
def test_statements_do_not_grow_with_the_cluster(
    page: str, sizes: dict[int, Cluster], db: None
) -> None:
    small, _ = _asked(sizes[SMALL], page)
    large, size = _asked(sizes[LARGE], page)

    assert large == small
    assert size < MOST_BYTES


def test_the_two_clusters_differ_as_the_test_says(sizes: dict[int, Cluster], db: None) -> None:
    for nodes, cluster in sizes.items():
        snapshot = cluster.current_snapshot
        assert snapshot is not None
        assert snapshot.node_count == nodes
        assert snapshot.pod_count == nodes * PODS_A_NODE
