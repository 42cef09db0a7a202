"""What holds pods together: PodGroups of four systems, Kueue, Volcano, LeaderWorkerSet.

Four kinds named PodGroup share one plural, so they are always told apart by API group. System
``lws`` means membership only: a LeaderWorkerSet by itself schedules its pods one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal

from fleet.inventory import Gang, GangObject
from fleet.kubernetes.gang_minima import (
    composite_minima,
    gang_count,
    pod_gang_minimum,
    pod_group_minimum,
)
from fleet.kubernetes.objects import RawCluster
from fleet.kubernetes.objects_core import Annotations, Condition, Metadata, PodSpec
from fleet.kubernetes.objects_gangs import (
    ClusterQueueObject,
    CompositePodGroupObject,
    DisruptionMode,
    LocalQueueObject,
    PodGangObject,
    PodGroupObject,
    ResourceFlavorObject,
    StatusBody,
    TopologyObject,
    VolcanoQueueObject,
    WorkloadObject,
)
from fleet.kubernetes.taints import tolerations_of
from fleet.units import QuantityError, parse_quantity, plain_count

_POD_GROUPS = {
    "native": "podgroups.scheduling.k8s.io",
    "coscheduling": "podgroups.scheduling.x-k8s.io",
    "volcano": "podgroups.scheduling.volcano.sh",
    "kai": "podgroups.scheduling.run.ai",
}
_POD_GANGS = "podgangs.scheduler.grove.io"
_COMPOSITES = "compositepodgroups.scheduling.k8s.io"
_GROVE_LABEL = "grove.io/podgang"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
KUEUE_GROUP_LABEL = "kueue.x-k8s.io/pod-group-name"
KAI_QUEUE_LABEL = "kai.scheduler/queue"
_COSCHEDULING_LABELS = (
    "scheduling.x-k8s.io/pod-group",
    "pod-group.scheduling.sigs.k8s.io",
)
KEPT_LABELS = frozenset(
    (
        QUEUE_LABEL,
        KUEUE_GROUP_LABEL,
        KAI_QUEUE_LABEL,
        "runai-gpu-group",
        "leaderworkerset.sigs.k8s.io/name",
        "leaderworkerset.sigs.k8s.io/group-index",
        "leaderworkerset.sigs.k8s.io/worker-index",
        "jobset.sigs.k8s.io/jobset-name",
        "ray.io/cluster",
        *_COSCHEDULING_LABELS,
    )
)
"""Labels of a pod that later rooms need."""

Minima = Mapping[tuple[str, str, str], int | None]


def minima_of(raw: RawCluster) -> dict[tuple[str, str, str], int | None]:
    """(system, namespace, group name) -> pods that must start together."""
    found: dict[tuple[str, str, str], int | None] = {}
    for system, key in _POD_GROUPS.items():
        for item in raw.of(PodGroupObject, key):
            found[system, item.metadata.namespace, item.metadata.name] = pod_group_minimum(item)
    for gang in raw.of(PodGangObject, _POD_GANGS):
        found["grove", gang.metadata.namespace, gang.metadata.name] = pod_gang_minimum(gang)
    for workload in raw.of(WorkloadObject, "workloads.scheduling.k8s.io"):
        for group in (*(workload.spec.podGroups or ()), *(workload.spec.podGroupTemplates or ())):
            name = f"{workload.metadata.name}/{group.name}"
            policy = group.policy or group.schedulingPolicy
            found["native", workload.metadata.namespace, name] = gang_count(policy)
    return found


def gang_of(meta: Metadata, spec: PodSpec, minima: Minima) -> Gang | None:
    """The machinery that holds one pod, or None."""
    notes = meta.notes
    space = meta.namespace

    def with_minimum(system: str, group: str) -> Gang:
        return Gang(system, group, minima.get((system, space, group)))

    if spec.schedulingGroup is not None and spec.schedulingGroup.podGroupName:
        return with_minimum("native", spec.schedulingGroup.podGroupName)
    if spec.workloadRef is not None and spec.workloadRef.name:
        group = f"{spec.workloadRef.name}/{spec.workloadRef.podGroup or ''}"
        return with_minimum("native", group)
    for label in _COSCHEDULING_LABELS:
        if meta.label(label):
            return with_minimum("coscheduling", meta.label(label))
    if notes.volcano_group:
        return with_minimum("volcano", notes.volcano_group)
    if notes.kai_pod_group:
        return with_minimum("kai", notes.kai_pod_group)
    if meta.label(_GROVE_LABEL):
        return with_minimum("grove", meta.label(_GROVE_LABEL))
    if meta.label(KUEUE_GROUP_LABEL):
        return Gang("kueue", meta.label(KUEUE_GROUP_LABEL), plain_count(notes.kueue_group_count))
    if meta.label(QUEUE_LABEL):
        return Gang("kueue", meta.label(QUEUE_LABEL), None)
    if meta.label(KAI_QUEUE_LABEL) and spec.schedulerName == "kai-scheduler":
        return Gang("kai", meta.label(KAI_QUEUE_LABEL), None)
    name = meta.label("leaderworkerset.sigs.k8s.io/name")
    if name:
        index = meta.label("leaderworkerset.sigs.k8s.io/group-index") or "?"
        return Gang("lws", f"{name}-{index}", plain_count(notes.lws_size))
    return None


def topology_constraints(notes: Annotations, spec: PodSpec) -> tuple[str, ...]:
    """Label keys within whose domain the pods of a template want to stay."""
    keys = [
        notes.kueue_required,
        notes.kueue_preferred,
        notes.jobset_topology,
        notes.lws_topology,
    ]
    affinity = spec.affinity.podAffinity if spec.affinity else None
    terms = affinity.requiredDuringSchedulingIgnoredDuringExecution if affinity else None
    keys.extend(term.topologyKey for term in terms or ())
    return tuple(dict.fromkeys(key for key in keys if key))


def preferred_constraints(notes: Annotations) -> tuple[str, ...]:
    """Those of ``topology_constraints`` that are a wish: the pods start without it, too."""
    key = notes.kueue_preferred
    return (key,) if key and key != notes.kueue_required else ()


def _conditions(listed: Iterable[Condition] | None) -> dict[str, str]:
    return {c.type: c.status for c in listed or ()}


def _status_conditions(status: StatusBody | None) -> dict[str, str]:
    return _conditions(status.conditions if status is not None else None)


def gang_objects(raw: RawCluster) -> tuple[GangObject, ...]:
    """PodGroups, queues, flavors and topologies as later rooms need them."""
    found: list[GangObject] = []
    for key in _POD_GROUPS.values():
        found.extend(_pod_group(item) for item in raw.of(PodGroupObject, key))
    found.extend(_composites(raw))
    found.extend(_pod_gang(item) for item in raw.of(PodGangObject, _POD_GANGS))
    for key in ("workloads.scheduling.k8s.io", "workloads.kueue.x-k8s.io"):
        found.extend(_workload(item) for item in raw.of(WorkloadObject, key))
    found.extend(
        _plain(q, "Queue", _capability(q))
        for q in raw.of(VolcanoQueueObject, "queues.scheduling.volcano.sh")
    )
    found.extend(
        _plain(
            q,
            "ClusterQueue",
            nominal_quotas(q),
            _conditions(q.status.conditions if q.status else None),
        )
        for q in raw.of(ClusterQueueObject, "clusterqueues.kueue.x-k8s.io")
    )
    found.extend(
        _plain(q, "LocalQueue", {"clusterQueue": q.spec.clusterQueue})
        for q in raw.of(LocalQueueObject, "localqueues.kueue.x-k8s.io")
    )
    for flavor in raw.of(ResourceFlavorObject, "resourceflavors.kueue.x-k8s.io"):
        details = {f"nodeLabel:{k}": v for k, v in (flavor.spec.nodeLabels or {}).items()}
        if flavor.spec.topologyName:
            details["topologyName"] = flavor.spec.topologyName
        for toleration in flavor.spec.tolerations or ():
            details[f"toleration:{toleration.key or ''}"] = toleration.effect or ""
        given = tolerations_of(flavor.spec.tolerations)
        found.append(replace(_plain(flavor, "ResourceFlavor", details), tolerations=given))
    for topology in raw.of(TopologyObject, "topologies.kueue.x-k8s.io"):
        keys = tuple(level.nodeLabel for level in topology.spec.levels or ())
        found.append(_plain(topology, "Topology", {}, keys=keys))
    return tuple(found)


def _plain(
    item: VolcanoQueueObject
    | ClusterQueueObject
    | LocalQueueObject
    | ResourceFlavorObject
    | TopologyObject,
    kind: str,
    details: dict[str, str],
    conditions: dict[str, str] | None = None,
    keys: tuple[str, ...] = (),
) -> GangObject:
    return GangObject(
        api_version=item.apiVersion,
        kind=kind,
        namespace=item.metadata.namespace,
        name=item.metadata.name,
        minimum=None,
        topology_keys=keys,
        conditions=conditions or {},
        details=details,
    )


def _pod_group(item: PodGroupObject) -> GangObject:
    spec = item.spec
    constraints = spec.schedulingConstraints.topology if spec.schedulingConstraints else None
    keys = [c.key for c in constraints or ()]
    if spec.topologyConstraint is not None:
        keys.append(spec.topologyConstraint.requiredTopologyLevel or "")
        keys.append(spec.topologyConstraint.preferredTopologyLevel or "")
    details = {}
    if spec.queue:
        details["queue"] = spec.queue
    if spec.priorityClassName:
        details["priorityClassName"] = spec.priorityClassName
    if item.status is not None and item.status.phase:
        details["phase"] = item.status.phase
    if spec.parentCompositePodGroupName:
        details["parent"] = spec.parentCompositePodGroupName
    if spec.disruptionMode is not None:
        details["disruptionMode"] = _disruption(spec.disruptionMode)
    if spec.schedulingPolicy is not None:
        details["policy"] = "gang" if spec.schedulingPolicy.gang is not None else "basic"
    return GangObject(
        api_version=item.apiVersion,
        kind="PodGroup",
        namespace=item.metadata.namespace,
        name=item.metadata.name,
        minimum=pod_group_minimum(item),
        topology_keys=tuple(key for key in keys if key),
        conditions=_status_conditions(item.status),
        details=details,
    )


def _composites(raw: RawCluster) -> Iterator[GangObject]:
    """Groups of PodGroups (alpha of 1.37); the minimum is in pods, like any other."""
    composites = raw.of(CompositePodGroupObject, _COMPOSITES)
    minima = composite_minima(composites, raw.of(PodGroupObject, _POD_GROUPS["native"]))
    for item in composites:
        spec = item.spec
        gang = spec.schedulingPolicy.gang if spec.schedulingPolicy else None
        details = {"policy": "gang" if gang is not None else "basic"}
        if gang is not None and gang.minGroupCount is not None:
            details["minGroupCount"] = str(gang.minGroupCount)
        if spec.parentCompositePodGroupName:
            details["parent"] = spec.parentCompositePodGroupName
        if spec.priorityClassName:
            details["priorityClassName"] = spec.priorityClassName
        topology = spec.schedulingConstraints.topology if spec.schedulingConstraints else None
        yield GangObject(
            api_version=item.apiVersion,
            kind="CompositePodGroup",
            namespace=item.metadata.namespace,
            name=item.metadata.name,
            minimum=minima[item.metadata.namespace, item.metadata.name],
            topology_keys=tuple(c.key for c in topology or () if c.key),
            conditions=_status_conditions(item.status),
            details=details,
        )


def _pod_gang(item: PodGangObject) -> GangObject:
    constraint = item.spec.topologyConstraint
    pack = constraint.packConstraint if constraint is not None else None
    keys = (pack.required, pack.preferred) if pack is not None else ()
    groups = item.spec.podgroups or ()
    details = {f"minimum:{group.name}": str(group.minReplicas or 0) for group in groups}
    if item.status is not None and item.status.phase:
        details["phase"] = item.status.phase
    if item.spec.priorityClassName:
        details["priorityClassName"] = item.spec.priorityClassName
    return GangObject(
        api_version=item.apiVersion,
        kind="PodGang",
        namespace=item.metadata.namespace,
        name=item.metadata.name,
        minimum=pod_gang_minimum(item),
        topology_keys=tuple(key for key in keys if key),
        conditions=_status_conditions(item.status),
        details=details,
    )


def _disruption(mode: DisruptionMode | str) -> str:
    if isinstance(mode, str):
        return mode  # 1.36: Pod or PodGroup
    return "all" if mode.all is not None else "single"


def _workload(item: WorkloadObject) -> GangObject:
    groups = (*(item.spec.podGroups or ()), *(item.spec.podGroupTemplates or ()))
    counts = [gang_count(group.policy or group.schedulingPolicy) for group in groups]
    owner = item.metadata.controller
    details = {"queue": item.spec.queueName} if item.spec.queueName else {}
    if owner is not None:
        details["owner"] = f"{owner.kind}/{owner.name}"
    return GangObject(
        api_version=item.apiVersion,
        kind="Workload",
        namespace=item.metadata.namespace,
        name=item.metadata.name,
        minimum=max((c for c in counts if c is not None), default=None),
        topology_keys=(),
        conditions=_status_conditions(item.status),
        details=details,
    )


def _capability(queue: VolcanoQueueObject) -> dict[str, str]:
    listed = queue.spec.capability or {}
    return {f"capability:{name}": str(amount)[:64] for name, amount in listed.items()}


def nominal_quotas(queue: ClusterQueueObject) -> dict[str, str]:
    """``quota:<resource>`` -> nominal quota summed over flavors, plus the cohort."""
    totals: dict[str, Decimal] = {}
    for group in queue.spec.resourceGroups or ():
        for flavor in group.flavors or ():
            for resource in flavor.resources or ():
                try:
                    amount = parse_quantity(resource.nominalQuota or 0)
                except QuantityError:
                    continue
                totals[resource.name] = totals.get(resource.name, Decimal(0)) + amount
    details = {f"quota:{name}": f"{amount:f}" for name, amount in totals.items()}
    cohort = queue.spec.cohortName or queue.spec.cohort
    if cohort:
        details["cohort"] = cohort
    flavors = [f.name for g in queue.spec.resourceGroups or () for f in g.flavors or ()]
    if flavors:
        details["flavors"] = ",".join(dict.fromkeys(flavors))[:1000]
    return details
