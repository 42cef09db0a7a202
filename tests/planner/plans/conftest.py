"""A small fleet from case files, and what the tests declare on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fleet.kubernetes import dump, reader
from fleet.workloads import EmbeddingWorkload, LlmWorkload, TrainingWorkload
from planner.accounts.models import Team, User
from planner.inventory import snapshots
from planner.inventory.models import Cluster
from planner.plans import plan_services, workload_services
from planner.plans.models import Plan, Workload

CASES = Path(__file__).parents[2] / "data" / "cases"


def add_cluster(team: Team, name: str, case: str) -> Cluster:
    """A cluster of ``team`` that shows the case file whose name starts with ``case``."""
    path = next(CASES.glob(f"{case}-*.json"))
    inventory = reader.read(dump.load([dump.Source(path.name, path.read_bytes())]))
    cluster = Cluster.objects.create(team=team, name=name, source=Cluster.Source.FILE)
    snapshots.publish(snapshots.build(cluster=cluster, inventory=inventory))
    cluster.refresh_from_db()
    return cluster


@pytest.fixture
def fleet(team: Team) -> list[Cluster]:
    """Nine nodes with mixed cards, and eight nodes of eight H100 of which one is empty."""
    return [add_cluster(team, "mixed", "06"), add_cluster(team, "train", "12")]


@pytest.fixture
def declare(team: Team, pia: User) -> Callable[..., Workload]:
    """``declare(value)`` stores a declared workload of team search."""

    def make(value: Any) -> Workload:
        return workload_services.create_workload(team=team, by=pia, value=value)

    return make


@pytest.fixture
def three(declare: Callable[..., Workload]) -> list[Workload]:
    """One workload of each kind."""
    return [
        declare(EmbeddingWorkload(name="bge", model="BAAI/bge-m3", replicas=2)),
        declare(LlmWorkload(name="chat", model="meta-llama/Meta-Llama-3.1-8B")),
        declare(
            TrainingWorkload(
                name="finetune", model="meta-llama/Meta-Llama-3.1-8B", method="lora", gpus=8
            )
        ),
    ]


@pytest.fixture
def plan(team: Team, pia: User, three: list[Workload]) -> Plan:
    return plan_services.create_plan(
        team=team, by=pia, name="Q1 capacity", workloads=three, clusters=[], budget_s=5, seed=0
    )
