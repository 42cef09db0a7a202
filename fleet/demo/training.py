"""``demo-train-tokyo``: H100 and H200 for training, with racks, Kueue, JobSets and MIG.

The cluster that does most things right: taints, quotas, priority classes, queues that know the
topology. Racks are Google's sub-blocks. The NVLink clique labels are made up like all the rest.
"""

from __future__ import annotations

from fleet.demo.builder import ClusterBuilder
from fleet.demo.shapes import CORE_APIS, GPU, GPU_TOLERATION, Json, Machine, Template, good_probes

_CPU = Machine("n2-standard-32", 32, 128)
_H100 = Machine("a3-highgpu-8g", 208, 1872, 8, "NVIDIA-H100-80GB-HBM3", 81559, "hopper")
_H200 = Machine("a3-ultragpu-8g", 224, 2952, 8, "NVIDIA-H200", 143771, "hopper")
_TAINT: Json = {"key": GPU, "value": "present", "effect": "NoSchedule"}
_ZONES = ("asia-northeast1-a", "asia-northeast1-b")
_BLOCK = "cloud.google.com/gce-topology-block"
_RACK = "cloud.google.com/gce-topology-subblock"
_QUEUE = "kueue.x-k8s.io/queue-name"
_SMALL = "nvidia.com/mig-1g.10gb"
_HALF = "nvidia.com/mig-3g.40gb"


def training() -> ClusterBuilder:
    """The cluster, the same on every call."""
    cluster = ClusterBuilder(
        "demo-train-tokyo", "asia-northeast1", "v1.37.1-gke.1093000", "v1.37.1-gke.1093000", seed=23
    )
    cluster.apis = CORE_APIS | {
        "resource.k8s.io/v1": (
            "deviceclasses", "devicetaintrules", "resourceclaims", "resourceclaimtemplates",
            "resourceslices",
        ),
        "kueue.x-k8s.io/v1beta2": (
            "clusterqueues", "localqueues", "resourceflavors", "topologies", "workloads",
        ),
        "jobset.x-k8s.io/v1alpha2": ("jobsets",),
        "leaderworkerset.x-k8s.io/v1": ("leaderworkersets",),
    }  # fmt: skip
    cluster.namespaces(
        "default", "kube-system", "kueue-system", "gpu-operator", "pretraining", "alignment",
        "students",
    )  # fmt: skip
    for name, value in (("training-high", 50_000), ("training", 10_000), ("interactive", 80_000)):
        cluster.add("scheduling.k8s.io/v1", "PriorityClass", name, {"value": value})
    _nodes(cluster)
    _queues(cluster)
    _jobs(cluster)
    _cut(cluster)
    small = Template("", 0.05, 0.1, tolerations=({"operator": "Exists"},))
    gpu_nodes = [name for name in cluster.names() if not name.startswith("cpu-")]
    cluster.daemon_set("gpu-operator", "nvidia-device-plugin", small, gpu_nodes)
    cluster.daemon_set("kube-system", "kube-proxy", small, cluster.names())
    for namespace, resource, hard in (
        ("pretraining", GPU, 192),
        ("alignment", GPU, 128),
        ("students", _SMALL, 28),
        ("students", _HALF, 8),
    ):
        _quota(cluster, namespace, resource, hard)
    return cluster


def _quota(cluster: ClusterBuilder, namespace: str, resource: str, hard: int) -> None:
    key = f"requests.{resource}"
    limits, used = {key: str(hard)}, {key: str(cluster.held(namespace, resource))}
    body = {"spec": {"hard": limits}, "status": {"hard": limits, "used": used}}
    name = f"quota-{resource.rpartition('/')[2].replace('.', '-')}"
    cluster.add("v1", "ResourceQuota", name, body, namespace=namespace)


def _place(kind: str, index: int) -> dict[str, str]:
    """Four nodes a rack, two racks a block; racks of two blocks may share a name."""
    block, rack = index // 8, index // 4 % 2
    return {
        _BLOCK: f"{kind}-block-{block + 1}",
        _RACK: f"rack-{rack + 1}",
        "cloud.google.com/gce-topology-host": f"{kind}-host-{index:02}",
        "cloud.google.com/gke-nodepool": f"gpu-{kind}",
    }


