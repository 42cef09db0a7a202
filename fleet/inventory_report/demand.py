"""Sums over what pods and workload objects ask for, beside what the cluster has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fleet.demand import Unborn, unborn
from fleet.gang_members import gang_members
from fleet.inventory import Controller, Inventory, Pod, UnitKind
from fleet.inventory_report.queues import Queues, whole_gpus_of
from fleet.inventory_totals import (
    holds_devices,
    kinds_on,
    units_asked,
    whole_asked,
    whole_gpus,
)
from fleet.kubernetes.roles import ENDING_KINDS
from fleet.readiness.distributed import Distributed, distributed
from fleet.readiness.subject import Subject

SHORT = {
    "pods": "declared_pods",
    "gpus": "declared_gpus",
    "gpus_demand": "declared_gpus",
    "cpu": "declared_cpu_cores",
    "gang_needs": "largest_gang_gpus",
    "gang_min": "largest_gang_minimum",
    "quota": "queue_gpu_quota",
}
"""Shorter words for some of the totals, with the same values."""


def demand_totals(subject: Subject, queues: Queues) -> dict[str, Any]:
    """What waits, what runs and what workload objects declare. ``*_gpus``: whole boards, those
    asked for through claims included; ``*_units``: devices and shares whatever their kind.

    ``queued``: pods that a queue holds back and pods that suspended jobs want and do not have;
    ``not_created_gpus``: what other workloads want and have no pod for, such as pods that a quota
    refuses."""
    inventory = subject.inventory
    kinds = {node.name: kinds_on(node) for node in inventory.nodes if node.is_gpu_node}
    pods = [pod for pod in inventory.pods if _asks(pod)]
    running = [pod for pod in pods if holds_devices(pod)]
    pending = [pod for pod in pods if pod.state == "pending"]
    gated = [pod for pod in pods if pod.state == "gated"]
    declared = [c for c in inventory.controllers if _is_declared(c)]
    unseen = unborn(inventory)
    held = [missing for missing in unseen if missing.is_suspended]
    gangs = list(distributed(subject))
    minima = [o.minimum for o in inventory.gang_objects if o.minimum is not None]
    found = {
        "running": len(running),
        "pending": len(pending),
        "running_gpus": sum(_boards(pod, kinds.get(pod.node)) for pod in running)
        - _counted_again(running),
        "pending_gpus": sum(map(_boards, pending)) - _counted_again(pending),
        "queued_gpus": sum(map(_boards, gated)) + sum(map(_unseen_boards, held)),
        "running_units": sum(map(_units, running)) - _counted_again(running),
        "pending_units": sum(map(_units, pending)) - _counted_again(pending),
        "queued_units": sum(map(_units, gated)) + sum(map(_unseen_units, held)),
        "not_created_gpus": sum(map(_unseen_boards, unseen)) - sum(map(_unseen_boards, held)),
        "fraction_in_use": round(
            sum(p.gpu_fraction or 0 for p in inventory.pods if holds_devices(p)), 6
        ),
        "declared_pods": sum(c.pods_wanted or 0 for c in declared),
        "declared_gpus": sum(map(_declared_gpus, declared)),
        "declared_units": sum(units_asked(c.total_requests) for c in declared),
        "declared_cpu_cores": sum(c.total_cpu_milli for c in declared) // 1000,
        "job_gpus": sum(_declared_gpus(c) for c in declared if c.kind in ENDING_KINDS),
        "largest_gang_gpus": max((whole_asked(g.requests) for g in gangs), default=None),
        "largest_gang_minimum": max(minima, default=None),
        "gang_pods_present": _members(inventory),
        "groups_complete": sum(_complete(g) for g in gangs),
        "queue_gpu_quota": whole_gpus_of(queues, "ClusterQueue"),
        "queue_gpu_capability": whole_gpus_of(queues, "Queue"),
        "rack_domains": _domains(inventory, "rack"),
    }
    return found | {short: found[long] for short, long in SHORT.items()}


def _counted_again(pods: Iterable[Pod]) -> int:
    """Devices of claims that several of the pods share, beyond the first pod of each."""
    seen: set[tuple[str, str]] = set()
    again = 0
    for pod in pods:
        for name, devices in zip(pod.claims, pod.claim_counts, strict=False):
            again += devices if (pod.namespace, name) in seen else 0
            seen.add((pod.namespace, name))
    return again


def _asks(pod: Pod) -> bool:
    """Whether the pod is somebody's work on GPUs: reservations of a sharing system stand for
    pods that are counted themselves."""
    return bool(units_asked(pod.requests) or pod.claim_devices) and not pod.is_infrastructure


def _boards(pod: Pod, known: Mapping[str, UnitKind] | None = None) -> int:
    return whole_gpus(pod, known or {}) + pod.claim_devices


def _units(pod: Pod) -> int:
    return units_asked(pod.requests) + pod.claim_devices


def _unseen_boards(missing: Unborn) -> int:
    return whole_asked(missing.requests) + missing.claim_devices


def _unseen_units(missing: Unborn) -> int:
    return units_asked(missing.requests) + missing.claim_devices


def _is_declared(controller: Controller) -> bool:
    """Whether pods of it can exist and ask for accelerators: the API server refuses pods of a
    template whose device requests differ from their limits."""
    return not controller.problems and bool(
        controller.requests or any(p.wants_gpu for p in controller.probes)
    )


def _declared_gpus(controller: Controller) -> int:
    return whole_asked(controller.total_requests)


def _members(inventory: Inventory) -> int:
    """Pods that exist of PodGroups and PodGangs that exist."""
    return sum(len(group.pods) for group in gang_members(inventory) if group.is_declared)


def is_complete(gang: Distributed, pods: Iterable[Pod]) -> bool:
    """Whether all GPU pods of one group have a node."""
    return sum(bool(pod.node) for pod in pods) >= gang.gpu_pods


def _complete(gang: Distributed) -> int:
    return sum(is_complete(gang, pods) for pods in gang.groups())


def _domains(inventory: Inventory, level: str) -> int | None:
    """Domains of a level among GPU nodes; None when the cluster has no such level."""
    if level not in {name for name, _ in inventory.topology_keys}:
        return None
    found = {node.domain(level) for node in inventory.nodes if node.is_gpu_node}
    return len(found - {None})
