"""``gpu-fleet plan``: place workloads on clusters; what was not placed comes first, with why."""

from __future__ import annotations

import math

from fleet.catalogue.prices import Price, PriceKind
from fleet.cli.arguments import Options
from fleet.cli.sources import BadInput, ages, inventories, workloads
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
from fleet.readiness.wording import day_text
from fleet.units import Money
from fleet.words import say, say_many

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
        _show(plan, options.name, ages(options))
    return UNPLACED if plan.placement.unplaced else 0


def _show(plan: Plan, name: str, ages: tuple[str, ...]) -> None:
    wanted = sum(d.replicas for d in plan.problem.demands)
    waiting = sum(u.replicas for u in plan.placement.unplaced)
    write(paragraph(_sentence(plan, wanted - waiting, wanted)))
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
        write("\n" + say("Prices") + "\n")
        for line in _price_lines(plan):
            write(paragraph(line, "  "))
    write("\n" + say("Computed on") + "\n")
    for age in ages:
        write(paragraph(age, "  "))
    for note in dict.fromkeys((*plan.problem.notes, *plan.placement.notes)):
        write("\n" + paragraph(note))


def _sentence(plan: Plan, placed: int, wanted: int) -> str:
    """The answer in one sentence; what is not placed has no cost."""
    if not plan.placement.assignments:
        return say_many(
            "{placed} of {n} replica placed; {proof}.",
            "{placed} of {n} replicas placed; {proof}.",
            wanted,
            placed=placed,
            proof=_proof(plan),
        )
    return say_many(
        "{placed} of {n} replica placed for {cost}; {proof}.",
        "{placed} of {n} replicas placed for {cost}; {proof}.",
        wanted,
        placed=placed,
        cost=_cost(plan),
        proof=_proof(plan),
    )


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
                say_many(
                    "{step}: {after} of {n} node",
                    "{step}: {after} of {n} nodes",
                    step.nodes_before,
                    step=step.label,
                    after=step.nodes_after,
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
    unpriced = plan.costs.unpriced_gpus
    if not unpriced:
        return say("{hour} per hour, {month} per month", **known)
    return say_many(
        "{hour} per hour, {month} per month, and {gpus} GPU without a price",
        "{hour} per hour, {month} per month, and {gpus} GPUs without a price",
        math.ceil(unpriced),
        **known,
        gpus=f"{unpriced.normalize():f}",
    )


def _price_lines(plan: Plan) -> list[str]:
    """One line for each price that the placed pods have, with where it comes from and its date."""
    used = dict.fromkeys(
        (a.gpu_model, price)
        for a, price in zip(plan.placement.assignments, plan.pod_prices, strict=True)
    )
    return [_price_line(gpu_model, price) for gpu_model, price in used]


def _price_line(gpu_model: str, price: Price | None) -> str:
    if price is None:
        return say("{gpu_model}: no price", gpu_model=gpu_model)
    return say(
        "{gpu_model} {amount} a GPU-hour: {kind}, {basis}, {source}, {day}",
        gpu_model=gpu_model,
        amount=_money(price.per_gpu_hour),
        kind=_kind(price.kind),
        basis=price.basis,
        source=price.source,
        day=day_text(price.as_of) if price.as_of is not None else say("undated"),
    )


def _kind(kind: PriceKind) -> str:
    return {
        PriceKind.LIST: say("list price"),
        PriceKind.NEGOTIATED: say("negotiated price"),
        PriceKind.COMMITTED: say("committed price"),
        PriceKind.SPOT: say("spot price"),
        PriceKind.OWNED: say("own hardware"),
    }[kind]


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
