"""Room that is kept on nodes for pods that wait: the scheduler has nominated a node for them,
where it makes room by preemption or keeps what it has found.

The scheduler counts such a pod as if it were there for all pods of the same or a lower priority.
Source: kubernetes pkg/scheduler/framework/runtime, addNominatedPods.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fleet.inventory import Inventory, Pod, PriorityClass


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks for room: what is kept for pods of a lower priority is his for the taking, and so
    is what is kept for his own ``pods`` (namespace, name)."""

    priority: int = 0
    pods: frozenset[tuple[str, str]] = frozenset()

    def must_leave(self, pod: Pod) -> bool:
        """Whether the room of a nominated pod is not for him."""
        return pod.priority >= self.priority and (pod.namespace, pod.name) not in self.pods


ANYBODY = Asker()
"""A pod of priority 0 that nobody has nominated."""


def asker(pods: Iterable[Pod], priority: int) -> Asker:
    """A workload that asks for the room of pods of that priority; ``pods``: those it has."""
    return Asker(priority, frozenset((pod.namespace, pod.name) for pod in pods))


def nominated_in(inventory: Inventory) -> tuple[Pod, ...]:
    """Pods that wait and have a nominated node."""
    return tuple(pod for pod in inventory.pods if pod.nominated_node and pod.is_demand)


def priority_of(name: str, classes: Iterable[PriorityClass]) -> int:
    """The priority of pods whose template names that class, "" for the default one; 0 where no
    class says it."""
    found = (c.value for c in classes if (c.name == name if name else c.is_default))
    return next(found, 0)
