"""What the pages of a plan say about where it lands, and the doors that they open."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from fleet.workloads import Constraints, LlmWorkload
from planner.accounts.models import Team, User
from planner.inventory import snapshots
from planner.inventory.models import Cluster
from planner.inventory.queries import node_list_url, node_url
from planner.jobs import runner
from planner.plans import plan_services
from planner.plans.models import Plan, Workload
from planner.plans.plan_map import _Key, _labels
from planner.plans.plan_places import Places, cluster_words
from planner.plans.plan_report import PlanReport
from planner.plans.price_views import prices_in_use

ClientFor = Callable[..., Client]
Page = Callable[..., str]


def make_synthetic(cluster: Cluster) -> None:
    Cluster.objects.filter(pk=cluster.pk).update(source=Cluster.Source.DEMO)


@pytest.fixture
def solved(plan: Plan, fleet: list[Cluster], pia: User) -> Plan:
    assert runner.run(plan_services.request_solve(plan=plan, by=pia).pk)
    plan.refresh_from_db()
    return plan


@pytest.fixture
def report(solved: Plan) -> PlanReport:
    assert solved.current_run is not None
    found = PlanReport.of(solved.current_run)
    assert found is not None
    return found


@pytest.fixture
def page(solved: Plan, pia: User, client_for: ClientFor) -> Page:
    """The text of a tab of the solved plan, runs of white space as one space."""

    def text(tab: str = "placement") -> str:
        address = reverse("plans:plan-tab", args=[solved.pk, tab])
        return " ".join(client_for(pia).get(address).content.decode().split())

    return text


def sentence(text: str) -> str:
    found = re.search(r'<p class="sentence">(.*?)</p>', text)
    assert found is not None
    return " ".join(re.sub("<[^>]*>", "", found[1]).split())


@pytest.mark.parametrize(
    ("count", "synthetic", "words"),
    [
        (1, 0, "on 1 cluster"),
        (3, 0, "on 3 clusters"),
        (1, 1, "on 1 synthetic cluster"),
        (3, 3, "on 3 synthetic clusters"),
        (3, 2, "on 3 clusters (2 of them synthetic)"),
    ],
)
def test_synthetic_clusters_are_counted_in_words(count: int, synthetic: int, words: str) -> None:
    assert cluster_words(count, synthetic) == words


def test_the_sentence_and_each_row_say_which_clusters_are_synthetic(
    report: PlanReport, page: Page, fleet: list[Cluster]
) -> None:
    assert "synthetic" not in page()
    for cluster in fleet:
        make_synthetic(cluster)

    assert "synthetic cluster" in sentence(page())
    for tab in ("placement", "cost", "pods", "solver"):
        body = page(tab).partition("</h1>")[2]
        assert body.count("</span>synthetic") >= 1, tab
    assert " · synthetic" in page()  # the map


def test_the_list_of_plans_says_that_a_cluster_is_synthetic(
    solved: Plan, fleet: list[Cluster], pia: User, client_for: ClientFor
) -> None:
    for cluster in fleet:
        make_synthetic(cluster)

    text = client_for(pia).get(reverse("plans:plan-list")).content.decode()

    assert "synthetic cluster" in text


def test_the_json_marks_snapshots_of_synthetic_clusters(
    solved: Plan, fleet: list[Cluster], pia: User, client_for: ClientFor
) -> None:
    make_synthetic(fleet[0])

    answer = client_for(pia).get(reverse("plans:plan-json", args=[solved.pk]))

    marks = {s["cluster"]: s["synthetic"] for s in json.loads(answer.content)["snapshots"]}
    assert marks == {fleet[0].name: True, fleet[1].name: False}


def test_a_new_plan_starts_with_the_real_clusters_where_there_are_synthetic_ones(
    team: Team, fleet: list[Cluster], three: list[Workload], pia: User, client_for: ClientFor
) -> None:
    client, address = client_for(pia), reverse("plans:plan-create")
    assert client.get(address).context["form"]["clusters"].value() == []
    make_synthetic(fleet[0])

    response = client.get(address)

    assert response.context["form"]["clusters"].value() == [fleet[1].pk]
    text = response.content.decode()
    assert f"{fleet[0].name} · synthetic" in text
    assert "synthetic ones too" in text


def test_clusters_nodes_workloads_and_prices_are_doors(
    report: PlanReport, page: Page, fleet: list[Cluster], solved: Plan
) -> None:
    uuids = {cluster.name: cluster.uuid for cluster in fleet}
    first = report.value.placement.assignments[0]
    node = f'href="{escape(node_url(uuids[first.cluster], first.node))}"'
    cluster = f'href="{reverse("inventory:cluster-detail", args=[uuids[first.cluster]])}"'
    workload = f'href="{report.urls[first.workload]}"'

    assert page().count(node) >= 2  # in the table and on the map
    assert all(door in page() for door in (cluster, workload))
    assert all(door in page("pods") for door in (node, cluster, workload))
    costs = page("cost")
    assert all(door in costs for door in (cluster, workload))
    idle = next(line for line in report.value.idle.lines if line.gpu_model)
    nodes = node_list_url(cluster=idle.cluster, model=idle.gpu_model or "", text=idle.instance_type)
    assert f'href="{escape(nodes)}"' in costs


def test_a_cost_line_points_to_its_price_on_the_page_of_prices(
    team: Team, report: PlanReport, pia: User, client_for: ClientFor
) -> None:
    text = client_for(pia).get(reverse("plans:price-list")).content.decode()

    priced = [row for row in report.cost_rows if row.line.price is not None]
    assert priced
    for row in priced:
        _address, _hash, anchor = row.price_url.partition("#")
        assert text.count(f'id="{anchor}"') == 1


def test_prices_open_the_nodes_of_that_machine(
    team: Team, fleet: list[Cluster], pia: User, client_for: ClientFor
) -> None:
    client = client_for(pia)
    lines = prices_in_use(team)
    assert lines
    for line in lines:
        table = client.get(line.nodes_url).context["table"]
        assert {row.record.gpu_model for row in table.rows} == {line.gpu_model}


def test_the_sentence_dates_its_snapshots_and_marks_newer_ones(
    page: Page, fleet: list[Cluster], solved: Plan, report: PlanReport
) -> None:
    fresh = page()
    assert re.search(r"on snapshots of \d{4}-\d\d-\d\d \d\d:\d\d", sentence(fresh))
    assert f'href="{reverse("plans:plan-tab", args=[solved.pk, "solver"])}#pins"' in fresh
    assert 'id="pins"' in page("solver")
    assert "newer snapshot" not in sentence(fresh)

    pinned = fleet[0].current_snapshot
    assert pinned is not None
    snapshots.publish(snapshots.build(cluster=fleet[0], inventory=pinned.inventory()))

    assert "1 newer snapshot" in sentence(page())


def test_the_chart_of_costs_is_on_the_first_tab_too(page: Page) -> None:
    assert 'data-chart="cost-USD-figure"' in page()
    assert 'data-chart="cost-USD-figure"' in page("cost")


def test_the_reason_of_a_pod_has_a_row_of_its_own(page: Page, report: PlanReport) -> None:
    assert page("pods").count('<tr class="pod-reason">') == len(report.pod_rows)


def test_the_nearest_miss_opens_the_node_that_it_names(
    team: Team, fleet: list[Cluster], pia: User, client_for: ClientFor,
    declare: Callable[..., Workload],
) -> None:  # fmt: skip
    big = declare(
        LlmWorkload(
            name="big",
            model="meta-llama/Meta-Llama-3.1-70B",
            replicas=40,
            constraints=Constraints(clusters=("train",)),
        )
    )
    plan = plan_services.create_plan(
        team=team, by=pia, name="big", workloads=[big], clusters=[], budget_s=5, seed=0
    )
    assert runner.run(plan_services.request_solve(plan=plan, by=pia).pk)
    plan.refresh_from_db()
    assert plan.current_run is not None
    report = PlanReport.of(plan.current_run)
    assert report is not None

    (waiting,) = report.waiting
    near = waiting.nearest

    assert near.before + near.link + near.after == waiting.result.nearest
    assert near.link.startswith("train / ")
    assert client_for(pia).get(near.url).status_code == 200


def test_a_sentence_without_a_node_keeps_its_words(report: PlanReport) -> None:
    near = Places([]).linked("Closest: nothing.", report.value.problem.nodes)

    assert (near.before, near.link, near.url) == ("Closest: nothing.", "", "")


def test_racks_of_the_same_name_are_told_apart_by_their_block() -> None:
    keys = [
        _Key("tokyo", path, "H100", 8, synthetic=False)
        for path in (("b1", "rack-1"), ("b2", "rack-1"), ("b2", "rack-2"), ())
    ]

    assert list(_labels(keys).values()) == [
        "tokyo / b1 / rack-1",
        "tokyo / b2 / rack-1",
        "tokyo / rack-2",
        "tokyo",
    ]


def test_a_page_that_waits_for_its_answer_can_already_draw_its_chart(
    plan: Plan, fleet: list[Cluster], pia: User, client_for: ClientFor
) -> None:
    plan_services.request_solve(plan=plan, by=pia)

    text = client_for(pia).get(reverse("plans:plan-detail", args=[plan.pk])).content.decode()

    assert "js/charts.js" in text  # the answer comes into this page, which is not loaded anew
