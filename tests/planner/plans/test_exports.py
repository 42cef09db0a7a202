from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from fleet.workloads import Constraints, LlmWorkload
from planner.accounts.models import User
from planner.inventory.models import Cluster
from planner.jobs import runner
from planner.plans import plan_services, run_results
from planner.plans.models import Plan, PlanRun, Workload

ClientFor = Callable[..., Client]
DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture
def solved(
    plan: Plan, fleet: list[Cluster], declare: Callable[..., Workload], pia: User
) -> PlanRun:
    """A run with placed and waiting workloads, of a plan whose name is a formula."""
    plan.name = '=HYPERLINK("http://evil","x")'
    plan.save()
    plan.workloads.add(
        declare(
            LlmWorkload(
                name="waits",
                model="meta-llama/Meta-Llama-3.1-8B",
                replicas=3,
                constraints=Constraints(gpu_models=("B200",)),
            )
        )
    )
    job = plan_services.request_solve(plan=plan, by=pia)
    assert runner.run(job.pk)
    plan.refresh_from_db()
    assert plan.current_run is not None
    return plan.current_run


def read(content: bytes) -> list[dict[str, str]]:
    assert content.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_the_csv_has_one_row_a_pod_and_one_for_what_waits(
    solved: PlanRun, vic: User, client_for: ClientFor
) -> None:
    response = client_for(vic).get(reverse("plans:plan-csv", args=[solved.plan_id]))

    rows = read(response.content)
    placement = run_results.decode(bytes(solved.result or b"")).placement
    assert len(rows) == len(placement.assignments) + len(placement.unplaced)
    placed = [row for row in rows if row["status"] == "placed"]
    for row, pod in zip(placed, placement.assignments, strict=True):
        assert (row["workload"], row["cluster"], row["node"]) == (
            pod.workload,
            pod.cluster,
            pod.node,
        )
        assert int(row["gpus"]) == pod.gpus
    waiting = next(row for row in rows if row["workload"] == "waits")
    assert (waiting["status"], waiting["replica"]) == ("unplaced", "0..2")
    assert waiting["cost_per_hour"] == ""


def test_no_cell_of_the_csv_starts_a_formula(
    solved: PlanRun, vic: User, client_for: ClientFor
) -> None:
    response = client_for(vic).get(reverse("plans:plan-csv", args=[solved.plan_id]))

    rows = read(response.content)
    assert {row["plan"] for row in rows} == {'\'=HYPERLINK("http://evil","x")'}
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "evil" not in response["Content-Disposition"]


def test_every_column_of_the_csv_is_documented(
    solved: PlanRun, vic: User, client_for: ClientFor
) -> None:
    response = client_for(vic).get(reverse("plans:plan-csv", args=[solved.plan_id]))

    header = list(read(response.content)[0])
    page = (DOCS / "report-columns.md").read_text(encoding="utf-8")
    documented = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert documented == header


def test_a_pod_without_a_price_has_an_empty_cost_and_says_so(
    solved: PlanRun, vic: User, client_for: ClientFor
) -> None:
    rows = read(client_for(vic).get(reverse("plans:plan-csv", args=[solved.plan_id])).content)

    for row in rows:
        if row["status"] == "placed":
            assert (row["cost_per_hour"] == "") == (row["price_source"] == "no price")
            assert row["cost_per_hour"] != "0"


def test_the_json_holds_rows_and_pinned_snapshots(
    solved: PlanRun, vic: User, client_for: ClientFor
) -> None:
    response = client_for(vic).get(reverse("plans:plan-json", args=[solved.plan_id]))

    content = json.loads(response.content)
    assert content["run"] == solved.number
    assert {s["cluster"] for s in content["snapshots"]} == {"mixed", "train"}
    assert content["counts"]["wanted_workloads"] == 4
    assert {row["workload"] for row in content["rows"]} >= {"chat", "waits"}


def test_an_unsolved_plan_has_nothing_to_export(
    plan: Plan, vic: User, client_for: ClientFor
) -> None:
    client = client_for(vic)

    for name in ("plan-csv", "plan-json"):
        assert client.get(reverse(f"plans:{name}", args=[plan.pk])).status_code == 404


@pytest.mark.parametrize("run", ["99", "x", "-1", "1" * 40, "١"])
def test_a_run_that_is_not_there_is_not_found(
    run: str, solved: PlanRun, vic: User, client_for: ClientFor
) -> None:
    address = reverse("plans:plan-detail", args=[solved.plan_id])

    assert client_for(vic).get(address, {"run": run}).status_code == 404


def test_an_older_run_stays_readable(solved: PlanRun, pia: User, client_for: ClientFor) -> None:
    job = plan_services.request_solve(plan=solved.plan, by=pia)
    runner.run(job.pk)
    client = client_for(pia)

    page = client.get(reverse("plans:plan-detail", args=[solved.plan_id]), {"run": "1"})
    file = client.get(reverse("plans:plan-csv", args=[solved.plan_id]), {"run": "1"})

    assert "not at the newest answer" in page.content.decode()
    assert "run-1.csv" in file["Content-Disposition"]


def test_the_command_solves_a_plan_by_name(plan: Plan, fleet: list[Cluster]) -> None:
    with_csv, in_words = io.StringIO(), io.StringIO()
    plan.workloads.set(plan.workloads.filter(name="chat"))

    call_command("plan", "search", "Q1 capacity", "--csv", stdout=with_csv)
    call_command("plan", "search", "Q1 capacity", stdout=in_words)

    assert {row["workload"] for row in read(with_csv.getvalue().encode())} == {"chat"}
    assert "1 of 1 workload placed. Proven best" in in_words.getvalue()
    with pytest.raises(CommandError, match="no plan named"):
        call_command("plan", "search", "Q9")


def test_the_command_ends_with_3_when_something_waits(
    plan: Plan, fleet: list[Cluster], declare: Callable[..., Workload]
) -> None:
    only_b200 = Constraints(gpu_models=("B200",))
    plan.workloads.add(
        declare(
            LlmWorkload(name="waits", model="meta-llama/Meta-Llama-3.1-8B", constraints=only_b200)
        )
    )

    with pytest.raises(SystemExit) as end:
        call_command("plan", "search", "Q1 capacity", stdout=io.StringIO())

    assert end.value.code == 3
