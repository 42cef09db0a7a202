"""Do the kubelets of the GPU nodes keep up with the API server?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from fleet.inventory import Node
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded, listed, not_applicable, of_node
from fleet.words import say, say_many

CHECK = "node-skew"
QUESTION = 1

MAX_SKEW = 3
"""Minors that a kubelet may be older than its API server (version skew policy, KEP-3935)."""

COMFORTABLE_SKEW = 1
"""More than this is a warning: node-level GPU features need the kubelet's minor."""

_MINOR = re.compile(r"v?1\.(\d{1,3})")
_FIELD = "status.nodeInfo.kubeletVersion"


def _source() -> str:
    return say("Kubernetes version skew policy (KEP-3935)")


def _remedy() -> str:
    return say(
        "Upgrade the node pools named above, one pool at a time: drain, replace, and check that "
        "the "
        "device plugin comes back before the next one."
    )


def kubelet_minor(node: Node) -> int | None:
    """The minor of the node's kubelet; None when it is not written."""
    match = _MINOR.match(node.kubelet_version)
    return int(match.group(1)) if match else None


def check(subject: Subject) -> Iterator[Finding]:
    minors = {
        node.name: (node, minor)
        for node in subject.gpu_nodes
        if (minor := kubelet_minor(node)) is not None
    }
    if not minors:
        yield not_applicable(CHECK, QUESTION, say("No GPU node states its kubelet version"))
        return
    yield from _mixed_pools(list(minors.values()))
    version = subject.inventory.version
    if version.minor is None or "kubelet" in version.source:
        seen = sorted({minor for _, minor in minors.values()})
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.UNKNOWN,
            say("Kubelets behind the API server?"),
            say(
                "The API server's version is not known. The kubelets of the GPU nodes are {names}.",
                names=listed(f"1.{m}" for m in seen),
            ),
            remedy=say("Export the version and import the file together with the others:"),
            snippet="kubectl version -o json > version.json\n",
            source=_source(),
        )
        return
    yield _against_server(list(minors.values()), version.minor)


def _against_server(nodes: list[tuple[Node, int]], server: int) -> Finding:
    newer = [(n, m) for n, m in nodes if m > server]
    too_old = [(n, m) for n, m in nodes if server - m > MAX_SKEW]
    behind = [(n, m) for n, m in nodes if COMFORTABLE_SKEW < server - m <= MAX_SKEW]
    if newer or too_old:
        bad = newer + too_old
        if newer:
            detail = say(
                "The API server is 1.{server}; kubelets are newer than the API server: not "
                "supported.",
                server=server,
            )
        else:
            detail = say(
                "The API server is 1.{server}; kubelets are more than {limit} minors behind: not "
                "supported.",
                server=server,
                limit=MAX_SKEW,
            )
        return Finding(
            CHECK,
            QUESTION,
            Verdict.FAIL,
            say_many(
                "{n} GPU node outside the allowed version skew",
                "{n} GPU nodes outside the allowed version skew",
                len(bad),
            ),
            detail,
            bounded([of_node(n, _FIELD, n.kubelet_version) for n, _ in bad]),
            _remedy(),
            source=_source(),
        )
    if behind:
        worst = max(server - m for _, m in behind)
        return Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say_many(
                "{n} GPU node up to {worst} minors behind the API server",
                "{n} GPU nodes up to {worst} minors behind the API server",
                len(behind),
                worst=worst,
            ),
            say(
                "The API server is 1.{server}. {limit} minors are the limit, and features such as "
                "DRA need the kubelet's minor too.",
                server=server,
                limit=MAX_SKEW,
            ),
            bounded([of_node(n, _FIELD, n.kubelet_version) for n, _ in behind]),
            _remedy(),
            source=_source(),
        )
    skew = max(server - m for _, m in nodes)
    seen = sorted({m for _, m in nodes})
    return Finding(
        CHECK,
        QUESTION,
        Verdict.PASS,
        say("The kubelets of all GPU nodes keep up"),
        say(
            "Kubelets {names}, API server 1.{server}; skew {skew}.",
            names=listed(f"1.{m}" for m in seen),
            server=server,
            skew=skew,
        ),
        source=_source(),
    )


def _mixed_pools(nodes: list[tuple[Node, int]]) -> Iterator[Finding]:
    pools: dict[str, dict[int, list[Node]]] = defaultdict(lambda: defaultdict(list))
    for node, minor in nodes:
        if node.pool:
            pools[node.pool][minor].append(node)
    mixed = {pool: by for pool, by in pools.items() if len(by) > 1}
    if not mixed:
        return
    evidence = [
        of_node(
            found[0],
            _FIELD,
            say_many(
                "{version} ({n} node)",
                "{version} ({n} nodes)",
                len(found),
                version=found[0].kubelet_version,
            ),
        )
        for by in mixed.values()
        for found in by.values()
    ]
    yield Finding(
        CHECK,
        QUESTION,
        Verdict.WARN,
        say_many(
            "{n} GPU pool with more than one kubelet minor",
            "{n} GPU pools with more than one kubelet minor",
            len(mixed),
        ),
        say(
            "Pool {names}: an upgrade that stopped half way, or nodes left behind.",
            names=listed(sorted(mixed)),
        ),
        bounded(evidence),
        _remedy(),
        source=_source(),
    )
