"""The page of a node: accelerators that are no GPUs, and sick boards that nobody can count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.test import Client

from planner.accounts.models import Team, User
from planner.inventory import clusters
from planner.inventory.models import NodeRow
from planner.inventory.queries import node_url
from tests.planner.inventory.builders import dump, node, pod


def offers(item: Any, capacity: dict[str, str], left: dict[str, str]) -> Any:
    """The node with these amounts in place of its GPUs."""
    item["metadata"]["labels"] = {}
    kept = {k: v for k, v in item["status"]["capacity"].items() if "/" not in k}
    item["status"] |= {"capacity": kept | capacity, "allocatable": kept | capacity | left}
    return item


def page(team: Team, user: User, client_for: Callable[..., Client], *objects: Any) -> str:
    made = clusters.create_from_files(team=team, name="one", sources=[dump(*objects)], by=None)
    response = client_for(user).get(node_url(made.uuid, "node-a"))
    return " ".join(response.content.decode().split())


def test_a_node_of_gaudi_shows_what_is_offered_held_and_free(
    team: Team, vic: User, client_for: Callable[..., Client]
) -> None:
    name = "habana.ai/gaudi"
    holder = pod("trains", "node-a")
    holder["spec"]["containers"][0]["resources"] = {"limits": {name: "4"}}
    text = page(team, vic, client_for, offers(node("node-a"), {name: "8"}, {name: "6"}), holder)
    row = text[text.index(f"<code>{name}</code>") :]
    row = row[: row.index("</tr>")]
    for word, number in (("Capacity", 8), ("Schedulable", 6), ("Requested", 4), ("Free", 2)):
        assert f'data-label="{word}">{number}</td>' in row
    assert "no GPU: in no sum of GPUs" in text


def test_sick_boards_that_nobody_can_count_are_unknown_on_the_page_and_in_the_table(
    team: Team, vic: User, client_for: Callable[..., Client]
) -> None:
    cut = offers(node("node-a"), {"nvidia.com/mig-1g.5gb": "7"}, {"nvidia.com/mig-1g.5gb": "6"})
    cut["metadata"]["labels"] = {
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB",
        "nvidia.com/gpu.count": "1",
        "nvidia.com/mig.strategy": "mixed",
    }
    text = page(team, vic, client_for, cut)
    assert "which do not say how many boards are sick" in text
    assert NodeRow.objects.get(name="node-a").unhealthy is None
