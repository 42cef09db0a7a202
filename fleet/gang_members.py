"""Who is in each gang now, counted from the pods.

What a PodGroup says of itself is history: ``PodGroupInitiallyScheduled`` never goes back to False,
and no system enforces its minimum once a gang runs. So members are counted.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from fleet.inventory import GangObject, Inventory, Pod

_KINDS = {
    "native": ("scheduling.k8s.io/", "PodGroup"),
    "coscheduling": ("scheduling.x-k8s.io/", "PodGroup"),
    "volcano": ("scheduling.volcano.sh/", "PodGroup"),
    "kai": ("scheduling.run.ai/", "PodGroup"),
    "grove": ("scheduler.grove.io/", "PodGang"),
}
"""Where the objects of each system are; four kinds share the name PodGroup."""

_STARTED = ("PodGroupInitiallyScheduled", "PodGroupScheduled", "Scheduled")
_GONE = ("finished", "orphaned")


@dataclass(frozen=True, slots=True)
class GangMembers:
    """One group of pods. A group of LeaderWorkerSet (system ``lws``) is only a group: nothing
    holds its pods together."""

    system: str
    namespace: str
    group: str
    minimum: int | None  # pods that must start together; None: nothing is promised
    pods: tuple[Pod, ...]  # that exist and have not ended
    bound: int  # of them: have a node, and are not being deleted
    is_declared: bool  # by an object, and not only by its pods
    has_started: bool  # by the word of its object, once and for all

    @property
    def is_gang(self) -> bool:
        """Whether pods wait for each other at all: a group of one is none."""
        return self.minimum is not None and self.minimum > 1

    @property
    def is_whole(self) -> bool | None:
        """Whether as many run as must; None where nobody says how many must."""
        return None if self.minimum is None else self.bound >= self.minimum

    @property
    def has_lost_members(self) -> bool:
        """It has started and no longer has its minimum: what is left holds GPUs for nothing."""
        return self.has_started and self.is_whole is False

    @property
    def is_partial(self) -> bool:
        """Some run, and not enough."""
        return self.bound > 0 and self.is_whole is False


def gang_members(inventory: Inventory) -> tuple[GangMembers, ...]:
    """Every group that an object declares or that pods name, by system, namespace and name.

    A queue is no group: pods that share only one are left out.
    """
    pods: dict[tuple[str, str, str], list[Pod]] = defaultdict(list)
    stated: dict[tuple[str, str, str], int | None] = {}
    for pod in inventory.pods:
        gang = pod.gang
        if gang is None or pod.state in _GONE or _is_queue(gang.system, gang.minimum):
            continue
        pods[gang.system, pod.namespace, gang.group].append(pod)
        stated[gang.system, pod.namespace, gang.group] = gang.minimum
    objects = {key: item for item in inventory.gang_objects if (key := _key(item)) is not None}
    return tuple(
        _members(key, objects.get(key), stated.get(key), pods.get(key, []))
        for key in sorted(objects.keys() | pods.keys())
    )


def _is_queue(system: str, minimum: int | None) -> bool:
    return system == "kueue" and minimum is None


def _key(item: GangObject) -> tuple[str, str, str] | None:
    for system, (group, kind) in _KINDS.items():
        if item.kind == kind and item.api_version.startswith(group):
            return system, item.namespace, item.name
    return None


def _members(
    key: tuple[str, str, str], item: GangObject | None, stated: int | None, pods: list[Pod]
) -> GangMembers:
    system, namespace, group = key
    return GangMembers(
        system=system,
        namespace=namespace,
        group=group,
        minimum=item.minimum if item is not None else stated,
        pods=tuple(pods),
        bound=sum(1 for pod in pods if pod.node and pod.state != "terminating"),
        is_declared=item is not None,
        has_started=item is not None
        and any(item.conditions.get(condition) == "True" for condition in _STARTED),
    )
