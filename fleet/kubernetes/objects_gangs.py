"""Objects that hold pods together or queue them: PodGroups of four groups, Kueue, Volcano."""

from __future__ import annotations

from msgspec import field

from fleet.kubernetes.objects_core import (
    Condition,
    Int32,
    Labels,
    Name,
    Nothing,
    Object,
    Part,
    Quantities,
    Quantity,
    TolerationObject,
)
from fleet.kubernetes.objects_workloads import SchedulingPolicy


class TopologyConstraint(Part):
    key: Name = ""


class SchedulingConstraints(Part):
    topology: list[TopologyConstraint] | None = None


class RunAiConstraint(Part):
    requiredTopologyLevel: Name | None = None
    preferredTopologyLevel: Name | None = None


class DisruptionMode(Part):
    """The shape of 1.37; in 1.36 it is the text Pod or PodGroup."""

    single: Nothing | None = None
    all: Nothing | None = None


class PodGroupSpec(Part):
    """All four kinds: scheduling.k8s.io, scheduling.x-k8s.io, volcano, run.ai."""

    minMember: Int32 | None = None
    schedulingPolicy: SchedulingPolicy | None = None
    schedulingConstraints: SchedulingConstraints | None = None
    topologyConstraint: RunAiConstraint | None = None
    disruptionMode: Name | DisruptionMode | None = None
    queue: Name | None = None
    priorityClassName: Name | None = None


class StatusBody(Part):
    conditions: list[Condition] | None = None
    phase: Name | None = None


class PodGroupObject(Object):
    spec: PodGroupSpec = field(default_factory=PodGroupSpec)
    status: StatusBody | None = None


class WorkloadPodGroup(Part):
    name: Name = ""
    policy: SchedulingPolicy | None = None
    schedulingPolicy: SchedulingPolicy | None = None


class WorkloadSpec(Part):
    podGroups: list[WorkloadPodGroup] | None = None  # 1.35
    podGroupTemplates: list[WorkloadPodGroup] | None = None  # 1.36 and later
    queueName: Name | None = None  # Kueue


class WorkloadObject(Object):
    """scheduling.k8s.io and Kueue share the kind's name."""

    spec: WorkloadSpec = field(default_factory=WorkloadSpec)
    status: StatusBody | None = None


class QueueSpec(Part):
    capability: Quantities | None = None


class VolcanoQueueObject(Object):
    spec: QueueSpec = field(default_factory=QueueSpec)


class FlavorResource(Part):
    name: Name = ""
    nominalQuota: Quantity | None = None


class FlavorQuota(Part):
    name: Name = ""
    resources: list[FlavorResource] | None = None


class ResourceGroup(Part):
    flavors: list[FlavorQuota] | None = None


class ClusterQueueSpec(Part):
    cohort: Name | None = None
    cohortName: Name | None = None
    resourceGroups: list[ResourceGroup] | None = None


class ClusterQueueObject(Object):
    spec: ClusterQueueSpec = field(default_factory=ClusterQueueSpec)
    status: StatusBody | None = None


class LocalQueueSpec(Part):
    clusterQueue: Name = ""


class LocalQueueObject(Object):
    spec: LocalQueueSpec = field(default_factory=LocalQueueSpec)


class ResourceFlavorSpec(Part):
    nodeLabels: Labels | None = None
    topologyName: Name | None = None
    tolerations: list[TolerationObject] | None = None


class ResourceFlavorObject(Object):
    spec: ResourceFlavorSpec = field(default_factory=ResourceFlavorSpec)


class TopologyLevelSpec(Part):
    nodeLabel: Name = ""


class TopologySpec(Part):
    levels: list[TopologyLevelSpec] | None = None


class TopologyObject(Object):
    spec: TopologySpec = field(default_factory=TopologySpec)
