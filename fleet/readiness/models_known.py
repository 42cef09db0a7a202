"""Can the model of every GPU be told? Cost, sizing and placement need it."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.inventory import Node
from fleet.readiness.devices_advertised import gpu_groups
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded, not_applicable, of_node, share
from fleet.words import say, say_many

CHECK = "models-known"
QUESTION = 2


def _source() -> str:
    return say("labels of GPU Feature Discovery, of the vendors' node labellers and of clouds; DRA")


def check(subject: Subject) -> Iterator[Finding]:
    nodes = subject.gpu_nodes
    if not nodes:
        yield not_applicable(CHECK, QUESTION, say("No GPU node was read"))
        return
    unknown = [node for node in nodes if any(g.model is None for g in gpu_groups(node))]
    if not unknown:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say("The GPU model of every node is known"),
            say_many("{n} GPU node.", "{n} GPU nodes.", len(nodes)),
            source=_source(),
        )
        return
    total = len(nodes)
    yield Finding(
        CHECK,
        QUESTION,
        Verdict.WARN,
        share(
            len(unknown),
            total,
            only=say("The GPU model of the node is not known"),
            every=say("The GPU models of all {total} nodes are not known", total=f"{total:,}"),
            some=say_many(
                "The GPU model of {n} of {total} nodes is not known",
                "The GPU models of {n} of {total} nodes are not known",
                len(unknown),
                total=f"{total:,}",
            ),
        ),
        say("Such GPUs have no price, and nothing is placed on them."),
        bounded([of_node(node, "metadata.labels", _words(node)) for node in unknown]),
        say("Run the vendor's feature discovery, which labels nodes with the product:"),
        "kubectl get nodes -L nvidia.com/gpu.product,amd.com/gpu.product-name\n",
        source=_source(),
    )


def _words(node: Node) -> str:
    """What the node itself calls its GPU, if it calls it anything."""
    found = [g.model_label for g in gpu_groups(node) if g.model is None and g.model_label]
    return found[0] if found else say("no product label")
