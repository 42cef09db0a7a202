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
        "nominated_gpus": sum(_boards(pod) for pod in pending if pod.nominated_node),
        "fraction_in_use": _fractions(p for p in inventory.pods if holds_devices(p)),
        "fraction_pending": _fractions(pending),
        "fraction_queued": round(
            _fractions(gated) + sum(missing.gpu_fraction or 0 for missing in held), 6
        ),
        "fraction_not_created": round(
            sum(m.gpu_fraction or 0 for m in unseen if not m.is_suspended), 6
        ),
        "pods_of_unknown_fraction": sum(map(_is_of_unknown_part, running)),
        "declared_pods": sum(c.pods_wanted or 0 for c in declared),
        "declared_gpus": sum(map(declared_gpus, declared)),
        "declared_units": sum(units_asked(c.total_requests) + _claimed(c) for c in declared),
        "declared_cpu_cores": sum(c.total_cpu_milli for c in declared) // 1000,
        "job_gpus": sum(declared_gpus(c) for c in declared if c.kind in ENDING_KINDS),
        "largest_gang_gpus": max(map(boards_of_gang, gangs), default=None),
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
    asks = units_asked(pod.requests) or pod.claim_devices
    return bool(asks or _asks_for_a_part(pod)) and not pod.is_infrastructure


def _asks_for_a_part(pod: Pod) -> bool:
    return pod.gpu_fraction is not None or pod.gpu_memory_mib is not None


def _fractions(pods: Iterable[Pod]) -> float:
    return round(sum(pod.gpu_fraction or 0 for pod in pods), 6)


def _is_of_unknown_part(pod: Pod) -> bool:
    """Whether it states device memory, and nothing says which part of a board that is."""
    return pod.gpu_fraction is None and pod.gpu_memory_mib is not None


def _boards(pod: Pod, known: Mapping[str, UnitKind] | None = None) -> int:
    return whole_gpus(pod, known or {}) + pod.claim_devices


def _units(pod: Pod) -> int:
    return units_asked(pod.requests) + pod.claim_devices


def _unseen_boards(missing: Unborn) -> int:
    wanted = sum(whole_gpus(role) * role.left for role in missing.roles)
    return max(0, wanted - sum(map(whole_gpus, missing.present))) + missing.claim_devices


def _unseen_units(missing: Unborn) -> int:
    return units_asked(missing.requests) + missing.claim_devices


def _is_declared(controller: Controller) -> bool:
    """Whether pods of it can exist and ask for accelerators: the API server refuses pods of a
    template whose device requests differ from their limits."""
    return not controller.problems and bool(
        controller.wants_gpu or any(p.wants_gpu for p in controller.probes)
    )


def declared_gpus(controller: Controller) -> int:
    """Whole boards that all its pods want together, those of claims included."""
    return boards_of(controller) + _claimed(controller)


def _claimed(controller: Controller) -> int:
    return sum(role.claim_devices * role.pods for role in controller.roles)


def boards_of(controller: Controller) -> int:
    """Whole boards that all its pods ask for by name; claims are counted apart."""
    if not controller.roles:
        return whole_asked(controller.total_requests)
    return sum(whole_gpus(role) * role.pods for role in controller.roles)


def boards_of_gang(gang: Distributed) -> int:
    """Whole boards that one group needs at once, those of claims included."""
    if gang.controller is not None:
        wanted = max(gang.controller.pods_wanted or gang.needed, gang.needed)
        named = -(-boards_of(gang.controller) * gang.needed // wanted)
    else:
        named = sum(map(whole_gpus, gang.pods)) * gang.needed // len(gang.pods)
    return named + gang.claim_devices


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
