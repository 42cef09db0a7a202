"""CSV of what a page shows: the same rows, in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db.models import QuerySet
from django.http import HttpResponse

from fleet.csv_text import Cell, write_csv
from fleet.readiness.finding import question_title
from fleet.slots import SIZES, ModelSlots
from planner.inventory import findings as derived
from planner.inventory.models import Cluster, NodeRow, PodRow
from planner.inventory.pod_lines import PodLine, pod_line
from planner.inventory.queries import ClusterLine
from planner.inventory.running import OwnerLine
from planner.inventory.topology import DomainLevel
from planner.inventory.waiting import WaitingLine

Table = tuple[Sequence[str], Iterable[Sequence[Cell]]]


def csv_response(name: str, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> HttpResponse:
    """A CSV download. ``name`` is ours, so that no text of a cluster gets into a file name."""
    response = HttpResponse(write_csv(header, rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


_NODE_FIELDS = {
    "node": "name",
    "cluster": "snapshot__cluster__name",
    "gpu_model": "gpu_model",
    "model_label": "gpu_label",
    "sharing": "sharing",
    "squares": "squares",
    "pool": "pool",
    "instance_type": "instance_type",
    "zone": "zone",
    "takes_pods": "schedulable",
    "why_not": "not_schedulable_reason",
    "physical": "physical",
    "schedulable": "allocatable",
    "requested": "requested",
    "free": "free",
    "stranded": "stranded",
    "stranded_cause": "stranded_cause",
    "fragment": "fragment",
    "unhealthy": "unhealthy",
    "physical_estimated": "physical_estimated",
    "physical_source": "physical_source",
}
NODE_COLUMNS = tuple(_NODE_FIELDS)
_TAKES_PODS = NODE_COLUMNS.index("takes_pods")


def node_rows(nodes: QuerySet[NodeRow]) -> Table:
    """One row a node, in their order; counts are boards, an empty cell is unknown."""
    # Plain rows: an object a node would take ten times as long.
    rows = nodes.values_list(*_NODE_FIELDS.values())
    return NODE_COLUMNS, (
        (*row[:_TAKES_PODS], "yes" if row[_TAKES_PODS] else "no", *row[_TAKES_PODS + 1 :])
        for row in rows
    )


CLUSTER_COLUMNS = (
    "cluster",
    "source",
    "kubernetes_version",
    "end_of_life",
    "snapshot",
    "taken_at",
    "nodes",
    "gpu_nodes",
    "physical_gpus",
    "schedulable_gpus",
    "requested_gpus",
    "free_gpus",
    "stranded_gpus",
    "partly_used_gpus",
    "uncounted_nodes",
    "odd_objects",
    "fail",
    "warn",
    "unknown",
    "pass",
)


def cluster_rows(lines: Iterable[ClusterLine]) -> Table:
    """One row a cluster."""
    return CLUSTER_COLUMNS, [_cluster_row(line) for line in lines]


def _cluster_row(line: ClusterLine) -> list[Cell]:
    start: list[Cell] = [line.cluster.name, line.cluster.source]
    snapshot = line.snapshot
    if snapshot is None:
        return start + [None] * (len(CLUSTER_COLUMNS) - len(start))
    end_of_life = line.support.end_of_life if line.support else None
    return [
        *start,
        snapshot.kubernetes_version,
        end_of_life.isoformat() if end_of_life else None,
        snapshot.number,
        snapshot.taken_at.isoformat(timespec="seconds"),
        snapshot.node_count,
        snapshot.gpu_node_count,
        snapshot.physical_gpus,
        snapshot.schedulable_gpus,
        snapshot.requested_gpus,
        snapshot.free_gpus,
        snapshot.stranded_gpus,
        snapshot.partly_used_gpus,
        snapshot.uncounted_nodes,
        snapshot.problem_count,
        *(snapshot.verdicts.get(verdict, 0) for verdict in ("fail", "warn", "unknown", "pass")),
    ]


DOMAIN_COLUMNS = ("level", "label", "within", "domain", "gpu_nodes", "gpus", "free", "uncounted")


def domain_rows(levels: Iterable[DomainLevel]) -> Table:
    """One row a topology domain, coarse to fine."""
    return DOMAIN_COLUMNS, [
        (
            level.name,
            level.key,
            domain.parents,
            domain.value,
            domain.nodes,
            domain.physical,
            domain.free,
            domain.uncounted,
        )
        for level in levels
        for domain in level.domains
    ]


def slot_rows(models: Iterable[ModelSlots], levels: Sequence[str]) -> Table:
    """One row a model and place: the cluster first, then its domains. An empty cell is unknown."""
    models = list(models)
    sizes = models[0].sizes if models else SIZES
    header = (
        "model",
        "model_label",
        "level",
        "within",
        "domain",
        "gpu_nodes",
        "uncounted",
        "free",
        "largest_gang",
        "behind_taints",
        *(f"gangs_of_{size}" for size in sizes),
        *(f"gpus_of_a_pod_of_{size}" for size in sizes),
    )
    return header, [
        (
            model.model,
            model.label,
            levels[len(place.path) - 1] if place.path else "cluster",
            " / ".join(value or "?" for value in place.path[:-1]),
            (place.path[-1] or "?") if place.path else None,
            place.nodes,
            place.uncounted,
            place.free,
            place.largest,
            place.tainted,
            *place.gangs,
            *(gpus or None for gpus in place.pod_gpus),
        )
        for model in models
        for place in model.places
    ]


OWNER_COLUMNS = ("namespace", "owner", "state", "pods", "units", "resource")


def owner_rows(lines: Iterable[OwnerLine]) -> Table:
    """One row an owner and state."""
    return OWNER_COLUMNS, [
        (o.namespace, o.owner, o.state, o.pods, o.gpu_units, o.gpu_resource) for o in lines
    ]


POD_COLUMNS = (
    "namespace",
    "pod",
    "owner",
    "state",
    "node",
    "units",
    "resource",
    "asks_for",
    "gpu_fraction",
    "why",
    "since",
    "held_by",
    "stands_for",
)


def pod_rows(pods: Iterable[PodRow]) -> Table:
    """One row a pod: ``units`` are units of ``resource``; ``asks_for`` is everything that it asks
    for, each in its own unit."""
    return POD_COLUMNS, [_pod_row(pod_line(pod)) for pod in pods]


def _pod_row(line: PodLine) -> list[Cell]:
    pod, facts = line.pod, line.facts
    return [
        pod.namespace,
        pod.name,
        pod.owner,
        pod.state,
        pod.node_name,
        pod.gpu_units,
        pod.gpu_resource,
        line.asks,
        facts.fraction,
        facts.reason,
        facts.since.isoformat(timespec="seconds") if facts.since is not None else None,
        facts.held_by,
        "\n".join(facts.stands_for),
    ]


WAITING_COLUMNS = (
    "namespace",
    "owner",
    "state",
    "why",
    "since",
    "pods",
    "asks_for",
    "claim_devices",
    "gpu_fraction",
    "fits",
    "where_or_why_not",
)


def waiting_rows(lines: Iterable[WaitingLine]) -> Table:
    """One row for the pods of a workload that wait for one reason. ``fits`` is empty where that is
    not known."""
    return WAITING_COLUMNS, [
        (
            line.waiting.namespace,
            line.owner,
            line.waiting.state,
            line.waiting.reason,
            line.waiting.since.isoformat(timespec="seconds") if line.waiting.since else None,
            line.waiting.pods,
            line.asks,
            line.waiting.claim_devices,
            line.waiting.gpu_fraction,
            None if line.verdict is None else "yes" if line.verdict else "no",
            line.fit,
        )
        for line in lines
    ]


FINDING_COLUMNS = (
    "cluster",
    "question",
    "question_text",
    "check",
    "verdict",
    "title",
    "detail",
    "evidence",
    "costs",
    "remedy",
    "snippet",
    "source",
)


def finding_rows(clusters: Iterable[Cluster]) -> Table:
    """One row a finding; its evidence in one cell, an item a line."""
    clusters = list(clusters)
    found = derived.of_clusters(clusters)
    return FINDING_COLUMNS, [
        (
            cluster.name,
            finding.question,
            question_title(finding.question),
            finding.check,
            str(finding.verdict),
            finding.title,
            finding.detail,
            "\n".join(f"{e.object} {e.field}: {e.value}" for e in finding.evidence),
            finding.costs,
            finding.remedy,
            finding.snippet,
            finding.source,
        )
        for cluster in clusters
        for finding in found.get(cluster.pk, ())
    ]
