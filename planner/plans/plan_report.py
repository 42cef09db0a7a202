"""The view of a solved run: sentence, what waits, what is placed, and what it costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from fleet.costs import CostLine, IdleLine, sums
from fleet.placement.problem import Demand
from fleet.placement.result import Assignment, Unplaced
from fleet.planning import Plan as PlanValue
from fleet.planning import report_rows
from fleet.units import Money
from planner.frame import ages
from planner.inventory.models import Snapshot
from planner.inventory.queries import NO_MODEL, node_list_url
from planner.plans import run_results
from planner.plans.models import PlanRun, Workload
from planner.plans.plan_places import (
    ClusterDoor,
    LinkedText,
    NodeDoor,
    NodesOfCluster,
    Places,
    cluster_words,
)
from planner.plans.plan_words import percent_text, proof_text, seconds_text, shape_text
from planner.plans.price_anchors import price_url

MOST_IN_CHART = 8
"""Bars of the chart on the first tab; the Cost tab has them all."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A workload of which some replicas wait."""

    name: str
    url: str
    about: str
    waiting: int
    in_part: int  # of the waiting: some of their pods are placed
    wanted: int
    result: Unplaced
    nearest: LinkedText


@dataclass(frozen=True, slots=True)
class Placed:
    """A workload of which some replicas, or some pods of one, are placed."""

    name: str
    url: str
    kind: str
    placed: int
    wanted: int
    pods_of_replica: int
    gang: bool
    parts: tuple[int, int] | None  # pods placed and wanted of replicas that are not whole
    shapes: tuple[str, ...]
    places: tuple[NodesOfCluster, ...]
    why: tuple[str, ...]
    hour: tuple[Money, ...]
    month: tuple[Money, ...]
    unpriced: bool

    @property
    def is_whole(self) -> bool:
        return self.placed >= self.wanted


@dataclass(frozen=True, slots=True)
class CostRow:
    line: CostLine
    kind: str
    url: str
    cluster: ClusterDoor
    price_url: str


@dataclass(frozen=True, slots=True)
class IdleRow:
    line: IdleLine
    cluster: ClusterDoor
    nodes_url: str  # the nodes of that model and machine, as they are now


@dataclass(frozen=True, slots=True)
class PodRow:
    """One row of the CSV with its doors; None where the pod waits."""

    cells: dict[str, Any]
    url: str
    cluster: ClusterDoor | None
    node: NodeDoor | None


