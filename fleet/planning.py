"""Workloads and inventories to a plan: sizing, placement, costs and the rows of the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fleet.catalogue.prices import Price, PriceBook, default_book
from fleet.costs import CostReport, IdleReport, NodePrices, cost_report, idle_cost, unit_price
from fleet.csv_text import Cell, write_csv
from fleet.inventory import Inventory
from fleet.placement.capacity import capacity, main_currency, quota_rooms
from fleet.placement.demand import demand
from fleet.placement.problem import NodeCapacity, Problem, Slot
from fleet.placement.result import Assignment, Placement, Unplaced
from fleet.placement.solver import Budget, Cancelled, Progress, solve
from fleet.readiness.wording import many
from fleet.sizing.errors import SizingError
from fleet.sizing.requirement import Requirement, Shape
from fleet.sizing.size import size
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
"""Columns of the placement report; ``docs/placement.md`` says what each holds."""


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
    problem = Problem(
        nodes=nodes,
        demands=tuple(demand(w, r) for w, r in zip(workloads, requirements, strict=True)),
        quotas=quota_rooms(inventories),
        currency=currency,
        notes=_notes(inventories, nodes, currency),
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
        raise PlanError(f"workload {workload.name}: {error.field}: {error.message}") from error


def _notes(
    inventories: Mapping[str, Inventory], nodes: Sequence[NodeCapacity], currency: str
) -> tuple[str, ...]:
    """What the placement leaves out, in words."""
    notes: list[str] = []
    unknown = [node for node in nodes if node.unknown_cards]
    if unknown:
        notes.append(
            f"Unknown model: {many(sum(n.unknown_cards for n in unknown), 'GPU')} on "
            f"{many(len(unknown), 'node')}. They cannot be proved to fit and are not used."
        )
    unusable = sum(bool(node.unusable) for node in nodes)
    if unusable:
        notes.append(
            "Shared, partitioned, passed-through or DRA devices on "
            f"{many(unusable, 'node')} are not used: this version places on whole GPUs and MIG "
            "devices only."
        )
    scoped = sum(bool(q.scopes) for i in inventories.values() for q in i.quotas)
    if scoped:
        notes.append(
            f"{many(scoped, 'quota')} with scopes left out: such a quota covers only some pods."
        )
    unpriced = sorted({s.gpu_model for n in nodes for s in n.slots if not _has_price(s)})
    if unpriced:
        notes.append(
            f"No price in {currency} for {', '.join(unpriced)}: such cards rank after those with "
            "a price, the one with the least computing power first."
        )
    return tuple(notes)


def _has_price(slot: Slot) -> bool:
    return slot.price_per_unit_hour is not None


def _pod_prices(placement: Placement, prices: NodePrices) -> tuple[Price | None, ...]:
    return tuple(prices.of(a.cluster, a.node, a.gpu_model) for a in placement.assignments)


def price_text(price: Price | None) -> str:
    """Kind, basis, source and date of a price in one line; "no price" without one."""
    if price is None:
        return "no price"
    dated = price.as_of.isoformat() if price.as_of is not None else "undated"
    return f"{price.kind.value}: {price.basis} ({price.source}, {dated})"


def report_rows(plan: Plan, name: str) -> list[dict[str, Cell]]:
    """The placement report: one row a pod, and one for the waiting replicas of a workload.

    Keys are ``REPORT_COLUMNS``. ``name`` is the plan's name.
    """
    kinds = {d.workload: d.kind for d in plan.problem.demands}
    shapes = {d.workload: d.shapes for d in plan.problem.demands}
    rows = [
        _placed_row(name, kinds[a.workload], a, shapes[a.workload][a.shape], price)
        for a, price in zip(plan.placement.assignments, plan.pod_prices, strict=True)
    ]
    return rows + [_waiting_row(plan, name, kinds, u) for u in plan.placement.unplaced]


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


def _waiting_row(plan: Plan, name: str, kinds: Mapping[str, str], u: Unplaced) -> dict[str, Cell]:
    total = next(d.replicas for d in plan.problem.demands if d.workload == u.workload)
    first, last = total - u.replicas, total - 1
    return {
        "plan": name,
        "workload": u.workload,
        "kind": kinds[u.workload],
        "replica": first if first == last else f"{first}..{last}",
        "pod": None,
        "cluster": None,
        "node": None,
        "gpu_model": None,
        "gpus": None,
        "memory_mib": None,
        "cost_per_hour": None,
        "price_source": None,
        "status": "unplaced",
        "reason": " ".join(part for part in (f"{u.code.value}: {u.sentence}", u.nearest) if part),
        "currency": None,
    }
