"""Does every GPU node offer its GPUs to the scheduler, and all of them?"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.inventory import DeviceGroup, Node, Sharing
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.subject import NOT_GPU_VENDORS, Subject
from fleet.readiness.wording import bounded, many, not_applicable, of_node
from fleet.tolerations import blocks, is_lifecycle, taint_text

CHECK = "devices-advertised"
QUESTION = 2

_SOURCE = "kubelet device manager: capacity counts all devices, allocatable the healthy ones"


def check(subject: Subject) -> Iterator[Finding]:
    if not subject.gpu_nodes:
        yield not_applicable(CHECK, QUESTION, "No GPU node was read")
        return
    running = [n for n in subject.gpu_nodes if not _starting(n)]
    silent = [n for n in running if not _offers_any(n)]
    sick = [n for n in running if _offers_any(n) and _withdrawn(n)]
    away = [n for n in running if n.ready is False]
    if silent:
        yield _silent(subject, silent)
    if sick:
        boards = sum(_withdrawn(n) for n in sick)
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            f"{many(boards, 'GPU')} withdrawn as unhealthy on {many(len(sick), 'node')}",
            "The device plugin reports them and does not hand them out.",
            bounded([of_node(n, "status.allocatable", _counts(n)) for n in sick]),
            "See the kernel log for XID errors, drain the node, and reset or replace the board:",
            "".join(f"kubectl drain {n.name} --ignore-daemonsets\n" for n in sick[:3]),
            source=_SOURCE,
        )
    if away:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            f"{len(away)} of {many(len(subject.gpu_nodes), 'GPU node')} are not ready",
            "Their GPUs are there and cannot be used.",
            bounded([of_node(n, "status.conditions[Ready]", "not True") for n in away]),
            "Look at the kubelet of these nodes, or replace them.",
            source=_SOURCE,
        )
    if not (silent or sick or away):
        starting = len(subject.gpu_nodes) - len(running)
        detail = f"{many(starting, 'node')} still starting." if starting else ""
        if not running:
            yield not_applicable(CHECK, QUESTION, "All GPU nodes are still starting", detail)
            return
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            "Every GPU node offers its GPUs to the scheduler",
            detail,
            source=_SOURCE,
        )


def _silent(subject: Subject, nodes: list[Node]) -> Finding:
    tainted = [n for n in nodes if any(blocks(t) and not is_lifecycle(t) for t in n.taints)]
    helpers = {p.node for p in subject.inventory.pods if p.is_daemon or p.is_infrastructure}
    lonely = [n for n in nodes if n.name not in helpers]
    detail = "Labels, machine type or pods show GPUs, and none can be had."
    if lonely:
        detail += f" On {many(len(lonely), 'of them has', 'of them have')} no pod of a device "
        detail += "plugin was seen."
    remedy = "See that the DaemonSets of driver and device plugin run on these nodes:"
    snippet = f"kubectl get pods -A -o wide --field-selector spec.nodeName={nodes[0].name}\n"
    if tainted:
        key = next(t for t in tainted[0].taints if blocks(t) and not is_lifecycle(t))
        remedy += " they must tolerate " + taint_text(key) + "."
    return Finding(
        CHECK,
        QUESTION,
        Verdict.FAIL,
        f"{len(nodes)} of {many(len(subject.gpu_nodes), 'GPU node')} offer no GPU",
        detail,
        bounded([of_node(n, "status.allocatable", _counts(n)) for n in nodes]),
        remedy,
        snippet,
        source=_SOURCE,
    )


def _groups(node: Node) -> list[DeviceGroup]:
    return [g for g in node.groups if g.vendor not in NOT_GPU_VENDORS]


def _starting(node: Node) -> bool:
    return node.ready is not True and any(is_lifecycle(t) for t in node.taints)


def _offers_any(node: Node) -> bool:
    return any(
        u.allocatable > 0 for g in _groups(node) if g.sharing != Sharing.NONE for u in g.units
    )


def _withdrawn(node: Node) -> int:
    return sum(g.unhealthy or 0 for g in _groups(node))


def _counts(node: Node) -> str:
    found = [
        f"{u.resource}: {u.allocatable} of {u.capacity}" for g in _groups(node) for u in g.units
    ]
    return ", ".join(found) or "no GPU resource"