class PlanReport:
    """One run, decoded, with the rows that the tabs of the plan page show."""

    def __init__(self, run: PlanRun, value: PlanValue) -> None:
        self.run, self.value = run, value
        self._rows = Workload.objects.filter(team_id=run.plan.team_id).values_list("name", "pk")

    @classmethod
    def of(cls, run: PlanRun) -> PlanReport | None:
        """None when the run has no answer (yet)."""
        if run.result is None:
            return None
        return cls(run, run_results.spoken(run_results.decode(bytes(run.result))))

    @cached_property
    def urls(self) -> dict[str, str]:
        return {name: reverse("plans:workload-detail", args=[pk]) for name, pk in self._rows}

    @cached_property
    def demands(self) -> dict[str, Demand]:
        return {demand.workload: demand for demand in self.value.problem.demands}

    @cached_property
    def assignments(self) -> dict[str, list[Assignment]]:
        found: dict[str, list[Assignment]] = defaultdict(list)
        for assignment in self.value.placement.assignments:
            found[assignment.workload].append(assignment)
        return found

    @cached_property
    def snapshots(self) -> list[Snapshot]:
        """The pinned snapshots, without their value."""
        return list(
            Snapshot.objects.filter(pins__run=self.run)
            .select_related("cluster")
            .defer("value", "reads", "problems", "findings")
            .order_by("cluster__name")
        )

    @cached_property
    def places(self) -> Places:
        return Places(snapshot.cluster for snapshot in self.snapshots)

    @property
    def stale(self) -> list[Snapshot]:
        """Pinned snapshots whose cluster shows a newer one."""
        return [s for s in self.snapshots if s.cluster.current_snapshot_id != s.pk]

    @cached_property
    def waiting(self) -> list[Waiting]:
        return [
            Waiting(
                name=result.workload,
                url=self.urls.get(result.workload, ""),
                about=self._about(self.demands[result.workload], result.shape),
                waiting=result.replicas,
                in_part=len(result.parts),
                wanted=self.demands[result.workload].replicas,
                result=result,
                nearest=self.places.linked(result.nearest, self.value.problem.nodes),
            )
            for result in self.value.placement.unplaced
        ]

    @cached_property
    def placed(self) -> list[Placed]:
        counts = run_results.placed_replicas(self.value)
        return [
            self._placed(demand, self.assignments[name], counts[name])
            for name, demand in self.demands.items()
            if self.assignments.get(name)
        ]

    def _placed(self, demand: Demand, pods: list[Assignment], placed: int) -> Placed:
        lines = self.value.costs.of(demand.workload)
        shapes = dict.fromkeys(a.shape for a in pods)
        parts = [part for u in self._unplaced(demand.workload) for part in u.parts]
        hour = sums(line.per_hour for line in lines if line.per_hour is not None)
        return Placed(
            name=demand.workload,
            url=self.urls.get(demand.workload, ""),
            kind=str(Workload.Kind(demand.kind).label),
            placed=placed,
            wanted=demand.replicas,
            pods_of_replica=max(demand.shapes[index].pods for index in shapes),
            gang=demand.gang,
            parts=(sum(p.placed for p in parts), sum(p.pods for p in parts)) if parts else None,
            shapes=tuple(
                shape_text(demand.shapes[index], _replicas_of(pods, index)) for index in shapes
            ),
            places=self._places(pods),
            why=tuple(dict.fromkeys(a.why_here for a in pods))[:3],
            hour=hour,
            month=tuple(amount.per_month() for amount in hour),
            unpriced=any(line.per_hour is None for line in lines),
        )

    def _places(self, pods: Iterable[Assignment]) -> tuple[NodesOfCluster, ...]:
        nodes: dict[str, list[str]] = defaultdict(list)
        for a in pods:
            nodes[a.cluster].append(a.node)
        return tuple(self.places.nodes(cluster, found) for cluster, found in sorted(nodes.items()))

    def _unplaced(self, workload: str) -> list[Unplaced]:
        return [u for u in self.value.placement.unplaced if u.workload == workload]

    def _about(self, demand: Demand, closest: int | None) -> str:
        """What waits, with the shape that the reason is about, where it is about one."""
        parts = [str(Workload.Kind(demand.kind).label)]
        parts.append(
            ngettext("%(n)d replica", "%(n)d replicas", demand.replicas) % {"n": demand.replicas}
        )
        allowed = [s for s in demand.shapes if s.gpu_model in (demand.gpu_models or [s.gpu_model])]
        if closest is not None:
            parts.append(shape_text(demand.shapes[closest], 1))
        elif allowed:
            parts.append(shape_text(allowed[0], 1))
        elif demand.gpu_models:
            parts.append(", ".join(demand.gpu_models[:3]))
        if demand.domain != "any":
            parts.append(_("one %(domain)s") % {"domain": demand.domain})
        return ", ".join(parts)

    @cached_property
    def cost_rows(self) -> list[CostRow]:
        rows = [
            CostRow(
                line,
                self.demands[line.workload].kind,
                self.urls.get(line.workload, ""),
                self.places.cluster(line.cluster),
                price_url(line.gpu_model, line.price),
            )
            for line in self.value.costs.lines
        ]
        return sorted(rows, key=lambda row: -(row.line.per_hour.amount if row.line.per_hour else 0))

    @cached_property
    def idle_rows(self) -> list[IdleRow]:
        return [
            IdleRow(
                line,
                self.places.cluster(line.cluster),
                node_list_url(
                    cluster=line.cluster,
                    model=line.gpu_model or NO_MODEL,
                    text=line.instance_type[:100],
                ),
            )
            for line in self.value.idle.lines
        ]

    @cached_property
    def totals(self) -> list[Money]:
        """A month of all that is placed, one for each currency."""
        months = run_results.month_totals(self.value)
        return [Money(months[code], code) for code in sorted(months)]

    @cached_property
    def pod_rows(self) -> list[dict[str, Any]]:
        """One row a pod: the same rows as the CSV."""
        return report_rows(self.value, self.run.plan.name)

    def pod_row(self, cells: dict[str, Any]) -> PodRow:
        """One of ``pod_rows`` with its doors."""
        cluster, node = cells["cluster"], cells["node"]
        return PodRow(
            cells,
            self.urls.get(cells["workload"], ""),
            self.places.cluster(cluster) if cluster else None,
            self.places.node(cluster, node) if node else None,
        )

    @cached_property
    def figures(self) -> dict[str, int]:
        return run_results.counts(self.value)

    @property
    def where(self) -> str:
        """ "on 3 clusters (2 of them synthetic)"; "" when nothing is placed."""
        used = {a.cluster for a in self.value.placement.assignments}
        synthetic = sum(self.places.cluster(name).synthetic for name in used)
        return cluster_words(len(used), synthetic) if used else ""

    @property
    def unpriced(self) -> list[str]:
        return run_results.unpriced_workloads(self.value)

    @property
    def proof(self) -> str:
        return proof_text(str(self.value.placement.status), self.value.placement.gap)

    @property
    def gap_percent(self) -> str:
        return percent_text(self.value.placement.gap or 0.0)

    @property
    def notes(self) -> list[str]:
        """What the placement leaves out, and what the solver has to say."""
        return list(dict.fromkeys((*self.value.problem.notes, *self.value.placement.notes)))

    @property
    def idle_totals(self) -> list[Money]:
        """A month of what nobody asks for after the plan, one for each currency."""
        return [amount.per_month() for amount in self.value.idle.per_hour]

    def month_by_model(
        self, most: int | None = None
    ) -> dict[str, list[tuple[str, dict[str, Decimal]]]]:
        """By currency: each placed workload with its month by GPU model, for the chart; with
        ``most`` the costliest alone."""
        found: dict[str, dict[str, dict[str, Decimal]]] = {}
        for line in self.value.costs.lines:
            if line.per_month is not None:
                parts = found.setdefault(line.per_month.currency, {}).setdefault(line.workload, {})
                held = parts.get(line.gpu_model, Decimal(0))
                parts[line.gpu_model] = held + line.per_month.amount
        return {
            code: sorted(costs.items(), key=lambda item: -sum(item[1].values()))[:most]
            for code, costs in sorted(found.items())
        }

    @property
    def solved_in(self) -> str:
        return seconds_text(self.value.placement.seconds)

    @property
    def snapshot_time(self) -> str:
        """When the pinned snapshots were taken: "2026-12-01 10:42", or a range."""
        moments = [timezone.localtime(s.taken_at) for s in self.snapshots]
        if not moments:
            return ""
        form = "Y-m-d H:i"
        first, last = date_format(min(moments), form), date_format(max(moments), form)
        return first if first == last else _("%(a)s to %(b)s") % {"a": first, "b": last}

    @property
    def snapshot_age(self) -> str:
        """How old the oldest of the pinned snapshots is: "3 min ago"."""
        moments = [s.taken_at for s in self.snapshots]
        return ages.text(min(moments), timezone.now()) if moments else ""

    @cached_property
    def has_changed(self) -> bool:
        """Whether the plan's workloads, budget or seed are no longer those of this run."""
        plan, inputs = self.run.plan, self.run.inputs
        specs = list(plan.workloads.order_by("name").values_list("spec", flat=True))
        clusters = list(plan.clusters.order_by("pk").values_list("pk", flat=True))
        now = (specs, clusters, plan.budget_s, plan.seed)
        then = tuple(inputs.get(key) for key in ("workloads", "clusters", "budget_s", "seed"))
        return now != then


def _replicas_of(pods: Iterable[Assignment], shape: int) -> int:
    return len({a.replica for a in pods if a.shape == shape})
