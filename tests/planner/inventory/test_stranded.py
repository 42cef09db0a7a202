"""Why free GPUs cannot be had, as the topology page and the page of the node say it."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.urls import reverse

from fleet.boards.stranding import why_stranded
from planner.accounts.models import Team, User
from planner.inventory import clusters, stranded
from planner.inventory.models import NodeRow
from tests.planner.inventory.builders import dump, node, pod


def hog(name: str, on: str, cpu: str) -> Any:
    """A pod with one GPU and so much CPU."""
    found = pod(name, on)
    found["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cpu
    return found


def test_each_example_tells_of_its_own_node(team: Team, ada: User, client: Client) -> None:
    """Figures come from the whole node, which is stored apart from its row."""
    nodes = [node("crowded", gpus=4), node("full", gpus=8), node("calm", gpus=8)]
    sources = [dump(*nodes, hog("a", "crowded", "95500m"), hog("b", "full", "96"))]
    cluster = clusters.create_from_files(team=team, name="prod", sources=sources, by=ada)
    assert cluster.current_snapshot is not None
    whole = {each.name: each for each in cluster.current_snapshot.inventory().nodes}

    (line,) = stranded.stranded_lines(cluster, cluster.current_snapshot)

    assert (line.cause, line.gpus, line.nodes) == ("cpu", 10, 2)
    assert [(e.name, e.gpus) for e in line.examples] == [("full", 7), ("crowded", 3)]
    for example in line.examples:
        row = NodeRow.objects.get(name=example.name)
        gpus = (row.stranded or 0) + (row.free or 0)
        assert example.why == why_stranded(whole[example.name], "cpu", gpus)
    client.force_login(ada)
    page = client.get(reverse("inventory:node-detail", args=[cluster.uuid, "full"]))
    assert line.examples[0].why in page.context["why_stranded"]
