"""What the workloads of a cluster ask for: tolerations, and GPUs of one pod.

Read from pods that wait or run and from suspended workload objects, which have no pods yet.
DaemonSet pods and those of the infrastructure do not count: they tolerate everything and ask for
GPUs only to look at them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from fleet.demand import unborn
from fleet.inventory import Inventory, Node, Pod, Toleration
from fleet.inventory_totals import units_asked, whole_gpus

MOST_KINDS = 500
"""Kinds of asking pods that are told apart."""

SMALLEST_SEVERAL = 2
"""GPUs of a usual pod where nobody asks: the smallest of the sizes 2, 4 and 8."""

Selector = tuple[tuple[str, str], ...]
Sizes = Counter[int]  # GPUs of a pod -> GPUs asked in pods of that size


@dataclass(frozen=True, slots=True)
class Asked:
    """What GPU workloads ask for."""

    tolerations: tuple[tuple[Toleration, ...], ...] = ()
    running: Mapping[str, Sizes] = field(default_factory=dict)  # by model of the node
    waiting: Mapping[Selector, Sizes] = field(default_factory=dict)  # by node selector

    @property
    def is_known(self) -> bool:
        """Whether any workload asks for GPUs; without one, nothing is judged by what is asked."""
        return bool(self.tolerations)

    def usual_pod(self, node: Node, model: str | None, offered: int) -> int:
        """GPUs of the pods by which most GPUs of this kind are asked, of those that fit a node
        with ``offered`` whole GPUs; without any, 2. The smaller one on a tie; 0 for no GPU."""
        sizes: Sizes = Counter(self.running.get(model or "", {}))
        for selector, found in self.waiting.items():
            if all(node.labels.get(key) == value for key, value in selector):
                sizes.update(found)
        fitting = [size for size in sizes if size <= offered]
        if fitting:
            return max(fitting, key=lambda size: (sizes[size], -size))
        return min(SMALLEST_SEVERAL, offered)


NOTHING_ASKED = Asked()


def asked(inventory: Inventory) -> Asked:
    """What the workloads of the inventory ask for."""
    models = {node.name: node.groups[0].model or "" for node in inventory.nodes if node.is_gpu_node}
    tolerations: dict[tuple[Toleration, ...], None] = {}
    running: dict[str, Sizes] = defaultdict(Counter)
    waiting: dict[Selector, Sizes] = defaultdict(Counter)
    for pod in inventory.pods:
        if not (pod.requests or pod.claim_devices) or not _asks(pod):
            continue
        if len(tolerations) < MOST_KINDS:
            tolerations[pod.tolerations] = None
        size = whole_gpus(pod) or pod.claim_devices
        if not size:
            continue
        if pod.is_demand:
            _add(waiting, pod.node_selector, size, 1)
        else:
            running[models.get(pod.node, "")][size] += size
    for controller in inventory.controllers:
        claimed = any(role.claim_devices for role in controller.roles)
        is_asking = (units_asked(controller.requests) or claimed) and not controller.problems
        if is_asking and len(tolerations) < MOST_KINDS:
            tolerations[controller.tolerations] = None
    for missing in unborn(inventory):
        roles = missing.roles
        size = max((whole_gpus(role) or role.claim_devices for role in roles), default=0)
        if missing.is_suspended and size:
            _add(waiting, missing.controller.node_selector, size, missing.pods)
    return Asked(tuple(tolerations), dict(running), dict(waiting))


def _asks(pod: Pod) -> bool:
    return (
        pod.state not in ("finished", "orphaned")
        and not pod.is_daemon
        and not pod.is_infrastructure
        and bool(units_asked(pod.requests) or pod.claim_devices)
    )


def _add(waiting: dict[Selector, Sizes], selector: Mapping[str, str], size: int, pods: int) -> None:
    key = tuple(sorted(selector.items()))
    if key in waiting or len(waiting) < MOST_KINDS:
        waiting[key][size] += size * pods