def _nodes(cluster: ClusterBuilder) -> None:
    for index in range(3):
        pool = {"cloud.google.com/gke-nodepool": "cpu"}
        cluster.node(f"cpu-{index:02}", "cpu", _CPU, _ZONES[index % 2], labels=pool)
    for index in range(16):
        labels = _place("h100", index)
        labels["cloud.google.com/gke-accelerator"] = "nvidia-h100-80gb"
        cluster.node(
            f"h100-{index:02}", "gpu-h100", _H100, _ZONES[index // 8],
            labels=labels, taints=[_TAINT],
        )  # fmt: skip
    for index in range(16):
        labels = _place("h200", index)
        labels["cloud.google.com/gke-accelerator"] = "nvidia-h200-141gb"
        labels["nvidia.com/gpu.clique"] = f"0b51ca7e-0000-4000-8000-00000000000{index // 4}.1"
        cluster.node(
            f"h200-{index:02}", "gpu-h200", _H200, _ZONES[0], labels=labels, taints=[_TAINT],
        )  # fmt: skip
    for index in range(5):
        labels = {
            "cloud.google.com/gke-nodepool": "gpu-mig",
            "nvidia.com/mig.capable": "true",
            "nvidia.com/mig.strategy": "mixed",
            "nvidia.com/mig.config": "custom",
            "nvidia.com/gpu.replicas": "0",
            "nvidia.com/mig-1g.10gb.count": "14",
            "nvidia.com/mig-1g.10gb.memory": "9984",
            "nvidia.com/mig-3g.40gb.count": "4",
            "nvidia.com/mig-3g.40gb.memory": "40320",
        }
        # Four whole boards, two cut in seven, two cut in halves.
        cluster.node(
            f"mig-{index:02}", "gpu-mig", _H100, _ZONES[1], labels=labels, taints=[_TAINT],
            devices={GPU: 4, _SMALL: 14, _HALF: 4},
        )  # fmt: skip


def _queues(cluster: ClusterBuilder) -> None:
    api = "kueue.x-k8s.io/v1beta2"
    levels = [{"nodeLabel": key} for key in (_BLOCK, _RACK, "kubernetes.io/hostname")]
    cluster.add(api, "Topology", "gce", {"spec": {"levels": levels}})
    for kind, gpus in (("h100", 128), ("h200", 128)):
        flavor = {
            "nodeLabels": {"cloud.google.com/gke-nodepool": f"gpu-{kind}"},
            "topologyName": "gce",
            "tolerations": [GPU_TOLERATION],
        }
        cluster.add(api, "ResourceFlavor", kind, {"spec": flavor})
        resources = [{"name": GPU, "nominalQuota": gpus}]
        group = {"coveredResources": [GPU], "flavors": [{"name": kind, "resources": resources}]}
        spec = {"cohortName": "research", "resourceGroups": [group]}
        cluster.add(api, "ClusterQueue", f"cq-{kind}", {"spec": spec})
    for namespace, queue in (("pretraining", "cq-h200"), ("alignment", "cq-h100")):
        spec = {"clusterQueue": queue}
        cluster.add(api, "LocalQueue", "training", {"spec": spec}, namespace=namespace)


def _job_set(
    cluster: ClusterBuilder,
    namespace: str,
    name: str,
    pods: int,
    worker: Template,
    *,
    suspended: bool = False,
    age_h: float = 30.0,
) -> None:
    job = {"parallelism": pods, "completions": pods, "template": worker.template()}
    spec = {
        "suspend": suspended,
        "replicatedJobs": [{"name": "workers", "replicas": 1, "template": {"spec": job}}],
    }
    labels = {_QUEUE: "training"}
    cluster.add(
        "jobset.x-k8s.io/v1alpha2", "JobSet", name, {"spec": spec},
        namespace=namespace, labels=labels,
    )  # fmt: skip
    kueue = {
        "spec": {"queueName": "training"},
        "status": {
            "conditions": [
                {"type": kind, "status": "False" if suspended else "True"}
                for kind in ("QuotaReserved", "Admitted", "PodsReady")
            ]
        },
    }
    owner = {"kind": "JobSet", "name": name, "uid": "", "controller": True}
    cluster.add(
        "kueue.x-k8s.io/v1beta2", "Workload", f"jobset-{name}", kueue,
        namespace=namespace, ownerReferences=[owner],
    )  # fmt: skip
    if suspended:
        return
    for index in range(pods):
        cluster.pod(
            namespace,
            f"{name}-workers-0-{index}",
            worker,
            ("Job", f"{name}-workers-0"),
            age_h=age_h,
            labels={
                "jobset.sigs.k8s.io/jobset-name": name,
                "kueue.x-k8s.io/queue-name": "training",
                "kueue.x-k8s.io/pod-group-name": f"jobset-{name}",
            },
        )


def _worker(pool: str, cpu: float, memory: float, priority: str, value: int) -> Template:
    return Template(
        pool, cpu, memory, {GPU: 8}, (GPU_TOLERATION,),
        annotations={"kueue.x-k8s.io/podset-required-topology": _BLOCK},
        priority_class=priority, priority=value,
    )  # fmt: skip


def _jobs(cluster: ClusterBuilder) -> None:
    big = _worker("gpu-h200", 160, 2200, "training-high", 50_000)
    _job_set(cluster, "pretraining", "moe-56b", 8, big, age_h=210)
    _job_set(cluster, "pretraining", "vision-7b", 4, big, age_h=44)
    _job_set(cluster, "pretraining", "moe-120b", 12, big, suspended=True, age_h=20)
    normal = _worker("gpu-h100", 150, 1500, "training", 10_000)
    _job_set(cluster, "alignment", "sft-70b", 6, normal, age_h=18)
    _job_set(cluster, "alignment", "dpo-32b", 4, normal, age_h=9)
    _job_set(cluster, "alignment", "reward-13b", 2, normal, age_h=5)
    evaluate = Template(
        "gpu-mig", 12, 96, {GPU: 1}, (GPU_TOLERATION,), good_probes(60), (8000,), 60
    )
    cluster.deployment("alignment", "evaluator", 11, evaluate)


def _cut(cluster: ClusterBuilder) -> None:
    def notebook(resource: str, cpu: float, memory: float) -> Template:
        return Template(
            "gpu-mig", cpu, memory, {resource: 1}, (GPU_TOLERATION,),
            good_probes(25, 8888), (8888,), 25,
            priority_class="interactive", priority=80_000,
        )  # fmt: skip

    for index in range(24):
        name = f"lab-{index:02}"
        template = notebook(_SMALL, 3, 12)
        body = {"spec": {"replicas": 1, "template": template.template()}}
        cluster.add("apps/v1", "StatefulSet", name, body, namespace="students")
        cluster.pod("students", f"{name}-0", template, ("StatefulSet", name), age_h=60)
    for index in range(7):
        name = f"thesis-{index:02}"
        template = notebook(_HALF, 8, 48)
        body = {"spec": {"replicas": 1, "template": template.template()}}
        cluster.add("apps/v1", "StatefulSet", name, body, namespace="students")
        cluster.pod("students", f"{name}-0", template, ("StatefulSet", name), age_h=100)
