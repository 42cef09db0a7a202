"""Do all nodes of one pool carry the same taints? A node that differs was changed by hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from fleet.inventory import Node
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded, not_applicable, of_node
from fleet.tolerations import is_lifecycle, taint_text
from fleet.words import say, say_many

CHECK = "pool-taints"
QUESTION = 2

_SOURCE = "core/v1 Taint"


def _policy(node: Node) -> tuple[str, ...]:
    return tuple(sorted(taint_text(t) for t in node.taints if not is_lifecycle(t)))


def check(subject: Subject) -> Iterator[Finding]:
    pools: dict[str, list[Node]] = defaultdict(list)
    for node in subject.gpu_nodes:
        if node.pool:
            pools[node.pool].append(node)
    several = {pool: nodes for pool, nodes in pools.items() if len(nodes) > 1}
    if not several:
        yield not_applicable(CHECK, QUESTION, say("No GPU pool with more than one node"))
        return
    odd: dict[str, list[Node]] = {}
    for pool, nodes in several.items():
        usual, _ = Counter(_policy(n) for n in nodes).most_common(1)[0]
        different = [n for n in nodes if _policy(n) != usual]
        if different:
            odd[pool] = different
    for pool, nodes in sorted(odd.items()):
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say_many(
                "Pool {pool}: {nodes} of {n} node is tainted differently",
                "Pool {pool}: {nodes} of {n} nodes are tainted differently",
                len(several[pool]),
                pool=pool,
                nodes=len(nodes),
            ),
            say("A workload that tolerates one node of the pool may not tolerate the next."),
            bounded(
                [of_node(n, "spec.taints", ", ".join(_policy(n)) or say("none")) for n in nodes]
            ),
            say("Set the taints in the template of the pool and replace the nodes that differ."),
            source=_SOURCE,
        )
    if not odd:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say("The nodes of each GPU pool carry the same taints"),
            say_many(
                "{n} pool with more than one node.",
                "{n} pools with more than one node.",
                len(several),
            ),
            source=_SOURCE,
        )
