"""Workloads and inventories to a plan: sizing, placement, costs and the rows of the report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fleet.catalogue.prices import Price, PriceBook, default_book
from fleet.costs import (
    CostReport,
    IdleReport,
    NodePrices,
    cost_report,
    costs_retold,
    idle_cost,
    idle_retold,
    unit_price,
)
from fleet.csv_text import Cell, write_csv
from fleet.inventory import Inventory
from fleet.placement.capacity import capacity, main_currency, quota_rooms
from fleet.placement.demand import demand
from fleet.placement.notes import problem_notes
from fleet.placement.problem import Problem
from fleet.placement.result import Assignment, Placement
from fleet.placement.retelling import retold as placement_retold
from fleet.placement.solver import Budget, Cancelled, Progress, solve
from fleet.sizing.errors import SizingError
from fleet.sizing.requirement import Requirement, Shape
from fleet.sizing.size import size
from fleet.words import say
from fleet.workloads import Workload

REPORT_COLUMNS = (
    "plan",
    "workload",
    "kind",
    "replica",
    "pod",
    "cluster",
    "node",
    "gpu_model",
    "gpus",
    "memory_mib",
    "cost_per_hour",
    "price_source",
    "status",
    "reason",
    "currency",
)
"""Columns of the placement report; ``docs/report-columns.md`` says what each holds."""


class PlanError(ValueError):
    """A workload that cannot be planned: the message names it and what is wrong."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that one solve produced, with what it was made from."""

    workloads: tuple[Workload, ...]
    requirements: tuple[Requirement, ...]  # in the order of the workloads
    problem: Problem
    placement: Placement
    costs: CostReport
    idle: IdleReport  # after the plan
    pod_prices: tuple[Price | None, ...]
    """Price of the boards under each assignment, in the order of the assignments."""


def cards_in(inventories: Mapping[str, Inventory]) -> tuple[str, ...]:
    """Names of the GPU models that the inventories hold, in order."""
    return tuple(
        sorted(
            {
                group.model
                for inventory in inventories.values()
                for node in inventory.nodes
                for group in node.groups
                if group.model is not None
            }
        )
    )


