"""Physical, schedulable and requested are three numbers on every page, and none is a share of
another kind."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from planner.accounts.models import Team, User
from planner.inventory import clusters
from planner.inventory.models import Cluster
from tests.planner.inventory.builders import dump, node, pod


@pytest.fixture
def mixed(team: Team) -> Cluster:
    """24 boards: 8 on a cordoned node, all held; 8 with one withdrawn; 8 in ten slices each, of
    which pods hold 25."""
    cordoned = node("cordoned")
    cordoned["spec"]["unschedulable"] = True
    sick = node("sick")
    sick["status"] = sick["status"] | {
        "allocatable": sick["status"]["allocatable"] | {"nvidia.com/gpu": "7"}
    }
    sliced = node(
        "sliced",
        **{"nvidia.com/gpu.replicas": "10", "nvidia.com/gpu.sharing-strategy": "time-slicing"},
    )
    amounts = sliced["status"]["capacity"] | {"nvidia.com/gpu": "80"}
    sliced["status"] |= {"capacity": amounts, "allocatable": amounts}
    objects: list[Any] = [cordoned, sick, sliced, pod("held", "cordoned", gpus=8)]
    objects += [pod(f"slices-{n}", "sliced", gpus=5) for n in range(5)]
    return clusters.create_from_files(team=team, name="mixed", sources=[dump(*objects)], by=None)


def test_the_page_of_a_cluster_has_all_three(
    mixed: Cluster, vic: User, client_for: Callable[..., Client]
) -> None:
    response = client_for(vic).get(reverse("inventory:cluster-detail", args=[mixed.uuid]))
    snapshot = response.context["snapshot"]
    # Slices of three boards at the least are held; never 25 + 8 "GPUs" of 24.
    assert (snapshot.physical_gpus, snapshot.schedulable_gpus) == (24, 15)
    assert snapshot.requested_gpus == 8 + 3
    text = " ".join(response.content.decode().split())
    for said in ("GPUs installed", "15 schedulable", "9 not", "GPUs requested", "GPUs free"):
        assert said in text


def test_what_is_requested_is_a_share_of_what_is_installed(
    mixed: Cluster, vic: User, client_for: Callable[..., Client]
) -> None:
    """Pods hold boards of nodes that take no new pods: a share of the schedulable could pass
    100 %, and hide what is free."""
    figures = client_for(vic).get(reverse("inventory:overview")).context["figures"]
    assert (figures.physical, figures.schedulable, figures.requested) == (24, 15, 11)
    assert figures.requested_note == "46 % of installed"


def test_rows_and_csv_say_the_same(
    mixed: Cluster, vic: User, client_for: Callable[..., Client]
) -> None:
    text = client_for(vic).get(reverse("inventory:node-csv")).content.decode("utf-8-sig")
    rows = {row["node"]: row for row in csv.DictReader(io.StringIO(text))}
    numbers = {
        name: [int(row[column]) for column in ("physical", "schedulable", "requested")]
        for name, row in rows.items()
    }
    assert numbers == {"cordoned": [8, 0, 8], "sick": [8, 7, 0], "sliced": [8, 8, 3]}


def test_the_page_of_a_node_keeps_units_in_their_own_table(
    mixed: Cluster, vic: User, client_for: Callable[..., Client]
) -> None:
    address = reverse("inventory:node-detail", args=[mixed.uuid, "sliced"])
    response = client_for(vic).get(address)
    (line,) = response.context["groups"]
    (units,) = line.units
    assert (units.kind, units.capacity, units.requested, units.free) == ("share", 80, 25, 55)
    assert "8 boards" in response.content.decode()


def test_a_withdrawn_board_says_who_says_so(
    mixed: Cluster, vic: User, client_for: Callable[..., Client]
) -> None:
    address = reverse("inventory:node-detail", args=[mixed.uuid, "sick"])
    text = client_for(vic).get(address).content.decode()
    assert "Withdrawn or sick" in text
    assert "capacity minus allocatable" in text


def test_an_estimated_number_says_so_in_the_table_and_the_csv(
    team: Team, vic: User, client_for: Callable[..., Client]
) -> None:
    """MIG devices in use are all that the node shows of its boards."""
    labels = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"}
    cut = node("cut", gpus=0, **labels, **{"nvidia.com/gpu.count": "56"})
    amounts = cut["status"]["capacity"] | {"nvidia.com/gpu": "56"}
    cut["status"] |= {"capacity": amounts, "allocatable": amounts}
    objects = [cut, node("plain")]
    made = clusters.create_from_files(team=team, name="x", sources=[dump(*objects)], by=None)
    client = client_for(vic)
    table = client.get(reverse("inventory:cluster-detail", args=[made.uuid])).content.decode()
    assert table.count("number of GPUs estimated") == 1
    text = client.get(reverse("inventory:node-csv")).content.decode("utf-8-sig")
    rows = {row["node"]: row for row in csv.DictReader(io.StringIO(text))}
    assert (rows["cut"]["physical"], rows["cut"]["physical_estimated"]) == ("8", "true")
    assert rows["cut"]["physical_source"]
    assert rows["plain"]["physical_estimated"] == "false"
