"""Kueue's queues as the checks need them: which namespace reaches which quota, and which queue a
remedy can name."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from fleet.readiness.subject import Subject

KUEUE_LABEL = "kueue.x-k8s.io/queue-name"


@dataclass(frozen=True, slots=True)
class LocalQueue:
    """A namespace's door to a ClusterQueue, with the nominal quota behind it."""

    namespace: str
    name: str
    cluster_queue: str
    nominal: dict[str, int]  # by resource, summed over flavors; {} when not stated
    cohort: str  # "" when it borrows from nobody


def local_queues(subject: Subject) -> dict[str, tuple[LocalQueue, ...]]:
    """Kueue LocalQueues by namespace."""
    cluster_queues = {
        o.name: o.details
        for o in subject.inventory.gang_objects
        if o.kind == "ClusterQueue" and o.api_version.startswith("kueue.")
    }
    found: dict[str, list[LocalQueue]] = defaultdict(list)
    for o in subject.inventory.gang_objects:
        if o.kind == "LocalQueue" and o.api_version.startswith("kueue."):
            target = o.details.get("clusterQueue", "")
            details = cluster_queues.get(target, {})
            found[o.namespace].append(
                LocalQueue(
                    namespace=o.namespace,
                    name=o.name,
                    cluster_queue=target,
                    nominal=_nominal(details),
                    cohort=details.get("cohort", ""),
                )
            )
    return {namespace: tuple(queues) for namespace, queues in found.items()}


def _nominal(details: dict[str, str]) -> dict[str, int]:
    prefix = "quota:"
    return {
        key.removeprefix(prefix): int(value)
        for key, value in details.items()
        if key.startswith(prefix) and value.isdigit()
    }
