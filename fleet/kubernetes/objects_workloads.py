"""Objects with pod templates: the built-in controllers and the job kinds of the AI stacks."""

from __future__ import annotations

from msgspec import field

from fleet.kubernetes.objects_core import (
    Condition,
    Container,
    Int32,
    Metadata,
    Name,
    Object,
    Part,
    PodSpec,
    Resources,
)


class PodTemplate(Part):
    metadata: Metadata | None = None
    spec: PodSpec = field(default_factory=PodSpec)


class SimpleSpec(Part):
    replicas: Int32 | None = None
    template: PodTemplate = field(default_factory=PodTemplate)
    progressDeadlineSeconds: Int32 | None = None


class DeploymentObject(Object):
    spec: SimpleSpec = field(default_factory=SimpleSpec)


class StatefulSetObject(Object):
    spec: SimpleSpec = field(default_factory=SimpleSpec)


class ReplicaSetObject(Object):
    spec: SimpleSpec = field(default_factory=SimpleSpec)


class DaemonSetObject(Object):
    spec: SimpleSpec = field(default_factory=SimpleSpec)


class GangPolicy(Part):
    minCount: Int32 | None = None


class SchedulingPolicy(Part):
    gang: GangPolicy | None = None


class JobScheduling(Part):
    schedulingPolicy: SchedulingPolicy | None = None


class JobSpec(Part):
    parallelism: Int32 | None = None
    completions: Int32 | None = None
    suspend: bool | None = None
    template: PodTemplate = field(default_factory=PodTemplate)
    scheduling: JobScheduling | None = None  # alpha of 1.37


class JobStatus(Part):
    conditions: list[Condition] | None = None


class JobObject(Object):
    spec: JobSpec = field(default_factory=JobSpec)
    status: JobStatus | None = None


class JobTemplate(Part):
    metadata: Metadata | None = None
    spec: JobSpec = field(default_factory=JobSpec)


class CronJobSpec(Part):
    suspend: bool | None = None
    jobTemplate: JobTemplate = field(default_factory=JobTemplate)


class CronJobObject(Object):
    spec: CronJobSpec = field(default_factory=CronJobSpec)


class ReplicatedJob(Part):
    name: Name = ""
    replicas: Int32 | None = None
    template: JobTemplate = field(default_factory=JobTemplate)


class JobSetSpec(Part):
    replicatedJobs: list[ReplicatedJob] | None = None
    suspend: bool | None = None


class JobSetObject(Object):
    spec: JobSetSpec = field(default_factory=JobSetSpec)
    status: JobStatus | None = None


class LeaderWorkerTemplate(Part):
    size: Int32 | None = None
    leaderTemplate: PodTemplate | None = None
    workerTemplate: PodTemplate = field(default_factory=PodTemplate)


class LeaderWorkerSetSpec(Part):
    replicas: Int32 | None = None
    leaderWorkerTemplate: LeaderWorkerTemplate = field(default_factory=LeaderWorkerTemplate)


class LeaderWorkerSetObject(Object):
    spec: LeaderWorkerSetSpec = field(default_factory=LeaderWorkerSetSpec)


class RayGroup(Part):
    groupName: Name = ""
    replicas: Int32 | None = None
    minReplicas: Int32 | None = None
    numOfHosts: Int32 | None = None
    template: PodTemplate = field(default_factory=PodTemplate)


class RayClusterSpec(Part):
    headGroupSpec: RayGroup | None = None
    workerGroupSpecs: list[RayGroup] | None = None
    suspend: bool | None = None


class RayClusterObject(Object):
    spec: RayClusterSpec = field(default_factory=RayClusterSpec)


class RayOwnerSpec(Part):
    rayClusterSpec: RayClusterSpec | None = None  # RayJob
    rayClusterConfig: RayClusterSpec | None = None  # RayService
    suspend: bool | None = None


class RayJobObject(Object):
    spec: RayOwnerSpec = field(default_factory=RayOwnerSpec)


class RayServiceObject(Object):
    spec: RayOwnerSpec = field(default_factory=RayOwnerSpec)


class ReplicaSpec(Part):
    replicas: Int32 | None = None
    template: PodTemplate = field(default_factory=PodTemplate)


class RunPolicy(Part):
    suspend: bool | None = None


class OperatorJobSpec(Part):
    pytorchReplicaSpecs: dict[Name, ReplicaSpec] | None = None
    mpiReplicaSpecs: dict[Name, ReplicaSpec] | None = None
    runPolicy: RunPolicy | None = None


class PyTorchJobObject(Object):
    spec: OperatorJobSpec = field(default_factory=OperatorJobSpec)
    status: JobStatus | None = None


class MpiJobObject(Object):
    spec: OperatorJobSpec = field(default_factory=OperatorJobSpec)
    status: JobStatus | None = None


class Trainer(Part):
    numNodes: Int32 | None = None
    resourcesPerNode: Resources | None = None


class TrainJobSpec(Part):
    trainer: Trainer | None = None
    suspend: bool | None = None


class TrainJobObject(Object):
    spec: TrainJobSpec = field(default_factory=TrainJobSpec)
    status: JobStatus | None = None


class VolcanoTask(Part):
    name: Name = ""
    replicas: Int32 | None = None
    template: PodTemplate = field(default_factory=PodTemplate)


class VolcanoJobSpec(Part):
    minAvailable: Int32 | None = None
    schedulerName: Name | None = None
    queue: Name | None = None
    tasks: list[VolcanoTask] | None = None


class VolcanoJobObject(Object):
    spec: VolcanoJobSpec = field(default_factory=VolcanoJobSpec)


class WorkerSpec(PodSpec):
    size: Int32 | None = None
    pipelineParallelSize: Int32 | None = None


class Predictor(PodSpec):
    minReplicas: Int32 | None = None
    model: Container | None = None
    workerSpec: WorkerSpec | None = None


class InferenceServiceSpec(Part):
    predictor: Predictor | None = None


class InferenceServiceObject(Object):
    spec: InferenceServiceSpec = field(default_factory=InferenceServiceSpec)
