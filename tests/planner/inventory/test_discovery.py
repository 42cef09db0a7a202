"""What a cluster serves is kept for ten minutes, for that cluster at that address alone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from fleet.kubernetes.kubeconfig import ClusterAccess
from fleet.kubernetes.served import Served
from planner.accounts.models import Team
from planner.inventory.discovery import KEPT_FOR, MOST_BYTES, RememberedDiscovery
from planner.inventory.models import Cluster, ClusterDiscovery
from planner.inventory.reaching import keep_access

pytestmark = pytest.mark.django_db

SERVED = Served({"v1": ("nodes", "pods")}, etags={"/api": '"abc"'})


def cluster(team: Team, name: str) -> Cluster:
    return Cluster.objects.create(
        team=team, name=name, source=Cluster.Source.FIELDS, server="https://k8s.example:6443"
    )


def test_what_was_kept_is_recalled_by_any_worker(team: Team) -> None:
    found = cluster(team, "a")
    assert RememberedDiscovery(found).recall() is None
    RememberedDiscovery(found).keep(SERVED)
    assert RememberedDiscovery(Cluster.objects.get(pk=found.pk)).recall() == SERVED


def test_it_is_never_taken_for_another_cluster(team: Team) -> None:
    RememberedDiscovery(cluster(team, "a")).keep(SERVED)
    assert RememberedDiscovery(cluster(team, "b")).recall() is None


def test_it_is_not_taken_for_another_address_of_the_cluster(team: Team) -> None:
    found = cluster(team, "a")
    RememberedDiscovery(found).keep(SERVED)
    found.server = "https://other.example:6443"
    assert RememberedDiscovery(found).recall() is None
    assert RememberedDiscovery(found).last() is None


@pytest.mark.parametrize("age", [KEPT_FOR + timedelta(seconds=1), timedelta(minutes=-5)])
def test_it_is_too_old_after_ten_minutes_and_never_from_the_future(
    team: Team, age: timedelta
) -> None:
    assert timedelta(minutes=10) == KEPT_FOR
    found = cluster(team, "a")
    RememberedDiscovery(found).keep(SERVED)
    ClusterDiscovery.objects.update(asked_at=timezone.now() - age)
    assert RememberedDiscovery(found).recall() is None
    assert RememberedDiscovery(found).last() == SERVED, "the server is asked whether it still holds"


def test_editing_the_access_drops_it(team: Team) -> None:
    found, other = cluster(team, "a"), cluster(team, "b")
    for each in (found, other):
        RememberedDiscovery(each).keep(SERVED)
    keep_access(found, ClusterAccess(server=found.server, token="t"))
    assert RememberedDiscovery(found).recall() is None
    assert RememberedDiscovery(other).recall() == SERVED


def test_keeping_it_again_leaves_one(team: Team) -> None:
    found = cluster(team, "a")
    for _ in range(3):
        RememberedDiscovery(found).keep(SERVED)
    assert ClusterDiscovery.objects.count() == 1


def test_a_server_that_claims_to_serve_the_world_is_asked_each_time(team: Team) -> None:
    found = cluster(team, "a")
    RememberedDiscovery(found).keep(SERVED)
    RememberedDiscovery(found).keep(Served({"v1": ("x" * MOST_BYTES,)}))
    assert RememberedDiscovery(found).recall() is None


def test_bytes_that_nobody_can_read_are_no_memory(team: Team) -> None:
    found = cluster(team, "a")
    RememberedDiscovery(found).keep(SERVED)
    ClusterDiscovery.objects.update(value=b"\xc1")
    assert RememberedDiscovery(found).recall() is None
