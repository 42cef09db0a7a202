"""Do GPU nodes that have fast network devices offer them?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fleet.inventory import Node
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded, not_applicable, of_node
from fleet.words import say, say_many

CHECK = "network-devices"
QUESTION = 2

_NETWORK = re.compile(r"(?:^|[/._-])(?:rdma|roce|efa|hca|ib|infiniband|hostdev|sriov)(?:[/._-]|$)")


def _source() -> str:
    return say("kubelet device manager: a plugin that offers nothing leaves its resource at 0")


def network_resources(node: Node) -> dict[str, int]:
    """Capacity of the node's network devices: RDMA, InfiniBand, EFA, SR-IOV."""
    return {name: n for name, n in node.extended.items() if _NETWORK.search(name.lower())}


def check(subject: Subject) -> Iterator[Finding]:
    having = [(node, found) for node in subject.gpu_nodes if (found := network_resources(node))]
    if not having:
        yield not_applicable(CHECK, QUESTION, say("No GPU node lists a fast network device"))
        return
    empty = [(node, name) for node, found in having for name, n in found.items() if not n]
    if empty:
        nodes = {node.name for node, _ in empty}
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say_many(
                "{n} GPU node lists a network device and offers none",
                "{n} GPU nodes list a network device and offer none",
                len(nodes),
            ),
            say("A job that asks for it does not start there; one that does not ask is slow."),
            bounded([of_node(node, f"status.capacity[{name}]", "0") for node, name in empty]),
            say("See that the network operator's plugin runs on these nodes and finds its ports."),
            source=_source(),
        )
        return
    yield Finding(
        CHECK,
        QUESTION,
        Verdict.PASS,
        say("GPU nodes offer the network devices that they list"),
        say_many("{n} node with network devices.", "{n} nodes with network devices.", len(having)),
        source=_source(),
    )
