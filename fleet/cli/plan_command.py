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
from fleet.words import say

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
            say(
                "{placed} of {wanted} replicas placed for {cost}; {proof}.",
                placed=wanted - waiting,
                wanted=wanted,
                cost=_cost(plan),
                proof=_proof(plan),
            )
        )
    )
    for unplaced in plan.placement.unplaced:
        write("\n")
        _show_unplaced(unplaced)
    rows = _placed(plan, name)
    if rows:
        columns = [
            Column(say("WORKLOAD")),
            Column(say("REPLICA"), right=True),
            Column(say("POD"), right=True),
            Column(say("CLUSTER")),
            Column(say("NODE")),
            Column(say("CARD")),
            Column(say("GPUS"), right=True),
            Column(say("PER HOUR"), right=True),
            Column(say("WHY HERE")),
        ]
        write("\n" + table(columns, rows))
    for note in dict.fromkeys((*plan.problem.notes, *plan.placement.notes)):
        write("\n" + paragraph(note))


def _show_unplaced(unplaced: Unplaced) -> None:
    title = say("{workload}: {n} not placed", workload=unplaced.workload, n=unplaced.replicas)
    write(coloured(escaped(title), "fail") + "\n")
    write(paragraph(unplaced.sentence, "  "))
    if unplaced.nearest:
        write(paragraph(unplaced.nearest, "  "))
    for step in unplaced.steps:
        example = f" ({step.example})" if step.example else ""
        write(
            paragraph(
                say(
                    "{step}: {after} of {before} nodes",
                    step=step.label,
                    after=step.nodes_after,
                    before=step.nodes_before,
                )
                + example,
                "    ",
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
            say("no price")
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
        return say("no known price")
    known = {"hour": " + ".join(hour), "month": " + ".join(month)}
    if not plan.costs.unpriced_gpus:
        return say("{hour} per hour, {month} per month", **known)
    return say(
        "{hour} per hour, {month} per month, and {gpus:f} GPUs without a price",
        **known,
        gpus=plan.costs.unpriced_gpus,
    )


def _money(amount: Money) -> str:
    return f"{amount.rounded().amount:,} {amount.currency}"


def _proof(plan: Plan) -> str:
    gap = plan.placement.gap
    if gap is None:
        return say(
            "{status}; how far from the best possible is not known",
            status=plan.placement.status.value,
        )
    if gap == 0:
        return say("proven best")
    return say("within {gap:.1%} of the best possible", gap=gap)
