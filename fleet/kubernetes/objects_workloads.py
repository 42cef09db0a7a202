"""Objects with pod templates: the built-in controllers and the job kinds of the AI stacks."""

from __future__ import annotations

from msgspec import field

from fleet.kubernetes.objects_core import (
    Annotations,
    Condition,
    Container,
    Int32,
    Labels,
    Metadata,
    Name,
    Nothing,
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


class ReplicaStatus(Part):
    succeeded: Int32 | None = None


class ReplicatedJobStatus(Part):
    name: Name = ""
    succeeded: Int32 | None = None


class JobStatus(Part):
    """Of Jobs, JobSets and Kubeflow's jobs: each has the fields that it knows."""

    conditions: list[Condition] | None = None
    succeeded: Int32 | None = None
    replicatedJobsStatus: list[ReplicatedJobStatus] | None = None
    replicaStatuses: dict[Name, ReplicaStatus | None] | None = None


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
    maxReplicas: Int32 | None = None
    numOfHosts: Int32 | None = None
    suspend: bool | None = None
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


class RayOwnerStatus(Part):
    jobDeploymentStatus: Name | None = None


class RayJobObject(Object):
    spec: RayOwnerSpec = field(default_factory=RayOwnerSpec)
    status: RayOwnerStatus | None = None


class RayServiceObject(Object):
    spec: RayOwnerSpec = field(default_factory=RayOwnerSpec)
    status: RayOwnerStatus | None = None


class ReplicaSpec(Part):
    replicas: Int32 | None = None
    template: PodTemplate = field(default_factory=PodTemplate)


class OperatorSchedulingPolicy(Part):
    minAvailable: Int32 | None = None


class RunPolicy(Part):
    suspend: bool | None = None
    schedulingPolicy: OperatorSchedulingPolicy | None = None


class OperatorJobSpec(Part):
    """One of the maps is there, by kind: role ("Master", "Worker") -> so many pods."""

    pytorchReplicaSpecs: dict[Name, ReplicaSpec] | None = None
    mpiReplicaSpecs: dict[Name, ReplicaSpec] | None = None
    tfReplicaSpecs: dict[Name, ReplicaSpec] | None = None
    xgbReplicaSpecs: dict[Name, ReplicaSpec] | None = None
    paddleReplicaSpecs: dict[Name, ReplicaSpec] | None = None
    jaxReplicaSpecs: dict[Name, ReplicaSpec] | None = None
    runPolicy: RunPolicy | None = None


class OperatorJobObject(Object):
    """The job kinds of kubeflow.org: PyTorchJob, MPIJob, TFJob, XGBoostJob, PaddleJob, JAXJob."""

    spec: OperatorJobSpec = field(default_factory=OperatorJobSpec)
    status: JobStatus | None = None


class RuntimeReference(Part):
    name: Name = ""
    kind: Name | None = None


class Trainer(Part):
    numNodes: Int32 | None = None
    resourcesPerNode: Resources | None = None


class TrainJobSpec(Part):
    runtimeRef: RuntimeReference | None = None
    trainer: Trainer | None = None
    suspend: bool | None = None


class TrainJobObject(Object):
    spec: TrainJobSpec = field(default_factory=TrainJobSpec)
    status: JobStatus | None = None


class MpiPolicy(Part):
    runLauncherAsNode: bool | None = None


class MlPolicy(Part):
    numNodes: Int32 | None = None
    mpi: MpiPolicy | None = None


class PodGroupPolicy(Part):
    coscheduling: Nothing | None = None
    volcano: Nothing | None = None


class JobSetTemplate(Part):
    metadata: Metadata | None = None
    spec: JobSetSpec = field(default_factory=JobSetSpec)


class TrainingRuntimeSpec(Part):
    mlPolicy: MlPolicy | None = None
    podGroupPolicy: PodGroupPolicy | None = None
    template: JobSetTemplate = field(default_factory=JobSetTemplate)


class TrainingRuntimeObject(Object):
    """TrainingRuntime and ClusterTrainingRuntime: the JobSet behind the TrainJobs."""

    spec: TrainingRuntimeSpec = field(default_factory=TrainingRuntimeSpec)


class VolcanoTask(Part):
    name: Name = ""
    replicas: Int32 | None = None
    template: PodTemplate = field(default_factory=PodTemplate)


class VolcanoJobSpec(Part):
    minAvailable: Int32 | None = None
    schedulerName: Name | None = None
    queue: Name | None = None
    tasks: list[VolcanoTask] | None = None


class VolcanoJobState(Part):
    phase: Name | None = None


class VolcanoJobStatus(Part):
    state: VolcanoJobState | None = None
    succeeded: Int32 | None = None


class VolcanoJobObject(Object):
    spec: VolcanoJobSpec = field(default_factory=VolcanoJobSpec)
    status: VolcanoJobStatus | None = None


class PodClique(Part):
    """Grove: the pods of one role."""

    replicas: Int32 | None = None
    minAvailable: Int32 | None = None
    podSpec: PodSpec = field(default_factory=PodSpec)


class CliqueTemplate(Part):
    name: Name = ""
    labels: Labels | None = None
    annotations: Annotations | None = None
    spec: PodClique = field(default_factory=PodClique)


class ScalingGroup(Part):
    name: Name = ""
    cliqueNames: list[Name] | None = None
    replicas: Int32 | None = None
    minAvailable: Int32 | None = None


class PodCliqueSetTemplate(Part):
    cliques: list[CliqueTemplate] | None = None
    podCliqueScalingGroups: list[ScalingGroup] | None = None


class PodCliqueSetSpec(Part):
    replicas: Int32 | None = None
    template: PodCliqueSetTemplate = field(default_factory=PodCliqueSetTemplate)


class PodCliqueSetObject(Object):
    spec: PodCliqueSetSpec = field(default_factory=PodCliqueSetSpec)


class OwnedObject(Object):
    """An object read only for its place in a chain of owners."""


class WorkerSpec(PodSpec):
    size: Int32 | None = None
    pipelineParallelSize: Int32 | None = None


class Predictor(PodSpec):
    """The model server is ``model``, or in older manifests a field named after its framework."""

    minReplicas: Int32 | None = None
    model: Container | None = None
    huggingface: Container | None = None
    lightgbm: Container | None = None
    onnx: Container | None = None
    paddle: Container | None = None
    pmml: Container | None = None
    pytorch: Container | None = None
    sklearn: Container | None = None
    tensorflow: Container | None = None
    triton: Container | None = None
    xgboost: Container | None = None
    workerSpec: WorkerSpec | None = None


class InferenceServiceSpec(Part):
    predictor: Predictor | None = None


class InferenceServiceObject(Object):
    spec: InferenceServiceSpec = field(default_factory=InferenceServiceSpec)


class Parallelism(Part):
    tensor: Int32 | None = None
    pipeline: Int32 | None = None
    data: Int32 | None = None
    dataLocal: Int32 | None = None


class Scaling(Part):
    minReplicas: Int32 | None = None


class LlmRole(Part):
    """One deployment of an LLM service; with ``worker`` each replica is several pods."""

    replicas: Int32 | None = None
    scaling: Scaling | None = None
    parallelism: Parallelism | None = None
    template: PodSpec | None = None
    worker: PodSpec | None = None


class LlmServiceSpec(LlmRole):
    prefill: LlmRole | None = None


class LlmServiceObject(Object):
    spec: LlmServiceSpec = field(default_factory=LlmServiceSpec)
