"""``demo-legacy-osaka``: T4 and V100 on Kubernetes 1.30, long out of support.

No managed service, no taints, no quotas, kubelets of two minors, open ports in the place of
readiness checks: a cluster that grew for years and that nobody dares to touch.
"""

from __future__ import annotations

from fleet.demo.builder import ClusterBuilder
from fleet.demo.shapes import CORE_APIS, GPU, Json, Machine, Template

_CPU = Machine("m5.2xlarge", 8, 32)
_T4 = Machine("g4dn.xlarge", 4, 16, 1, "Tesla-T4", 15360, "turing")
_V100 = Machine("p3.8xlarge", 32, 244, 4, "Tesla-V100-SXM2-16GB", 16160, "volta")
_V100X8 = Machine("p3.16xlarge", 64, 488, 8, "Tesla-V100-SXM2-16GB", 16160, "volta")
_ZONES = ("ap-northeast-3a", "ap-northeast-3b")
_OLD = "v1.29.15"


def legacy() -> ClusterBuilder:
    """The cluster, the same on every call."""
    cluster = ClusterBuilder(
        "demo-legacy-osaka", "ap-northeast-3", "v1.30.14", "v1.30.14", seed=37
    )  # fmt: skip
    cluster.apis = dict(CORE_APIS)
    cluster.namespaces("default", "kube-system", "ocr", "recommend", "lab")
    for index in range(4):
        cluster.node(f"cpu-{index:02}", "cpu", _CPU, _ZONES[index % 2])
    for index in range(20):
        kubelet = _OLD if index % 3 == 0 else ""
        cluster.node(f"t4-{index:02}", "t4", _T4, _ZONES[index % 2], kubelet=kubelet)
    for index in range(12):
        cluster.node(f"v100-{index:02}", "v100", _V100, _ZONES[0], kubelet=_OLD)
    for index in range(4):
        cluster.node(f"v100x8-{index:02}", "v100x8", _V100X8, _ZONES[1])
    _workloads(cluster)
    return cluster


def _workloads(cluster: ClusterBuilder) -> None:
    port: Json = {"readinessProbe": {"tcpSocket": {"port": 8000}, "initialDelaySeconds": 5}}
    liveness: Json = {
        "livenessProbe": {
            "tcpSocket": {"port": 8000},
            "initialDelaySeconds": 30,
            "periodSeconds": 10,
            "failureThreshold": 3,
        }
    }
    ocr = Template("t4", 2.5, 10, {GPU: 1}, probes=port | liveness, ports=(8000,), load_s=35)
    cluster.deployment("ocr", "ocr-pages", 11, ocr)
    # The front end fills the small machines next to the cards.
    front = Template("t4", 3.5, 10, probes=port, ports=(8000,))
    cluster.deployment("ocr", "ocr-upload", 3, front, nodes=["t4-17", "t4-18", "t4-19"])
    rank = Template("v100", 6, 48, {GPU: 1}, probes=port, ports=(8000,), load_s=70)
    cluster.deployment("recommend", "two-tower", 30, rank)
    train = Template("v100x8", 24, 180, {GPU: 4})
    for index, name in enumerate(("user-embedding", "item-embedding", "sequence", "ctr")):
        body = {"spec": {"parallelism": 1, "completions": 1, "template": train.template()}}
        cluster.add("batch/v1", "Job", name, body, namespace="recommend")
        labels = {"batch.kubernetes.io/job-name": name}
        cluster.pod(
            "recommend", f"{name}-x{index}k9q", train, ("Job", name), age_h=11, labels=labels
        )
    notebook = Template("v100", 4, 30, {GPU: 1})
    for person in ("kenji", "naoko", "shun"):
        name = f"notebook-{person}"
        body = {"spec": {"replicas": 1, "template": notebook.template()}}
        cluster.add("apps/v1", "StatefulSet", name, body, namespace="lab")
        cluster.pod("lab", f"{name}-0", notebook, ("StatefulSet", name), age_h=700)
    small = Template("", 0.05, 0.1)
    gpu_nodes = [name for name in cluster.names() if not name.startswith("cpu-")]
    cluster.daemon_set("kube-system", "nvidia-device-plugin", small, gpu_nodes)
