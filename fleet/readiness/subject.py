"""What a check looks at: one inventory, today's date, the declared workloads, and the few views
of the inventory that several checks share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from fleet.device_classes import classes_by_resource
from fleet.inventory import Controller, DeviceClass, Inventory, Node, Owner, Pod, ReadStatus
from fleet.sizing.requirement import Requirement
from fleet.workloads import Workload

SYSTEM_NAMESPACES = frozenset(
    {
        "kube-system",
        "kube-public",
        "kube-node-lease",
        "gpu-operator",
        "nvidia-gpu-operator",
        "gpu-operator-resources",
        "nvidia-dra-driver-gpu",
        "kai-scheduler",
        "kai-resource-reservation",
        "runai-reservation",
        "volcano-system",
        "kueue-system",
        "hami-system",
    }
)
"""Namespaces of the platform itself: not asked for quotas, tolerations or gangs."""

NOT_GPU_VENDORS = frozenset({"google", "aws"})
"""TPU and Neuron: accelerators, but no GPUs."""


def wants_gpu(pod: Pod) -> bool:
    """See ``Pod.wants_gpu``."""
    return pod.wants_gpu


@dataclass(frozen=True)
class Subject:
    """The input of every check. ``today`` is an argument so that an answer can be repeated."""

    inventory: Inventory
    today: date
    declared: Sequence[tuple[Workload, Requirement]] = ()

    @cached_property
    def gpu_nodes(self) -> tuple[Node, ...]:
        """Nodes with GPU evidence, whether or not a GPU is offered now. Virtual nodes invent
        capacity and are left out."""
        return tuple(
            node
            for node in self.inventory.nodes
            if not node.is_virtual
            and any(group.vendor not in NOT_GPU_VENDORS for group in node.groups)
        )

    @cached_property
    def work_pods(self) -> tuple[Pod, ...]:
        """Pods of users that ask for accelerators and are not finished."""
        return tuple(
            pod
            for pod in self.inventory.pods
            if wants_gpu(pod)
            and pod.state != "finished"
            and not pod.is_daemon
            and not pod.is_infrastructure
            and pod.namespace not in SYSTEM_NAMESPACES
        )

    @cached_property
    def controllers(self) -> tuple[Controller, ...]:
        """Workload objects of users whose pods ask for accelerators."""
        return tuple(
            controller
            for controller in self.inventory.controllers
            if controller.wants_gpu
            and controller.kind != "DaemonSet"
            and controller.namespace not in SYSTEM_NAMESPACES
        )

    @cached_property
    def gang_systems_in_use(self) -> frozenset[str]:
        """Gang systems that at least one pod names."""
        return frozenset(p.gang.system for p in self.inventory.pods if p.gang is not None)

    @cached_property
    def mapped_resources(self) -> dict[str, DeviceClass]:
        """Extended resources that a DeviceClass maps to DRA devices."""
        return classes_by_resource(self.inventory.device_classes)

    @cached_property
    def pods_by_owner(self) -> dict[tuple[str, str, str], tuple[Pod, ...]]:
        """Work pods by (namespace, owner kind, owner name)."""
        found: dict[tuple[str, str, str], list[Pod]] = defaultdict(list)
        for pod in self.work_pods:
            found[(pod.namespace, pod.owner.kind, pod.owner.name)].append(pod)
        return {key: tuple(pods) for key, pods in found.items()}

    def pods_of(self, controller: Controller) -> tuple[Pod, ...]:
        """The work pods that a person knows by this object."""
        key = (controller.namespace, controller.kind, controller.name)
        itself = controller.itself
        return tuple(p for p in self.pods_by_owner.get(key, ()) if itself.may_be(p.owner))

    def orphan_pods(self) -> Iterator[Pod]:
        """Work pods whose owner is not among the workload objects that were read."""
        known: dict[tuple[str, str, str], list[Owner]] = defaultdict(list)
        for controller in self.controllers:
            key = (controller.namespace, controller.kind, controller.name)
            known[key].append(controller.itself)
        for key, pods in self.pods_by_owner.items():
            for pod in pods:
                if not any(owner.may_be(pod.owner) for owner in known.get(key, ())):
                    yield pod

    @cached_property
    def offered(self) -> dict[str, int]:
        """Allocatable units of each resource over all real nodes."""
        found: dict[str, int] = defaultdict(int)
        for node in self.inventory.nodes:
            if node.is_virtual:
                continue
            for group in node.groups:
                for units in group.units:
                    found[units.resource] += units.allocatable
        return dict(found)

    def status(self, resource: str) -> ReadStatus | None:
        """What became of reading ``resource``; None when it was never asked for."""
        result = self.inventory.read(resource)
        return result.status if result is not None else None

    def was_read(self, resource: str) -> bool:
        return self.status(resource) is ReadStatus.READ
