"""Pods: what each takes, what state it is in, and what the pods of a node take together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from fleet.inventory import Gang, Owner, Pod
from fleet.kubernetes.dra import devices_wanted
from fleet.kubernetes.gangs import KEPT_LABELS, Minima, gang_of
from fleet.kubernetes.hami import hami_used
from fleet.kubernetes.objects_core import PodObject
from fleet.kubernetes.objects_dra import ClaimTemplateObject, ResourceClaimObject
from fleet.kubernetes.owners import Parents, is_daemon, owner_of
from fleet.kubernetes.probes import probes_of
from fleet.kubernetes.requests import PodRequest, pod_request
from fleet.kubernetes.taints import tolerations_of
from fleet.units import plain_count

_FINISHED = ("Succeeded", "Failed")
_RESERVATIONS = ("kai-resource-reservation", "runai-reservation")
_OPERATORS = ("kube-system", "gpu-operator", "nvidia-gpu-operator", "nvidia-device-plugin")
# HAMi and Volcano: memory is asked per unit of the device resource beside it.
_MEMORY_OF = (
    ("nvidia.com/gpumem", "nvidia.com/gpu"),
    ("volcano.sh/vgpu-memory", "volcano.sh/vgpu-number"),
)
_SHARES_OF_A_BOARD = ("nvidia.com/gpucores", "nvidia.com/gpumem-percentage")


@dataclass(slots=True)
class NodeUse:
    """What the pods bound to one node take together."""

    cpu_milli: int = 0
    memory_mib: int = 0
    pods: int = 0
    devices: dict[str, int] = field(default_factory=dict)
    used_boards: set[str] = field(default_factory=set)
    shared_boards: set[str] = field(default_factory=set)  # KAI groups


@dataclass(frozen=True, slots=True)
class Measured:
    """One pod with what it takes, before it is known whether it is kept."""

    pod: PodObject
    request: PodRequest
    node: str
    is_finished: bool


def measure(pods: Iterable[PodObject]) -> tuple[Measured, ...]:
    """Every pod with the scheduler's arithmetic done."""
    return tuple(
        Measured(
            pod=pod,
            request=pod_request(pod.spec, pod.status),
            node=pod.spec.nodeName or "",
            is_finished=pod.status.phase in _FINISHED,
        )
        for pod in pods
    )


def node_use(measured: Iterable[Measured]) -> dict[str, NodeUse]:
    """Use by node. A pod counts while it is bound and neither Succeeded nor Failed; one that is
    being deleted still holds what it has."""
    found: dict[str, NodeUse] = {}
    for m in measured:
        if not m.node or m.is_finished:
            continue
        use = found.setdefault(m.node, NodeUse())
        use.cpu_milli += m.request.cpu_milli
        use.memory_mib += m.request.memory_mib
        use.pods += 1
        mapped = _through_claims(m.pod)
        for name, amount in m.request.devices.items():
            if name not in mapped:
                use.devices[name] = use.devices.get(name, 0) + amount
        notes = m.pod.metadata.notes
        if notes.hami_allocated:
            use.used_boards |= hami_used(notes)
        if notes.aliyun_index:
            use.used_boards.add(f"#{notes.aliyun_index}")
        group = m.pod.metadata.label("runai-gpu-group")
        if group and m.pod.metadata.namespace in _RESERVATIONS:
            use.shared_boards.add(group)
    return found


def _through_claims(pod: PodObject) -> frozenset[str]:
    """Extended resources that the scheduler turned into a claim: the claim counts, once."""
    status = pod.status.extendedResourceClaimStatus
    if status is None:
        return frozenset()
    return frozenset(m.resourceName for m in status.requestMappings or ())


@dataclass(frozen=True, slots=True)
class Claims:
    """Devices wanted by claim and by claim template: (namespace, name) -> count."""

    claims: Mapping[tuple[str, str], int]
    templates: Mapping[tuple[str, str], int]


def claims_of(
    claims: Iterable[ResourceClaimObject], templates: Iterable[ClaimTemplateObject]
) -> Claims:
    """How many devices each claim and template asks for."""
    return Claims(
        {(c.metadata.namespace, c.metadata.name): devices_wanted(c.spec) for c in claims},
        {
            (t.metadata.namespace, t.metadata.name): devices_wanted(t.spec.spec if t.spec else None)
            for t in templates
        },
    )


def time_of(text: str | None) -> datetime | None:
    """A timestamp of the API; None when absent or not one."""
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def is_kept(m: Measured, gpu_nodes: Collection[str]) -> bool:
    """Pods that hold or ask for devices, share a GPU node, or wait for any node."""
    if m.request.devices or m.pod.spec.resourceClaims or _fraction(m) is not None:
        return True
    notes = m.pod.metadata.notes
    if notes.kai_memory or m.pod.status.extendedResourceClaimStatus is not None:
        return True
    return not m.is_finished and (not m.node or m.node in gpu_nodes)


