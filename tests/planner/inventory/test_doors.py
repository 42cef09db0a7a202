"""What stands behind numbers, what is unknown and what is synthetic, on the pages that sum up."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from planner.accounts.models import Team, User
from planner.inventory import clusters, demo, queries
from planner.inventory.models import Cluster
from tests.planner.inventory.builders import dump, node, pod
from tests.planner.inventory.test_pages import cluster, csv_rows, page

__all__ = ["cluster"]  # a fixture

For = Callable[..., Client]


# counts that cannot be read, and models that no catalogue knows


@pytest.fixture
def odd(team: Team, ada: User) -> Cluster:
    hidden = node("hidden", model="NVIDIA-GB999-SUPER")
    hidden["metadata"]["labels"].pop("nvidia.com/gpu.count")
    for amounts in (hidden["status"]["capacity"], hidden["status"]["allocatable"]):
        amounts["nvidia.com/gpu"] = "NaN"
    objects = [hidden, node("seen", gpus=4, model="NVIDIA-GB999-SUPER")]
    return clusters.create_from_files(team=team, name="odd", sources=[dump(*objects)], by=ada)


def test_a_count_that_cannot_be_read_is_unknown_and_uncounted(
    odd: Cluster, vic: User, client_for: For
) -> None:
    client = client_for(vic)
    uncounted = queries.node_list_url(cluster="odd", state="unknown").replace("&", "&amp;")
    for name, args in (
        ("overview", []),
        ("cluster-list", []),
        ("cluster-detail", [odd.uuid]),
    ):
        text = page(client, name, *args)
        assert "1 node uncounted" in text, name
        assert "1 odd object" in text, name
        report = reverse("inventory:snapshot-detail", args=[odd.uuid, 1])
        assert f'href="{report}#odd"' in text, name
    assert f'href="{uncounted}"' in page(client, "cluster-list")
    text = page(client, "node-detail", odd.uuid, "hidden")
    assert "the count cannot be read" in text
    assert "unreadable" in text
    assert '<td class="num" data-label="Capacity">unknown</td>' in text
    rows = csv_rows(client, "node-csv", "?state=unknown")
    assert [(row["node"], row["free"]) for row in rows] == [("hidden", "")]
    assert "number of GPUs unknown" in page(client, "overview")


def test_an_unlisted_model_keeps_the_name_that_the_node_gives(
    odd: Cluster, vic: User, client_for: For
) -> None:
    client = client_for(vic)
    words = "NVIDIA-GB999-SUPER (not in the catalogue)"
    for name, args in (
        ("overview", []),
        ("node-list", []),
        ("node-detail", [odd.uuid, "seen"]),
        ("cluster-detail", [odd.uuid]),
    ):
        assert words in page(client, name, *args), name
    rows = csv_rows(client, "node-csv", "?model=NVIDIA-GB999-SUPER")
    assert {row["node"] for row in rows} == {"hidden", "seen"}
    assert {row["model_label"] for row in rows} == {"NVIDIA-GB999-SUPER"}
    assert words in client.get(reverse("frame:search") + "?q=GB999").content.decode()


# synthetic clusters


def test_the_overview_says_what_is_synthetic_and_can_leave_it_out(
    cluster: Cluster, team: Team, ada: User, client_for: For
) -> None:
    demo.load_demo_fleet(team=team, by=ada)
    client = client_for(ada)
    whole = client.get(reverse("inventory:overview"))
    fake = sum(
        c.current_snapshot.physical_gpus or 0
        for c in Cluster.objects.filter(source=Cluster.Source.DEMO)
        if c.current_snapshot
    )
    text = whole.content.decode()
    assert f"Includes 3 synthetic clusters: {fake} GPUs that do not exist." in " ".join(
        text.split()
    )
    assert 'href="?real=1"' in text
    real = client.get(reverse("inventory:overview") + "?real=1")
    assert real.context["figures"].physical == 20
    assert whole.context["figures"].physical == 20 + fake
    assert "Without 3 synthetic clusters." in real.content.decode()
    assert "real=1" in real.context["figures"].free_url
    assert {row["cluster"] for row in csv_rows(client, "node-csv", "?real=1")} == {"prod"}


def test_the_node_list_marks_synthetic_clusters(
    cluster: Cluster, team: Team, ada: User, client_for: For
) -> None:
    client = client_for(ada)
    assert "synthetic" not in page(client, "node-list").lower()
    demo.load_demo_fleet(team=team, by=ada)
    text = page(client, "node-list", query="?cluster=demo-prod-tokyo")
    assert "demo-prod-tokyo (synthetic)" in text
    assert text.count("verdict-na") > 1


# doors


def test_every_figure_opens_what_it_counts(cluster: Cluster, vic: User, client_for: For) -> None:
    client = client_for(vic)
    text = page(client, "overview")
    for query in ("?state=requested", "?state=free"):
        assert f'href="/nodes/{query}"' in text
    assert f'href="{reverse("plans:price-list")}"' in text
    rows = csv_rows(client, "node-csv", "?state=requested")
    assert [row["node"] for row in rows] == ["busy"]
    text = page(client, "cluster-topology", cluster.uuid)
    place = "?cluster=prod&amp;domain=zone%3Aa"
    assert text.count(f'href="/nodes/{place}"') == 3  # name, nodes, GPUs
    assert f'href="/nodes/{place}&amp;state=free"' in text
    text = page(client, "cluster-running", cluster.uuid)
    assert text.count("#pods") >= 3  # owner, pods, what they ask for


def test_gpus_that_are_not_schedulable_lead_to_their_nodes(
    team: Team, ada: User, client_for: For
) -> None:
    cordoned = node("away", gpus=8)
    cordoned["spec"]["unschedulable"] = True
    source = dump(cordoned, node("here", gpus=4))
    clusters.create_from_files(team=team, name="prod", sources=[source], by=ada)
    client = client_for(ada)
    assert 'href="/nodes/?state=withheld">8 not</a>' in page(client, "overview")
    assert [row["node"] for row in csv_rows(client, "node-csv", "?state=withheld")] == ["away"]


def test_topology_and_running_have_a_csv(cluster: Cluster, vic: User, client_for: For) -> None:
    client = client_for(vic)

    def table(name: str, query: str = "") -> list[dict[str, str]]:
        response = client.get(reverse(f"inventory:{name}", args=[cluster.uuid]) + query)
        return list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))

    (zone,) = table("cluster-topology-csv")
    assert (zone["domain"], zone["gpus"], zone["free"]) == ("a", "16", "8")
    owners = table("cluster-running-csv")
    assert sum(int(row["units"]) for row in owners) == 8
    pods = table("cluster-running-csv", f"?namespace=team-a&owner={owners[0]['owner']}")
    assert {row["node"] for row in pods} == {"busy"}


def test_the_way_in_through_a_proxy_is_two_lines(ada: User, client_for: For) -> None:
    text = page(client_for(ada), "cluster-add")
    assert "kubectl proxy --port=8001\n# http://127.0.0.1:8001" in text


def test_partly_used_boards_stand_beside_the_free_ones(
    team: Team, ada: User, client_for: For
) -> None:
    shared = node("shared", gpus=2, **{"nvidia.com/gpu.replicas": "4"})
    for amounts in (shared["status"]["capacity"], shared["status"]["allocatable"]):
        amounts["nvidia.com/gpu"] = "8"
    source = dump(shared, pod("p1", "shared", gpus=2))
    found = clusters.create_from_files(team=team, name="prod", sources=[source], by=ada)
    client = client_for(ada)
    assert "1 partly used" in page(client, "overview")
    assert "1 partly used" in page(client, "cluster-detail", found.uuid)
