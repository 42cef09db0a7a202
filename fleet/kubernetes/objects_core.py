"""The few fields of cluster objects that we decode, and nothing else.

What is not named here never becomes a Python value: environment variables, arguments, commands,
managed fields and every annotation off the allow-list are skipped by the decoder itself. That
keeps secrets out of memory and makes a page of 500 pods cost milliseconds.

Decoding is lenient on purpose: lists and maps may be ``null``, quantities may be unquoted
numbers. What does not fit costs that one object and leaves a line in ``problems``.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct, field

Quantity = str | int | float
Quantities = dict[str, Quantity]
# The API server enforces 253 and 63; a file may hold anything.
Name = Annotated[str, Meta(max_length=253)]
LabelValue = Annotated[str, Meta(max_length=253)]
Labels = dict[Annotated[str, Meta(max_length=512)], LabelValue]
_Note = Annotated[str, Meta(max_length=65_536)]


class Annotations(Struct):
    """The annotations that carry scheduling facts. All others are dropped while parsing."""

    hami_register: _Note | None = field(default=None, name="hami.io/node-nvidia-register")
    hami_handshake: _Note | None = field(default=None, name="hami.io/node-handshake")
    hami_allocated: _Note | None = field(default=None, name="hami.io/vgpu-devices-allocated")
    kwok_node: _Note | None = field(default=None, name="kwok.x-k8s.io/node")
    volcano_group: Name | None = field(default=None, name="scheduling.k8s.io/group-name")
    volcano_vgpu_mode: Name | None = field(default=None, name="volcano.sh/vgpu-mode")
    kai_pod_group: Name | None = field(default=None, name="pod-group-name")
    kai_fraction: Name | None = field(default=None, name="gpu-fraction")
    kai_memory: Name | None = field(default=None, name="gpu-memory")
    aliyun_index: Name | None = field(default=None, name="ALIYUN_COM_GPU_MEM_IDX")
    lws_size: Name | None = field(default=None, name="leaderworkerset.sigs.k8s.io/size")
    lws_topology: Name | None = field(
        default=None, name="leaderworkerset.sigs.k8s.io/exclusive-topology"
    )
    jobset_topology: Name | None = field(
        default=None, name="alpha.jobset.sigs.k8s.io/exclusive-topology"
    )
    kueue_group_count: Name | None = field(
        default=None, name="kueue.x-k8s.io/pod-group-total-count"
    )
    kueue_required: Name | None = field(
        default=None, name="kueue.x-k8s.io/podset-required-topology"
    )
    kueue_preferred: Name | None = field(
        default=None, name="kueue.x-k8s.io/podset-preferred-topology"
    )
    extended_claim: Name | None = field(
        default=None, name="resource.kubernetes.io/extended-resource-claim"
    )
    mirror: Name | None = field(default=None, name="kubernetes.io/config.mirror")
    synthetic: Name | None = field(default=None, name="gpu-fleet-planner/synthetic")

    def kept(self) -> dict[str, str]:
        """The annotations that were there, by their real name."""
        found = {}
        for info in msgspec.structs.fields(self):
            value = getattr(self, info.name)
            if value is not None:
                found[info.encode_name] = value
        return found


class OwnerReference(Struct):
    kind: Name = ""
    name: Name = ""
    uid: Name = ""
    controller: bool | None = None


class Metadata(Struct):
    name: Name = ""
    namespace: Name = ""
    uid: Name = ""
    labels: Labels | None = None
    annotations: Annotations | None = None
    ownerReferences: list[OwnerReference] | None = None
    creationTimestamp: Name | None = None
    deletionTimestamp: Name | None = None

    def label(self, key: str) -> str:
        """The label's value, "" when absent (an empty label says nothing either)."""
        return (self.labels or {}).get(key, "")

    @property
    def notes(self) -> Annotations:
        return self.annotations or Annotations()

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages the object."""
        for owner in self.ownerReferences or ():
            if owner.controller:
                return owner
        return None


class Object(Struct):
    """What every object has."""

    metadata: Metadata = field(default_factory=Metadata)
    apiVersion: Name = ""


class Condition(Struct):
    type: Name = ""
    status: Name = ""
    reason: Name = ""
    lastTransitionTime: Name | None = None


class TaintObject(Struct):
    key: Name = ""
    value: LabelValue | None = None
    effect: Name = ""


class NodeSpec(Struct):
    unschedulable: bool | None = None
    taints: list[TaintObject] | None = None
    providerID: Annotated[str, Meta(max_length=1024)] | None = None


class NodeInfo(Struct):
    kubeletVersion: Name = ""
    architecture: Name = ""
    operatingSystem: Name = ""


class NodeStatus(Struct):
    capacity: Quantities | None = None
    allocatable: Quantities | None = None
    conditions: list[Condition] | None = None
    nodeInfo: NodeInfo | None = None


class NodeObject(Object):
    spec: NodeSpec | None = None
    status: NodeStatus | None = None


class ClaimReference(Struct):
    name: Name = ""
    request: Name | None = None


class Resources(Struct):
    requests: Quantities | None = None
    limits: Quantities | None = None
    claims: list[ClaimReference] | None = None


class Nothing(Struct):
    """Only that it is there: what is inside (a command, a header) is not decoded."""


class Probe(Struct):
    httpGet: Nothing | None = None
    tcpSocket: Nothing | None = None
    grpc: Nothing | None = None
    exec: Nothing | None = None
    initialDelaySeconds: int | None = None
    periodSeconds: int | None = None
    timeoutSeconds: int | None = None
    failureThreshold: int | None = None


class Container(Struct):
    name: Name = ""
    resources: Resources | None = None
    restartPolicy: Name | None = None
    ports: list[Nothing] | None = None
    startupProbe: Probe | None = None
    readinessProbe: Probe | None = None
    livenessProbe: Probe | None = None


class TolerationObject(Struct):
    key: Name | None = None
    operator: Name | None = None
    value: LabelValue | None = None
    effect: Name | None = None
    tolerationSeconds: int | None = None


class PodClaim(Struct):
    name: Name = ""
    resourceClaimName: Name | None = None
    resourceClaimTemplateName: Name | None = None


class SchedulingGroup(Struct):
    podGroupName: Name | None = None


class WorkloadReference(Struct):
    name: Name | None = None
    podGroup: Name | None = None


class AffinityTerm(Struct):
    topologyKey: Annotated[str, Meta(max_length=512)] = ""


class PodAffinity(Struct):
    requiredDuringSchedulingIgnoredDuringExecution: list[AffinityTerm] | None = None


class Affinity(Struct):
    podAffinity: PodAffinity | None = None


class NamedItem(Struct):
    name: Name = ""


class PodSpec(Struct):
    nodeName: Name | None = None
    schedulerName: Name | None = None
    priority: int | None = None
    priorityClassName: Name | None = None
    preemptionPolicy: Name | None = None
    tolerations: list[TolerationObject] | None = None
    nodeSelector: Labels | None = None
    affinity: Affinity | None = None
    containers: list[Container] | None = None
    initContainers: list[Container] | None = None
    overhead: Quantities | None = None
    resources: Resources | None = None
    resourceClaims: list[PodClaim] | None = None
    schedulingGroup: SchedulingGroup | None = None
    workloadRef: WorkloadReference | None = None
    schedulingGates: list[NamedItem] | None = None


class ContainerState(Struct):
    class Running(Struct):
        startedAt: Name | None = None

    class Waiting(Struct):
        reason: Name | None = None

    running: Running | None = None
    waiting: Waiting | None = None


class ContainerStatus(Struct):
    name: Name = ""
    restartCount: int | None = None
    state: ContainerState | None = None
    resources: Resources | None = None
    allocatedResources: Quantities | None = None


class ClaimStatus(Struct):
    name: Name = ""
    resourceClaimName: Name | None = None


class RequestMapping(Struct):
    resourceName: Name = ""


class ExtendedClaim(Struct):
    resourceClaimName: Name = ""
    requestMappings: list[RequestMapping] | None = None


class PodStatus(Struct):
    phase: Name = ""
    conditions: list[Condition] | None = None
    containerStatuses: list[ContainerStatus] | None = None
    initContainerStatuses: list[ContainerStatus] | None = None
    nominatedNodeName: Name | None = None
    resourceClaimStatuses: list[ClaimStatus] | None = None
    extendedResourceClaimStatus: ExtendedClaim | None = None
    startTime: Name | None = None


class PodObject(Object):
    spec: PodSpec = field(default_factory=PodSpec)
    status: PodStatus = field(default_factory=PodStatus)


class NamespaceObject(Object):
    pass


class QuotaSpec(Struct):
    class ScopeSelector(Struct):
        class Expression(Struct):
            scopeName: Name = ""
            operator: Name = ""
            values: list[Name] | None = None

        matchExpressions: list[Expression] | None = None

    hard: Quantities | None = None
    scopes: list[Name] | None = None
    scopeSelector: ScopeSelector | None = None


class QuotaStatus(Struct):
    hard: Quantities | None = None
    used: Quantities | None = None


class QuotaObject(Object):
    spec: QuotaSpec | None = None
    status: QuotaStatus | None = None


class PriorityClassObject(Object):
    value: int = 0
    preemptionPolicy: Name | None = None
    globalDefault: bool | None = None


class VersionInfo(Struct):
    """The answer of ``GET /version``."""

    gitVersion: Name = ""
    major: Name = ""
    minor: Name = ""
    emulationMajor: Name = ""
    emulationMinor: Name = ""
