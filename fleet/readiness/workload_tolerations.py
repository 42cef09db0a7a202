"""Does every GPU workload tolerate the taints of at least one node that it could run on?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fleet.inventory import Node, Taint
from fleet.readiness.demand import Selection, Work, offers, work
from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.readiness.pasting import yaml_text
from fleet.readiness.subject import Subject
from fleet.readiness.wording import (
    MAX_EVIDENCE,
    MAX_FINDINGS,
    bounded_findings,
    listed,
    not_applicable,
    of_node,
)
from fleet.tolerations import blocks, evicted_later, is_lifecycle, taint_text, untolerated
from fleet.words import say, say_many

CHECK = "workload-tolerations"
QUESTION = 2


def _source() -> str:
    return say("core/v1 Toleration, scheduler plugin TaintToleration")


def check(subject: Subject) -> Iterator[Finding]:
    # Lifecycle taints say that a node is busy starting or leaving; they say nothing about policy.
    judged = list(work(subject))
    if not judged or not subject.gpu_nodes:
        yield not_applicable(CHECK, QUESTION, say("No GPU workload with a GPU node to go to"))
        return
    places = _Places(subject, judged)
    findings: list[Finding] = []
    shut_out = good = 0
    for item in judged:
        candidates, open_to = places.of(item)
        if not candidates:
            continue  # not the taints' fault: see "request-offered"
        if not open_to:
            shut_out += 1
            findings.append(_shut_out(item, candidates, in_full=shut_out <= MAX_FINDINGS))
        elif finding := _doubtful(item, open_to):
            findings.append(finding)
        else:
            good += 1
    yield from bounded_findings(findings, "workload")
    if good:
        title = say("Every GPU workload tolerates the taints of its nodes")
        if findings:
            title = say_many(
                "{n} of {total} tolerate the taints of its nodes",
                "{n} of {total} tolerate the taints of its nodes",
                good,
                total=len(judged),
            )
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            title,
            source=_source(),
        )
    elif not findings:
        yield not_applicable(
            CHECK,
            QUESTION,
            say("No GPU node offers what the workloads ask for"),
            say("See the check above."),
        )


@dataclass(frozen=True, slots=True)
class _Alike:
    """Nodes with the same units and taints: no request and no toleration tells them apart."""

    number: int  # of the kind; nodes of one kind may be chosen in part, by a selector
    nodes: tuple[Node, ...]
    keys: frozenset[str]  # of the taints that keep pods away as a policy


_Found = tuple[list[_Alike], list[Node]]


class _Places:
    """Where work could go. Each distinct want is looked up once: thousands of pods and thousands
    of nodes are few kinds of either."""

    def __init__(self, subject: Subject, judged: Sequence[Work]) -> None:
        self._subject = subject
        kinds: dict[object, list[Node]] = {}
        for node in subject.gpu_nodes:
            units = ((u.resource, u.kind, u.allocatable) for g in node.groups for u in g.units)
            kinds.setdefault((node.taints, tuple(units)), []).append(node)
        self._all = [_alike(number, nodes) for number, nodes in enumerate(kinds.values())]
        self._kind_of = {node.name: alike for alike in self._all for node in alike.nodes}
        self._selection = Selection(subject.gpu_nodes, judged)
        self._selected: dict[object, list[_Alike]] = {}
        self._offered: dict[tuple[int, object], bool] = {}
        self._candidates: dict[object, list[_Alike]] = {}
        self._found: dict[object, _Found] = {}

    def of(self, item: Work) -> _Found:
        """Nodes that offer what the work asks for where its selector lets it, by kind; and one
        node of each kind that its tolerations open."""
        asked = tuple(sorted(item.requests.items()))
        want = (item.tolerations, frozenset(item.node_selector.items()), asked)
        if want not in self._found:
            self._found[want] = self._look(item, asked)
        return self._found[want]

    def _look(self, item: Work, asked: object) -> _Found:
        candidates = self._offering(item, asked)
        keys = {t.key for t in item.tolerations}
        # A kind with a key that no toleration names needs no closer look, unless one names none.
        near = candidates if "" in keys else [a for a in candidates if a.keys <= keys]
        open_to = [a.nodes[0] for a in near if not _blocking(a.nodes[0], item)]
        return candidates, open_to

    def _offering(self, item: Work, asked: object) -> list[_Alike]:
        key = (frozenset(item.node_selector.items()), asked)
        if key not in self._candidates:
            chosen = self._chosen(item.node_selector)
            self._candidates[key] = [a for a in chosen if self._offers(a, item, asked)]
        return self._candidates[key]

    def _chosen(self, selector: dict[str, str]) -> list[_Alike]:
        if not selector:
            return self._all
        key = frozenset(selector.items())
        if key not in self._selected:
            parts: dict[int, list[Node]] = {}
            for node in self._selection.of(selector):
                parts.setdefault(self._kind_of[node.name].number, []).append(node)
            self._selected[key] = [_alike(number, nodes) for number, nodes in parts.items()]
        return self._selected[key]

    def _offers(self, alike: _Alike, item: Work, asked: object) -> bool:
        key = (alike.number, asked)
        if key not in self._offered:
            self._offered[key] = offers(self._subject, alike.nodes[0], item.requests)
        return self._offered[key]


def _alike(number: int, nodes: list[Node]) -> _Alike:
    policy = (t for t in nodes[0].taints if blocks(t) and not is_lifecycle(t))
    return _Alike(number, tuple(nodes), frozenset(t.key for t in policy))


def _blocking(node: Node, item: Work) -> tuple[Taint, ...]:
    return tuple(t for t in untolerated(node.taints, item.tolerations) if not is_lifecycle(t))


def _shut_out(item: Work, candidates: list[_Alike], *, in_full: bool) -> Finding:
    """in_full: with what keeps it away. The findings beyond those shown are only counted."""
    if not in_full:
        return Finding(
            CHECK,
            QUESTION,
            Verdict.FAIL,
            say("{name} tolerates no node that has its GPUs", name=item.name),
            evidence=(item.evidence("tolerations", _tolerations(item)),),
            remedy=say(
                "Add the toleration to the pod template ({field}.tolerations):", field=item.field
            ),
            source=_source(),
        )
    reasons: Counter[Taint] = Counter()
    for alike in candidates:
        for taint in _blocking(alike.nodes[0], item):
            reasons[taint] += len(alike.nodes)
    easiest = min((_blocking(alike.nodes[0], item) for alike in candidates), key=len)
    total = sum(len(alike.nodes) for alike in candidates)
    shown = [n for alike in candidates[:MAX_EVIDENCE] for n in alike.nodes[:MAX_EVIDENCE]]
    evidence = [item.evidence("tolerations", _tolerations(item))]
    evidence += [
        of_node(n, "spec.taints", ", ".join(taint_text(t) for t in _blocking(n, item)))
        for n in shown[: MAX_EVIDENCE - 1]
    ]
    return Finding(
        CHECK,
        QUESTION,
        Verdict.FAIL,
        say("{name} tolerates no node that has its GPUs", name=item.name),
        say_many(
            "{n} node offers what it asks for, closed to it by {names}.",
            "{n} nodes offer what it asks for, closed to it by {names}.",
            total,
            names=listed((taint_text(t) for t, _ in reasons.most_common())),
        ),
        tuple(evidence),
        say("Add the toleration to the pod template ({field}.tolerations):", field=item.field),
        _snippet(easiest),
        source=_source(),
    )


def _doubtful(item: Work, open_to: list[Node]) -> Finding | None:
    blanket = [t for t in item.tolerations if not t.key and t.operator == "Exists" and not t.effect]
    if blanket:
        return Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say("{name} tolerates every taint", name=item.name),
            say("It may land on nodes that are cordoned for repair, starting or kept for others."),
            (item.evidence("tolerations", say("operator: Exists without a key")),),
            say("Name the taints it is meant to tolerate:"),
            _snippet(tuple(t for n in open_to[:1] for t in n.taints if not is_lifecycle(t))),
            source=_source(),
        )
    if all(evicted_later(n.taints, item.tolerations) for n in open_to):
        limited = evicted_later(open_to[0].taints, item.tolerations)
        return Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say("{name} is evicted from its nodes after a while", name=item.name),
            say("It tolerates a NoExecute taint only for tolerationSeconds."),
            (Evidence(item.object, f"{item.field}.tolerations", _tolerations(item)),),
            say("Remove tolerationSeconds if the workload belongs on these nodes:"),
            _snippet(limited),
            source=_source(),
        )
    return None


def _tolerations(item: Work) -> str:
    found = [f"{t.key or '*'} {t.operator} {t.value}".strip() for t in item.tolerations]
    return ", ".join(found) or say("none")


def _snippet(taints: tuple[Taint, ...]) -> str:
    if not taints:
        return ""
    lines = ["tolerations:"]
    for taint in taints:
        lines.append(f"- key: {yaml_text(taint.key)}")
        if taint.value:
            lines += ["  operator: Equal", f"  value: {yaml_text(taint.value)}"]
        else:
            lines.append("  operator: Exists")
        lines.append(f"  effect: {yaml_text(taint.effect)}")
    return "\n".join(lines) + "\n"
