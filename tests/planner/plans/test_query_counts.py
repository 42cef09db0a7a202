from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from fleet.workloads import EmbeddingWorkload
from planner.accounts.models import Team, User
from planner.inventory.models import Cluster
from planner.jobs import runner
from planner.plans import plan_services
from planner.plans.models import Plan, Workload
from tests.planner.plans.conftest import add_cluster

ClientFor = Callable[..., Client]


def queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200
    return len(captured)


@pytest.mark.parametrize("name", ["workload-list", "plan-list", "price-list", "plan-create"])
def test_lists_ask_as_often_for_many_rows_as_for_few(
    name: str,
    team: Team,
    plan: Plan,
    fleet: list[Cluster],
    declare: Callable[..., Workload],
    pia: User,
    client_for: ClientFor,
) -> None:
    client, address = client_for(pia), reverse(f"plans:{name}")
    few = queries(client, address)

    made = [
        declare(EmbeddingWorkload(name=f"more-{n}", model="BAAI/bge-m3", replicas=1))
        for n in range(15)
    ]
    for n in range(10):
        plan_services.create_plan(
            team=team, by=pia, name=f"p{n}", workloads=made, clusters=[], budget_s=5, seed=0
        )
    add_cluster(team, "third", "03")

    assert queries(client, address) == few


@pytest.mark.parametrize("tab", ["placement", "cost", "pods", "solver", "history"])
def test_the_tabs_of_a_plan_ask_as_often_for_a_larger_answer(
    tab: str,
    team: Team,
    plan: Plan,
    fleet: list[Cluster],
    declare: Callable[..., Workload],
    pia: User,
    client_for: ClientFor,
) -> None:
    client = client_for(pia)
    address = reverse("plans:plan-tab", args=[plan.pk, tab])
    runner.run(plan_services.request_solve(plan=plan, by=pia).pk)
    few = queries(client, address)

    for n in range(6):
        plan.workloads.add(declare(EmbeddingWorkload(name=f"more-{n}", model="BAAI/bge-m3")))
    add_cluster(team, "third", "03")
    runner.run(plan_services.request_solve(plan=plan, by=pia).pk)

    assert queries(client, address) == few
