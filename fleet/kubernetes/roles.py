"""Each kind of workload object as roles: so many pods of that template."""

from __future__ import annotations

from fleet.kubernetes.objects_core import Object
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
    LlmServiceObject,
    OperatorJobObject,
    PodCliqueSetObject,
    RayClusterObject,
    RayClusterSpec,
    RayGroup,
    RayJobObject,
    RayServiceObject,
    ReplicaSetObject,
    SimpleSpec,
    StatefulSetObject,
    TrainJobObject,
    VolcanoJobObject,
)
from fleet.kubernetes.roles_serving import clique_set, inference_service, leader_worker, llm_service
from fleet.kubernetes.roles_training import (
    Runtimes,
    operator_job,
    parallel,
    replicated_job,
    train_job,
    volcano_job,
)
from fleet.kubernetes.shapes import Shape, count, is_done, pods_of, role

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
    "TFJob": ("tfjobs.kubeflow.org",),
    "XGBoostJob": ("xgboostjobs.kubeflow.org",),
    "PaddleJob": ("paddlejobs.kubeflow.org",),
    "JAXJob": ("jaxjobs.kubeflow.org",),
    "InferenceService": ("inferenceservices.serving.kserve.io",),
    "LLMInferenceService": ("llminferenceservices.serving.kserve.io",),
    "PodCliqueSet": ("podcliquesets.grove.io",),
}
"""Kind -> the resources that hold it."""

ENDING_KINDS = frozenset(
    {
        "Job",
        "CronJob",
        "JobSet",
        "RayJob",
        "TrainJob",
        "PyTorchJob",
        "MPIJob",
        "TFJob",
        "XGBoostJob",
        "PaddleJob",
        "JAXJob",
    }
)
"""Those of ``KINDS`` that run to an end, Volcano's Job among them; the others serve."""

_RAY_ENDED = ("Complete", "Failed", "ValidationFailed")


def shape_of(item: Object, runtimes: Runtimes) -> Shape | None:
    """The roles of a workload object; None for an object of another kind."""
    match item:
        case DeploymentObject() | StatefulSetObject() | ReplicaSetObject() | DaemonSetObject():
            return _simple(item.spec)
        case JobObject():
            return _job(item.spec, item.status)
        case CronJobObject():
            inner = _job(item.spec.jobTemplate.spec, None)
            return Shape(inner.roles, inner.together, suspended=bool(item.spec.suspend))
        case JobSetObject():
            return _job_set(item)
        case LeaderWorkerSetObject():
            return leader_worker(item)
        case RayClusterObject():
            return _ray(item.spec, bool(item.spec.suspend))
        case RayJobObject() | RayServiceObject():
            return _ray_owner(item)
        case OperatorJobObject():
            return operator_job(item)
        case TrainJobObject():
            return train_job(item, runtimes)
        case VolcanoJobObject():
            return volcano_job(item)
        case InferenceServiceObject():
            return inference_service(item)
        case LlmServiceObject():
            return llm_service(item)
        case PodCliqueSetObject():
            return clique_set(item)
    return None


def _simple(spec: SimpleSpec) -> Shape:
    return Shape(
        (role(count(spec.replicas), spec.template),),
        groups=count(spec.replicas),
        progress_deadline_s=spec.progressDeadlineSeconds,
    )


def _job(spec: JobSpec, status: JobStatus | None) -> Shape:
    pods = parallel(spec)
    succeeded = (status.succeeded if status is not None else None) or 0
    left = count(spec.completions) - succeeded if spec.completions is not None else pods
    policy = spec.scheduling.schedulingPolicy if spec.scheduling else None
    gang = policy.gang if policy is not None else None
    return Shape(
        (role(pods, spec.template, pods - left),),
        together=pods,
        suspended=bool(spec.suspend),
        is_finished=is_done(status),
        gang_system="native",
        minimum=None if gang is None else count(gang.minCount, pods),
    )


def _job_set(item: JobSetObject) -> Shape:
    status = (item.status.replicatedJobsStatus if item.status else None) or ()
    succeeded = {part.name: part.succeeded or 0 for part in status}
    roles = tuple(
        replicated_job(job, succeeded.get(job.name, 0)) for job in item.spec.replicatedJobs or ()
    )
    return Shape(
        roles,
        together=pods_of(roles),
        suspended=bool(item.spec.suspend),
        is_finished=is_done(item.status),
    )


def _ray(spec: RayClusterSpec, suspended: bool) -> Shape:
    roles = []
    if spec.headGroupSpec is not None:
        roles.append(role(1, spec.headGroupSpec.template))
    for group in spec.workerGroupSpecs or ():
        if group.suspend:
            continue
        pods = _ray_replicas(group) * max(1, count(group.numOfHosts))
        roles.append(role(count(pods), group.template))
    return Shape(tuple(roles), together=pods_of(roles), suspended=suspended)


def _ray_replicas(group: RayGroup) -> int:
    """Source: kuberay ray-operator/controllers/ray/utils, GetWorkerGroupDesiredReplicas: replicas,
    0 by default, at least the minimum, and at most the maximum."""
    replicas, fewest = count(group.replicas, 0), count(group.minReplicas, 0)
    if replicas < fewest or group.maxReplicas is None:
        return max(replicas, fewest)
    return min(replicas, count(group.maxReplicas))


def _ray_owner(item: RayJobObject | RayServiceObject) -> Shape | None:
    """A job that starts its own cluster; one that runs on a cluster that is there needs none."""
    cluster = item.spec.rayClusterSpec or item.spec.rayClusterConfig
    if cluster is None:
        return None
    found = _ray(cluster, bool(item.spec.suspend))
    ended = item.status is not None and item.status.jobDeploymentStatus in _RAY_ENDED
    return Shape(found.roles, found.together, suspended=found.suspended, is_finished=ended)
