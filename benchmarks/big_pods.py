"""Which pods run on a node of the big synthetic cluster, and whom they belong to.

A plan of a pod is small and carries no Kubernetes object; ``big_cluster`` writes it out. GPU pods
come first and fill about 80 % of the GPUs, then daemons, then small services.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.big_machines import MACHINES, RACK, Place, place, random_of

TEAMS = 40
APPS = 120
PENDING_EVERY = 250
"""One pod in so many waits for a GPU, instead of running as a small service."""

_DAEMONS = (
    ("kube-system", "cni-agent"), ("kube-system", "kube-proxy"), ("kube-system", "csi-node"),
    ("kube-system", "node-local-dns"), ("monitoring", "node-exporter"), ("logging", "log-agent"),
)  # fmt: skip
_GPU_DAEMONS = (
    ("gpu-operator", "device-plugin"), ("gpu-operator", "feature-discovery"),
    ("gpu-operator", "dcgm-exporter"), ("gpu-operator", "container-toolkit"),
)  # fmt: skip
_SERVING = ((4, 4), (4, 2, 1), (2, 2, 2, 1), (4, 2), (4,), (1, 1, 1, 1), (2, 4), (8,), (4, 2, 1),
            (2,), ())  # fmt: skip


@dataclass(frozen=True, slots=True)
class OwnerPlan:
    """``kind``: Deployment (its pods belong to a ReplicaSet), StatefulSet, Job or DaemonSet."""

    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class PodPlan:
    """``node`` None: it waits. ``ordinal`` tells the pods of one owner apart."""

    owner: OwnerPlan
    ordinal: int
    node: Place | None
    cpu_milli: int
    memory_mib: int
    devices: dict[str, int] = field(default_factory=dict)
    taint: str = ""
    pool: str = ""

    @property
    def is_daemon(self) -> bool:
        return self.owner.kind == "DaemonSet"


def plans(pods: int, nodes: int) -> Iterator[PodPlan]:
    """Exactly ``pods`` plans over ``nodes`` nodes, node after node. Nothing is kept."""
    for number in range(nodes):
        first, after = pods * number // nodes, pods * (number + 1) // nodes
        yield from _of_node(place(number), first, after)


def _of_node(node: Place, first: int, after: int) -> Iterator[PodPlan]:
    made = first
    for plan in (*_gpu_pods(node), *_daemons(node)):
        if made == after:
            return
        yield plan
        made += 1
    chance = random_of("services", node.number)
    for ordinal in range(made, after):
        yield _waiting(ordinal) if ordinal % PENDING_EVERY == 7 else _service(node, ordinal, chance)


def _gpu_pods(node: Place) -> Iterator[PodPlan]:
    if not node.offered or not node.ready:
        return
    chance = random_of("gpus", node.number)
    if node.machine.trains and node.number % RACK < _gang_nodes(node.number // RACK):
        yield from _training(node)
        return
    wanted = list(_wanted(node, chance))
    if node.machine.boards == 8 and chance.random() < 0.08:
        # A service that takes all of the CPU leaves GPUs without any beside them: stranded.
        cpu = (node.machine.cpu * 1000 - 2_800) // max(1, sum(number for _, number in wanted))
    else:
        cpu = node.machine.cpu * 500 // sum(node.machine.devices.values())
    for piece, (resource, number) in enumerate(wanted):
        yield _serving(node, resource, number, piece, cpu * number)


def _wanted(node: Place, chance: random.Random) -> Iterator[tuple[str, int]]:
    """What each serving pod of the node asks for: resource and number."""
    if node.machine.boards < 8 or len(node.offered) > 1:
        for resource, number in node.offered.items():
            for _ in range(round(number * chance.choice((0.5, 0.7, 0.8, 1)))):
                yield resource, 1
        return
    resource, left = next(iter(node.offered.items()))
    for number in chance.choice(_SERVING):
        if number <= left:
            left -= number
            yield resource, number


def _gang_nodes(rack: int) -> int:
    """How many nodes of a rack its training job has."""
    return random_of("gang", rack).choice((4, 6, 8, 8))


def _training(node: Place) -> Iterator[PodPlan]:
    resource, number = next(iter(node.offered.items()))
    if number < node.machine.boards:
        return  # its sick node is replaced by nobody
    rack = node.number // RACK
    owner = OwnerPlan("Job", f"team-{rack % TEAMS:02d}", f"train-{rack:04d}")
    yield PodPlan(
        owner, node.number % RACK, node, node.machine.cpu * 850,
        node.machine.memory_gib * 900, {resource: number}, node.machine.taint, node.machine.pool,
    )  # fmt: skip


def _serving(node: Place, resource: str, wanted: int, piece: int, cpu_milli: int) -> PodPlan:
    machine = node.machine
    service = (node.number * 7 + piece * 13) % 50
    kind = "StatefulSet" if service % 10 == 9 else "Deployment"
    word = "notebook" if kind == "StatefulSet" else "llm"
    team = (service + MACHINES.index(machine)) % TEAMS
    owner = OwnerPlan(kind, f"team-{team:02d}", f"{word}-{machine.pool}-{service:02d}")
    memory = machine.memory_gib * 512 * wanted // sum(machine.devices.values())
    return PodPlan(
        owner, node.number * 32 + piece, node, cpu_milli, memory, {resource: wanted},
        machine.taint, machine.pool,
    )  # fmt: skip


def _daemons(node: Place) -> Iterator[PodPlan]:
    for namespace, name in (*_DAEMONS, *(_GPU_DAEMONS if node.machine.boards else ())):
        owner = OwnerPlan("DaemonSet", namespace, name)
        yield PodPlan(owner, node.number, node, 50, 96)


def _service(node: Place, ordinal: int, chance: random.Random) -> PodPlan:
    app = ordinal * 11 % (APPS * 25)
    owner = OwnerPlan("Deployment", f"app-{app % APPS:03d}", f"service-{app // APPS:02d}")
    return PodPlan(owner, ordinal, node, chance.choice((10, 50, 100)), chance.choice((64, 128)))


def _waiting(ordinal: int) -> PodPlan:
    machine = MACHINES[1 + ordinal // PENDING_EVERY % (len(MACHINES) - 1)]
    resource = next(iter(machine.devices))
    wanted = min(machine.devices[resource], 2)
    team = ordinal // PENDING_EVERY % TEAMS
    owner = OwnerPlan("Job", f"team-{team:02d}", f"batch-{machine.pool}-{team:02d}")
    return PodPlan(owner, ordinal, None, 4_000 * wanted, 16_384 * wanted, {resource: wanted},
                   machine.taint, machine.pool)  # fmt: skip
