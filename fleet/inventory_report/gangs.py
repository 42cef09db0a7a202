"""What the report says of each distributed workload: how many groups, pods and GPUs, and what
holds them together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fleet.inventory_report.demand import boards_of_gang, declared_gpus, is_complete
from fleet.inventory_report.naming import by_unique_name
from fleet.inventory_totals import whole_gpus
from fleet.readiness.distributed import Distributed

Report = dict[str, Any]


def gangs_report(gangs: Iterable[Distributed]) -> Report:
    """Gangs by namespace/name; where two kinds share a name, by namespace/name and kind."""
    return by_unique_name((gang.name, gang.kind, _gang(gang)) for gang in gangs)


def required_level(gang: Distributed) -> str | None:
    """The label key whose domain a group must not leave; None when it may start anywhere."""
    wishes = gang.controller.preferred_topology_keys if gang.controller is not None else ()
    return next((key for key in gang.topology_keys if key not in wishes), None)


def groups_of(gang: Distributed) -> int:
    """How many groups it wants."""
    return gang.controller.groups if gang.controller is not None else 1


def _gang(gang: Distributed) -> Report:
    groups = groups_of(gang)
    started = [pods for pods in gang.groups() if any(pod.node for pod in pods)]
    complete = [pods for pods in started if is_complete(gang, pods)]
    return {
        "kind": gang.kind,
        "groups": groups,
        "pods_per_group": gang.needed,
        "gpu_pods": gang.gpu_pods * groups,
        "gpus_per_pod": _largest(gang),
        "gpus_per_group": boards_of_gang(gang),
        "gpus_total": _total(gang),
        "requests_per_pod": gang.per_pod,
        "requests_per_group": gang.requests,
        "required_level": required_level(gang),
        "held_by": gang.gang.system if gang.held and gang.gang is not None else None,
        "minimum": gang.minimum,
        "queue": gang.queue or None,
        "suspended": gang.suspended,
        "pods_bound": gang.bound,
        "pods_waiting": len(gang.pods) - gang.bound,
        "groups_complete": len(complete),
        "groups_started_in_part": len(started) - len(complete),
    }


def _largest(gang: Distributed) -> int:
    """Whole boards of the pod that asks for most of them."""
    pods = gang.controller.roles if gang.controller is not None else gang.pods
    return max((whole_gpus(pod) + pod.claim_devices for pod in pods), default=0)


def _total(gang: Distributed) -> int:
    return declared_gpus(gang.controller) if gang.controller is not None else boards_of_gang(gang)
