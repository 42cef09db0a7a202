"""Model servers as roles: KServe's two kinds, LeaderWorkerSet, Grove's PodCliqueSet."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.kubernetes.objects_core import Metadata, PodSpec
from fleet.kubernetes.objects_workloads import (
    CliqueTemplate,
    InferenceServiceObject,
    LeaderWorkerSetObject,
    LlmRole,
    LlmServiceObject,
    Parallelism,
    PodCliqueSetObject,
    Predictor,
)
from fleet.kubernetes.shapes import Role, Shape, count, role

_FRAMEWORKS = (
    "model", "huggingface", "triton", "pytorch", "tensorflow", "onnx", "sklearn", "xgboost",
    "lightgbm", "paddle", "pmml",
)  # fmt: skip


def leader_worker(item: LeaderWorkerSetObject) -> Shape:
    """Groups of one leader and its workers."""
    groups = count(item.spec.replicas)
    template = item.spec.leaderWorkerTemplate
    size = max(1, count(template.size))
    leader = template.leaderTemplate or template.workerTemplate
    roles = [role(groups, leader)]
    if size > 1:
        roles.append(role(count(groups * (size - 1)), template.workerTemplate))
    return Shape(tuple(roles), together=size, groups=groups)


def inference_service(item: InferenceServiceObject) -> Shape | None:
    """A KServe InferenceService, by its predictor; with a worker spec it spans several pods."""
    predictor = item.spec.predictor
    if predictor is None:
        return None
    replicas = count(predictor.minReplicas)
    roles = [Role(replicas, _predictor(predictor))]
    together = 1
    if predictor.workerSpec is not None:
        worker = predictor.workerSpec
        workers = count(worker.size, count(worker.pipelineParallelSize, 2) - 1)
        roles.append(Role(count(replicas * workers), worker))
        together = 1 + workers
    return Shape(tuple(roles), together=together, groups=replicas)


def _predictor(predictor: Predictor) -> PodSpec:
    server = next(filter(None, (getattr(predictor, name) for name in _FRAMEWORKS)), None)
    if server is None:
        return predictor
    return PodSpec(
        containers=[server, *(predictor.containers or ())],
        initContainers=predictor.initContainers,
        tolerations=predictor.tolerations,
        nodeSelector=predictor.nodeSelector,
        affinity=predictor.affinity,
        schedulerName=predictor.schedulerName,
        resourceClaims=predictor.resourceClaims,
    )


def llm_service(item: LlmServiceObject) -> Shape:
    """A KServe LLMInferenceService: decode, and prefill where the two are apart.

    Source: kserve pkg/apis/serving/v1alpha2 (ParallelismSpec.GetSize): with a worker template a
    replica is a LeaderWorkerSet group of data / dataLocal pods, or of pipeline pods.
    """
    roles: list[Role] = []
    sizes: list[int] = []
    groups = 0
    for part in (item.spec, item.spec.prefill):
        if part is None or (part.template is None and part.worker is None):
            continue
        replicas = _replicas(part)
        size = _group_size(part.parallelism) if part.worker is not None else 1
        head = part.template if part.template is not None else part.worker
        roles.append(Role(replicas, head or PodSpec()))
        if part.worker is not None and size > 1:
            roles.append(Role(count(replicas * (size - 1)), part.worker))
        sizes.append(size)
        groups += replicas
    return Shape(tuple(roles), together=max(sizes, default=1), groups=groups)


def _replicas(part: LlmRole) -> int:
    """Replicas, or with autoscaling the fewest of them."""
    return count(part.replicas, count(part.scaling.minReplicas if part.scaling else None))


def _group_size(parallelism: Parallelism | None) -> int:
    if parallelism is None:
        return 1
    data, local = parallelism.data or 0, parallelism.dataLocal or 0
    if data > 0 or local > 0:
        return max(1, count(data) // max(1, local))
    return max(1, count(parallelism.pipeline))


def clique_set(item: PodCliqueSetObject) -> Shape:
    """Grove: each replica is a gang of cliques; cliques of a scaling group multiply.

    Source: grove operator/api/core/v1alpha1. ``minAvailable`` pods of each clique are held
    together: all replicas of a lone clique unless it says fewer, one copy of a scaling group.
    """
    replicas = count(item.spec.replicas, 0)
    roles = []
    gang = minimum = 0
    for clique, copies, needed_copies in _cliques(item):
        each = count(clique.spec.replicas)
        pods = count(replicas * copies * each)
        notes = Metadata(labels=clique.labels, annotations=clique.annotations)
        roles.append(Role(pods, clique.spec.podSpec, notes))
        gang += needed_copies * each
        minimum += needed_copies * min(each, count(clique.spec.minAvailable, each))
    return Shape(
        tuple(roles),
        together=count(gang),
        groups=max(1, replicas),
        gang_system="grove",
        minimum=count(minimum),
    )


def _cliques(item: PodCliqueSetObject) -> Iterator[tuple[CliqueTemplate, int, int]]:
    """Each clique with its copies in one replica of the set, and those that start with it."""
    template = item.spec.template
    copies: dict[str, tuple[int, int]] = {}
    for group in template.podCliqueScalingGroups or ():
        wanted = count(group.replicas)
        for name in group.cliqueNames or ():
            copies[name] = (wanted, min(wanted, count(group.minAvailable)))
    for clique in template.cliques or ():
        yield clique, *copies.get(clique.name, (1, 1))
