"""Does every GPU node offer its GPUs to the scheduler?"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.inventory import DeviceGroup, Node, Sharing
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.pasting import shell_word
from fleet.readiness.subject import NOT_GPU_VENDORS, Subject
from fleet.readiness.wording import bounded, not_applicable, of_node, share
from fleet.tolerations import blocks, is_lifecycle, taint_text
from fleet.words import say, say_many

CHECK = "devices-advertised"
QUESTION = 2


def _source() -> str:
    return say("kubelet device manager: capacity counts all devices, allocatable the healthy ones")


def check(subject: Subject) -> Iterator[Finding]:
    if not subject.gpu_nodes:
        yield not_applicable(CHECK, QUESTION, say("No GPU node was read"))
        return
    unreadable = [n for n in subject.gpu_nodes if _is_unreadable(n)]
    if unreadable:
        yield _unreadable(unreadable)
    incomplete = [n for n in subject.gpu_nodes if _is_incomplete(n)]
    if incomplete:
        yield _incomplete(incomplete)
    unclear = {n.name for n in (*unreadable, *incomplete)}
    running = [n for n in subject.gpu_nodes if not _is_starting(n) and n.name not in unclear]
    silent = [n for n in running if not offers_any(n)]
    if silent:
        yield _silent(subject, silent)
    else:
        starting = len(subject.gpu_nodes) - len(unclear) - len(running)
        detail = (
            say_many("{n} node still starting.", "{n} nodes still starting.", starting)
            if starting
            else ""
        )
        if not running and unclear:
            return
        if not running:
            yield not_applicable(CHECK, QUESTION, say("All GPU nodes are still starting"), detail)
            return
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say("Every GPU node offers its GPUs to the scheduler"),
            detail,
            source=_source(),
        )


def _is_unreadable(node: Node) -> bool:
    return any(group.unreadable for group in node.groups)


def _is_incomplete(node: Node) -> bool:
    """Nothing is offered, and DRA pools of the node cannot be counted now."""
    return (
        not _is_unreadable(node)
        and not offers_any(node)
        and any(group.incomplete for group in node.groups)
    )


def _incomplete(nodes: list[Node]) -> Finding:
    return Finding(
        CHECK,
        QUESTION,
        Verdict.UNKNOWN,
        say_many(
            "{n} GPU node publishes an incomplete DRA pool",
            "{n} GPU nodes publish incomplete DRA pools",
            len(nodes),
        ),
        say("What they offer is known once all slices of the pool are there."),
        bounded(
            [
                of_node(node, "ResourceSlice.spec.pool", reason)
                for node in nodes
                for group in node.groups
                for reason in group.incomplete
            ]
        ),
        source=_source(),
    )


def _unreadable(nodes: list[Node]) -> Finding:
    """A count that is no number proves neither that devices are offered nor that none are."""
    return Finding(
        CHECK,
        QUESTION,
        Verdict.UNKNOWN,
        say_many(
            "{n} GPU node states a count that is no number",
            "{n} GPU nodes state a count that is no number",
            len(nodes),
        ),
        say("Nothing is counted there, and nothing is placed there."),
        evidence=bounded(
            [
                of_node(node, f"status.allocatable[{name}]", say("cannot be read"))
                for node in nodes
                for group in node.groups
                for name in group.unreadable
            ]
        ),
        remedy=say("See which program wrote it: the sync report names the value."),
        source=_source(),
    )


def _silent(subject: Subject, nodes: list[Node]) -> Finding:
    total = len(subject.gpu_nodes)
    tainted = [n for n in nodes if any(blocks(t) and not is_lifecycle(t) for t in n.taints)]
    helpers = {p.node for p in subject.inventory.pods if p.is_daemon or p.is_infrastructure}
    lonely = [n for n in nodes if n.name not in helpers]
    detail = say("Labels, machine type or pods show GPUs, and none can be had.")
    if lonely and subject.was_read("pods"):
        detail += " " + say(
            "No pod of a device plugin was seen on {number} of them.", number=len(lonely)
        )
    remedy = say("See that the DaemonSets of driver and device plugin run on these nodes:")
    selector = shell_word(f"spec.nodeName={nodes[0].name}")
    snippet = f"kubectl get pods -A -o wide --field-selector {selector}\n"
    if tainted:
        key = next(t for t in tainted[0].taints if blocks(t) and not is_lifecycle(t))
        remedy = say(
            "See that the DaemonSets of driver and device plugin run on these nodes and tolerate "
            "{taint}:",
            taint=taint_text(key),
        )
    return Finding(
        CHECK,
        QUESTION,
        Verdict.FAIL,
        share(
            len(nodes),
            total,
            only=say("The GPU node offers no GPU"),
            every=say("All {total} GPU nodes offer no GPU", total=f"{total:,}"),
            some=say_many(
                "{n} of {total} GPU nodes offers no GPU",
                "{n} of {total} GPU nodes offer no GPU",
                len(nodes),
                total=f"{total:,}",
            ),
        ),
        detail,
        bounded([of_node(n, "status.allocatable", counts(n)) for n in nodes]),
        remedy,
        snippet,
        source=_source(),
    )


def gpu_groups(node: Node) -> list[DeviceGroup]:
    """The node's device groups, without accelerators that are no GPUs."""
    return [g for g in node.groups if g.vendor not in NOT_GPU_VENDORS]


def _is_starting(node: Node) -> bool:
    """Not ready yet, with nothing registered: a node that went down still lists its devices."""
    return (
        node.ready is not True
        and not offers_any(node)
        and any(is_lifecycle(t) for t in node.taints)
    )


def offers_any(node: Node) -> bool:
    """Whether the scheduler could hand out a GPU of this node, were it empty."""
    return any(
        u.allocatable > 0 for g in gpu_groups(node) if g.sharing != Sharing.NONE for u in g.units
    )


def counts(node: Node) -> str:
    """ "nvidia.com/gpu: 7 of 8"."""
    found = [
        say(
            "{resource}: {healthy} of {all}",
            resource=u.resource,
            healthy=u.allocatable,
            all=u.capacity,
        )
        for g in gpu_groups(node)
        for u in g.units
    ]
    return ", ".join(found) or say("no GPU resource")
