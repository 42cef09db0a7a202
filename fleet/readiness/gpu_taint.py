"""Are the GPU nodes protected by a taint, so that other pods do not take their CPU and memory?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from fleet.inventory import Node, Pod, Taint
from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.readiness.pasting import shell_word
from fleet.readiness.subject import Subject, wants_gpu
from fleet.readiness.wording import bounded, listed, many, not_applicable, of_node, of_pod, share
from fleet.tolerations import blocks, is_lifecycle, taint_text
from fleet.units import gib_text

CHECK = "gpu-taint"
QUESTION = 2

_FIELD = "spec.taints"
_SOURCE = "core/v1 Taint; well-known taints"

_POOL_COMMANDS = {
    "gke": (
        "gcloud container node-pools update {pool} --cluster CLUSTER "
        "--node-taints nvidia.com/gpu=present:NoSchedule\n"
    ),
    "eks": (
        "aws eks update-nodegroup-config --cluster-name CLUSTER --nodegroup-name {pool} "
        "--taints addOrUpdateTaints="
        "'[{{key=nvidia.com/gpu,value=present,effect=NO_SCHEDULE}}]'\n"
    ),
    "aks": (
        "az aks nodepool update --resource-group GROUP --cluster-name CLUSTER --name {pool} "
        "--node-taints nvidia.com/gpu=present:NoSchedule\n"
    ),
}


def check(subject: Subject) -> Iterator[Finding]:
    nodes = subject.gpu_nodes
    if not nodes:
        yield not_applicable(CHECK, QUESTION, "No GPU node to protect")
        return
    strays = _strays(subject)
    bare = [node for node in nodes if not _protecting(node)]
    taken = [node for node in bare if strays[node.name]]
    if taken:
        yield _stray_finding(subject, taken, strays)
    quiet = [node for node in bare if not strays[node.name]]
    if quiet:
        yield _bare_finding(subject, quiet, len(nodes))
    kept = [node for node in nodes if _protecting(node)]
    if kept:
        yield _kept_finding(kept, len(nodes))


def _protecting(node: Node) -> tuple[Taint, ...]:
    return tuple(t for t in node.taints if blocks(t) and not is_lifecycle(t))


def _kept_finding(kept: list[Node], total: int) -> Finding:
    keys = sorted({t.key for node in kept for t in _protecting(node)})
    title = share(len(kept), total, "GPU node", "carries", "carry") + " a protecting taint"
    return Finding(
        CHECK,
        QUESTION,
        Verdict.PASS,
        title,
        f"Key {listed(keys)}.",
        bounded([of_node(n, _FIELD, _taints(n)) for n in kept[:3]]),
        source=_SOURCE,
    )


def _strays(subject: Subject) -> dict[str, list[Pod]]:
    """Pods by GPU node that ask for no accelerator and belong to no DaemonSet."""
    found: dict[str, list[Pod]] = defaultdict(list)
    for pod in subject.inventory.pods:
        if (
            pod.node
            and not wants_gpu(pod)
            and not pod.is_daemon
            and not pod.is_infrastructure
            and pod.state != "finished"
            and pod.owner.kind not in ("DaemonSet", "Node")
        ):
            found[pod.node].append(pod)
    return found


def _stray_finding(subject: Subject, nodes: list[Node], strays: dict[str, list[Pod]]) -> Finding:
    pods = [pod for node in nodes for pod in strays[node.name]]
    cpu = sum(pod.cpu_milli for pod in pods) / 1000
    memory = sum(pod.memory_mib for pod in pods)
    evidence = [of_node(n, _FIELD, _taints(n)) for n in nodes[:4]]
    evidence += [of_pod(p, "spec.nodeName", p.node) for p in pods]
    return _finding(
        subject,
        Verdict.FAIL,
        share(len(nodes), len(subject.gpu_nodes), "GPU node", "carries", "carry")
        + " no taint, and other pods run there",
        f"{many(len(pods), 'pod')} without a GPU on them: {cpu:g} CPUs and "
        f"{gib_text(memory)} of memory asked for.",
        nodes,
        evidence,
    )


def _bare_finding(subject: Subject, nodes: list[Node], total: int) -> Finding:
    soft = [n for n in nodes if any(t.effect == "PreferNoSchedule" for t in n.taints)]
    detail = "No pod without a GPU runs there now, and nothing keeps one away."
    if soft:
        detail += f" {many(len(soft), 'node')} only prefer that (PreferNoSchedule)."
    title = share(len(nodes), total, "GPU node", "carries", "carry") + " no taint"
    evidence = [of_node(n, _FIELD, _taints(n)) for n in nodes]
    return _finding(subject, Verdict.WARN, title, detail, nodes, evidence)


def _finding(
    subject: Subject,
    verdict: Verdict,
    title: str,
    detail: str,
    nodes: list[Node],
    evidence: list[Evidence],
) -> Finding:
    pools = sorted({n.pool for n in nodes if n.pool})
    pool_words = f" Pool {listed(pools)}." if pools else ""
    command = _POOL_COMMANDS.get(subject.inventory.provider)
    if command is not None and pools:
        snippet = "".join(command.format(pool=shell_word(pool)) for pool in pools[:3])
    else:
        snippet = "".join(
            f"kubectl taint nodes {shell_word(n.name)} nvidia.com/gpu=present:NoSchedule\n"
            for n in nodes[:3]
        )
    return Finding(
        CHECK,
        QUESTION,
        verdict,
        title,
        detail + pool_words,
        bounded(evidence),
        "Put the taint into the template of the node pool; one put on by hand is lost when the "
        "autoscaler replaces the node. First see that GPU workloads and the device plugin "
        "tolerate it.",
        snippet,
        source=_SOURCE,
    )


def _taints(node: Node) -> str:
    return ", ".join(taint_text(t) for t in node.taints) or "none"
