"""Does every GPU node say where in the network it stands? Gangs are kept together by that."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.inventory import Node
from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded, not_applicable, of_node
from fleet.words import say, say_many

CHECK = "topology-known"
QUESTION = 4


def _source() -> str:
    return say("topology levels of the cluster: labels of nodes, Kueue and KAI topologies")


def check(subject: Subject) -> Iterator[Finding]:
    nodes = subject.gpu_nodes
    names = list(dict.fromkeys(name for name, _ in subject.inventory.topology_keys))
    if not nodes or not names:
        yield not_applicable(CHECK, QUESTION, say("No label tells GPU nodes apart by their place"))
        return
    lost = {name: [n for n in nodes if _lacks(n, name)] for name in names}
    odd = {name: found for name, found in lost.items() if found}
    if odd:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say_many(
                "{n} level of topology is missing on some GPU nodes",
                "{n} levels of topology are missing on some GPU nodes",
                len(odd),
            ),
            say("A gang that must stay within one domain is never placed on such a node."),
            bounded(
                [
                    of_node(node, _key(subject, name), say("not set"))
                    for name, found in odd.items()
                    for node in found
                ]
            ),
            say("Label the nodes, or see that the tool that labels them runs there."),
            source=_source(),
        )
        return
    yield Finding(
        CHECK,
        QUESTION,
        Verdict.PASS,
        say_many(
            "{n} level of topology is known of every GPU node",
            "{n} levels of topology are known of every GPU node",
            len(names),
        ),
        say("Levels, coarse to fine: {names}.", names=", ".join(names)),
        bounded([e for name in names for e in _domains(subject, nodes, name)]),
        source=_source(),
    )


def _lacks(node: Node, name: str) -> bool:
    """Whether the node lacks the label, and not only that of a level above it."""
    step = next((step for step in node.topology if step.name == name), None)
    if step is None or step.value is not None:
        return step is None
    return not (node.labels.get(step.key) or node.places.get(step.key))


def _key(subject: Subject, name: str) -> str:
    return next(key for level, key in subject.inventory.topology_keys if level == name)


def _domains(subject: Subject, nodes: tuple[Node, ...], name: str) -> list[Evidence]:
    """The domains of a level, each by one of its nodes: "block-a/rack-1" is a path."""
    found = {"/".join(path): node for node in nodes if (path := node.domain(name)) is not None}
    key = _key(subject, name)
    return [of_node(node, key, path) for path, node in sorted(found.items())]
