"""GPUs that several nodes reach are shown apart: on the cluster's page by pool, on the overview in
a sentence, and in none of the numbers about nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse

from fleet.attached import MOST_POOLS, attached_in
from planner.accounts.models import Team, User
from planner.inventory import clusters
from planner.inventory.models import Cluster
from tests.fleet.kubernetes.written import cluster as inventory_of
from tests.fleet.kubernetes.written import gpu_device
from tests.fleet.kubernetes.written_dra import held, pool_slice
from tests.planner.inventory.builders import dump, node

TWO = [gpu_device(f"gpu-{n}", f"GPU-{n}") for n in range(2)]


@pytest.fixture
def fabric(team: Team) -> Cluster:
    """A node with eight GPUs of its own, and two that both nodes reach, one of them held."""
    objects = [
        node("node-a"),
        node("node-b", gpus=0),
        pool_slice(*TWO, allNodes=True),
        held("c", "gpu-0"),
    ]
    return clusters.create_from_files(team=team, name="fabric", sources=[dump(*objects)], by=None)


def test_the_page_of_the_cluster_lists_the_pools(
    fabric: Cluster, vic: User, client_for: Callable[..., Client]
) -> None:
    response = client_for(vic).get(reverse("inventory:cluster-detail", args=[fabric.uuid]))
    (pool,) = response.context["attached"].pools
    assert (pool.pool, pool.nodes, pool.physical) == ("pool", 2, 2)
    assert (pool.schedulable, pool.requested, pool.free) == (2, 1, 1)
    assert "GPUs of no single node" in response.content.decode()
    assert response.context["snapshot"].physical_gpus == 8  # of nodes only


def test_the_overview_counts_them_apart_and_leads_to_them(
    fabric: Cluster, vic: User, client_for: Callable[..., Client]
) -> None:
    response = client_for(vic).get(reverse("inventory:overview"))
    text = " ".join(response.content.decode().split())
    assert response.context["figures"].physical == 8
    assert "2 GPUs more are of no single node" in text
    assert "1 of 2 schedulable devices is free" in text
    assert reverse("inventory:cluster-detail", args=[fabric.uuid]) + "#attached" in text


def test_a_cluster_without_any_says_nothing_of_them(
    team: Team, vic: User, client_for: Callable[..., Client]
) -> None:
    made = clusters.create_from_files(team=team, name="x", sources=[dump(node("a"))], by=None)
    client = client_for(vic)
    page = client.get(reverse("inventory:cluster-detail", args=[made.uuid]))
    for response in (page, client.get(reverse("inventory:overview"))):
        assert "no single node" not in response.content.decode()


def test_every_pool_is_in_the_sums_and_the_largest_are_listed() -> None:
    found = inventory_of(node("node-a"), node("node-b"), pool_slice(*TWO, allNodes=True))
    (pool,) = found.attached
    small = replace(pool, group=replace(pool.group, physical=1))
    unknown = replace(pool, group=replace(pool.group, physical=None))
    found = replace(found, attached=(unknown, *(small for _ in range(MOST_POOLS)), pool))
    sums = attached_in(found)
    assert (sums.count, sums.physical, sums.uncounted) == (MOST_POOLS + 2, MOST_POOLS + 2, 1)
    assert (len(sums.pools), sums.pools[0].physical) == (MOST_POOLS, 2)
    assert sums.free == 2 * (MOST_POOLS + 2)


def test_pools_whose_claims_were_not_read_make_the_sum_unknown() -> None:
    found = inventory_of(node("node-a"), node("node-b"), pool_slice(*TWO, allNodes=True))
    (pool,) = found.attached
    units = tuple(replace(unit, requested=None) for unit in pool.group.units)
    hidden = replace(pool, group=replace(pool.group, units=units))
    sums = attached_in(replace(found, attached=(pool, hidden)))
    assert (sums.physical, sums.schedulable) == (4, 4)
    assert (sums.requested, sums.free) == (None, None)
