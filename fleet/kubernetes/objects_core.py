"""The few fields of cluster objects that we decode, and nothing else.

What is not named here never becomes a Python value: environment variables, arguments, commands,
managed fields and every annotation off the allow-list are skipped by the decoder itself. That
keeps secrets out of memory and makes a page of 500 pods cost milliseconds.

Decoding is lenient on purpose: lists and maps may be ``null``, quantities may be unquoted
numbers. What does not fit costs that one object and leaves a line in ``problems``.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, field

from fleet.inventory import Owner, api_group

Quantity = str | int | float
Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, Meta(ge=-(2**62), le=2**62)]
Quantities = dict[str, Quantity]
# The API server enforces 253 and 63; a file may hold anything.
Name = Annotated[str, Meta(max_length=253)]
LabelValue = Annotated[str, Meta(max_length=253)]
Labels = dict[Annotated[str, Meta(max_length=512)], LabelValue]
_Note = Annotated[str, Meta(max_length=65_536)]


class Part(Struct, gc=False):
    """Base of everything decoded. These values hold no cycles: no need to look for any."""


class Annotations(Part):
    """The annotations that carry scheduling facts. All others are dropped while parsing."""

    hami_register: _Note | None = field(default=None, name="hami.io/node-nvidia-register")
    hami_handshake: _Note | None = field(default=None, name="hami.io/node-handshake")
    hami_nvidia_handshake: _Note | None = field(default=None, name="hami.io/node-handshake-nvidia")
    hami_allocated: _Note | None = field(default=None, name="hami.io/vgpu-devices-allocated")
    hami_mlu_register: _Note | None = field(default=None, name="hami.io/node-mlu-register")
    hami_dcu_register: _Note | None = field(default=None, name="hami.io/node-dcu-register")
    volcano_register: _Note | None = field(default=None, name="volcano.sh/node-vgpu-register")
    volcano_handshake: _Note | None = field(default=None, name="volcano.sh/node-vgpu-handshake")
    kwok_node: _Note | None = field(default=None, name="kwok.x-k8s.io/node")
    volcano_group: Name | None = field(default=None, name="scheduling.k8s.io/group-name")
    volcano_vgpu_mode: Name | None = field(default=None, name="volcano.sh/vgpu-mode")
    kai_pod_group: Name | None = field(default=None, name="pod-group-name")
    kai_fraction: Name | None = field(default=None, name="gpu-fraction")
    kai_memory: Name | None = field(default=None, name="gpu-memory")
    kai_devices: Name | None = field(default=None, name="gpu-fraction-num-devices")
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
        pairs = zip(self.__struct_fields__, self.__struct_encode_fields__, strict=True)
        for name, real in pairs:
            value = getattr(self, name)
            if value is not None:
                found[real] = value
        return found


_NO_ANNOTATIONS = Annotations()  # shared: nobody changes what was read


class OwnerReference(Part):
    apiVersion: Name = ""
    kind: Name = ""
    name: Name = ""
    uid: Name = ""
    controller: bool | None = None

    @property
    def owner(self) -> Owner:
        """The object that is meant; its group, since two may have a kind of that name."""
        return Owner(self.kind, self.name, api_group(self.apiVersion))


class Metadata(Part):
    name: Name = ""
    namespace: Name = ""
    uid: Name = ""
    labels: Labels | None = None
    annotations: Annotations | None = None
    ownerReferences: list[OwnerReference] | None = None
    creationTimestamp: Name | None = None
    deletionTimestamp: Name | None = None
    deletionGracePeriodSeconds: Int64 | None = None

    def label(self, key: str) -> str:
        """The label's value, "" when absent (an empty label says nothing either)."""
        return (self.labels or {}).get(key, "")

    @property
    def notes(self) -> Annotations:
        return self.annotations if self.annotations is not None else _NO_ANNOTATIONS

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages the object."""
        for owner in self.ownerReferences or ():
            if owner.controller:
                return owner
        return None


class Object(Part):
    """What every object has."""

    metadata: Metadata = field(default_factory=Metadata)
    apiVersion: Name = ""


class Condition(Part):
    type: Name = ""
    status: Name = ""
    reason: Name = ""
    lastTransitionTime: Name | None = None


class TaintObject(Part):
    key: Name = ""
    value: LabelValue | None = None
    effect: Name = ""


class NodeSpec(Part):
    unschedulable: bool | None = None
    taints: list[TaintObject] | None = None
    providerID: Annotated[str, Meta(max_length=1024)] | None = None


class NodeInfo(Part):
    kubeletVersion: Name = ""
    architecture: Name = ""
    operatingSystem: Name = ""


class NodeStatus(Part):
    capacity: Quantities | None = None
    allocatable: Quantities | None = None
    conditions: list[Condition] | None = None
    nodeInfo: NodeInfo | None = None


class NodeObject(Object):
    spec: NodeSpec | None = None
    status: NodeStatus | None = None


class ClaimReference(Part):
    name: Name = ""
    request: Name | None = None


class Resources(Part):
    requests: Quantities | None = None
    limits: Quantities | None = None
    claims: list[ClaimReference] | None = None


class Nothing(Part):
    """Only that it is there: what is inside (a command, a header) is not decoded."""


class Probe(Part):
    httpGet: Nothing | None = None
    tcpSocket: Nothing | None = None
    grpc: Nothing | None = None
    exec: Nothing | None = None
    initialDelaySeconds: Int32 | None = None
    periodSeconds: Int32 | None = None
    timeoutSeconds: Int32 | None = None
    failureThreshold: Int32 | None = None


class Container(Part):
    name: Name = ""
    resources: Resources | None = None
    restartPolicy: Name | None = None
    ports: list[Nothing] | None = None
    startupProbe: Probe | None = None
    readinessProbe: Probe | None = None
    livenessProbe: Probe | None = None


class TolerationObject(Part):
    key: Name | None = None
    operator: Name | None = None
    value: LabelValue | None = None
    effect: Name | None = None
    tolerationSeconds: Int32 | None = None


class PodClaim(Part):
    name: Name = ""
    resourceClaimName: Name | None = None
    resourceClaimTemplateName: Name | None = None


class SchedulingGroup(Part):
    podGroupName: Name | None = None


class WorkloadReference(Part):
    name: Name | None = None
    podGroup: Name | None = None


class AffinityTerm(Part):
    topologyKey: Annotated[str, Meta(max_length=512)] = ""


class PodAffinity(Part):
    requiredDuringSchedulingIgnoredDuringExecution: list[AffinityTerm] | None = None


class NodeExpression(Part):
    key: Annotated[str, Meta(max_length=512)] = ""
    operator: Name = ""
    values: list[LabelValue] | None = None


class NodeTerm(Part):
    matchExpressions: list[NodeExpression] | None = None
    matchFields: list[NodeExpression] | None = None


class RequiredNodes(Part):
    nodeSelectorTerms: list[NodeTerm] | None = None


class NodeAffinity(Part):
    requiredDuringSchedulingIgnoredDuringExecution: RequiredNodes | None = None


class Affinity(Part):
    podAffinity: PodAffinity | None = None
    nodeAffinity: NodeAffinity | None = None


class NamedItem(Part):
    name: Name = ""


class PodSpec(Part):
    nodeName: Name | None = None
    schedulerName: Name | None = None
    priority: Int32 | None = None
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


class ContainerState(Part):
    class Running(Part):
        startedAt: Name | None = None

    class Waiting(Part):
        reason: Name | None = None

    running: Running | None = None
    waiting: Waiting | None = None


class DeviceHealth(Part):
    resourceID: Annotated[str, Meta(max_length=1024)] = ""
    health: Name = ""


class AllocatedStatus(Part):
    name: Name = ""
    resources: list[DeviceHealth] | None = None


class ContainerStatus(Part):
    name: Name = ""
    restartCount: Int32 | None = None
    state: ContainerState | None = None
    resources: Resources | None = None
    allocatedResources: Quantities | None = None
    allocatedResourcesStatus: list[AllocatedStatus] | None = None


class ClaimStatus(Part):
    name: Name = ""
    resourceClaimName: Name | None = None


class RequestMapping(Part):
    resourceName: Name = ""


class ExtendedClaim(Part):
    resourceClaimName: Name = ""
    requestMappings: list[RequestMapping] | None = None


class MappedResource(Part):
    name: Name = ""
    quantity: Quantity | None = None


class OverheadResource(Part):
    name: Name = ""
    perPod: Quantity | None = None
    perContainer: Quantity | None = None


class NodeResourceClaim(Part):
    """CPU and memory that come with a claim: ``resources`` in 1.36, the lists in 1.37 (alpha)."""

    containers: list[Name] | None = None
    resources: Quantities | None = None
    mapping: list[MappedResource] | None = None
    overhead: list[OverheadResource] | None = None


class PodStatus(Part):
    phase: Name = ""
    conditions: list[Condition] | None = None
    containerStatuses: list[ContainerStatus] | None = None
    initContainerStatuses: list[ContainerStatus] | None = None
    nominatedNodeName: Name | None = None
    resourceClaimStatuses: list[ClaimStatus] | None = None
    extendedResourceClaimStatus: ExtendedClaim | None = None
    startTime: Name | None = None
    resources: Resources | None = None  # of the whole pod, from 1.36
    allocatedResources: Quantities | None = None
    nodeAllocatableResourceClaimStatuses: list[NodeResourceClaim] | None = None


class PodObject(Object):
    spec: PodSpec = field(default_factory=PodSpec)
    status: PodStatus = field(default_factory=PodStatus)


class NamespaceObject(Object):
    pass


class QuotaSpec(Part):
    class ScopeSelector(Part):
        class Expression(Part):
            scopeName: Name = ""
            operator: Name = ""
            values: list[Name] | None = None

        matchExpressions: list[Expression] | None = None

    hard: Quantities | None = None
    scopes: list[Name] | None = None
    scopeSelector: ScopeSelector | None = None


class QuotaStatus(Part):
    hard: Quantities | None = None
    used: Quantities | None = None


class QuotaObject(Object):
    spec: QuotaSpec | None = None
    status: QuotaStatus | None = None


class PriorityClassObject(Object):
    value: Int32 = 0
    preemptionPolicy: Name | None = None
    globalDefault: bool | None = None


class VersionInfo(Part):
    """The answer of ``GET /version``."""

    gitVersion: Name = ""
    major: Name = ""
    minor: Name = ""
    emulationMajor: Name = ""
    emulationMinor: Name = ""