def make_plan(
    workloads: Sequence[Workload],
    inventories: Mapping[str, Inventory],
    prices: PriceBook | None = None,
    budget: Budget | None = None,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> Plan:
    """Size every workload on the cards that there are, place them, and cost the answer.

    ``inventories`` by cluster name; ``prices`` default to the catalogue's list prices. Raises
    ``PlanError`` when a workload cannot be sized or two share a name.
    """
    book = prices if prices is not None else default_book()
    cards = cards_in(inventories)
    requirements = tuple(_size(workload, cards) for workload in workloads)
    currency = main_currency(inventories, book)
    nodes = capacity(inventories, book, currency)
    scoped = sum(bool(q.scopes) for i in inventories.values() for q in i.quotas)
    problem = Problem(
        nodes=nodes,
        demands=tuple(demand(w, r) for w, r in zip(workloads, requirements, strict=True)),
        quotas=quota_rooms(inventories),
        currency=currency,
        notes=problem_notes(nodes, currency, scoped),
        quotas_left_out=scoped,
    )
    try:
        placement = solve(problem, budget, seed=seed, progress=progress, cancelled=cancelled)
    except ValueError as error:
        raise PlanError(str(error)) from error
    return Plan(
        workloads=tuple(workloads),
        requirements=requirements,
        problem=problem,
        placement=placement,
        costs=cost_report(placement, inventories, book),
        idle=idle_cost(inventories, book, placement),
        pod_prices=_pod_prices(placement, NodePrices(inventories, book)),
    )


def _size(workload: Workload, cards: Sequence[str]) -> Requirement:
    try:
        return size(workload, cards=cards)
    except SizingError as error:
        raise PlanError(
            say(
                "workload {workload}: {field}: {message}",
                workload=workload.name,
                field=error.field,
                message=error.message,
            )
        ) from error


def retold(plan: Plan) -> Plan:
    """The same plan with its texts in the language that is spoken now, without solving.

    A requirement that this version of the program would size differently keeps its texts. What
    was noted while the clusters were read stays as it was written.
    """
    requirements = tuple(
        _requirement_retold(workload, requirement)
        for workload, requirement in zip(plan.workloads, plan.requirements, strict=True)
    )
    spoken = {w.name: demand(w, r) for w, r in zip(plan.workloads, requirements, strict=True)}
    demands = tuple(
        replace(
            d,
            shapes=spoken[d.workload].shapes,
            sizing_refusals=spoken[d.workload].sizing_refusals,
        )
        for d in plan.problem.demands
    )
    problem, placement = placement_retold(replace(plan.problem, demands=demands), plan.placement)
    return replace(
        plan,
        requirements=requirements,
        problem=problem,
        placement=placement,
        costs=costs_retold(plan.costs),
        idle=idle_retold(plan.idle),
    )


def _requirement_retold(workload: Workload, stored: Requirement) -> Requirement:
    cards = sorted({shape.gpu_model for shape in (*stored.shapes, *stored.refused)})
    try:
        found = size(workload, cards=cards)
    except SizingError:  # a model that this version no longer knows
        return stored
    return found if _figures(found) == _figures(stored) else stored


def _figures(requirement: Requirement) -> list[object]:
    """What a requirement says apart from its texts."""
    return [
        replace(shape, parallelism="", why="", lines=())
        for shape in (*requirement.shapes, *requirement.refused)
    ]


def _pod_prices(placement: Placement, prices: NodePrices) -> tuple[Price | None, ...]:
    return tuple(prices.of(a.cluster, a.node, a.gpu_model) for a in placement.assignments)


def price_text(price: Price | None) -> str:
    """Kind, basis, source and date of a price in one line; "no price" without one."""
    if price is None:
        return say("no price")
    dated = price.as_of.isoformat() if price.as_of is not None else say("undated")
    return f"{price.kind.value}: {price.basis} ({price.source}, {dated})"


def report_rows(plan: Plan, name: str) -> list[dict[str, Cell]]:
    """The placement report: one row a pod, and one for the waiting replicas of a workload.

    Of a replica with some of its pods placed, the others have a row of their own.

    Keys are ``REPORT_COLUMNS``. ``name`` is the plan's name.
    """
    kinds = {d.workload: d.kind for d in plan.problem.demands}
    shapes = {d.workload: d.shapes for d in plan.problem.demands}
    rows = [
        _placed_row(name, kinds[a.workload], a, shapes[a.workload][a.shape], price)
        for a, price in zip(plan.placement.assignments, plan.pod_prices, strict=True)
    ]
    return [*rows, *_waiting_rows(plan, name, kinds)]


def report_csv(plan: Plan, name: str) -> bytes:
    """The placement report as CSV (UTF-8 with BOM, formula-safe)."""
    return write_csv(
        REPORT_COLUMNS,
        ([row[column] for column in REPORT_COLUMNS] for row in report_rows(plan, name)),
    )


def _placed_row(
    name: str, kind: str, a: Assignment, shape: Shape, price: Price | None
) -> dict[str, Cell]:
    cost = unit_price(price, a.gpu_model, a.mig_profile) * a.gpus if price is not None else None
    return {
        "plan": name,
        "workload": a.workload,
        "kind": kind,
        "replica": a.replica,
        "pod": a.pod,
        "cluster": a.cluster,
        "node": a.node,
        "gpu_model": shape.unit,
        "gpus": a.gpus,
        "memory_mib": math.ceil(shape.use.total),
        "cost_per_hour": cost.amount if cost is not None else None,
        "price_source": price_text(price),
        "status": "placed",
        "reason": a.why_here,
        "currency": cost.currency if cost is not None else None,
    }


def _waiting_rows(plan: Plan, name: str, kinds: Mapping[str, str]) -> Iterator[dict[str, Cell]]:
    """A row for the missing pods of each replica in part, and one for all replicas without any."""
    totals = {d.workload: d.replicas for d in plan.problem.demands}
    for u in plan.placement.unplaced:
        row: dict[str, Cell] = dict.fromkeys(REPORT_COLUMNS)
        reason = (f"{u.code.value}: {u.sentence}", u.nearest)
        row |= {
            "plan": name,
            "workload": u.workload,
            "kind": kinds[u.workload],
            "status": "unplaced",
            "reason": " ".join(part for part in reason if part),
        }
        for part in u.parts:
            pods = _range(part.placed, part.pods - 1)
            yield row | {"replica": part.replica, "pod": pods}
        total, none_placed = totals[u.workload], u.replicas - len(u.parts)
        if none_placed:
            yield row | {"replica": _range(total - none_placed, total - 1)}


def _range(first: int, last: int) -> Cell:
    return first if first == last else f"{first}..{last}"
