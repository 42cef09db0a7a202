"""Pods: what each takes, what state it is in, and what the pods of a node take together."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from dataclasses import dataclass
from datetime import datetime

from fleet.inventory import ContainerProbes, Gang, NodeAffinity, Owner, Pod, Toleration
from fleet.kubernetes.affinity import node_affinity_of
from fleet.kubernetes.board_parts import device_memory_of, fraction_of
from fleet.kubernetes.device_health import sick_devices
from fleet.kubernetes.dra_demand import Claims, claims_in
from fleet.kubernetes.gangs import KEPT_LABELS, Minima, gang_of, minima_of
from fleet.kubernetes.gathered import BoardUse
from fleet.kubernetes.hami import hami_used
from fleet.kubernetes.interned import Interned
from fleet.kubernetes.objects import RawCluster
from fleet.kubernetes.objects_core import ContainerStatus, PodObject, PodStatus
from fleet.kubernetes.owners import Parents, is_daemon, owner_of, parents_of
from fleet.kubernetes.pod_state import FINISHED, condition, state_of
from fleet.kubernetes.probes import probes_of
from fleet.kubernetes.requests import PodRequest, pod_request
from fleet.kubernetes.reservations import GROUP_LABEL, NAMESPACES
from fleet.kubernetes.taints import tolerations_of
from fleet.kubernetes.times import time_of

_OPERATORS = ("kube-system", "gpu-operator", "nvidia-gpu-operator", "nvidia-device-plugin")
_NO_LABELS: dict[str, str] = {}  # shared: nobody changes what was read


@dataclass(frozen=True, slots=True)
class Template:
    """What pods of one template have in common, worked out and held once."""

    request: PodRequest
    priority: int
    priority_class: str
    preemption_policy: str
    scheduler: str
    tolerations: tuple[Toleration, ...]
    node_selector: dict[str, str]
    node_affinity: NodeAffinity
    probes: tuple[ContainerProbes, ...]
    gates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """One pod with what it takes, before it is known whether it is kept."""

    pod: PodObject
    template: Template
    node: str
    is_finished: bool

    @property
    def request(self) -> PodRequest:
        return self.template.request


def measure(pod: PodObject, same: Interned) -> Measured:
    """One pod with the scheduler's arithmetic done."""
    return Measured(
        pod=pod,
        template=_template(pod, same),
        node=same.text(pod.spec.nodeName or ""),
        is_finished=pod.status.phase in FINISHED,
    )


def _template(pod: PodObject, same: Interned) -> Template:
    """The arithmetic is shown only what equal pods share, so that it cannot look at more of one
    pod than what makes it equal to the others."""
    now = pod.status
    shared = PodStatus(
        conditions=[c for c in now.conditions or () if c.type == "PodResizePending"],
        containerStatuses=_resources_only(now.containerStatuses),
        initContainerStatuses=_resources_only(now.initContainerStatuses),
        resources=now.resources,
        allocatedResources=now.allocatedResources,
        nodeAllocatableResourceClaimStatuses=now.nodeAllocatableResourceClaimStatuses,
    )
    spec = copy(pod.spec)
    spec.nodeName = None

    def work_out() -> Template:
        return Template(
            request=pod_request(spec, shared),
            priority=spec.priority or 0,
            priority_class=spec.priorityClassName or "",
            preemption_policy=spec.preemptionPolicy or "",
            scheduler=spec.schedulerName or "default-scheduler",
            tolerations=tolerations_of(spec.tolerations),
            node_selector=dict(spec.nodeSelector or {}),
            node_affinity=node_affinity_of(spec),
            probes=probes_of(spec),
            gates=tuple(g.name for g in spec.schedulingGates or ()),
        )

    return same.value([spec, shared], work_out)


def _resources_only(statuses: list[ContainerStatus] | None) -> list[ContainerStatus]:
    return [
        ContainerStatus(name=s.name, resources=s.resources, allocatedResources=s.allocatedResources)
        for s in statuses or ()
        if s.resources is not None or s.allocatedResources is not None
    ]


def use_of(m: Measured) -> BoardUse | None:
    """What a pod holds beside its request; None for most pods."""
    mapped, notes = _through_claims(m.pod), m.pod.metadata.notes
    boards = hami_used(notes) if notes.hami_allocated else frozenset()
    if notes.aliyun_index:
        boards |= {f"#{notes.aliyun_index}"}
    group = m.pod.metadata.label(GROUP_LABEL)
    shared = group if m.pod.metadata.namespace in NAMESPACES else ""
    sick = sick_devices(m.pod.status.containerStatuses or ())
    if not (mapped or boards or shared or sick):
        return None
    return BoardUse(mapped, boards, shared, sick)


