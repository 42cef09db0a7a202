"""Queues that limit GPUs (Kueue's ClusterQueues, Volcano's Queues): what each may hand out, and
what the workloads that are let in already take of it.

Kueue counts a workload from its admission on, whether or not its pods have found nodes; Volcano
counts pods that are bound. Amounts: devices by resource name, ``cpu`` in millicores, ``memory``
in MiB.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fleet.device_names import device_name
from fleet.inventory import Controller, GangObject, Inventory, Pod
from fleet.inventory_totals import whole_asked
from fleet.readiness.queues import KUEUE_LABEL
from fleet.readiness.subject import Subject
from fleet.units import QuantityError, mib, mib_request, milli_cpu, whole

Report = dict[str, Any]
HELD_BY_SUSPENSION = frozenset(
    {"Job", "JobSet", "RayJob", "RayCluster", "TrainJob", "PyTorchJob", "MPIJob"}
)
"""Kinds that Kueue holds back by ``suspend``; it holds back the pods of others by a gate."""

_PREFIXES = {"ClusterQueue": "quota:", "Queue": "capability:"}


@dataclass(frozen=True, slots=True)
class Queue:
    """One queue with its limits."""

    kind: str  # ClusterQueue (Kueue) or Queue (Volcano)
    name: str
    limits: dict[str, int]
    cohort: str  # "" when it borrows from nobody
    flavors: tuple[str, ...]
    used: Counter[str] = field(default_factory=Counter)
    users: dict[tuple[str, str, str], dict[str, int]] = field(default_factory=dict)
    """What each workload takes, by (namespace, kind, name)."""

    def left_for(self, user: tuple[str, str, str]) -> dict[str, int]:
        """What the limits leave to one workload, its own use not counted against it."""
        own = self.users.get(user, {})
        return {
            resource: max(0, limit - self.used[resource] + own.get(resource, 0))
            for resource, limit in self.limits.items()
        }


@dataclass(frozen=True, slots=True)
class Queues:
    """All queues of a cluster, and which one a workload or a pod waits in."""

    by_name: dict[tuple[str, str], Queue]  # by (kind, name)
    local: dict[tuple[str, str], str]  # Kueue's LocalQueue (namespace, name) -> ClusterQueue

    def of(self, namespace: str, name: str, system: str = "") -> Queue | None:
        """The queue behind a name: a LocalQueue of the namespace, else a queue of Volcano."""
        target = self.local.get((namespace, name))
        if target is not None and system in ("", "kueue"):
            return self.by_name.get(("ClusterQueue", target))
        return self.by_name.get(("Queue", name)) if system in ("", "volcano") else None


def queues_of(subject: Subject) -> Queues:
    """The queues of a cluster with what is taken of them."""
    inventory = subject.inventory
    found = Queues(
        {(q.kind, q.name): q for o in inventory.gang_objects if (q := _queue(o)) is not None},
        {
            (o.namespace, o.name): o.details.get("clusterQueue", "")
            for o in inventory.gang_objects
            if o.kind == "LocalQueue" and o.api_version.startswith("kueue.")
        },
    )
    for namespace, name, user, amounts in _users(subject, found):
        queue = found.of(namespace, name)
        if queue is not None:
            queue.used.update(amounts)
            queue.users[user] = amounts
    return found


def _queue(item: GangObject) -> Queue | None:
    prefix = _PREFIXES.get(item.kind)
    if prefix is None:
        return None
    limits = {}
    for key, text in item.details.items():
        if key.startswith(prefix):
            resource = key.removeprefix(prefix)
            amount = amount_of(resource, text)
            if amount is not None:
                limits[resource] = amount
    flavors = tuple(filter(None, item.details.get("flavors", "").split(",")))
    return Queue(item.kind, item.name, limits, item.details.get("cohort", ""), flavors)


def amount_of(resource: str, text: str, *, up: bool = False) -> int | None:
    """An amount in the unit of this module; None when the text is no quantity."""
    try:
        if resource == "cpu":
            return milli_cpu(text)
        if resource == "memory":
            return mib_request(text) if up else mib(text)
        return whole(text)
    except QuantityError:
        return None


def _users(
    subject: Subject, queues: Queues
) -> Iterator[tuple[str, str, tuple[str, str, str], dict[str, int]]]:
    """(namespace, queue name, workload, amounts) of what is let in."""
    known = set()
    for c in subject.controllers:
        queue = queues.of(c.namespace, c.queue)
        user = (c.namespace, c.kind, c.name)
        known.add(user)
        if queue is None or c.problems:
            continue
        if queue.kind == "ClusterQueue" and c.kind in HELD_BY_SUSPENSION:
            if not c.suspended:
                yield c.namespace, c.queue, user, needs_of(c)
            continue
        pods = [pod for pod in subject.pods_of(c) if pod.node or pod.state == "pending"]
        if queue.kind == "Queue":
            pods = [pod for pod in pods if pod.node]
        if pods:
            yield c.namespace, c.queue, user, _sum(pods)
    loose: dict[tuple[str, str, str, str], list[Pod]] = {}
    for pod in subject.work_pods:
        name = pod.labels.get(KUEUE_LABEL, "")
        user = (pod.namespace, pod.owner.kind, pod.owner.name)
        if name and user not in known and pod.state != "gated":
            loose.setdefault((*user, name), []).append(pod)
    for (namespace, kind, owner, name), pods in loose.items():
        yield namespace, name, (namespace, kind, owner), _sum(pods)


def needs_of(controller: Controller) -> dict[str, int]:
    """What all pods of a workload take together."""
    return _plain(
        controller.total_requests, controller.total_cpu_milli, controller.total_memory_mib
    )


def _sum(pods: list[Pod]) -> dict[str, int]:
    devices: Counter[str] = Counter()
    for pod in pods:
        devices.update(pod.requests)
    return _plain(devices, sum(p.cpu_milli for p in pods), sum(p.memory_mib for p in pods))


def _plain(devices: Mapping[str, int], cpu_milli: int, memory_mib: int) -> dict[str, int]:
    found = dict(devices)
    if cpu_milli:
        found["cpu"] = cpu_milli
    if memory_mib:
        found["memory"] = memory_mib
    return found


def queues_report(queues: Queues) -> Report:
    """Queues by name: limits, what is used of them and what is left."""
    return {
        name: {
            "kind": queue.kind,
            "limits": queue.limits,
            "used": {r: queue.used[r] for r in queue.limits},
            "left": {r: max(0, n - queue.used[r]) for r, n in queue.limits.items()},
            "cohort": queue.cohort or None,
            "local_queues": sorted(
                f"{space}/{local}"
                for (space, local), target in queues.local.items()
                if queue.kind == "ClusterQueue" and target == name
            ),
        }
        for (_, name), queue in sorted(queues.by_name.items())
        if any(device_name(resource) is not None for resource in queue.limits)
    }


def whole_gpus_of(queues: Queues, kind: str) -> int | None:
    """Whole GPUs that all queues of a kind may hand out together; None when none names any."""
    found = [
        amount
        for queue in queues.by_name.values()
        for resource, amount in queue.limits.items()
        if queue.kind == kind and whole_asked({resource: 1})
    ]
    return sum(found) if found else None


def flavors_of(inventory: Inventory, queue: Queue) -> list[GangObject]:
    """The Kueue flavors that a queue hands out, in its order."""
    named = {o.name: o for o in inventory.gang_objects if o.kind == "ResourceFlavor"}
    return [named[name] for name in queue.flavors if name in named]
