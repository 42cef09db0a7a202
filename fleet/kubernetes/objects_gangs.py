"""Objects that hold pods together or queue them: PodGroups of four groups, Kueue, Volcano."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, field

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


class SubGroup(Part):
    """KAI: a part of a PodGroup with a minimum of its own; parts may hold parts."""

    name: Name = ""
    minMember: Int32 | None = None
    minSubGroup: Int32 | None = None
    parent: Name | None = None


class PodGroupSpec(Part):
    """All four kinds: scheduling.k8s.io, scheduling.x-k8s.io, volcano, run.ai."""

    minMember: Int32 | None = None
    minSubGroup: Int32 | None = None
    subGroups: list[SubGroup] | None = None
    parentCompositePodGroupName: Name | None = None
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


class CompositeGang(Part):
    minGroupCount: Int32 | None = None


class CompositePolicy(Part):
    gang: CompositeGang | None = None


class CompositePodGroupSpec(Part):
    parentCompositePodGroupName: Name | None = None
    schedulingPolicy: CompositePolicy | None = None
    schedulingConstraints: SchedulingConstraints | None = None
    priorityClassName: Name | None = None


class CompositePodGroupObject(Object):
    """Alpha of 1.37: groups of PodGroups, whole or not at all."""

    spec: CompositePodGroupSpec = field(default_factory=CompositePodGroupSpec)
    status: StatusBody | None = None


class PackConstraint(Part):
    required: Name | None = None
    preferred: Name | None = None


class GangTopology(Part):
    packConstraint: PackConstraint | None = None


class GangPodGroup(Part):
    name: Name = ""
    minReplicas: Int32 | None = None
    topologyConstraint: GangTopology | None = None


class PodGangSpec(Part):
    podgroups: list[GangPodGroup] | None = None
    topologyConstraint: GangTopology | None = None
    priorityClassName: Name | None = None


class PodGangObject(Object):
    """Grove: the cliques that start together."""

    spec: PodGangSpec = field(default_factory=PodGangSpec)
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
    nodeLabel: Annotated[str, Meta(max_length=512)] = ""
    alias: Annotated[str, Meta(max_length=512)] | None = None  # KAI only
    key: Annotated[str, Meta(max_length=512)] = ""  # Grove: the node label
    domain: Name = ""  # Grove: what it calls the level


class TopologySpec(Part):
    levels: list[TopologyLevelSpec] | None = None


class TopologyObject(Object):
    """Kueue's, KAI's and Grove's: label keys, coarse to fine."""

    spec: TopologySpec = field(default_factory=TopologySpec)


class ExactMatch(Part):
    name: Name = ""


class RegexMatch(Part):
    pattern: Annotated[str, Meta(max_length=1024)] = ""


class LabelRequirement(Part):
    key: Name = ""
    operator: Name = ""
    values: list[Name] | None = None


class LabelMatch(Part):
    matchLabels: Labels | None = None
    matchExpressions: list[LabelRequirement] | None = None


class MemberSelector(Part):
    exactMatch: ExactMatch | None = None
    regexMatch: RegexMatch | None = None
    labelMatch: LabelMatch | None = None


class HyperNodeMember(Part):
    type: Name = ""  # Node or HyperNode
    selector: MemberSelector | None = None


class HyperNodeSpec(Part):
    tier: Int32 | None = None  # 1 is nearest the nodes
    tierName: Name | None = None
    members: list[HyperNodeMember] | None = None


class HyperNodeObject(Object):
    """Volcano's topology: nodes and HyperNodes under one switch."""

    spec: HyperNodeSpec = field(default_factory=HyperNodeSpec)
