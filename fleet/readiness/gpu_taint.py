"""Are the GPU nodes protected by a taint, so that other pods do not take their CPU and memory?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from fleet.inventory import Node, Pod, Taint
from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.readiness.pasting import shell_word
from fleet.readiness.subject import Subject, wants_gpu
from fleet.readiness.wording import bounded, listed, not_applicable, of_node, of_pod, share
from fleet.tolerations import blocks, is_lifecycle, taint_text
from fleet.units import gib_text
from fleet.words import say, say_many

CHECK = "gpu-taint"
QUESTION = 2

_FIELD = "spec.taints"

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


def _source() -> str:
    return say("core/v1 Taint; well-known taints")


def check(subject: Subject) -> Iterator[Finding]:
    nodes = subject.gpu_nodes
    if not nodes:
        yield not_applicable(CHECK, QUESTION, say("No GPU node to protect"))
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
    title = share(
        len(kept),
        total,
        only=say("The GPU node carries a protecting taint"),
        every=say("All {total} GPU nodes carry a protecting taint", total=f"{total:,}"),
        some=say_many(
            "{n} of {total} GPU nodes carries a protecting taint",
            "{n} of {total} GPU nodes carry a protecting taint",
            len(kept),
            total=f"{total:,}",
        ),
    )
    return Finding(
        CHECK,
        QUESTION,
        Verdict.PASS,
        title,
        say("Key {names}.", names=listed(keys)),
        bounded([of_node(n, _FIELD, _taints(n)) for n in kept[:3]]),
        source=_source(),
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
    total = len(subject.gpu_nodes)
    pods = [pod for node in nodes for pod in strays[node.name]]
    cpu = sum(pod.cpu_milli for pod in pods) / 1000
    memory = sum(pod.memory_mib for pod in pods)
    evidence = [of_node(n, _FIELD, _taints(n)) for n in nodes[:4]]
    evidence += [of_pod(p, "spec.nodeName", p.node) for p in pods]
    return _finding(
        subject,
        Verdict.FAIL,
        share(
            len(nodes),
            total,
            only=say("The GPU node carries no taint, and other pods run there"),
            every=say(
                "All {total} GPU nodes carry no taint, and other pods run there", total=f"{total:,}"
            ),
            some=say_many(
                "{n} of {total} GPU nodes carries no taint, and other pods run there",
                "{n} of {total} GPU nodes carry no taint, and other pods run there",
                len(nodes),
                total=f"{total:,}",
            ),
        ),
        say_many(
            "{n} pod without a GPU on them: {cpu:g} CPUs and {memory} of memory asked for.",
            "{n} pods without a GPU on them: {cpu:g} CPUs and {memory} of memory asked for.",
            len(pods),
            cpu=cpu,
            memory=gib_text(memory),
        ),
        nodes,
        evidence,
    )


def _bare_finding(subject: Subject, nodes: list[Node], total: int) -> Finding:
    soft = [n for n in nodes if any(t.effect == "PreferNoSchedule" for t in n.taints)]
    detail = say("No pod without a GPU runs there now, and nothing keeps one away.")
    if soft:
        detail += " " + say_many(
            "{n} node only prefers that (PreferNoSchedule).",
            "{n} nodes only prefer that (PreferNoSchedule).",
            len(soft),
        )
    title = share(
        len(nodes),
        total,
        only=say("The GPU node carries no taint"),
        every=say("All {total} GPU nodes carry no taint", total=f"{total:,}"),
        some=say_many(
            "{n} of {total} GPU nodes carries no taint",
            "{n} of {total} GPU nodes carry no taint",
            len(nodes),
            total=f"{total:,}",
        ),
    )
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
    if pools:
        detail += " " + say("Pool {names}.", names=listed(pools))
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
        detail,
        bounded(evidence),
        say(
            "Put the taint into the template of the node pool; one put on by hand is lost when the "
            "autoscaler replaces the node. First see that GPU workloads and the device plugin "
            "tolerate it."
        ),
        snippet,
        source=_source(),
    )


def _taints(node: Node) -> str:
    return ", ".join(taint_text(t) for t in node.taints) or say("none")
