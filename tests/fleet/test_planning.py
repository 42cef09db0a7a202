"""From workloads and inventories to a report, through sizing, placement and prices."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from decimal import Decimal

import msgspec
import pytest

from fleet.catalogue.prices import PriceBook
from fleet.inventory import Inventory, Quota
from fleet.placement.solver import Budget
from fleet.planning import (
    REPORT_COLUMNS,
    Plan,
    PlanError,
    cards_in,
    make_plan,
    report_csv,
    report_rows,
    retold,
)
from fleet.workloads import Constraints, EmbeddingWorkload, LlmWorkload, TrainingWorkload
from tests.fleet.inventories import gpu_node, group, inventory, levels, units

H100 = "H100-SXM5-80GB"


def fleet() -> dict[str, Inventory]:
    h100 = [
        gpu_node(
            f"h{n}", group(H100), topology=levels(rack=f"r{n % 2}"), instance_type="p5.48xlarge"
        )
        for n in range(4)
    ]
    t4 = gpu_node("t4", group("T4", units(count=4, requested=1), physical=4))
    return {"train": inventory(*h100), "prod": inventory(t4, gpu_node("odd", group(None)))}


WORKLOADS = (
    EmbeddingWorkload(name="embed", model="BAAI/bge-m3", replicas=3),
    LlmWorkload(name="chat", model="meta-llama/Meta-Llama-3.1-8B", replicas=2),
    TrainingWorkload(
        name="tune",
        model="meta-llama/Meta-Llama-3.1-8B",
        gpus=16,
        gpus_per_worker=8,
        constraints=Constraints(topology="rack"),
    ),
)


@pytest.fixture(scope="module")
def plan() -> Plan:
    wide = TrainingWorkload(
        name="wide", model="meta-llama/Meta-Llama-3.1-8B", gpus=64, gpus_per_worker=8
    )
    return make_plan((*WORKLOADS, wide), fleet(), budget=Budget(10))


def test_each_kind_of_workload_finds_its_place(plan: Plan) -> None:
    where = {a.workload: (a.cluster, a.gpu_model) for a in plan.placement.assignments}
    assert where["embed"] == ("prod", "T4")
    assert where["tune"] == ("train", H100)
    tune = [a for a in plan.placement.assignments if a.workload == "tune"]
    assert [a.gpus for a in tune] == [8, 8]
    assert len({int(a.node[1:]) % 2 for a in tune}) == 1


def test_the_report_has_one_row_a_pod_and_one_for_what_waits(plan: Plan) -> None:
    rows = report_rows(plan, "Q1")
    assert all(tuple(row) == REPORT_COLUMNS for row in rows)
    status = [row["status"] for row in rows]
    assert status.count("placed") == len(plan.placement.assignments)
    waiting = [row for row in rows if row["status"] == "unplaced"]
    assert [row["workload"] for row in waiting] == ["wide"]
    assert str(waiting[0]["reason"]).startswith("gang: ")
    assert waiting[0]["cost_per_hour"] is None


def test_costs_of_the_rows_add_up_to_the_report(plan: Plan) -> None:
    rows = report_rows(plan, "Q1")
    total = sum(
        (row["cost_per_hour"] for row in rows if isinstance(row["cost_per_hour"], Decimal)),
        Decimal(0),
    )
    assert (total,) == tuple(m.amount for m in plan.costs.per_hour)


def test_every_price_names_its_source_and_date(plan: Plan) -> None:
    placed = [row for row in report_rows(plan, "Q1") if row["status"] == "placed"]
    assert all("20" in str(row["price_source"]) for row in placed)
    assert {row["currency"] for row in placed} == {"USD"}


def test_the_csv_reads_back_as_the_same_rows_and_holds_no_formula(plan: Plan) -> None:
    rows = report_rows(plan, "=Q1")
    text = report_csv(plan, "=Q1").decode("utf-8-sig")
    back = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(back) == len(rows)
    for row, cells in zip(rows, back, strict=True):
        for column, value in row.items():
            shown = cells[column].removeprefix("'")
            assert shown == ("" if value is None else str(value))
    assert back[-1]["plan"] == "'=Q1"


def test_without_prices_the_report_says_no_price_and_never_zero() -> None:
    plan = make_plan(WORKLOADS, fleet(), PriceBook(use_catalogue=False), Budget(10))
    placed = [row for row in report_rows(plan, "Q1") if row["status"] == "placed"]
    assert {row["cost_per_hour"] for row in placed} == {None}
    assert {row["price_source"] for row in placed} == {"no price"}
    assert any("No price in USD" in note for note in plan.placement.notes)
    assert {a.gpu_model for a in plan.placement.assignments if a.workload == "embed"} == {"T4"}


def test_unknown_models_are_told_in_the_notes(plan: Plan) -> None:
    assert any("Unknown model: 8 GPUs on 1 node." in n for n in plan.placement.notes)
    assert cards_in(fleet()) == (H100, "T4")


def test_a_plan_can_be_stored_and_read_back(plan: Plan) -> None:
    stored = msgspec.msgpack.encode(plan)
    assert msgspec.msgpack.decode(stored, type=Plan) == plan


def test_two_workloads_of_one_name_are_refused_by_name() -> None:
    twice = (WORKLOADS[0], WORKLOADS[0])
    with pytest.raises(PlanError, match="embed"):
        make_plan(twice, fleet())


def test_a_workload_that_cannot_be_sized_is_named() -> None:
    with pytest.raises(PlanError, match="workload ghost"):
        make_plan([LlmWorkload(name="ghost", model="no/such-model")], fleet())


def test_a_plan_of_no_workloads_or_no_clusters_is_still_a_plan() -> None:
    assert report_rows(make_plan([], fleet()), "empty") == []
    nowhere = make_plan(WORKLOADS, {})
    assert {row["status"] for row in report_rows(nowhere, "nowhere")} == {"unplaced"}


def loosely(**more: object) -> TrainingWorkload:
    """Four workers of eight GPUs that need not run together."""
    return TrainingWorkload(
        name="loose",
        model="meta-llama/Meta-Llama-3.1-8B",
        gpus=32,
        gpus_per_worker=8,
        constraints=Constraints(gang=False, **more),  # type: ignore[arg-type]
    )


def test_the_missing_pods_of_a_replica_in_part_have_a_row_of_their_own() -> None:
    fleet_of_three = {"train": inventory(*(gpu_node(f"h{n}", group(H100)) for n in range(3)))}
    plan = make_plan([loosely()], fleet_of_three, budget=Budget(10))
    rows = report_rows(plan, "Q1")
    assert [(row["replica"], row["pod"], row["status"]) for row in rows] == [
        (0, 0, "placed"),
        (0, 1, "placed"),
        (0, 2, "placed"),
        (0, 3, "unplaced"),
    ]
    assert "1 replica has 3 of its 4 pods placed." in str(rows[-1]["reason"])


def test_replicas_without_any_pod_follow_in_a_row_of_their_own() -> None:
    fleet_of_two = {"train": inventory(*(gpu_node(f"h{n}", group(H100)) for n in range(2)))}
    three = msgspec.structs.replace(loosely(), replicas=3)
    rows = report_rows(make_plan([three], fleet_of_two, budget=Budget(10)), "Q1")
    waiting = [(row["replica"], row["pod"]) for row in rows if row["status"] == "unplaced"]
    assert waiting == [(0, "2..3"), ("1..2", None)]


def spoken_in(plan: Plan) -> list[object]:
    """All that a plan says or holds, but for the time it took."""
    return [
        plan.requirements,
        plan.problem,
        replace(plan.placement, seconds=0.0),
        plan.costs,
        plan.idle,
        plan.pod_prices,
    ]


WIDE = TrainingWorkload(
    name="wide", model="meta-llama/Meta-Llama-3.1-8B", gpus=64, gpus_per_worker=8
)
NO_MIG = EmbeddingWorkload(
    name="whole", model="BAAI/bge-m3", constraints=Constraints(allow_mig=False, gpu_models=("L4",))
)


def mixed_fleet() -> dict[str, Inventory]:
    limited = Quota("team", "q", {"requests.nvidia.com/gpu": "1"}, {}, ("NotTerminating",), None)
    found = fleet()
    found["prod"] = replace(found["prod"], quotas=(limited,))
    return found


def test_a_stored_plan_told_anew_is_the_plan_made_in_that_language(
    request: pytest.FixtureRequest,
) -> None:
    book = PriceBook(use_catalogue=False)  # what is said of prices belongs to the book
    workloads = (*WORKLOADS, WIDE, NO_MIG, loosely(topology="rack"))
    english = make_plan(workloads, mixed_fleet(), book, Budget(10))
    assert spoken_in(retold(english)) == spoken_in(english)
    stored = msgspec.msgpack.decode(msgspec.msgpack.encode(english), type=Plan)
    request.getfixturevalue("shouting")
    shouted = retold(stored)
    assert spoken_in(shouted) == spoken_in(make_plan(workloads, mixed_fleet(), book, Budget(10)))
    for told, before in (
        (shouted.requirements[0].shapes[0].why, english.requirements[0].shapes[0].why),
        (shouted.placement.notes[0], english.placement.notes[0]),
        (shouted.placement.unplaced[0].sentence, english.placement.unplaced[0].sentence),
        (shouted.placement.assignments[0].why_here, english.placement.assignments[0].why_here),
        (shouted.costs.lines[0].note, english.costs.lines[0].note),
    ):
        assert told != before
        assert told.casefold() == before.casefold()


def test_a_requirement_that_would_be_sized_otherwise_today_keeps_its_texts(
    plan: Plan, shouting: None
) -> None:
    first = plan.requirements[0]
    other = replace(first, shapes=(replace(first.shapes[0], memory_mib=1), *first.shapes[1:]))
    ghost = LlmWorkload(name="embed", model="no/such-model")
    assert retold(replace(plan, requirements=(other, *plan.requirements[1:]))).requirements[0] == (
        other
    )
    gone = retold(replace(plan, workloads=(ghost, *plan.workloads[1:])))
    assert gone.requirements[0] == first
