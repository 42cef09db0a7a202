"""``gpu-fleet plan``: place workloads on clusters; what was not placed comes first, with why."""

from __future__ import annotations

from fleet.cli.arguments import Options
from fleet.cli.sources import BadInput, inventories, workloads
from fleet.cli.terminal import (
    Column,
    coloured,
    escaped,
    paragraph,
    table,
    write,
    write_bytes,
    write_json,
)
from fleet.placement.result import Unplaced
from fleet.placement.solver import Budget
from fleet.planning import Plan, PlanError, make_plan, report_csv, report_rows
from fleet.units import Money

UNPLACED = 3


def run(options: Options) -> int:
    declared = workloads(options)
    clusters = inventories(options)
    try:
        plan = make_plan(
            declared, clusters, budget=Budget(seconds=options.seconds), seed=options.seed
        )
    except PlanError as error:
        raise BadInput(f"{options.workloads}: {error}") from error
    if options.form == "json":
        write_json(
            {
                "plan": options.name,
                "rows": report_rows(plan, options.name),
                "placement": plan.placement,
                "requirements": plan.requirements,
                "costs": plan.costs,
                "notes": plan.problem.notes,
            }
        )
    elif options.form == "csv":
        write_bytes(report_csv(plan, options.name))
    else:
        _show(plan, options.name)
    return UNPLACED if plan.placement.unplaced else 0


def _show(plan: Plan, name: str) -> None:
    wanted = sum(d.replicas for d in plan.problem.demands)
    waiting = sum(u.replicas for u in plan.placement.unplaced)
    write(
        paragraph(
            f"{wanted - waiting} of {wanted} replicas placed for {_cost(plan)}; {_proof(plan)}."
        )
    )
    for unplaced in plan.placement.unplaced:
        write("\n")
        _show_unplaced(unplaced)
    rows = _placed(plan, name)
    if rows:
        columns = [
            Column("WORKLOAD"),
            Column("REPLICA", right=True),
            Column("POD", right=True),
            Column("CLUSTER"),
            Column("NODE"),
            Column("CARD"),
            Column("GPUS", right=True),
            Column("PER HOUR", right=True),
            Column("WHY HERE"),
        ]
        write("\n" + table(columns, rows))
    for note in dict.fromkeys((*plan.problem.notes, *plan.placement.notes)):
        write("\n" + paragraph(note))


def _show_unplaced(unplaced: Unplaced) -> None:
    title = f"{unplaced.workload}: {unplaced.replicas} not placed"
    write(coloured(escaped(title), "fail") + "\n")
    write(paragraph(unplaced.sentence, "  "))
    if unplaced.nearest:
        write(paragraph(unplaced.nearest, "  "))
    for step in unplaced.steps:
        example = f" ({step.example})" if step.example else ""
        write(
            paragraph(
                f"{step.label}: {step.nodes_after} of {step.nodes_before} nodes{example}", "    "
            )
        )


def _placed(plan: Plan, name: str) -> list[list[str]]:
    return [
        [
            str(row["workload"]),
            str(row["replica"]),
            str(row["pod"]),
            str(row["cluster"]),
            str(row["node"]),
            str(row["gpu_model"]),
            str(row["gpus"]),
            "no price"
            if row["cost_per_hour"] is None
            else f"{row['cost_per_hour']:,.2f} {row['currency']}",
            str(row["reason"]),
        ]
        for row in report_rows(plan, name)
        if row["status"] == "placed"
    ]


def _cost(plan: Plan) -> str:
    hour = [_money(amount) for amount in plan.costs.per_hour]
    month = [_money(amount) for amount in plan.costs.per_month]
    if not hour:
        return "no known price"
    text = f"{' + '.join(hour)} per hour, {' + '.join(month)} per month"
    if plan.costs.unpriced_gpus:
        text += f", and {plan.costs.unpriced_gpus:f} GPUs without a price"
    return text


def _money(amount: Money) -> str:
    return f"{amount.rounded().amount:,} {amount.currency}"


def _proof(plan: Plan) -> str:
    gap = plan.placement.gap
    if gap is None:
        return f"{plan.placement.status.value}; how far from the best possible is not known"
    if gap == 0:
        return "proven best"
    return f"within {gap:.1%} of the best possible"
