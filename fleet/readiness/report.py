"""The checklist of one cluster: every check over one inventory, problems first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date

from fleet.inventory import Inventory
from fleet.readiness import (
    alpha_objects,
    declared_load,
    device_taints,
    devices_advertised,
    devices_usable,
    dra,
    emulation,
    gang_api,
    gang_evidence,
    gang_feasible,
    gang_partial,
    gang_preemption,
    gang_scheduler,
    gpu_taint,
    models_known,
    network_devices,
    node_skew,
    pool_taints,
    probe_dead_time,
    probe_readiness,
    probe_startup,
    quota_coverage,
    quota_headroom,
    quota_keys,
    request_offered,
    rollout_deadline,
    sharing_agrees,
    topology_known,
    version_support,
    workload_tolerations,
)
from fleet.readiness.finding import ORDER, Finding, Verdict
from fleet.readiness.serving import Server
from fleet.readiness.subject import Subject
from fleet.sizing.requirement import Requirement
from fleet.workloads import Workload

Check = Callable[[Subject], Iterable[Finding]]

CHECKS: tuple[tuple[str, Check], ...] = tuple(
    (module.CHECK, module.check)
    for module in (
        version_support,
        node_skew,
        emulation,
        dra,
        alpha_objects,
        gpu_taint,
        pool_taints,
        devices_advertised,
        devices_usable,
        device_taints,
        models_known,
        sharing_agrees,
        network_devices,
        request_offered,
        workload_tolerations,
        quota_coverage,
        quota_keys,
        quota_headroom,
        gang_api,
        gang_evidence,
        gang_partial,
        gang_feasible,
        gang_scheduler,
        gang_preemption,
        topology_known,
        probe_readiness,
        probe_startup,
        probe_dead_time,
        rollout_deadline,
        declared_load,
    )
)
"""Check id and function, in the order of the questions."""


def check(
    inventory: Inventory,
    *,
    today: date,
    declared: Sequence[tuple[Workload, Requirement]] = (),
) -> tuple[Finding, ...]:
    """All findings on one cluster, sorted by verdict (problems first), then by question.

    ``today`` decides about support dates. ``declared`` are workloads with their sizing, whose
    load times are held against the probes found in the cluster.
    """
    subject = Subject(inventory, today, tuple(declared))
    return problems_first(finding for _, run in CHECKS for finding in run(subject))


def check_declared(
    servers: Iterable[Server], *, declared: Sequence[tuple[Workload, Requirement]]
) -> tuple[Finding, ...]:
    """Only what the declared workloads add to a checklist that was made without them. Of the
    cluster it needs no more than its model servers."""
    return problems_first(declared_load.judge(servers, declared))


def problems_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sorted by verdict, then by question; else in the order given."""
    rank = {verdict: place for place, verdict in enumerate(ORDER)}
    return tuple(sorted(findings, key=lambda f: (rank[f.verdict], f.question)))


def counts(findings: Iterable[Finding]) -> dict[Verdict, int]:
    """How many findings of each verdict; every verdict is a key, problems first."""
    found = dict.fromkeys(ORDER, 0)
    for finding in findings:
        found[finding.verdict] += 1
    return found
