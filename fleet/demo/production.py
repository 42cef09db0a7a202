"""``demo-prod-tokyo``: T4, A100 and H100 in production, with gaps that the checklist finds.

Gaps on purpose: the T4 pool has no taint and CPU jobs sit on it until GPUs are stranded; one
namespace has no quota; a plain Job of four pods with eight GPUs each started by half; a language
model gets less time to start than it needs; a reranker has no readiness probe; one A100 is sick;
one H100 node is cordoned.
"""

from __future__ import annotations

from fleet.demo.builder import ClusterBuilder
from fleet.demo.shapes import (
    CORE_APIS,
    GPU,
    GPU_TOLERATION,
    Json,
    Machine,
    Template,
    good_probes,
    http_probe,
)

_CPU = Machine("m6i.4xlarge", 16, 64)
_T4 = Machine("g4dn.12xlarge", 48, 192, 4, "Tesla-T4", 15360, "turing")
_A100 = Machine("p4d.24xlarge", 96, 1152, 8, "NVIDIA-A100-SXM4-40GB", 40960, "ampere")
_H100 = Machine("p5.48xlarge", 192, 2048, 8, "NVIDIA-H100-80GB-HBM3", 81559, "hopper")
_TAINT: Json = {"key": GPU, "value": "present", "effect": "NoSchedule"}
_ZONES = ("ap-northeast-1a", "ap-northeast-1c", "ap-northeast-1d")


def production() -> ClusterBuilder:
    """The cluster, the same on every call."""
    cluster = ClusterBuilder(
        "demo-prod-tokyo", "ap-northeast-1", "v1.36.2-eks-3f1c9ab", "v1.36.2-eks-3f1c9ab", seed=11
    )
    cluster.apis = CORE_APIS | {
        "resource.k8s.io/v1": (
            "deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices",
        ),
    }  # fmt: skip
    cluster.namespaces(
        "default", "kube-system", "gpu-operator", "search", "llm", "vision", "research", "data-prep"
    )
    for name, value in (("production-high", 100_000), ("batch-low", 1_000)):
        cluster.add("scheduling.k8s.io/v1", "PriorityClass", name, {"value": value})
    _nodes(cluster)
    _services(cluster)
    _research(cluster)
    _infrastructure(cluster)
    for namespace, hard in (("search", 40), ("llm", 96), ("vision", 24)):
        held = cluster.held(namespace, GPU)
        key = f"requests.{GPU}"
        cluster.quota(namespace, {key: hard}, {key: held})
    cpu_only = {"requests.cpu": 600}
    cluster.quota("data-prep", cpu_only, {"requests.cpu": 560})
    return cluster


def _nodes(cluster: ClusterBuilder) -> None:
    for index in range(4):
        pool = {"eks.amazonaws.com/nodegroup": "cpu"}
        cluster.node(f"cpu-{index:02}", "cpu", _CPU, _ZONES[index % 3], labels=pool)
    for index in range(14):
        pool = {"eks.amazonaws.com/nodegroup": "gpu-t4"}
        cluster.node(f"t4-{index:02}", "gpu-t4", _T4, _ZONES[index % 3], labels=pool)
    for index in range(12):
        cluster.node(
            f"a100-{index:02}",
            "gpu-a100",
            _A100,
            _ZONES[index % 2],
            labels={"eks.amazonaws.com/nodegroup": "gpu-a100"},
            taints=[_TAINT],
            sick=1 if index == 7 else 0,
        )
    for index in range(10):
        cluster.node(
            f"h100-{index:02}",
            "gpu-h100",
            _H100,
            _ZONES[0],
            labels={"eks.amazonaws.com/nodegroup": "gpu-h100"},
            taints=[_TAINT],
            cordoned=index == 9,
        )


