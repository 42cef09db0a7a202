"""How many groups of pods fit, and in which domain."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.fits.ask import ask
from fleet.fits.cluster import Cluster
from fleet.fits.groups import Member, domain_path
from fleet.inventory import Node
from tests.fleet.inventories import gpu_node, group, inventory, levels, units

GPU = "nvidia.com/gpu"
RACK = "label/rack"


def node(name: str, free: int, block: str = "b1", rack: str | None = "r1") -> Node:
    found = group("T4", units(requested=8 - free))
    return gpu_node(name, found, taints=(), topology=levels(block=block, rack=rack))


def test_a_gang_over_several_nodes() -> None:
    cluster = Cluster(inventory(node("a", 8), node("b", 5), node("c", 0)))
    assert sum(d.groups for d in cluster.groups([Member(ask({GPU: 4}), 3)])) == 1
    assert cluster.groups([Member(ask({GPU: 4}), 4)]) == ()


def test_two_racks_of_one_name_are_two_domains() -> None:
    cluster = Cluster(inventory(node("a", 8, "b1"), node("b", 8, "b2")))
    (found,) = cluster.groups([Member(ask({GPU: 8}), 2)])
    assert (found.path, found.nodes) == ((), ("a", "b"))
    assert cluster.groups([Member(ask({GPU: 8}), 2)], key=RACK) == ()
    alone = cluster.groups([Member(ask({GPU: 8}), 1)], key=RACK)
    assert [(d.path, d.groups) for d in alone] == [(("b1", "r1"), 1), (("b2", "r1"), 1)]


def test_a_node_that_does_not_say_its_rack_is_in_none() -> None:
    lost = node("a", 8, rack=None)
    assert domain_path(lost, RACK) is None
    assert Cluster(inventory(lost)).groups([Member(ask({GPU: 1}), 1)], key=RACK) == ()


def test_each_host_is_a_domain_even_without_its_label() -> None:
    cluster = Cluster(inventory(node("a", 8), node("b", 4)))
    found = cluster.groups([Member(ask({GPU: 2}), 2)], key="kubernetes.io/hostname")
    assert [(d.path, d.groups) for d in found] == [(("a",), 2), (("b",), 1)]


def test_leaders_and_workers_share_what_is_free() -> None:
    cluster = Cluster(inventory(node("a", 8)))
    members = [Member(ask({GPU: 1}), 1), Member(ask({GPU: 2}), 2)]
    (found,) = cluster.groups(members)
    assert found.groups == 1  # 5 of 8; the next one would need 10


def test_questions_leave_the_cluster_as_it_is() -> None:
    cluster = Cluster(inventory(node("a", 8)))
    members = [Member(ask({GPU: 8}), 1)]
    assert cluster.groups(members) == cluster.groups(members)
    assert cluster.fit(ask({GPU: 8})).nodes == ("a",)


def test_no_more_groups_are_counted_than_asked_for() -> None:
    cluster = Cluster(inventory(node("a", 8)))
    assert [d.groups for d in cluster.groups([Member(ask({GPU: 1}), 1)], most=3)] == [3]


def exhaustive(free: list[int], pods: int, each: int) -> int:
    """Groups that fit, by trying how many pods each node takes."""
    best = 0
    for taken in product(*(range(f // each + 1) for f in free)):
        best = max(best, sum(taken) // pods)
    return best


@settings(max_examples=60)
@given(st.lists(st.integers(0, 8), min_size=1, max_size=4), st.integers(1, 4), st.integers(1, 5))
def test_equal_pods_reach_the_most_that_is_possible(free: list[int], pods: int, each: int) -> None:
    cluster = Cluster(inventory(*(node(f"n{i}", f) for i, f in enumerate(free))))
    found = cluster.groups([Member(ask({GPU: each}), pods)])
    assert sum(d.groups for d in found) == exhaustive(free, pods, each)
