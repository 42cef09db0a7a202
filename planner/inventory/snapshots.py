"""Storing an inventory as a snapshot and making it visible.

``build`` writes rows that no page can reach; ``publish`` makes them the cluster's current
snapshot by one UPDATE. A reader therefore sees the old snapshot or the new one, never a part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from itertools import batched

import msgspec
from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import override

from fleet.boards.asked import asked
from fleet.inventory import Inventory
from fleet.inventory_report.waiting import waiting_in
from fleet.readiness import report
from planner.inventory import bulk, flags, serving_facts, stored_figures, topology_facts
from planner.inventory.models import Cluster, NodeRow, NodeValue, PodRow, Snapshot
from planner.inventory.rows import (
    POD_COLUMNS,
    VALUE_COLUMNS,
    count,
    duplicates,
    node_rows,
    pod_rows,
    storable,
    storable_json,
    value_rows,
)

BATCH = 500
POD_BATCH = 2000  # plain rows: some 20 ms of the database's time


def build(
    *,
    cluster: Cluster,
    inventory: Inventory,
    files: Iterable[str] = (),
    read_seconds: float = 0.0,
    job_id: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Snapshot:
    """Write ``inventory`` as an incomplete snapshot of ``cluster``: nobody sees it yet.

    Rows go in batches, each a statement of its own, so that a large cluster never holds the
    database for long. ``progress`` hears how many rows are written and may raise to stop.
    """
    snapshot = _new_snapshot(cluster, inventory, files, read_seconds, job_id)
    written = 0
    for nodes in batched(node_rows(snapshot, inventory.nodes, asked(inventory)), BATCH):
        NodeRow.objects.bulk_create(nodes)
        written += len(nodes)
        if progress is not None:
            progress(written)
    serving_facts.store(snapshot, inventory)
    for values in batched(value_rows(snapshot, inventory.nodes), BATCH):
        bulk.insert(NodeValue, VALUE_COLUMNS, values)
        if progress is not None:
            progress(written)
    for pods in batched(pod_rows(snapshot, inventory.pods), POD_BATCH):
        bulk.insert(PodRow, POD_COLUMNS, pods)
        written += len(pods)
        if progress is not None:
            progress(written)
    return snapshot


def publish(snapshot: Snapshot, *, laid_from: Snapshot | None = None) -> None:
    """Make ``snapshot`` the one that its cluster shows.

    Call it inside the transaction that also holds the job (``Run.guard``). A snapshot that fell
    to less than half of the one before, that lists no pod or no node, that may lack GPUs, or that
    was not read at one moment, is accepted and flagged.
    One that was made from the objects of another (``laid_from``) keeps the flags of that one.
    """
    if laid_from is not None:
        snapshot.flags = laid_from.flags
    else:
        previous = Snapshot.objects.filter(
            pk__in=Cluster.objects.filter(pk=snapshot.cluster_id).values("current_snapshot")
        ).first()
        snapshot.flags = flags.flags_of(previous, snapshot)
    Snapshot.objects.filter(pk=snapshot.pk).update(is_complete=True, flags=snapshot.flags)
    Cluster.objects.filter(pk=snapshot.cluster_id).update(current_snapshot=snapshot)


def _new_snapshot(
    cluster: Cluster,
    inventory: Inventory,
    files: Iterable[str],
    read_seconds: float,
    job_id: int | None,
) -> Snapshot:
    today: date = timezone.now().date()
    with override("en"):  # whoever starts the sync: readers of all languages share the snapshot
        findings = report.check(inventory, today=today)
    figures = stored_figures.figures_of(inventory)
    totals = figures.summary.totals
    # Where nobody says how many boards there are, the sums of nothing are not an answer.
    is_known = totals.known_physical is not None
    problems = [*inventory.problems, *duplicates(inventory.nodes)]
    snapshot = Snapshot(
        cluster=cluster,
        taken_at=inventory.taken_at or timezone.now(),
        read_seconds=read_seconds,
        job_id=job_id,
        files=[storable(name, 200) for name in files],
        kubernetes_version=storable(inventory.version.git_version, 60),
        provider=storable(inventory.provider, 40),
        topology_keys=storable_json(inventory.topology_keys),
        topology=storable_json(topology_facts.facts(inventory)),
        node_count=len(inventory.nodes),
        gpu_node_count=sum(node.is_gpu_node for node in inventory.nodes),
        pod_count=len(inventory.pods) + inventory.other_pods,
        physical_gpus=count(totals.physical) if is_known else None,
        schedulable_gpus=count(totals.schedulable) if is_known else None,
        requested_gpus=count(totals.known_requested),
        free_gpus=count(totals.known_free),
        stranded_gpus=count(totals.stranded) if is_known else None,
        fragment_gpus=count(totals.fragments) if is_known else None,
        partly_used_gpus=count(totals.unknown) if is_known else None,
        uncounted_nodes=totals.uncounted_nodes,
        problem_count=len(problems),
        reads=storable_json(msgspec.to_builtins(inventory.reads)),
        problems=[storable(line, 500) for line in problems],
        waiting=storable_json(msgspec.to_builtins(waiting_in(inventory))),
        figures=stored_figures.encoded(figures),
        findings=storable_json(msgspec.to_builtins(findings)),
        verdicts={str(verdict): number for verdict, number in report.counts(findings).items()},
    )
    snapshot.set_inventory(inventory)
    with transaction.atomic():
        Cluster.objects.select_for_update().filter(pk=cluster.pk).first()  # numbers one by one
        highest = Snapshot.objects.filter(cluster=cluster).aggregate(Max("number"))["number__max"]
        snapshot.number = (highest or 0) + 1
        snapshot.save()
    return snapshot
