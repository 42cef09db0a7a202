"""What the pages of the inventory say: figures, doors behind numbers, tabs, CSV, roles."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.messages import get_messages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from fleet.catalogue.prices import MatchBy, PriceBook, PriceEntry, PriceKind
from fleet.units import Money
from planner.accounts.models import Team, User
from planner.inventory import clusters, demo, pricing, queries
from planner.inventory.models import Cluster, NodeRow, Snapshot
from planner.jobs.models import Job
from tests.planner.inventory.builders import dump, node, pod

For = Callable[..., Client]


@pytest.fixture
def cluster(team: Team, ada: User) -> Cluster:
    zone = {"topology.kubernetes.io/zone": "a"}
    objects = [
        node("busy", **zone),
        node("calm", **zone),
        node("old", gpus=4, model="Tesla-T4"),
        node("cpu", gpus=0),
        pod("p1", "busy", gpus=6),
        pod("p2", "busy", gpus=2),
    ]
    return clusters.create_from_files(team=team, name="prod", sources=[dump(*objects)], by=ada)


def page(client: Client, name: str, *args: object, query: str = "") -> str:
    response = client.get(reverse(f"inventory:{name}", args=args) + query)
    assert response.status_code == 200
    return response.content.decode()


def csv_rows(client: Client, name: str, query: str = "") -> list[dict[str, str]]:
    response = client.get(reverse(f"inventory:{name}") + query)
    assert response["Content-Type"].startswith("text/csv")
    assert response.content.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))


def test_an_empty_overview_offers_the_two_ways_to_fill_it(ada: User, client_for: For) -> None:
    text = page(client_for(ada), "overview")
    assert reverse("inventory:demo-load") in text
    assert reverse("inventory:cluster-add") in text


def test_a_viewer_of_an_empty_team_is_offered_nothing_that_is_refused(
    vic: User, client_for: For
) -> None:
    text = page(client_for(vic), "overview")
    assert reverse("inventory:demo-load") not in text


def test_the_demo_button_fills_the_overview(ada: User, client_for: For) -> None:
    client = client_for(ada)
    response = client.post(reverse("inventory:demo-load"), follow=True)
    text = response.content.decode()
    assert "3 clusters" in text
    assert "synthetic" in text
    assert "out of support" in text
    assert "list prices" in text
    assert any("No such machine exists" in str(m) for m in get_messages(response.wsgi_request))


def test_the_figures_of_the_overview_are_those_of_the_rows(
    cluster: Cluster, vic: User, client_for: For
) -> None:
    response = client_for(vic).get(reverse("inventory:overview"))
    figures = response.context["figures"]
    assert (figures.physical, figures.requested, figures.free) == (20, 8, 12)
    assert [line.name for line in figures.models] == ["H100-SXM5-80GB", "T4"]
    text = response.content.decode()
    h100 = queries.node_list_url(model="H100-SXM5-80GB").replace("&", "&amp;")
    assert f'href="{h100}"' in text
    rows = csv_rows(client_for(vic), "node-csv", "?model=H100-SXM5-80GB")
    assert sum(int(row["physical"]) for row in rows) == 16


def test_idle_cost_follows_the_prices_of_the_team(
    cluster: Cluster, vic: User, client_for: For, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = tuple(
        PriceEntry(PriceKind.NEGOTIATED, MatchBy.GPU_MODEL, model, Money(Decimal(1)), "contract")
        for model in ("H100-SXM5-80GB", "T4")
    )
    monkeypatch.setattr(pricing, "_books", [lambda team: PriceBook(entries=entries)])
    text = page(client_for(vic), "overview")
    assert "$8,760" in text  # 12 idle GPUs at 1 USD for 730 hours
    monkeypatch.setattr(pricing, "_books", [lambda team: PriceBook(use_catalogue=False)])
    assert "no price" in page(client_for(vic), "overview")


def test_the_cluster_filter_narrows_the_overview(
    cluster: Cluster, ada: User, team: Team, client_for: For
) -> None:
    clusters.create_from_files(team=team, name="second", sources=[dump(node("x"))], by=ada)
    client = client_for(ada)
    assert "second" in page(client, "overview")
    response = client.get(reverse("inventory:overview") + "?cluster=prod")
    assert response.context["figures"].physical == 20
    assert [line.cluster.name for line in response.context["lines"]] == ["prod"]


def test_a_stranger_sees_no_name_and_no_object(
    cluster: Cluster, sam: User, client_for: For
) -> None:
    client = client_for(sam)
    for name in ("overview", "cluster-list", "node-list", "readiness", "node-csv", "cluster-csv"):
        text = page(client, name)
        assert "busy" not in text
        assert "prod" not in text
    for name in ("detail", "topology", "running", "readiness", "edit", "delete", "import"):
        response = client.get(reverse(f"inventory:cluster-{name}", args=[cluster.uuid]))
        assert response.status_code == 404
        assert b"prod" not in response.content
    address = reverse("inventory:node-detail", args=[cluster.uuid, "busy"])
    assert client.get(address).status_code == 404


def test_nodes_filter_sort_search_and_page_by_address(
    cluster: Cluster, vic: User, client_for: For
) -> None:
    client = client_for(vic)

    def names(query: str) -> list[str]:
        return [row["node"] for row in csv_rows(client, "node-csv", query)]

    assert names("") == ["busy", "calm", "old"]
    assert names("?kind=all") == ["busy", "calm", "cpu", "old"]
    assert names("?kind=cpu") == ["cpu"]
    assert names("?sort=-free") == ["calm", "old", "busy"]
    assert names("?sort=free") == ["busy", "old", "calm"]
    assert names("?model=T4") == ["old"]
    assert names("?state=free") == ["calm", "old"]
    assert names("?state=full") == ["busy"]
    assert names("?free=5") == ["calm"]
    assert names("?text=BUS") == ["busy"]
    assert names("?domain=zone:a") == ["busy", "calm"]
    assert names("?cluster=prod&pool=(none)&model=T4") == ["old"]
    text = page(client, "node-list", query="?text=bus")
    assert "busy" in text
    assert "calm" not in text


def test_the_csv_has_the_rows_and_the_order_of_the_screen(
    cluster: Cluster, vic: User, client_for: For
) -> None:
    client = client_for(vic)
    query = "?sort=-requested&state=free"
    table = client.get(reverse("inventory:node-list") + query).context["table"]
    on_screen = [row.record.name for row in table.page]
    assert [row["node"] for row in csv_rows(client, "node-csv", query)] == on_screen
    assert f"nodes.csv{query.replace('&', '&amp;')}" in page(client, "node-list", query=query)


def test_an_unknown_count_is_a_word_on_the_page_and_empty_in_csv(
    team: Team, ada: User, client_for: For
) -> None:
    clusters.create_from_files(team=team, name="prod", sources=[dump(node("a"))], by=ada)
    NodeRow.objects.update(physical=None, free=None, squares="")
    client = client_for(ada)
    assert "unknown" in page(client, "node-list")
    assert csv_rows(client, "node-csv")[0]["free"] == ""


def test_htmx_gets_the_table_and_the_browser_gets_the_page(
    cluster: Cluster, vic: User, client_for: For
) -> None:
    client = client_for(vic)
    part = client.get(reverse("inventory:node-list"), headers={"HX-Request": "true"})
    assert "<html" not in part.content.decode()
    assert "busy" in part.content.decode()
    assert "HX-Request" in part["Vary"]
    assert "<html" in page(client, "node-list")


def test_a_node_shows_its_devices_its_pods_and_where_each_fact_was_read(
    cluster: Cluster, vic: User, client_for: For
) -> None:
    text = page(client_for(vic), "node-detail", cluster.uuid, "busy")
    assert "nvidia.com/gpu" in text
    assert "8 requested" in text
    assert "p1" in text
    assert "team-a" in text
    assert "NVIDIA-H100-80GB-HBM3" in text  # a label, as it is written
    owners = page(client_for(vic), "cluster-running", cluster.uuid)
    assert "team-a" in owners


def test_pods_and_nodes_link_to_each_other(cluster: Cluster, vic: User, client_for: For) -> None:
    client = client_for(vic)
    owner = cluster.snapshots.get().pods.get(name="p1").owner
    query = f"?namespace=team-a&owner={owner}"
    running = page(client, "cluster-running", cluster.uuid, query=query)
    assert reverse("inventory:node-detail", args=[cluster.uuid, "busy"]) in running
    detail = page(client, "node-detail", cluster.uuid, "busy")
    assert reverse("inventory:cluster-running", args=[cluster.uuid]) in detail


def test_racks_of_the_same_name_in_two_blocks_stay_apart(
    team: Team, ada: User, client_for: For
) -> None:
    keys = ("cloud.provider.com/topology-block", "cloud.provider.com/topology-rack")
    objects = [
        node(f"{block}{number}", **{keys[0]: block, keys[1]: "r1"})
        for block in ("x", "y")
        for number in range(2)
    ]
    topology = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "Topology",
        "metadata": {"name": "default"},
        "spec": {"levels": [{"nodeLabel": key} for key in keys]},
    }
    made = clusters.create_from_files(
        team=team, name="prod", sources=[dump(*objects, topology)], by=ada
    )
    response = client_for(ada).get(reverse("inventory:cluster-topology", args=[made.uuid]))
    racks = response.context["levels"][-1].domains
    assert [(rack.value, rack.parents, rack.nodes) for rack in racks] == [
        ("r1", "x", 2),
        ("r1", "y", 2),
    ]
    behind = client_for(ada).get(racks[0].url).context["table"]
    assert [row.record.name for row in behind.page] == ["x0", "x1"]


def test_readiness_says_verdict_evidence_and_remedy_and_links_to_nodes(
    cluster: Cluster, vic: User, client_for: For
) -> None:
    client = client_for(vic)
    text = page(client, "cluster-readiness", cluster.uuid)
    assert "question 1 of 5" in text
    assert reverse("inventory:node-detail", args=[cluster.uuid, "busy"]) in text
    matrix = page(client, "readiness")
    assert f"{reverse('inventory:cluster-readiness', args=[cluster.uuid])}#question-2" in matrix
    rows = csv_rows(client, "readiness-csv")
    stored = Snapshot.objects.get().findings
    assert len(rows) == len(stored)
    assert {row["verdict"] for row in rows} == {finding["verdict"] for finding in stored}


def test_the_sync_report_names_each_resource_with_its_answer(
    cluster: Cluster, vic: User, client_for: For
) -> None:
    text = page(client_for(vic), "snapshot-detail", cluster.uuid, 1)
    assert "fleet.json" in text
    assert "not in the file" in text
    assert "resourcequotas" in text


def test_a_failed_sync_stands_beside_its_cluster_in_words(
    team: Team, vic: User, client_for: For
) -> None:
    made = Cluster.objects.create(
        team=team, name="live", source="fields", paused_reason="unauthorized"
    )
    Job.objects.create(
        kind="sync",
        queue="sync",
        key="sync:1",
        subject_id=made.pk,
        team=team,
        state="failed",
        error_code="unauthorized",
        error_message="The token was refused.",
        error_way_out="Enter a new one.",
    )
    text = page(client_for(vic), "cluster-detail", made.uuid)
    assert "The token was refused." in text
    assert "Enter a new one." in text
    assert "paused" in text
    assert "last sync failed" in page(client_for(vic), "cluster-list")


def test_an_old_snapshot_of_a_live_cluster_is_stale_and_one_of_files_is_not(
    cluster: Cluster, vic: User, client_for: For
) -> None:
    Snapshot.objects.update(taken_at=timezone.now() - timedelta(hours=3))
    assert "stale" not in page(client_for(vic), "cluster-list")
    Cluster.objects.update(source="fields", sync_interval_s=300)
    assert "stale" in page(client_for(vic), "cluster-list")


def test_an_edit_conflict_answers_409_with_both_texts(
    cluster: Cluster, ada: User, client_for: For
) -> None:
    client = client_for(ada)
    address = reverse("inventory:cluster-edit", args=[cluster.uuid])
    assert client.post(address, {"name": "first", "version": 1}).status_code == 302
    response = client.post(address, {"name": "second", "version": 1})
    assert response.status_code == 409
    text = response.content.decode()
    assert "first" in text
    assert "second" in text


def test_a_kubeconfig_that_starts_a_program_is_refused_with_its_key(
    ada: User, client_for: For
) -> None:
    text = (
        "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
        "clusters: [{name: k, cluster: {server: 'https://10.0.0.1'}}]\n"
        "users: [{name: u, user: {exec: {command: /bin/true}}}]\n"
        "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
    )
    address = reverse("inventory:cluster-create", args=["kubeconfig"])
    data = {"name": "prod", "kubeconfig": text, "sync_interval_s": "300"}
    response = client_for(ada).post(address, data)
    assert response.status_code == 422
    answer = response.content.decode()
    assert "users[0].user.exec" in answer
    assert "/bin/true" not in answer  # what was pasted is not sent back
    assert not Cluster.objects.exists()


def test_the_add_page_prints_what_to_paste(ada: User, client_for: For) -> None:
    text = page(client_for(ada), "cluster-add")
    assert "kubectl" in text
    assert "ClusterRole" in text
    assert "kubectl proxy" in text


def test_importing_by_page_adds_a_snapshot(cluster: Cluster, pia: User, client_for: For) -> None:
    address = reverse("inventory:cluster-import", args=[cluster.uuid])
    files = [SimpleUploadedFile("a.json", dump(node("new")).data)]
    assert client_for(pia).post(address, {"files": files}).status_code == 302
    cluster.refresh_from_db()
    assert cluster.current_snapshot is not None
    assert cluster.current_snapshot.number == 2


def test_the_demo_overview_has_every_gpu_as_a_square(
    team: Team, ada: User, client_for: For
) -> None:
    demo.load_demo_fleet(team=team, by=ada)
    response = client_for(ada).get(reverse("inventory:overview"))
    drawn = sum(len(box.squares) for pool in response.context["maps"].pools for box in pool.nodes)
    assert drawn == response.context["figures"].physical > 100
