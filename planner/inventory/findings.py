"""Findings on clusters as their reader takes them: in the reader's language, and with what the
team's declared workloads add.

A snapshot is stored with its findings in English. In another language they are derived anew from
the snapshot's inventory, as of the day on which it was stored, so that no verdict changes with the
language. Findings on declared workloads are derived for every reader, since workloads are declared
after a sync, too; what they need of the cluster is stored beside the snapshot. What was derived
stays in the cache for all readers of a snapshot and a language: a snapshot never changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import msgspec
from django.core.cache import cache
from django.utils.translation import get_language

from fleet.inventory import Inventory
from fleet.readiness import report
from fleet.readiness.finding import Finding
from fleet.sizing.errors import SizingError
from fleet.sizing.requirement import Requirement
from fleet.sizing.size import size
from fleet.workloads import Workload
from planner.inventory import declaring, serving_facts
from planner.inventory.models import Cluster, Snapshot
from planner.inventory.rows import storable_json
from planner.inventory.serving_facts import Serving

KEPT_S = 3600
Findings = tuple[Finding, ...]


def of_clusters(clusters: Iterable[Cluster]) -> dict[int, Findings]:
    """The findings on each cluster with a snapshot, by cluster id, problems first.

    A fixed number of statements: one for the declared workloads of each team, one for the model
    servers that they are held against, and one for the inventories of the snapshots that were not
    derived in this language yet.
    """
    wanted = [cluster for cluster in clusters if cluster.current_snapshot is not None]
    teams = {cluster.team_id: cluster.team for cluster in wanted}
    declared = {pk: declaring.serving_workloads(team) for pk, team in teams.items()}
    checklists = [_Checklist(cluster, declared[cluster.team_id]) for cluster in wanted]
    for item in checklists:
        item.recall()
    unheld = {item.snapshot.pk: item for item in checklists if item.added is None}
    if unheld:
        for pk, serving in serving_facts.of_snapshots(unheld).items():
            unheld[pk].hold_declared(serving)
    foreign = {item.snapshot.pk: item for item in checklists if item.base is None}
    if foreign:
        # One inventory at a time: those of large clusters fill a lot of memory.
        for snapshot in Snapshot.objects.filter(pk__in=foreign).only("value").iterator():
            foreign[snapshot.pk].derive(snapshot.inventory())
    return {item.cluster.pk: item.findings() for item in checklists}


class _Checklist:
    """One cluster's findings in two parts, each stored, remembered or derived."""

    def __init__(self, cluster: Cluster, declared: Sequence[Workload]) -> None:
        assert cluster.current_snapshot is not None  # noqa: S101 (the caller looked)
        self.cluster, self.snapshot = cluster, cluster.current_snapshot
        self.declared = [w for w in declared if _concerns(w, cluster.name)]
        language = get_language() or "en"
        self.is_stored = language.partition("-")[0] == "en"
        # The time beside the number: a database that was set up anew counts from one again.
        about = (self.snapshot.pk, self.snapshot.created_at.isoformat(), language)
        self.base_key = _key("base", *about)
        self.declared_key = _key("declared", *about, msgspec.json.encode(self.declared))
        self.base: Findings | None = None
        self.added: Findings | None = None

    def recall(self) -> None:
        """Take what is stored or remembered."""
        if self.is_stored:
            self.base = msgspec.convert(self.snapshot.findings, type=Findings)
        else:
            self.base = cache.get(self.base_key)
        self.added = cache.get(self.declared_key) if self.declared else ()

    def derive(self, inventory: Inventory) -> None:
        """Make the checklist anew, in the reader's language."""
        self.base = _storable(report.check(inventory, today=self.snapshot.created_at.date()))
        cache.set(self.base_key, self.base, KEPT_S)

    def hold_declared(self, serving: Serving) -> None:
        """Hold the declared workloads against the servers of the cluster."""
        declared = _sized(self.declared, serving.models)
        self.added = _storable(report.check_declared(serving.servers, declared=declared))
        cache.set(self.declared_key, self.added, KEPT_S)

    def findings(self) -> Findings:
        return report.problems_first((*(self.base or ()), *(self.added or ())))


def _concerns(workload: Workload, cluster: str) -> bool:
    """Whether the workload may run on the cluster at all."""
    named = workload.constraints.clusters
    return not named or cluster in named


def _key(*parts: object) -> str:
    return "findings:" + hashlib.sha256(repr(parts).encode()).hexdigest()


def _storable(findings: Findings) -> Findings:
    """As they would come back from the database."""
    return msgspec.convert(storable_json(msgspec.to_builtins(findings)), type=Findings)


def _sized(
    declared: Iterable[Workload], models: Sequence[str]
) -> list[tuple[Workload, Requirement]]:
    """Each workload with what it needs on the cards of this cluster. One that cannot be sized is
    left out: its own page says why."""
    found = []
    for workload in declared:
        try:
            found.append((workload, size(workload, cards=models or None)))
        except SizingError:
            continue
    return found
