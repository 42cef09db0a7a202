"""What the page of a node says of devices that are offered through DRA."""

from __future__ import annotations

from collections.abc import Callable

from django.test import Client
from django.urls import reverse

from planner.accounts.models import Team, User
from planner.inventory import clusters
from tests.fleet.kubernetes.test_dra_claims import using
from tests.fleet.kubernetes.written import gpu_device
from tests.fleet.kubernetes.written_dra import device, held, pool_slice
from tests.planner.inventory.builders import dump, node


def test_a_node_names_who_holds_its_devices(
    team: Team, ada: User, vic: User, client_for: Callable[..., Client]
) -> None:
    devices = pool_slice(*(gpu_device(f"gpu-{n}", f"GPU-{n}") for n in range(2)))
    train = held("train", "gpu-0", by=("worker-7",))
    evil = held("<b>left</b>", "gpu-1")
    objects = [node("node-a", gpus=0), devices, train, evil]
    made = clusters.create_from_files(team=team, name="dra", sources=[dump(*objects)], by=ada)
    response = client_for(vic).get(reverse("inventory:node-detail", args=[made.uuid, "node-a"]))
    text = response.content.decode()
    assert "team-a/train" in text
    assert "pod worker-7" in text
    assert "no pod uses the claim" in text
    assert "team-a/&lt;b&gt;left&lt;/b&gt;" in text


def test_a_pool_that_is_incomplete_shows_an_unknown_number_with_its_reason(
    team: Team, ada: User, vic: User, client_for: Callable[..., Client]
) -> None:
    objects = [node("node-a", gpus=0), pool_slice(gpu_device("gpu-0", "GPU-0"), count=2)]
    made = clusters.create_from_files(team=team, name="dra", sources=[dump(*objects)], by=ada)
    response = client_for(vic).get(reverse("inventory:node-detail", args=[made.uuid, "node-a"]))
    text = response.content.decode()
    assert "unknown" in text
    assert "1 of 2 slices are there" in text


def test_a_cluster_lists_devices_of_other_drivers_that_several_nodes_reach(
    team: Team, ada: User, vic: User, client_for: Callable[..., Client]
) -> None:
    nics = pool_slice(device("nic-0"), device("nic-1"), driver="nic.example.com", allNodes=True)
    objects = [node("node-a", gpus=0), node("node-b", gpus=0), nics]
    made = clusters.create_from_files(team=team, name="dra", sources=[dump(*objects)], by=ada)
    response = client_for(vic).get(reverse("inventory:cluster-detail", args=[made.uuid]))
    assert "2 of <code>nic.example.com</code>" in response.content.decode()


def test_pages_call_the_use_unknown_where_a_pod_names_a_claim_that_was_not_read(
    team: Team, ada: User, vic: User, client_for: Callable[..., Client]
) -> None:
    slices = pool_slice(gpu_device("gpu-0", "GPU-0"), gpu_device("gpu-1", "GPU-1"))
    objects = [node("node-a", gpus=0), slices, using("missing", on="node-a")]
    made = clusters.create_from_files(team=team, name="dra", sources=[dump(*objects)], by=ada)
    client = client_for(vic)
    for page, args in (
        ("inventory:node-detail", [made.uuid, "node-a"]),
        ("inventory:cluster-detail", [made.uuid]),
        ("inventory:overview", []),
    ):
        text = client.get(reverse(page, args=args)).content.decode()
        assert "unknown" in text, page
    text = client.get(reverse("inventory:node-detail", args=[made.uuid, "node-a"])).content.decode()
    assert "ResourceClaim team-a/missing of pod pod-a was not read" in text
