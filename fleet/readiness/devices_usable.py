"""Can all GPUs of the fleet be used: boards not withdrawn as sick, nodes that take pods?"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.inventory import Node
from fleet.readiness.devices_advertised import counts, gpu_groups, offers_any
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.pasting import shell_word
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded, not_applicable, of_node, share
from fleet.words import say, say_many

CHECK = "devices-usable"
QUESTION = 2


def _source() -> str:
    return say("kubelet device manager: capacity counts all devices, allocatable the healthy ones")


def check(subject: Subject) -> Iterator[Finding]:
    offering = [n for n in subject.gpu_nodes if offers_any(n)]
    if not offering:
        yield not_applicable(CHECK, QUESTION, say("No GPU node offers a GPU"))
        return
    sick = [n for n in offering if _withdrawn(n) or _has_withdrawn_parts(n)]
    away = [n for n in offering if not n.schedulable]
    if sick:
        boards = sum(_withdrawn(n) for n in sick)
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            _title(boards, len(sick)),
            say("The device plugin reports them and does not hand them out."),
            bounded([of_node(n, "status.allocatable", counts(n)) for n in sick]),
            say(
                "See the kernel log for XID errors, drain the node, and reset or replace the board:"
            ),
            "".join(f"kubectl drain {shell_word(n.name)} --ignore-daemonsets\n" for n in sick[:3]),
            source=_source(),
        )
    if away:
        total = len(subject.gpu_nodes)
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            share(
                len(away),
                total,
                only=say("The GPU node takes no pods"),
                every=say("All {total} GPU nodes take no pods", total=f"{total:,}"),
                some=say_many(
                    "{n} of {total} GPU nodes takes no pods",
                    "{n} of {total} GPU nodes take no pods",
                    len(away),
                    total=f"{total:,}",
                ),
            ),
            say("Their GPUs are there and cannot be used."),
            bounded([of_node(n, "schedulable", n.not_schedulable_reason) for n in away]),
            say("Bring these nodes back (kubectl uncordon for a cordoned one), or replace them."),
            source=_source(),
        )
    if not (sick or away):
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say("All GPUs that are offered can be used"),
            say_many(
                "{n} node: no board withdrawn, no node cordoned or down.",
                "{n} nodes: no board withdrawn, no node cordoned or down.",
                len(offering),
            ),
            source=_source(),
        )


def _title(boards: int, nodes: int) -> str:
    if not boards:  # how many boards stand behind withdrawn MIG devices is not told
        return say_many(
            "Parts of GPUs withdrawn as unhealthy on {n} node",
            "Parts of GPUs withdrawn as unhealthy on {n} nodes",
            nodes,
        )
    return say_many(
        "{n} GPU withdrawn as unhealthy on {nodes}",
        "{n} GPUs withdrawn as unhealthy on {nodes}",
        boards,
        nodes=say_many("{n} node", "{n} nodes", nodes),
    )


def _has_withdrawn_parts(node: Node) -> bool:
    return any(group.has_untold_sick for group in gpu_groups(node))


def _withdrawn(node: Node) -> int:
    return sum(group.unhealthy or 0 for group in gpu_groups(node))