def _services(cluster: ClusterBuilder) -> None:
    embedding = Template(
        "gpu-t4", 4, 12, {GPU: 1}, probes=good_probes(45, 8080), ports=(8080,), load_s=45,
        priority_class="production-high", priority=100_000,
    )  # fmt: skip
    # CPU jobs without a GPU land on the untainted pool and eat the cores beside the cards.
    stray = Template("gpu-t4", 11.5, 24, labels={"team": "data"})
    crowded = [f"t4-{index:02}" for index in (10, 11, 12) for _ in range(4)]
    cluster.deployment("data-prep", "tokenise", 14, stray, nodes=crowded)
    cluster.deployment("search", "embed-bge-m3", 20, embedding)
    missing = {k: v for k, v in good_probes(40, 8080).items() if k != "readinessProbe"}
    reranker = Template("gpu-t4", 4, 12, {GPU: 1}, probes=missing, ports=(8080,), load_s=40)
    cluster.deployment("search", "rerank-bge", 12, reranker)
    speech = Template(
        "gpu-t4", 6, 16, {GPU: 1}, probes=good_probes(60, 9000), ports=(9000,), load_s=60
    )
    cluster.deployment("vision", "speech-to-text", 6, speech)

    def on(pool: str, cpu: float, memory: float, gpus: int, load_s: int) -> Template:
        return Template(
            pool, cpu, memory, {GPU: gpus}, (GPU_TOLERATION,), good_probes(load_s), (8000,), load_s,
            priority_class="production-high", priority=100_000,
        )  # fmt: skip

    # One memory-hungry ranking service takes a node's memory and leaves five cards without any.
    hungry = on("gpu-a100", 20, 1100, 3, 120)
    cluster.deployment("search", "rank-features", 1, hungry, nodes=["a100-06"])
    cluster.deployment("llm", "chat-8b", 26, on("gpu-a100", 8, 64, 1, 130))
    # 30 x 10 s to start, and about 400 s to load: it was lucky so far and will be killed one day.
    chat = on("gpu-h100", 24, 240, 4, 400)
    chat.probes["startupProbe"] = http_probe(periodSeconds=10, failureThreshold=30)
    cluster.deployment("llm", "chat-70b", 10, chat, deadline_s=600)
    cluster.deployment("llm", "code-32b", 6, on("gpu-h100", 16, 160, 2, 210))
    cluster.deployment("vision", "detect-large", 7, on("gpu-a100", 12, 96, 2, 90))


def _research(cluster: ClusterBuilder) -> None:
    notebook = Template(
        "gpu-a100", 8, 64, {GPU: 1}, (GPU_TOLERATION,), good_probes(30, 8888), (8888,)
    )
    for person in ("aoi", "haruto", "mei", "ren", "sora", "yui"):
        name = f"notebook-{person}"
        spec = {"replicas": 1, "template": notebook.template()}
        cluster.add("apps/v1", "StatefulSet", name, {"spec": spec}, namespace="research")
        cluster.pod("research", f"{name}-0", notebook, ("StatefulSet", name), age_h=170)
    worker = Template(
        "gpu-h100", 48, 600, {GPU: 8}, (GPU_TOLERATION,),
        priority_class="batch-low", priority=1_000,
    )  # fmt: skip
    name = "finetune-13b"
    spec = {
        "parallelism": 4,
        "completions": 4,
        "completionMode": "Indexed",
        "template": worker.template(),
    }
    body = {"spec": spec, "status": {"active": 4}}
    cluster.add("batch/v1", "Job", name, body, namespace="research")
    labels = {"batch.kubernetes.io/job-name": name}
    for index in range(4):
        cluster.pod(
            "research",
            f"{name}-{index}-{cluster.random.getrandbits(20):05x}",
            worker,
            ("Job", name),
            pending=index >= 2,
            age_h=7,
            labels=labels,
        )


def _infrastructure(cluster: ClusterBuilder) -> None:
    everywhere: tuple[Json, ...] = ({"operator": "Exists"},)
    small = Template("", 0.05, 0.1, tolerations=everywhere)
    gpu_nodes = [name for name in cluster.names() if not name.startswith("cpu-")]
    cluster.daemon_set("gpu-operator", "nvidia-device-plugin", small, gpu_nodes)
    cluster.daemon_set("gpu-operator", "dcgm-exporter", small, gpu_nodes)
    cluster.daemon_set("kube-system", "kube-proxy", small, cluster.names())
    web = Template("cpu", 0.5, 1, ports=(8080,), probes={"readinessProbe": http_probe(port=8080)})
    cluster.deployment("search", "search-api", 8, web)
    cluster.deployment("llm", "gateway", 6, web)
