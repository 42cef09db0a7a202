"""Each kind of workload object as roles: so many pods of that template."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fleet.kubernetes.gangs import gang_count
from fleet.kubernetes.objects_core import Condition, Container, Metadata, Object, PodSpec
from fleet.kubernetes.objects_workloads import (
    CronJobObject,
    DaemonSetObject,
    DeploymentObject,
    InferenceServiceObject,
    JobObject,
    JobSetObject,
    JobSpec,
    JobStatus,
    LeaderWorkerSetObject,
    OperatorJobObject,
    PodTemplate,
    RayClusterObject,
    RayClusterSpec,
    RayJobObject,
    RayServiceObject,
    ReplicaSetObject,
    ReplicaSpec,
    SimpleSpec,
    StatefulSetObject,
    TrainJobObject,
    VolcanoJobObject,
)

KINDS: dict[str, tuple[str, ...]] = {
    "Deployment": ("deployments.apps",),
    "StatefulSet": ("statefulsets.apps",),
    "DaemonSet": ("daemonsets.apps",),
    "ReplicaSet": ("replicasets.apps",),
    "Job": ("jobs.batch", "jobs.batch.volcano.sh"),
    "CronJob": ("cronjobs.batch",),
    "JobSet": ("jobsets.jobset.x-k8s.io",),
    "LeaderWorkerSet": ("leaderworkersets.leaderworkerset.x-k8s.io",),
    "RayCluster": ("rayclusters.ray.io",),
    "RayJob": ("rayjobs.ray.io",),
    "RayService": ("rayservices.ray.io",),
    "TrainJob": ("trainjobs.trainer.kubeflow.org",),
    "PyTorchJob": ("pytorchjobs.kubeflow.org",),
    "MPIJob": ("mpijobs.kubeflow.org",),
    "InferenceService": ("inferenceservices.serving.kserve.io",),
}
"""Kind -> the resources that hold it."""
_FINISHED = ("Complete", "Failed", "Succeeded", "Completed")
# A count in an object may be anything; beyond this it is no pod count.
_MOST = 100_000


@dataclass(frozen=True, slots=True)
class Role:
    pods: int
    spec: PodSpec
    metadata: Metadata = field(default_factory=Metadata)


@dataclass(frozen=True, slots=True)
class Shape:
    """``together``: pods of one gang, None when nobody can say; ``groups``: such gangs."""

    roles: tuple[Role, ...]
    together: int | None = 1
    groups: int = 1
    suspended: bool = False
    is_finished: bool = False
    scheduler: str = ""
    gang_system: str = ""
    minimum: int | None = None  # stated by the object itself
    progress_deadline_s: int | None = None
    queue: str = ""  # of Volcano


def _count(number: int | None, default: int = 1) -> int:
    return min(max(0, default if number is None else number), _MOST)


def _role(pods: int, template: PodTemplate) -> Role:
    return Role(pods, template.spec, template.metadata or Metadata())


def _finished(conditions: Iterable[Condition] | None) -> bool:
    return any(c.type in _FINISHED and c.status == "True" for c in conditions or ())


def _done(status: JobStatus | None) -> bool:
    return status is not None and _finished(status.conditions)


def shape_of(item: Object) -> Shape | None:
    """The roles of a workload object; None for an object of another kind."""
    match item:
        case DeploymentObject() | StatefulSetObject() | ReplicaSetObject() | DaemonSetObject():
            return _simple(item.spec)
        case JobObject():
            return _job(item.spec, _done(item.status))
        case CronJobObject():
            inner = _job(item.spec.jobTemplate.spec, is_finished=False)
            return Shape(inner.roles, inner.together, suspended=bool(item.spec.suspend))
        case JobSetObject():
            return _job_set(item)
        case LeaderWorkerSetObject():
            return _leader_worker(item)
        case RayClusterObject():
            return _ray(item.spec, bool(item.spec.suspend))
        case RayJobObject() | RayServiceObject():
            cluster = item.spec.rayClusterSpec or item.spec.rayClusterConfig
            return _ray(cluster, bool(item.spec.suspend)) if cluster is not None else None
        case OperatorJobObject():
            return _operator(item)
        case TrainJobObject():
            return _train_job(item)
        case VolcanoJobObject():
            return _volcano(item)
        case InferenceServiceObject():
            return _inference(item)
    return None


def _simple(spec: SimpleSpec) -> Shape:
    return Shape(
        (_role(_count(spec.replicas), spec.template),),
        groups=_count(spec.replicas),
        progress_deadline_s=spec.progressDeadlineSeconds,
    )


def _parallel(spec: JobSpec) -> int:
    parallel = _count(spec.parallelism)
    return min(parallel, _count(spec.completions)) if spec.completions is not None else parallel


def _job(spec: JobSpec, is_finished: bool) -> Shape:
    pods = _parallel(spec)
    policy = spec.scheduling.schedulingPolicy if spec.scheduling else None
    minimum = gang_count(policy)
    return Shape(
        (_role(pods, spec.template),),
        together=pods,
        suspended=bool(spec.suspend),
        is_finished=is_finished,
        gang_system="native",
        minimum=minimum,
    )


def _job_set(item: JobSetObject) -> Shape:
    roles = tuple(
        _role(_count(job.replicas) * _parallel(job.template.spec), job.template.spec.template)
        for job in item.spec.replicatedJobs or ()
    )
    return Shape(
        roles,
        together=sum(role.pods for role in roles),
        suspended=bool(item.spec.suspend),
        is_finished=_done(item.status),
    )


def _leader_worker(item: LeaderWorkerSetObject) -> Shape:
    groups = _count(item.spec.replicas)
    template = item.spec.leaderWorkerTemplate
    size = max(1, _count(template.size))
    leader = template.leaderTemplate or template.workerTemplate
    roles = [_role(groups, leader)]
    if size > 1:
        roles.append(_role(groups * (size - 1), template.workerTemplate))
    return Shape(tuple(roles), together=size, groups=groups)


def _ray(spec: RayClusterSpec, suspended: bool) -> Shape:
    roles = []
    if spec.headGroupSpec is not None:
        roles.append(_role(1, spec.headGroupSpec.template))
    for group in spec.workerGroupSpecs or ():
        replicas = _count(group.replicas, _count(group.minReplicas, 0))
        roles.append(_role(replicas * max(1, _count(group.numOfHosts)), group.template))
    together = sum(role.pods for role in roles)
    return Shape(tuple(roles), together=together, suspended=suspended)


def _operator(item: OperatorJobObject) -> Shape:
    specs: Mapping[str, ReplicaSpec] = (
        item.spec.pytorchReplicaSpecs or item.spec.mpiReplicaSpecs or {}
    )
    roles = tuple(_role(_count(spec.replicas), spec.template) for spec in specs.values())
    policy = item.spec.runPolicy
    return Shape(
        roles,
        together=sum(role.pods for role in roles),
        suspended=bool(policy and policy.suspend),
        is_finished=_done(item.status),
    )


def _train_job(item: TrainJobObject) -> Shape:
    trainer = item.spec.trainer
    nodes = _count(trainer.numNodes if trainer else None)
    # The pod template lives in a TrainingRuntime; what a job overrides is its resources.
    resources = trainer.resourcesPerNode if trainer else None
    spec = PodSpec(containers=[Container(name="trainer", resources=resources)])
    return Shape(
        (Role(nodes, spec),),
        together=nodes,
        suspended=bool(item.spec.suspend),
        is_finished=_done(item.status),
    )


def _volcano(item: VolcanoJobObject) -> Shape:
    roles = tuple(_role(_count(task.replicas), task.template) for task in item.spec.tasks or ())
    return Shape(
        roles,
        together=sum(role.pods for role in roles),
        scheduler=item.spec.schedulerName or "volcano",
        gang_system="volcano",
        minimum=item.spec.minAvailable,
        queue=item.spec.queue or "",
    )


def _inference(item: InferenceServiceObject) -> Shape | None:
    predictor = item.spec.predictor
    if predictor is None:
        return None
    replicas = _count(predictor.minReplicas)
    spec: PodSpec = predictor
    if predictor.model is not None:
        spec = PodSpec(
            containers=[predictor.model, *(predictor.containers or ())],
            tolerations=predictor.tolerations,
            nodeSelector=predictor.nodeSelector,
            schedulerName=predictor.schedulerName,
        )
    roles = [Role(replicas, spec)]
    together = 1
    if predictor.workerSpec is not None:
        worker = predictor.workerSpec
        workers = _count(worker.size, _count(worker.pipelineParallelSize, 2) - 1)
        roles.append(Role(replicas * workers, worker))
        together = 1 + workers
    return Shape(tuple(roles), together=together, groups=replicas)
