"""The map of GPUs: squares while they can be read, counts with doors beyond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from planner.accounts.models import Team, User
from planner.inventory import clusters, gpu_maps
from planner.inventory.models import NodeRow
from tests.planner.inventory.builders import dump, node, pod

POOL = "node.kubernetes.io/pool"


def fleet(team: Team, ada: User, pools: dict[str, int]) -> None:
    """A cluster with so many nodes in each pool; one node of each runs a pod with 3 GPUs."""
    objects = []
    for pool, count in pools.items():
        objects += [node(f"{pool}-{n}", **{POOL: pool}) for n in range(count)]
        objects.append(pod(f"pod-{pool}", f"{pool}-0", gpus=3))
    clusters.create_from_files(team=team, name="prod", sources=[dump(*objects)], by=ada)


def maps() -> gpu_maps.Maps:
    return gpu_maps.pool_maps(NodeRow.objects.all())


def test_a_small_fleet_is_drawn_square_by_square(team: Team, ada: User) -> None:
    fleet(team, ada, {"a": 3, "b": 2})
    found = maps()
    assert [(pool.pool, len(pool.nodes), pool.is_folded) for pool in found.pools] == [
        ("a", 3, False),
        ("b", 2, False),
    ]
    for pool in found.pools:
        assert Counter("".join(box.squares for box in pool.nodes)) == {
            state: count for state, count in pool.counts.items() if count
        }
    assert (found.more, found.node_count) == (0, 5)


def test_the_largest_pools_are_folded_until_the_rest_fits(
    team: Team, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_maps, "MOST_BOXES", 6)
    fleet(team, ada, {"a": 2, "b": 7, "c": 5, "d": 4})
    assert {pool.pool: pool.is_folded for pool in maps().pools} == {
        "a": False,
        "b": True,
        "c": True,
        "d": False,
    }
    assert sum(len(pool.nodes) for pool in maps().pools) == 6


def test_a_folded_pool_says_its_counts_and_each_is_a_door(
    team: Team,
    ada: User,
    client_for: Callable[..., Client],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gpu_maps, "FOLD_ABOVE", 2)
    fleet(team, ada, {"a": 3})
    client = client_for(ada)
    (pool,) = maps().pools
    assert (pool.is_folded, pool.nodes) == (True, [])
    assert {link.state: link.count for link in pool.links} == {"r": 3, "f": 21}
    text = client.get(reverse("inventory:overview")).content.decode()
    assert "3 requested" in text
    assert "21 free" in text
    for link in pool.links:
        assert link.url.replace("&", "&amp;") in text
        rows = client.get(link.url).context["table"].paginated_rows
        assert len(rows) == (1 if link.state == "r" else 3)


def test_pools_without_end_are_cut_and_counted(
    team: Team,
    ada: User,
    client_for: Callable[..., Client],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gpu_maps, "MOST_POOLS", 3)
    fleet(team, ada, dict.fromkeys("abcdefg", 1))
    assert (len(maps().pools), maps().more, maps().node_count) == (3, 4, 7)
    assert "and 4 more pools" in client_for(ada).get(reverse("inventory:overview")).content.decode()
