"""Jobs of the training stacks as roles: Kubeflow's operators, its trainer, Volcano."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fleet.kubernetes.objects import RawCluster
from fleet.kubernetes.objects_core import Container, Metadata, PodSpec, Quantities, Resources
from fleet.kubernetes.objects_workloads import (
    JobSpec,
    OperatorJobObject,
    OperatorJobSpec,
    ReplicaSpec,
    ReplicatedJob,
    Trainer,
    TrainingRuntimeObject,
    TrainJobObject,
    VolcanoJobObject,
)
from fleet.kubernetes.shapes import Role, Shape, count, is_done, pods_of, role

Runtimes = Mapping[tuple[str, str, str], TrainingRuntimeObject]
"""(kind, namespace, name) -> training runtime; those of the cluster have no namespace."""

_CLUSTER_RUNTIME = "ClusterTrainingRuntime"
_ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
_NODE = "node"  # the name of the trainer's job and of its container
_VOLCANO_ENDED = ("Completed", "Terminated", "Failed")
_VOLCANO_HELD = ("Aborting", "Aborted")  # what `vcctl job suspend` leads to


def runtimes_of(raw: RawCluster) -> Runtimes:
    """The training runtimes of a cluster."""
    found = {}
    for kind, plural in (
        ("TrainingRuntime", "trainingruntimes"),
        (_CLUSTER_RUNTIME, "clustertrainingruntimes"),
    ):
        for item in raw.of(TrainingRuntimeObject, f"{plural}.trainer.kubeflow.org"):
            found[kind, item.metadata.namespace, item.metadata.name] = item
    return found


def parallel(spec: JobSpec) -> int:
    """Pods that a Job runs at the same time."""
    found = count(spec.parallelism)
    return min(found, count(spec.completions)) if spec.completions is not None else found


def operator_job(item: OperatorJobObject) -> Shape:
    """PyTorchJob, MPIJob and their kin: each role has its own template."""
    status = (item.status.replicaStatuses if item.status else None) or {}
    roles = tuple(
        role(count(spec.replicas), spec.template, done.succeeded or 0 if done else 0)
        for name, spec in _replicas(item.spec).items()
        for done in (status.get(name),)
    )
    policy = item.spec.runPolicy
    return Shape(
        roles,
        together=pods_of(roles),
        suspended=bool(policy and policy.suspend),
        is_finished=is_done(item.status),
    )


def _replicas(spec: OperatorJobSpec) -> Mapping[str, ReplicaSpec]:
    return (
        spec.pytorchReplicaSpecs
        or spec.mpiReplicaSpecs
        or spec.tfReplicaSpecs
        or spec.xgbReplicaSpecs
        or spec.paddleReplicaSpecs
        or spec.jaxReplicaSpecs
        or {}
    )


def train_job(item: TrainJobObject, runtimes: Runtimes) -> Shape:
    """The JobSet of the runtime, with what the job overrides: nodes and their resources.

    Source: kubeflow/trainer pkg/runtime/core/trainingruntime.go. Where the runtime was not read,
    only the job's own words count.
    """
    runtime = _runtime(item, runtimes)
    if runtime is None:
        roles = _without_runtime(item.spec.trainer)
        podgroups = None
    else:
        roles = _with_runtime(item.spec.trainer, runtime)
        podgroups = runtime.spec.podGroupPolicy
    nodes = pods_of(roles)
    system = ""
    if podgroups is not None:
        system = "volcano" if podgroups.volcano is not None else "coscheduling"
    return Shape(
        roles,
        together=nodes,
        suspended=bool(item.spec.suspend),
        is_finished=is_done(item.status),
        gang_system=system,
        minimum=nodes if system else None,
    )


def _runtime(item: TrainJobObject, runtimes: Runtimes) -> TrainingRuntimeObject | None:
    reference = item.spec.runtimeRef
    if reference is None:
        return None
    kind = reference.kind or _CLUSTER_RUNTIME
    namespace = "" if kind == _CLUSTER_RUNTIME else item.metadata.namespace
    return runtimes.get((kind, namespace, reference.name))


def _without_runtime(trainer: Trainer | None) -> tuple[Role, ...]:
    resources = trainer.resourcesPerNode if trainer else None
    spec = PodSpec(containers=[Container(name=_NODE, resources=resources)])
    return (Role(count(trainer.numNodes if trainer else None), spec),)


def _with_runtime(trainer: Trainer | None, runtime: TrainingRuntimeObject) -> tuple[Role, ...]:
    policy = runtime.spec.mlPolicy
    asked = trainer.numNodes if trainer is not None else None
    nodes = asked if asked is not None else policy.numNodes if policy else None
    launcher_trains = bool(policy and policy.mpi and policy.mpi.runLauncherAsNode)
    roles = []
    for job in runtime.spec.template.spec.replicatedJobs or ():
        step = (job.template.metadata or Metadata()).label(_ANCESTOR)
        if step.endswith("-initializer"):
            continue  # runs before the trainer, and never beside it
        is_node = launcher_trains and job.name == _NODE
        pods = count(job.replicas) * parallel(job.template.spec)
        if is_node and nodes is not None:
            pods = count(nodes - 1, 0)  # the launcher is the first node
        elif step == "trainer" and not launcher_trains and policy is not None:
            pods = count(nodes)
        found = role(pods, job.template.spec.template)
        if trainer is not None and trainer.resourcesPerNode and (step == "trainer" or is_node):
            found = Role(pods, _merged(found.spec, trainer.resourcesPerNode), found.metadata)
        roles.append(found)
    return tuple(roles)


def _merged(spec: PodSpec, asked: Resources) -> PodSpec:
    """The template with the resources that the job asks for on its training container."""
    containers = [
        Container(
            name=c.name,
            resources=_over(c.resources, asked) if c.name == _NODE else c.resources,
            restartPolicy=c.restartPolicy,
        )
        for c in spec.containers or ()
    ]
    return PodSpec(
        containers=containers,
        initContainers=spec.initContainers,
        tolerations=spec.tolerations,
        nodeSelector=spec.nodeSelector,
        affinity=spec.affinity,
        schedulerName=spec.schedulerName,
        resourceClaims=spec.resourceClaims,
        overhead=spec.overhead,
        resources=spec.resources,
    )


def _over(below: Resources | None, above: Resources) -> Resources:
    def both(one: Quantities | None, other: Quantities | None) -> Quantities:
        return {**(one or {}), **(other or {})}

    base = below if below is not None else Resources()
    return Resources(
        requests=both(base.requests, above.requests),
        limits=both(base.limits, above.limits),
        claims=base.claims,
    )


def volcano_job(item: VolcanoJobObject) -> Shape:
    """A job of Volcano: tasks, of which ``minAvailable`` pods start together."""
    state = item.status.state if item.status is not None else None
    phase = state.phase if state is not None else None
    roles = tuple(role(count(task.replicas), task.template) for task in item.spec.tasks or ())
    return Shape(
        _done_first(roles, item.status.succeeded or 0 if item.status else 0),
        together=pods_of(roles),
        suspended=phase in _VOLCANO_HELD,
        is_finished=phase in _VOLCANO_ENDED,
        scheduler=item.spec.schedulerName or "volcano",
        gang_system="volcano",
        minimum=item.spec.minAvailable,
        queue=item.spec.queue or "",
    )


def _done_first(roles: Iterable[Role], succeeded: int) -> tuple[Role, ...]:
    """The status counts pods of all tasks together; only with one task is it clear whose."""
    roles = tuple(roles)
    if len(roles) != 1:
        return roles
    (only,) = roles
    return (Role(only.pods, only.spec, only.metadata, min(max(0, succeeded), only.pods)),)


def replicated_job(job: ReplicatedJob, succeeded_jobs: int) -> Role:
    """One part of a JobSet: so many equal Jobs."""
    each = parallel(job.template.spec)
    pods = count(count(job.replicas) * each)
    return role(pods, job.template.spec.template, max(0, succeeded_jobs) * each)
