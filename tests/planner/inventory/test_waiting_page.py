"""What waits stands on the Running page with its reason and whether it fits now; it is told from
what is stored with the snapshot."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from planner.accounts.models import Team, User
from planner.inventory import clusters, waiting
from planner.inventory.models import Cluster, Snapshot
from tests.planner.inventory.builders import dump, node, pod

GPU = "nvidia.com/gpu"
KUEUE = [{"name": "kueue.x-k8s.io/admission"}]


def waits(name: str, gpus: int, **spec: Any) -> Any:
    """A pod without a node."""
    made = pod(name, "", gpus=gpus)
    made["metadata"]["creationTimestamp"] = "2026-06-01T12:00:00Z"
    made["spec"] |= spec
    del made["spec"]["nodeName"]
    made["status"] = {"phase": "Pending"}
    return made


def job(name: str, pods: int, gpus: int) -> Any:
    """A suspended Job."""
    template = {"spec": pod("x", "n1", gpus=gpus)["spec"]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": {"suspend": True, "parallelism": pods, "template": template},
    }


@pytest.fixture
def busy(team: Team) -> Cluster:
    """One node with three free GPUs: a pod that fits, one that does not, one in a queue, a job."""
    objects = [
        node("n1"),
        pod("runs", "n1", gpus=5),
        waits("small", 2),
        waits("<b>large</b>", 4),
        waits("queued", 1, schedulingGates=KUEUE),
        job("train", 4, 8),
    ]
    return clusters.create_from_files(team=team, name="busy", sources=[dump(*objects)], by=None)


def page(client: Client, cluster: Cluster, **query: Any) -> str:
    address = reverse("inventory:cluster-running", args=[cluster.uuid])
    return " ".join(client.get(address, query).content.decode().split())


def test_each_line_has_its_reason_and_whether_it_fits(
    busy: Cluster, vic: User, client_for: Callable[..., Client]
) -> None:
    text = page(client_for(vic), busy)
    assert "What waits for GPUs" in text
    assert "32 nvidia.com/gpu" in text  # the job that somebody must resume
    assert "suspended" in text
    assert "queued by Kueue" in text
    assert "one such pod fits on n1" in text
    assert "fits no node now: 1 node has only 3 nvidia.com/gpu free" in text
    assert "&lt;b&gt;large&lt;/b&gt;" in text
    assert "<b>large</b>" not in text


def test_the_csv_has_the_same_lines(
    busy: Cluster, vic: User, client_for: Callable[..., Client]
) -> None:
    address = reverse("inventory:cluster-waiting-csv", args=[busy.uuid])
    text = client_for(vic).get(address).content.decode("utf-8-sig")
    rows = {row["owner"]: row for row in csv.DictReader(io.StringIO(text))}
    assert (rows["Job train"]["state"], rows["Job train"]["pods"]) == ("suspended", "4")
    assert rows["Job train"]["asks_for"] == "32 nvidia.com/gpu"
    assert rows["Job train"]["since"] == ""  # unknown, not now
    assert (rows["Pod small"]["fits"], rows["Pod small"]["asks_for"]) == ("yes", f"2 {GPU}")
    assert rows["Pod small"]["since"].startswith("2026-06-01T12:00:00")
    assert rows["Pod <b>large</b>"]["fits"] == "no"
    assert rows["Pod queued"]["why"] == "queued by Kueue"


def test_the_page_decodes_no_inventory(
    busy: Cluster,
    vic: User,
    client_for: Callable[..., Client],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(snapshot: Snapshot) -> None:
        raise AssertionError(f"{snapshot} is decoded for a page")

    monkeypatch.setattr(Snapshot, "inventory", refuse)
    assert "What waits for GPUs" in page(client_for(vic), busy)


def test_many_lines_come_in_pages_and_keep_the_page_of_owners(
    team: Team, vic: User, client_for: Callable[..., Client]
) -> None:
    objects = [node("n1"), *(waits(f"w{n:02d}", 1 + n % 8) for n in range(25))]
    made = clusters.create_from_files(team=team, name="x", sources=[dump(*objects)], by=None)
    client, address = client_for(vic), reverse("inventory:cluster-running", args=[made.uuid])
    first, third = client.get(address), client.get(address, {"waiting": 3})
    assert (len(first.context["waiting"]), len(third.context["waiting"])) == (10, 5)
    assert b"waiting=2" in first.content


def test_nothing_waits_nothing_is_said(
    team: Team, vic: User, client_for: Callable[..., Client]
) -> None:
    made = clusters.create_from_files(team=team, name="x", sources=[dump(node("n1"))], by=None)
    assert "What waits" not in page(client_for(vic), made)


def test_a_snapshot_of_before_has_no_lines(busy: Cluster) -> None:
    assert waiting.waiting_list(Snapshot(waiting={})).lines == ()


def test_answers_are_told_in_the_language_of_the_reader(busy: Cluster) -> None:
    """What is stored are facts: the sentence is made when somebody reads it."""
    assert busy.current_snapshot is not None
    stored = str(busy.current_snapshot.waiting)
    assert "fits no node now" not in stored
    with override("ja"):
        lines = waiting.waiting_lines(busy, waiting.waiting_list(busy.current_snapshot))
    assert all(line.fit for line in lines)


def test_reservations_are_told_with_the_pods_that_share(
    team: Team, vic: User, client_for: Callable[..., Client]
) -> None:
    """KAI: one pod holds the board, two use it."""
    label = {"runai-gpu-group": "g"}
    holder = pod("reservation", "n1", gpus=1, namespace="kai-resource-reservation")
    holder["metadata"]["labels"] = label
    sharing = []
    for name, part in (("a", "0.5"), ("b", "0.25")):
        made = pod(name, "n1", gpus=0)
        made["metadata"] |= {"labels": label, "annotations": {"gpu-fraction": part}}
        made["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
        sharing.append(made)
    objects = [node("n1"), holder, *sharing]
    made = clusters.create_from_files(team=team, name="kai", sources=[dump(*objects)], by=None)
    client = client_for(vic)
    address = reverse("inventory:cluster-running", args=[made.uuid])
    owners = {line.owner: line for line in client.get(address).context["owners"]}
    assert set(owners) == {"Pod a", "Pod b"}
    assert owners["Pod a"].gpu_resource == "parts of GPUs by annotation"
    text = page(client, made, namespace="team-a", owner="Pod a")
    assert "0.5 of a GPU" in text
    assert "held by reservation kai-resource-reservation/reservation" in text
    node_page = client.get(reverse("inventory:node-detail", args=[made.uuid, "n1"]))
    assert "held for team-a/a, team-a/b" in node_page.content.decode()


def test_memory_beside_a_device_is_no_gpu(
    team: Team, vic: User, client_for: Callable[..., Client]
) -> None:
    """HAMi: one GPU and 4096 MiB of it are not 4097 of anything."""
    made = pod("part", "n1", gpus=1)
    resources = made["spec"]["containers"][0]["resources"]
    for amounts in resources.values():
        amounts["nvidia.com/gpumem"] = "4096"
    objects = [node("n1"), made]
    hami = clusters.create_from_files(team=team, name="hami", sources=[dump(*objects)], by=None)
    text = page(client_for(vic), hami)
    assert "4097" not in text
    (line,) = (
        client_for(vic)
        .get(reverse("inventory:cluster-running", args=[hami.uuid]))
        .context["owners"]
    )
    assert (line.gpu_units, line.gpu_resource) == (1, GPU)


def test_a_pod_that_goes_says_since_when(
    team: Team, vic: User, client_for: Callable[..., Client]
) -> None:
    made = pod("old", "n1", gpus=1)
    made["metadata"]["deletionTimestamp"] = "2026-06-01T00:00:30Z"
    made["metadata"]["deletionGracePeriodSeconds"] = 30
    objects = [node("n1"), made]
    cluster = clusters.create_from_files(team=team, name="x", sources=[dump(*objects)], by=None)
    for text in (
        page(client_for(vic), cluster, namespace="team-a", owner="Pod old"),
        client_for(vic)
        .get(reverse("inventory:node-detail", args=[cluster.uuid, "n1"]))
        .content.decode(),
    ):
        assert "being deleted" in text
        assert "2026-06-01T00:00:00" in text


def test_the_csv_of_nodes_says_where_the_count_was_read(
    team: Team, vic: User, client_for: Callable[..., Client]
) -> None:
    clusters.create_from_files(team=team, name="x", sources=[dump(node("n1"))], by=None)
    text = client_for(vic).get(reverse("inventory:node-csv")).content.decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["physical"], row["physical_estimated"]) == ("8", "false")
    assert "nvidia.com/gpu.count" in row["physical_source"]