def build(
    m: Measured, nodes: Collection[str], parents: Parents, minima: Minima, claims: Claims
) -> Pod:
    """The pod as the inventory holds it."""
    meta, spec, status = m.pod.metadata, m.pod.spec, m.pod.status
    owner = owner_of(meta, parents)
    names, devices = _claims(m.pod, claims)
    conditions = {c.type: c for c in status.conditions or ()}
    scheduled, ready = conditions.get("PodScheduled"), conditions.get("Ready")
    statuses = status.containerStatuses or ()
    waiting = [s.state.waiting.reason for s in statuses if s.state and s.state.waiting]
    started = [s.state.running.startedAt for s in statuses if s.state and s.state.running]
    reason = scheduled.reason if scheduled is not None and scheduled.status == "False" else ""
    return Pod(
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        node=m.node,
        phase=status.phase,
        owner=owner,
        requests=m.request.devices,
        cpu_milli=m.request.cpu_milli,
        memory_mib=m.request.memory_mib,
        priority=spec.priority or 0,
        priority_class=spec.priorityClassName or "",
        preemption_policy=spec.preemptionPolicy or "",
        scheduler=spec.schedulerName or "default-scheduler",
        tolerations=tolerations_of(spec.tolerations),
        node_selector=dict(spec.nodeSelector or {}),
        gang=_gang(m.pod, minima),
        state=_state(m, nodes),
        claims=names,
        is_daemon=is_daemon(owner) or bool(meta.notes.mirror),
        is_infrastructure=_is_infrastructure(meta.namespace, owner),
        created=time_of(meta.creationTimestamp),
        started=max(filter(None, map(time_of, started)), default=None),
        ready=time_of(ready.lastTransitionTime) if ready and ready.status == "True" else None,
        restarts=sum(s.restartCount or 0 for s in statuses),
        waiting_reason=reason or next(filter(None, waiting), ""),
        probes=probes_of(spec),
        notes=m.request.problems,
        gates=tuple(g.name for g in spec.schedulingGates or ()),
        claim_devices=devices,
        gpu_fraction=_fraction(m),
        gpu_memory_mib=_device_memory(m),
        labels={k: v for k, v in (meta.labels or {}).items() if v and k in KEPT_LABELS},
    )


def _gang(pod: PodObject, minima: Minima) -> Gang | None:
    return gang_of(pod.metadata, pod.spec, minima)


def _is_infrastructure(namespace: str, owner: Owner) -> bool:
    return namespace in _RESERVATIONS or (namespace in _OPERATORS and is_daemon(owner))


def _state(m: Measured, nodes: Collection[str]) -> str:
    if m.is_finished:
        return "finished"
    if m.pod.metadata.deletionTimestamp:
        return "terminating"
    if m.node:
        return "running" if m.node in nodes else "orphaned"
    return "gated" if m.pod.spec.schedulingGates else "pending"


def _claims(pod: PodObject, known: Claims) -> tuple[tuple[str, ...], int]:
    space = pod.metadata.namespace
    generated = {s.name: s.resourceClaimName for s in pod.status.resourceClaimStatuses or ()}
    names: list[str] = []
    devices = 0
    for claim in pod.spec.resourceClaims or ():
        name = claim.resourceClaimName or generated.get(claim.name) or ""
        if name:
            names.append(name)
        wanted = known.claims.get((space, name))
        if wanted is None:
            wanted = known.templates.get((space, claim.resourceClaimTemplateName or ""), 0)
        devices += wanted
    extended = pod.status.extendedResourceClaimStatus
    if extended is not None and extended.resourceClaimName:
        names.append(extended.resourceClaimName)
    return tuple(names), devices


def _fraction(m: Measured) -> float | None:
    """The part of a board that a pod asks for, in KAI's annotation or HAMi's percentages."""
    stated = m.pod.metadata.notes.kai_fraction
    if stated:
        try:
            value = float(stated)
        except ValueError:
            return None
        return value if 0 < value <= 64 else None
    percent = max((m.request.devices.get(name, 0) for name in _SHARES_OF_A_BOARD), default=0)
    if not percent:
        return None
    return percent / 100 * max(1, m.request.devices.get("nvidia.com/gpu", 1))


def _device_memory(m: Measured) -> int | None:
    for memory, units in _MEMORY_OF:
        each = m.request.devices.get(memory)
        if each:
            return each * max(1, m.request.devices.get(units, 1))
    return plain_count(m.pod.metadata.notes.kai_memory)
