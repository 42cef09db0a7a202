"""The distributed workloads of a cluster: one logical job whose pods are needed at the same time.

Single-pod jobs are not distributed, however many GPUs they take. An Indexed Job of independent
shards looks the same as a gang; the objects do not tell them apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from fleet.inventory import Controller, Gang, GangObject, Pod
from fleet.readiness.queues import KUEUE_LABEL
from fleet.readiness.subject import Subject
from fleet.readiness.wording import of_controller
from fleet.words import say

SYSTEMS = frozenset({"native", "kueue", "volcano", "kai", "coscheduling", "grove"})
"""Machinery that can hold pods together. A LeaderWorkerSet or JobSet alone groups pods and does
not hold them."""

KAI_QUEUE_LABEL = "kai.scheduler/queue"
KUEUE_GROUP_LABEL = "kueue.x-k8s.io/pod-group-name"
GROUP_INDEX = "leaderworkerset.sigs.k8s.io/group-index"

GROUPING_KINDS = frozenset(
    {
        "Job",
        "JobSet",
        "LeaderWorkerSet",
        "RayCluster",
        "RayJob",
        "RayService",
        "TrainJob",
        "PyTorchJob",
        "MPIJob",
        "TFJob",
        "XGBoostJob",
        "PaddleJob",
        "JAXJob",
        "PodCliqueSet",
    }
)
"""Owners whose several GPU pods are one logical job even when the owner itself was not read."""


def name_of(system: str) -> str:
    """The system as a person says it."""
    match system:
        case "native":
            return say("the native PodGroup API")
        case "kueue":
            return "Kueue"
        case "volcano":
            return "Volcano"
        case "kai":
            return "KAI Scheduler"
        case "grove":
            return "Grove"
        case "coscheduling":
            return say("the coscheduling plugin")
    return system


@dataclass(frozen=True, slots=True)
class Distributed:
    """One distributed workload."""

    name: str  # "train/pretrain"
    object: str  # "batch/v1 Job train/pretrain"
    kind: str
    api_version: str
    namespace: str
    needed: int  # pods at the same time
    per_pod: dict[str, int]  # accelerators of one pod (the largest)
    requests: dict[str, int]  # accelerators of all pods needed at the same time
    claims_per_pod: int  # GPU devices that claims give to one pod (the largest)
    claim_devices: int  # and to all pods needed at the same time
    gang: Gang | None  # None or a system outside SYSTEMS: nothing holds them
    minimum: int | None  # pods that the gang machinery waits for
    scheduler: str
    queue: str  # of Kueue, "" when it names none
    topology_keys: tuple[str, ...]
    pods: tuple[Pod, ...]  # members that exist
    suspended: bool
    controller: Controller | None

    @property
    def gpu_pods(self) -> int:
        """Pods of the gang that take accelerators: a leader or head may take none."""
        counts = [
            -(-self.requests[resource] // number)
            for resource, number in self.per_pod.items()
            if number and resource in self.requests
        ]
        if self.claims_per_pod:
            counts.append(-(-self.claim_devices // self.claims_per_pod))
        return max(counts, default=self.needed)

    @property
    def held(self) -> bool:
        """Whether some gang machinery is responsible for it."""
        return self.gang is not None and self.gang.system in SYSTEMS

    @property
    def bound(self) -> int:
        """Members that have a node."""
        return sum(1 for pod in self.pods if pod.node)

    def groups(self) -> Iterator[tuple[Pod, ...]]:
        """Members by gang: a LeaderWorkerSet has one gang for each of its replicas, whatever
        queue its pods wait in."""
        found: dict[str, list[Pod]] = defaultdict(list)
        for pod in self.pods:
            index = pod.labels.get(GROUP_INDEX)
            found[index or (pod.gang.group if pod.gang is not None else "")].append(pod)
        yield from (tuple(pods) for pods in found.values())


def distributed(subject: Subject) -> Iterator[Distributed]:
    """Every distributed workload once, by its object where there is one."""
    for controller in subject.controllers:
        if controller.gang_size is not None and controller.gang_size > 1:
            found = _of_controller(subject, controller, controller.gang_size)
            if found.gpu_pods > 1:
                yield found
    yield from _of_pods(subject)


def _of_controller(subject: Subject, controller: Controller, size: int) -> Distributed:
    pods = subject.pods_of(controller)
    gang = next((p.gang for p in pods if _is_held(p.gang)), None) or controller.gang
    total = controller.pods_wanted or size
    label = controller.labels.get(KUEUE_LABEL, "")
    if not _is_held(gang) and label:
        gang = Gang("kueue", label, None)
    claimed = sum(role.claim_devices * role.pods for role in controller.roles)
    return Distributed(
        name=f"{controller.namespace}/{controller.name}",
        object=of_controller(controller, "", "").object,
        kind=controller.kind,
        api_version=controller.api_version,
        namespace=controller.namespace,
        needed=size,
        per_pod=controller.requests,
        requests={
            resource: -(-number * size // max(total, size))
            for resource, number in controller.total_requests.items()
        },
        claims_per_pod=max((role.claim_devices for role in controller.roles), default=0),
        claim_devices=-(-claimed * size // max(total, size)),
        gang=gang,
        minimum=_minimum(subject, controller.namespace, gang),
        scheduler=controller.scheduler or next((p.scheduler for p in pods), ""),
        queue=label or (gang.group if gang is not None and gang.system == "kueue" else ""),
        topology_keys=controller.topology_keys,
        pods=pods,
        suspended=controller.suspended,
        controller=controller,
    )


def _of_pods(subject: Subject) -> Iterator[Distributed]:
    found: dict[tuple[str, str, str], list[Pod]] = defaultdict(list)
    for pod in subject.orphan_pods():
        if pod.gang is not None and _is_held(pod.gang) and pod.gang.group and not _by_queue(pod):
            found[(pod.namespace, pod.gang.system, pod.gang.group)].append(pod)
        elif pod.owner.kind in GROUPING_KINDS:
            found[(pod.namespace, pod.owner.kind, pod.owner.name)].append(pod)
    for (namespace, kind, name), pods in found.items():
        gang = pods[0].gang
        minimum = _minimum(subject, namespace, gang)
        needed = max(len(pods), minimum or 0)
        if needed < 2:
            continue
        per_pod = max((p.requests for p in pods), key=lambda r: sum(r.values()))
        known = pod_group(subject, namespace, gang)
        held = gang is not None and _is_held(gang)
        requests: dict[str, int] = defaultdict(int)
        for pod in pods:
            for resource, number in pod.requests.items():
                requests[resource] += number
        yield Distributed(
            name=f"{namespace}/{name}",
            object=(
                f"{known.api_version} {known.kind} {namespace}/{name}"
                if known is not None
                else say("{system} group {name}", system=name_of(kind), name=f"{namespace}/{name}")
                if held
                else f"{kind} {namespace}/{name}"
            ),
            kind=known.kind if known is not None else kind,
            api_version=known.api_version if known is not None else "",
            namespace=namespace,
            needed=needed,
            per_pod=per_pod,
            requests={r: n * needed // len(pods) for r, n in requests.items()},
            claims_per_pod=max(pod.claim_devices for pod in pods),
            claim_devices=sum(pod.claim_devices for pod in pods) * needed // len(pods),
            gang=gang,
            minimum=minimum,
            scheduler=pods[0].scheduler,
            queue=gang.group if gang is not None and gang.system == "kueue" else "",
            topology_keys=known.topology_keys if known is not None else (),
            pods=tuple(pods),
            suspended=False,
            controller=None,
        )


def _by_queue(pod: Pod) -> bool:
    """Whether the name of its gang is only that of the queue it waits in, which pods of many
    jobs share."""
    queues = {pod.labels.get(key) for key in (KUEUE_LABEL, KAI_QUEUE_LABEL)} - {None}
    group = pod.gang.group if pod.gang is not None else ""
    return group in queues and pod.labels.get(KUEUE_GROUP_LABEL) != group


def _is_held(gang: Gang | None) -> bool:
    return gang is not None and gang.system in SYSTEMS


_GROUP_OF_SYSTEM = {
    "native": "scheduling.k8s.io/",
    "volcano": "scheduling.volcano.sh/",
    "kai": "scheduling.run.ai/",
    "coscheduling": "scheduling.x-k8s.io/",
}


def pod_group(subject: Subject, namespace: str, gang: Gang | None) -> GangObject | None:
    """The PodGroup that a gang names. Four kinds share the plural: always by group."""
    if gang is None or gang.system not in _GROUP_OF_SYSTEM:
        return None
    prefix = _GROUP_OF_SYSTEM[gang.system]
    return next(
        (
            o
            for o in subject.inventory.gang_objects
            if o.kind == "PodGroup"
            and o.api_version.startswith(prefix)
            and (o.namespace, o.name) == (namespace, gang.group)
        ),
        None,
    )


def _minimum(subject: Subject, namespace: str, gang: Gang | None) -> int | None:
    if gang is None:
        return None
    known = pod_group(subject, namespace, gang)
    if known is not None and known.minimum is not None:
        return known.minimum
    return gang.minimum
