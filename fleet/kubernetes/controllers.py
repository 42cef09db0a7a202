"""Workload objects with pod templates, whatever their kind: how many pods of which shape.

Everything is brought to one form first: roles, each a number of pods of one template. The API
server does not fill in defaults in templates, so limits stand for missing requests.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from fleet.device_names import accelerators_only
from fleet.inventory import ContainerProbes, Controller, Gang, Owner, PodRole, api_group
from fleet.kubernetes.affinity import node_affinity_of
from fleet.kubernetes.board_parts import device_memory_of, fraction_of
from fleet.kubernetes.dra_demand import Claims, claims_in
from fleet.kubernetes.gangs import (
    QUEUE_LABEL,
    Minima,
    gang_of,
    preferred_constraints,
    topology_constraints,
)
from fleet.kubernetes.objects import RawCluster
from fleet.kubernetes.objects_core import Metadata, Object, PodObject, PodSpec
from fleet.kubernetes.owners import ByName, Parents, owner_of, owning, parents_of
from fleet.kubernetes.probes import probes_of
from fleet.kubernetes.requests import PodRequest, pod_request
from fleet.kubernetes.roles import KINDS, shape_of
from fleet.kubernetes.roles_training import runtimes_of
from fleet.kubernetes.shapes import Role, Shape
from fleet.kubernetes.taints import tolerations_of

_ALWAYS_KEPT = frozenset(KINDS) - {"DaemonSet", "ReplicaSet", "Job", "CronJob"}
"""Kept even without devices: a server may get its GPU in another way, and its probes count."""


@dataclass(frozen=True, slots=True)
class _Measured:
    role: Role
    request: PodRequest
    claim_devices: int

    @property
    def gpu_fraction(self) -> float | None:
        return fraction_of(self.role.metadata.notes, self.request.devices)

    @property
    def gpu_memory_mib(self) -> int | None:
        return device_memory_of(self.role.metadata.notes, self.request.devices)

    @property
    def has_devices(self) -> bool:
        return bool(
            self.request.devices
            or self.role.spec.resourceClaims
            or self.gpu_fraction is not None
            or self.gpu_memory_mib is not None
        )


@dataclass(slots=True)
class _Found:
    """A workload object that was read, with what it says and what it made."""

    item: Object
    kind: str
    shape: Shape
    measured: list[_Measured]
    top: Owner | None = None  # the workload that a person knows it by, when that is another one
    made: list[_Found] = field(default_factory=list)

    @property
    def itself(self) -> Owner:
        return Owner(self.kind, self.item.metadata.name, api_group(self.item.apiVersion))

    @property
    def has_devices(self) -> bool:
        return any(m.has_devices for m in self.measured)


def controllers_of(raw: RawCluster, minima: Minima) -> tuple[Controller, ...]:
    """The cluster's workload objects. What another one of them made is left out: an object counts
    once, under the name that a person gave."""
    runtimes, claims = runtimes_of(raw), claims_in(raw)
    found = [
        _Found(item, kind, shape, [_measured(r, item.metadata, claims) for r in shape.roles])
        for kind, key in ((kind, key) for kind, keys in KINDS.items() for key in keys)
        for item in raw.objects.get(key, ())
        if (shape := shape_of(item, runtimes)) is not None
    ]
    made = (_one(each, minima) for each in _roots(found, parents_of(raw)))
    return tuple(each for each in made if each is not None)


def _measured(role: Role, meta: Metadata, claims: Claims) -> _Measured:
    # A claim that is named is one for all pods, and there already; a template makes one for each.
    each = [claim for claim in role.spec.resourceClaims or () if claim.resourceClaimTemplateName]
    pod = PodObject(metadata=Metadata(namespace=meta.namespace), spec=PodSpec(resourceClaims=each))
    return _Measured(role, pod_request(role.spec), claims.of_pod(pod).gpus)


def _roots(found: list[_Found], parents: Parents) -> list[_Found]:
    """Those that no other one made. An owner that was not read hides nothing, and neither does
    one that is itself made by another: references that bite their own tail."""
    by_name: ByName[_Found] = ByName()
    for each in found:
        by_name.add(each.item.metadata.namespace, each.itself, each)
    above = [_above(each, by_name, parents) for each in found]
    below_another = {id(each) for each, top in zip(found, above, strict=True) if top is not None}
    roots = []
    for each, top in zip(found, above, strict=True):
        if top is None or id(top) in below_another:
            roots.append(each)
        elif _is_outermost(each.item.metadata, top, by_name):
            top.made.append(each)
    return roots


def _above(each: _Found, by_name: ByName[_Found], parents: Parents) -> _Found | None:
    """The object that was read and stands at the top above this one, if any."""
    meta = each.item.metadata
    if owning(meta) is None:
        return None
    top = owner_of(meta, parents)
    found = by_name.get(meta.namespace, top)
    if found is None:
        each.top = top
    return None if found is each else found


def _is_outermost(meta: Metadata, top: _Found, by_name: ByName[_Found]) -> bool:
    """Whether nothing that was read stands between an object and its top: the ReplicaSet of a
    Deployment repeats what the Deployment says."""
    owner = owning(meta)
    if owner is None:
        return False
    above = by_name.get(meta.namespace, owner.owner)
    return above is None or above is top


def _filled(found: _Found) -> _Found:
    """An object whose template comes from elsewhere (a serving runtime, a shared configuration)
    names no devices itself: what it made says how many pods of which shape."""
    parts = [] if found.has_devices else [part for part in found.made if part.has_devices]
    if not parts:
        return found
    shape = replace(
        found.shape,
        roles=tuple(r for part in parts for r in part.shape.roles),
        together=max(part.shape.together or 1 for part in parts),
        groups=sum(part.shape.groups for part in parts),
    )
    measured = [m for part in parts for m in part.measured]
    return _Found(found.item, found.kind, shape, measured)


def _one(found: _Found, minima: Minima) -> Controller | None:
    found = _filled(found)
    item, kind, shape, measured = found.item, found.kind, found.shape, found.measured
    if not measured or shape.is_finished or item.metadata.deletionTimestamp is not None:
        return None
    if not (found.has_devices or kind in _ALWAYS_KEPT):
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
        suspended=shape.suspended,
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
        top=found.top,
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
        claim_devices=m.claim_devices,
        done=m.role.done,
        gpu_fraction=m.gpu_fraction,
        gpu_memory_mib=m.gpu_memory_mib,
        priority_class=spec.priorityClassName or "",
    )


def _gang_size(shape: Shape, measured: list[_Measured]) -> int | None:
    """Pods needed at the same time; 1 when at most one of them holds a device."""
    if shape.together is None or shape.together < 2:
        return shape.together
    holders = sum(m.role.pods for m in measured if m.has_devices)
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
