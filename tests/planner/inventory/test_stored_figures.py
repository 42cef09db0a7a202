"""What is kept with a snapshot says the same as its inventory, and outlives a new name."""

from __future__ import annotations

import json
from collections.abc import Callable

from django.test import Client
from django.urls import reverse

from fleet.catalogue.prices import default_book
from fleet.costs import idle_cost, idle_priced
from fleet.summary import summarise
from planner.accounts.models import Team, User
from planner.inventory import clusters, demo, stored_figures
from planner.inventory.models import Cluster
from tests.planner.inventory.builders import dump, node, pod


def test_the_stored_figures_of_a_fleet_are_those_of_its_inventories(team: Team, ada: User) -> None:
    demo.load_demo_fleet(team=team, by=ada)
    inventories, stored = {}, []
    for cluster in Cluster.objects.filter(team=team).order_by("name"):
        assert cluster.current_snapshot is not None
        inventories[cluster.name] = cluster.current_snapshot.inventory()
        written = json.loads(json.dumps(cluster.current_snapshot.figures))
        stored.append(stored_figures.decoded(written, cluster.name))
    found = stored_figures.together(stored)
    assert found.summary == summarise(inventories)
    prices = default_book()
    assert idle_priced(found.idle, prices) == idle_cost(inventories, prices)


def test_a_renamed_cluster_keeps_its_figures(team: Team, ada: User) -> None:
    source = dump(node("n1"), pod("a", "n1", gpus=3))
    cluster = clusters.create_from_files(team=team, name="old", sources=[source], by=ada)
    assert cluster.current_snapshot is not None
    figures = stored_figures.decoded(cluster.current_snapshot.figures, "new")
    assert [row.name for row in figures.summary.clusters] == ["new"]
    assert {part.cluster for part in figures.idle} == {"new"}
    assert (figures.summary.totals.requested, figures.summary.totals.free) == (3, 5)


def test_a_snapshot_without_figures_adds_nothing() -> None:
    empty = stored_figures.decoded({}, "x")
    assert stored_figures.together([empty]).summary.totals.physical == 0


def test_owners_come_in_pages_and_can_be_searched(
    team: Team, ada: User, client_for: Callable[..., Client]
) -> None:
    objects = [node(f"n{number}") for number in range(10)]
    objects += [
        pod(f"job-{number:02d}", f"n{number % 10}", namespace=f"team-{number % 2}")
        for number in range(60)
    ]
    cluster = clusters.create_from_files(team=team, name="prod", sources=[dump(*objects)], by=ada)
    client = client_for(ada)
    address = reverse("inventory:cluster-running", args=[cluster.uuid])
    first, second = client.get(address), client.get(address, {"page": 2})
    names = [line.owner for page in (first, second) for line in page.context["owners"]]
    assert sorted(names) == [f"Pod job-{number:02d}" for number in range(60)]
    assert "1 to 50 of 60" in first.content.decode()
    found = client.get(address, {"text": "job-07"}).context["owners"]
    assert [line.owner for line in found] == ["Pod job-07"]
    everybody = client.get(address, {"text": "team-1"}).context["page"].paginator.count
    assert everybody == 30
    nobody = client.get(address, {"text": "\0%"})
    assert nobody.status_code == 200
    assert nobody.context["owners"] == []
