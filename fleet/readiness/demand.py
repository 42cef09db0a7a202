"""The GPU work of a cluster, one value for each object that a person knows it by: what a pod of it
asks for, tolerates and selects. Running, waiting and not yet created pods alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fleet.inventory import Node, Pod, Toleration, UnitKind
from fleet.readiness.finding import Evidence
from fleet.readiness.subject import Subject
from fleet.readiness.wording import of_controller, of_pod


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of pod that wants accelerators."""

    name: str  # "train/pretrain" or "train/pretrain-0"
    object: str  # "batch/v1 Job train/pretrain"
    field: str  # "spec.template.spec" or "spec"
    namespace: str
    requests: dict[str, int]
    tolerations: tuple[Toleration, ...]
    node_selector: dict[str, str]
    running: bool  # at least one pod has a node

    def evidence(self, field: str, value: str) -> Evidence:
        """Evidence on this object: ``field`` is below the pod's spec."""
        return Evidence(self.object, f"{self.field}.{field}", value)


def work(subject: Subject) -> Iterator[Work]:
    """Each workload object once; pods without a known object by owner.

    Pods are judged rather than templates where there are any, since admission adds
    tolerations to pods only.
    """
    for controller in subject.controllers:
        pods = subject.pods_of(controller)
        sample = _sample(pods)
        yield Work(
            name=f"{controller.namespace}/{controller.name}",
            object=of_controller(controller, "", "").object,
            field="spec.template.spec",
            namespace=controller.namespace,
            requests=controller.requests,
            tolerations=sample.tolerations if sample is not None else controller.tolerations,
            node_selector=controller.node_selector,
            running=any(pod.node for pod in pods),
        )
    seen = set()
    for pod in subject.orphan_pods():
        # One pod for each distinct want of an owner: hundreds of equal pods are one finding.
        key = (pod.namespace, pod.owner, tuple(sorted(pod.requests.items())), pod.tolerations)
        if key in seen or not pod.requests:
            continue
        seen.add(key)
        yield Work(
            name=f"{pod.namespace}/{pod.name}",
            object=of_pod(pod, "", "").object,
            field="spec",
            namespace=pod.namespace,
            requests=pod.requests,
            tolerations=pod.tolerations,
            node_selector=pod.node_selector,
            running=bool(pod.node),
        )


def _sample(pods: tuple[Pod, ...]) -> Pod | None:
    return next((pod for pod in pods if pod.requests), None)


def offers(subject: Subject, node: Node, requests: dict[str, int]) -> bool:
    """Whether the node hands out every resource asked for, in the number asked for, when empty.

    A resource that a DeviceClass maps is also met by the node's DRA devices."""
    units = {u.resource: u.allocatable for group in node.groups for u in group.units}
    devices: dict[str, int] = {}  # by driver, whose models are groups of their own
    for group in node.groups:
        for u in group.units_of(UnitKind.DRA):
            driver = u.resource.removeprefix("dra:")
            devices[driver] = devices.get(driver, 0) + u.allocatable
    return all(
        units.get(resource, 0) >= number or _through_claims(subject, resource, devices) >= number
        for resource, number in requests.items()
    )


def _through_claims(subject: Subject, resource: str, devices: dict[str, int]) -> int:
    """Devices by which a DeviceClass meets a resource, of the drivers that it selects."""
    answering = subject.mapped_resources.get(resource)
    if answering is None:
        return 0
    drivers = answering.drivers or tuple(devices)
    return sum(devices.get(driver, 0) for driver in drivers)


def node_classes(subject: Subject, works: Sequence[Work]) -> tuple[tuple[Node, ...], ...]:
    """GPU nodes in classes that no workload can tell apart: same units, taints and labels, as far
    as any selector looks at them. Thousands of nodes are a few classes."""
    keys = sorted({key for item in works for key in item.node_selector})
    found: dict[object, list[Node]] = {}
    for node in subject.gpu_nodes:
        signature = (
            node.taints,
            tuple(
                (u.resource, u.kind, u.allocatable) for group in node.groups for u in group.units
            ),
            tuple(node.labels.get(key) for key in keys),
        )
        found.setdefault(signature, []).append(node)
    return tuple(tuple(nodes) for nodes in found.values())


class Selection:
    """Nodes by label, so that thousands of selectors need not each look at thousands of nodes."""

    def __init__(self, nodes: Sequence[Node], works: Sequence[Work]) -> None:
        self._nodes = nodes
        self._by_label: dict[tuple[str, str], list[Node]] = {}
        keys = {key for item in works for key in item.node_selector}
        for node in nodes:
            for key in keys & node.labels.keys():
                self._by_label.setdefault((key, node.labels[key]), []).append(node)

    def of(self, selector: dict[str, str]) -> Sequence[Node]:
        """The nodes that the selector selects."""
        if not selector:
            return self._nodes
        fewest = min((self._by_label.get(label, []) for label in selector.items()), key=len)
        return [node for node in fewest if selected(node, selector)]


def selected(node: Node, selector: dict[str, str]) -> bool:
    return all(node.labels.get(key) == value for key, value in selector.items())
