"""What the sizing says is free, and at what price, is what a plan places and costs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal

import pytest

from fleet.inventory import Inventory, Node, Taint
from fleet.placement.capacity import capacity, quota_rooms
from fleet.placement.demand import demand
from fleet.placement.problem import Problem
from fleet.placement.solver import solve
from fleet.units import Money
from fleet.workloads import EmbeddingWorkload, LlmWorkload, TrainingWorkload, Workload
from planner.accounts.models import Team
from planner.inventory import snapshots
from planner.inventory.models import Cluster
from planner.plans.free_units import fleet_now
from planner.plans.models import PriceEntry
from planner.plans.price_books import book_for
from planner.plans.sizing_panel import Panel, panel_for

LLAMA = "meta-llama/Meta-Llama-3.1-8B"
WORKLOADS: list[Workload] = [
    LlmWorkload(name="chat", model=LLAMA),
    LlmWorkload(name="large", model="meta-llama/Meta-Llama-3.1-70B"),
    EmbeddingWorkload(name="bge", model="BAAI/bge-m3"),
    TrainingWorkload(name="tune", model=LLAMA, method="lora", gpus=8),
]


def panel(team: Team, workload: Workload) -> Panel:
    found = panel_for(team, workload)
    assert isinstance(found, Panel)
    return found


def inventories(clusters: list[Cluster]) -> dict[str, Inventory]:
    found = {}
    for cluster in clusters:
        assert cluster.current_snapshot is not None
        found[cluster.name] = cluster.current_snapshot.inventory()
    return found


def change(cluster: Cluster, **fields: object) -> None:
    """A new snapshot of the cluster, in which every node has these values."""
    inventory = inventories([cluster])[cluster.name]
    nodes: tuple[Node, ...] = tuple(replace(n, **fields) for n in inventory.nodes)  # type: ignore[arg-type]
    snapshots.publish(snapshots.build(cluster=cluster, inventory=replace(inventory, nodes=nodes)))
    cluster.refresh_from_db()


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda w: w.name)
def test_free_now_and_its_price_are_those_of_a_plan_of_that_workload_alone(
    workload: Workload, team: Team, fleet: list[Cluster]
) -> None:
    found = panel(team, workload)
    clusters = inventories(fleet)
    nodes = capacity(clusters, book_for(team))
    compared = 0
    for row in found.rows:
        if not row.works:
            continue
        wanted = replace(demand(workload, found.requirement), shapes=(row.shape,))
        many = Problem(nodes, (replace(wanted, replicas=100),), quota_rooms(clusters))
        placed = {(a.cluster, a.replica) for a in solve(many).assignments}
        assert dict(row.free) == dict(Counter(cluster for cluster, _ in placed))
        one = solve(replace(many, demands=(replace(wanted, replicas=1),)))
        if row.free and row.month is not None:
            assert row.month == Money(one.score.cost_per_hour, "USD").per_month()
        compared += 1
    assert compared


def test_cpu_and_taints_count_for_what_is_free(team: Team, fleet: list[Cluster]) -> None:
    workload = LlmWorkload(name="chat", model=LLAMA)
    assert any(row.free_total for row in panel(team, workload).rows)

    for cluster in fleet:
        change(cluster, taints=(Taint("team", "other", "NoSchedule"),))
    assert not any(row.free_total for row in panel(team, workload).rows)
    for cluster in fleet:
        change(cluster, taints=(), cpu_allocatable=100)
    assert not any(row.free_total for row in panel(team, workload).rows)


def test_a_shape_that_no_machine_can_hold_has_no_price_and_says_so(
    team: Team, fleet: list[Cluster]
) -> None:
    for cluster in fleet:
        change(cluster, cpu_allocatable=100)
    found = panel(team, LlmWorkload(name="chat", model=LLAMA))

    assert found.rows
    assert not any(row.is_held or row.month for row in found.rows)
    assert found.standing == "No machine of your fleet can hold it, even empty."


def test_the_best_is_the_cheapest_with_room_and_the_sentence_starts_with_it(
    team: Team, fleet: list[Cluster]
) -> None:
    found = panel(team, LlmWorkload(name="chat", model=LLAMA))
    with_room = [row for row in found.rows if row.free]
    months = [row.month.amount for row in with_room if row.month is not None]

    assert found.best is not None
    assert found.best.free
    assert found.best.month is not None
    assert found.best.month.amount == min(months)
    assert months == sorted(months)
    assert found.sentence.startswith(found.best.title)


def test_rows_with_room_come_first_and_cards_that_the_fleet_lacks_are_apart(
    team: Team, fleet: list[Cluster]
) -> None:
    found = panel(team, LlmWorkload(name="large", model="meta-llama/Meta-Llama-3.1-70B"))
    here = {model for model, _ in fleet_now(team).cards}
    free = [bool(row.free) for row in found.rows]

    assert free == sorted(free, reverse=True)
    assert {row.shape.gpu_model for row in found.rows} <= here
    assert found.lacking_rows
    assert "MI300X" not in found.sentence
    assert any(row.shape.gpu_model == "MI300X" for row in found.lacking_rows)


def test_a_fleet_without_room_says_so(team: Team, fleet: list[Cluster]) -> None:
    for cluster in fleet:
        change(cluster, pods_count=10_000)
    found = panel(team, LlmWorkload(name="chat", model=LLAMA))

    assert found.standing == "Your fleet has no room for it now."
    assert found.best is not None
    assert found.best.month is not None


def test_what_is_kept_follows_snapshots_prices_and_names(team: Team, fleet: list[Cluster]) -> None:
    before = fleet_now(team)
    assert fleet_now(team) is before

    PriceEntry.objects.create(
        team=team, kind="negotiated", gpu_model="T4", per_gpu_hour=Decimal(9), currency="USD",
        source="test", as_of="2026-01-01",
    )  # fmt: skip
    priced = fleet_now(team)
    assert priced is not before
    change(fleet[0], schedulable=False)
    synced = fleet_now(team)
    assert synced is not priced
    assert not any(node.schedulable for node in synced.nodes if node.cluster == fleet[0].name)
    Cluster.objects.filter(pk=fleet[0].pk).update(name="renamed")
    assert {node.cluster for node in fleet_now(team).nodes} == {"renamed", fleet[1].name}


def test_the_fleet_of_another_team_offers_nothing(
    team: Team, other_team: Team, fleet: list[Cluster]
) -> None:
    assert fleet_now(team).nodes
    assert fleet_now(other_team).nodes == ()
    assert fleet_now(other_team).models == []
