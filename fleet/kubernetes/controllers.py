"""Workload objects with pod templates, whatever their kind: how many pods of which shape.

Everything is brought to one form first: roles, each a number of pods of one template. The API
server does not fill in defaults in templates, so limits stand for missing requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fleet.device_names import accelerators_only
from fleet.inventory import ContainerProbes, Controller, Gang, PodRole
from fleet.kubernetes.affinity import node_affinity_of
from fleet.kubernetes.gangs import (
    QUEUE_LABEL,
    Minima,
    gang_of,
    preferred_constraints,
    topology_constraints,
)
from fleet.kubernetes.objects import RawCluster
from fleet.kubernetes.objects_core import Metadata, Object, PodSpec
from fleet.kubernetes.probes import probes_of
from fleet.kubernetes.requests import PodRequest, pod_request
from fleet.kubernetes.roles import KINDS, Role, Shape, shape_of
from fleet.kubernetes.taints import tolerations_of

_ALWAYS_KEPT = frozenset(KINDS) - {"DaemonSet", "ReplicaSet", "Job", "CronJob"}
"""Kept even without devices: a server may get its GPU in another way, and its probes count."""


@dataclass(frozen=True, slots=True)
class _Measured:
    role: Role
    request: PodRequest


def controllers_of(raw: RawCluster, minima: Minima) -> tuple[Controller, ...]:
    """The cluster's workload objects; children of another workload object are left out."""
    return tuple(found for item, kind in _roots(raw) if (found := _one(item, kind, minima)))


def _roots(raw: RawCluster) -> Iterator[tuple[Object, str]]:
    for kind, key in ((kind, key) for kind, keys in KINDS.items() for key in keys):
        for item in raw.objects.get(key, ()):
            owner = item.metadata.controller
            if owner is None or owner.kind not in KINDS:
                yield item, kind


def _one(item: Object, kind: str, minima: Minima) -> Controller | None:
    shape = shape_of(item)
    if shape is None or not shape.roles:
        return None
    measured = [_Measured(role, pod_request(role.spec)) for role in shape.roles]
    devices = any(m.request.devices or m.role.spec.resourceClaims for m in measured)
    if shape.is_finished or not (devices or kind in _ALWAYS_KEPT):
        return None
    main = max(measured, key=lambda m: (sum(m.request.devices.values()), m.request.cpu_milli))
    meta, template = item.metadata, main.role.metadata
    wanted = None if kind == "DaemonSet" else sum(m.role.pods for m in measured)
    total: dict[str, int] = {}
    for m in measured:
        for name, amount in m.request.devices.items():
            total[name] = total.get(name, 0) + amount * m.role.pods
    gang_size = _gang_size(shape, measured)
    return Controller(
        api_version=item.apiVersion,
        kind=kind,
        namespace=meta.namespace,
        name=meta.name,
        pods_wanted=wanted,
        gang_size=gang_size,
        requests=accelerators_only(main.request.devices),
        total_requests=accelerators_only(total),
        suspended=shape.suspended or meta.deletionTimestamp is not None,
        gang=_gang(meta, template, main.role.spec, shape, gang_size, minima),
        scheduler=shape.scheduler or main.role.spec.schedulerName or "default-scheduler",
        labels=dict(meta.labels or {}),
        tolerations=tolerations_of(main.role.spec.tolerations),
        node_selector=dict(main.role.spec.nodeSelector or {}),
        topology_keys=topology_constraints(template.notes, main.role.spec)
        or topology_constraints(meta.notes, main.role.spec),
        probes=_probes(measured),
        progress_deadline_s=shape.progress_deadline_s,
        problems=tuple(dict.fromkeys(p for m in measured for p in m.request.problems)),
        groups=shape.groups,
        total_cpu_milli=sum(m.request.cpu_milli * m.role.pods for m in measured),
        total_memory_mib=sum(m.request.memory_mib * m.role.pods for m in measured),
        roles=tuple(map(_role, measured)),
        preferred_topology_keys=preferred_constraints(template.notes)
        or preferred_constraints(meta.notes),
        queue=meta.label(QUEUE_LABEL) or template.label(QUEUE_LABEL) or shape.queue,
    )


def _role(m: _Measured) -> PodRole:
    spec = m.role.spec
    return PodRole(
        pods=m.role.pods,
        requests=m.request.devices,
        cpu_milli=m.request.cpu_milli,
        memory_mib=m.request.memory_mib,
        tolerations=tolerations_of(spec.tolerations),
        node_selector=dict(spec.nodeSelector or {}),
        node_affinity=node_affinity_of(spec),
        claims=len(spec.resourceClaims or ()),
    )


def _gang_size(shape: Shape, measured: list[_Measured]) -> int | None:
    """Pods needed at the same time; 1 when at most one of them holds a device."""
    if shape.together is None or shape.together < 2:
        return shape.together
    holders = sum(m.role.pods for m in measured if m.request.devices or m.role.spec.resourceClaims)
    return shape.together if holders / max(1, shape.groups) > 1 else 1


def _gang(
    meta: Metadata,
    template: Metadata,
    spec: PodSpec,
    shape: Shape,
    gang_size: int | None,
    minima: Minima,
) -> Gang | None:
    if shape.minimum is not None:
        return Gang(shape.gang_system, meta.name, shape.minimum)
    queue = meta.label(QUEUE_LABEL) or template.label(QUEUE_LABEL)
    if queue:
        return Gang("kueue", queue, gang_size)  # Kueue admits a job whole or not at all
    in_place = Metadata(
        name=meta.name,
        namespace=meta.namespace,
        labels=template.labels,
        annotations=template.annotations,
    )
    found = gang_of(in_place, spec, minima)
    if found is None:
        found = gang_of(meta, spec, minima)
    return found if found is None or found.system != "lws" else None


def _probes(measured: Iterable[_Measured]) -> tuple[ContainerProbes, ...]:
    seen: dict[tuple[str, bool], ContainerProbes] = {}
    for m in measured:
        for probes in probes_of(m.role.spec):
            seen.setdefault((probes.container, probes.wants_gpu), probes)
    return tuple(seen.values())