def _through_claims(pod: PodObject) -> frozenset[str]:
    """Extended resources that the scheduler turned into a claim: the claim counts, once."""
    status = pod.status.extendedResourceClaimStatus
    if status is None:
        return frozenset()
    return frozenset(m.resourceName for m in status.requestMappings or ())


def asks(m: Measured) -> bool:
    """Whether a pod holds or asks for devices in any way, so that it is kept wherever it is."""
    notes, devices = m.pod.metadata.notes, m.request.devices
    if devices or m.pod.spec.resourceClaims or fraction_of(notes, devices) is not None:
        return True
    return bool(notes.kai_memory) or m.pod.status.extendedResourceClaimStatus is not None


def is_needed_by_others(pod: Pod) -> bool:
    """Whether pods of a gang wait for it: kept wherever it is, or the gang could not be counted."""
    gang = pod.gang
    return gang is not None and (gang.minimum or 0) > 1 and pod.state != "finished"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What must be known of a cluster before its pods can be read."""

    nodes: Collection[str]
    parents: Parents
    minima: Minima
    claims: Claims
    now: datetime | None  # when the reading began


def surroundings_of(raw: RawCluster) -> Surroundings:
    """The facts of everything but the pods themselves."""
    return Surroundings(
        nodes=frozenset(item.metadata.name for item in raw.objects.get("nodes", ())),
        parents=parents_of(raw),
        minima=minima_of(raw),
        claims=claims_in(raw),
        now=raw.taken_at,
    )


def build(m: Measured, around: Surroundings, same: Interned) -> Pod:
    """The pod as the inventory holds it. What pods have in common is kept once."""
    meta, status, template = m.pod.metadata, m.pod.status, m.template
    owner = owner_of(meta, around.parents)
    owner = same.one(owner)
    claims = around.claims.of_pod(m.pod)
    scheduled, ready = condition(m.pod, "PodScheduled"), condition(m.pod, "Ready")
    state = state_of(m.pod, around.nodes, around.now)
    statuses = status.containerStatuses or ()
    waiting = [s.state.waiting.reason for s in statuses if s.state and s.state.waiting]
    started = [s.state.running.startedAt for s in statuses if s.state and s.state.running]
    reason = scheduled.reason if scheduled is not None and scheduled.status == "False" else ""
    labels = {k: v for k, v in (meta.labels or {}).items() if v and k in KEPT_LABELS}
    return Pod(
        namespace=same.text(meta.namespace),
        name=meta.name,
        uid=meta.uid,
        node=m.node,
        phase=same.text(status.phase),
        owner=owner,
        requests=m.request.devices,
        cpu_milli=m.request.cpu_milli,
        memory_mib=m.request.memory_mib,
        priority=template.priority,
        priority_class=template.priority_class,
        preemption_policy=template.preemption_policy,
        scheduler=template.scheduler,
        tolerations=template.tolerations,
        node_selector=template.node_selector,
        gang=_gang(m.pod, around.minima),
        state=state.name,
        claims=claims.names,
        is_daemon=is_daemon(owner) or bool(meta.notes.mirror),
        is_infrastructure=_is_infrastructure(meta.namespace, owner),
        created=time_of(meta.creationTimestamp),
        started=max(filter(None, map(time_of, started)), default=None),
        ready=time_of(ready.lastTransitionTime) if ready and ready.status == "True" else None,
        restarts=sum(s.restartCount or 0 for s in statuses),
        waiting_reason=same.text(reason or next(filter(None, waiting), "")),
        probes=template.probes,
        notes=m.request.problems,
        gates=template.gates,
        claim_devices=claims.gpus,
        claim_counts=claims.counts,
        claim_classes=claims.classes,
        gpu_fraction=fraction_of(meta.notes, m.request.devices),
        gpu_memory_mib=device_memory_of(meta.notes, m.request.devices),
        labels=same.value(labels, lambda: labels) if labels else _NO_LABELS,
        node_affinity=() if m.node else template.node_affinity,
        state_reason=same.text(state.reason),
        terminating_since=state.terminating_since,
        nominated_node="" if m.node else same.text(status.nominatedNodeName or ""),
        is_unanswered=state.name == "pending" and scheduled is None,
    )


def _gang(pod: PodObject, minima: Minima) -> Gang | None:
    return gang_of(pod.metadata, pod.spec, minima)


def _is_infrastructure(namespace: str, owner: Owner) -> bool:
    return namespace in NAMESPACES or (namespace in _OPERATORS and is_daemon(owner))
