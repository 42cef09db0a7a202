"""Which workloads the taints shut out: the same answer as looking at every pair of a workload and
a node, but at a cost that follows the kinds of both rather than their numbers."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.inventory import Node, Pod, Taint, Toleration
from fleet.readiness import workload_tolerations
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.subject import Subject
from fleet.tolerations import evicted_later, is_lifecycle, untolerated
from tests.fleet.readiness.clusters import cluster, gpu_node, waiting

TODAY = date(2026, 12, 1)
KEYS = ("gpu", "team", "spot", "node.kubernetes.io/not-ready")
SHOWN = 25

taints = st.builds(
    Taint,
    key=st.sampled_from(KEYS),
    value=st.sampled_from(("", "a", "b")),
    effect=st.sampled_from(("NoSchedule", "NoExecute", "PreferNoSchedule")),
)
tolerations = st.builds(
    Toleration,
    key=st.sampled_from(("", *KEYS)),
    operator=st.sampled_from(("Exists", "Equal")),
    value=st.sampled_from(("", "a", "b")),
    effect=st.sampled_from(("", "NoSchedule", "NoExecute")),
    seconds=st.sampled_from((None, 30)),
)
selectors = st.dictionaries(
    st.sampled_from(("pool", "zone")), st.sampled_from(("x", "y")), max_size=2
)


@st.composite
def fleets(draw: st.DrawFn) -> tuple[list[Node], list[Pod]]:
    nodes = [
        gpu_node(
            f"n{i}",
            gpus=draw(st.sampled_from((1, 8))),
            taints=tuple(draw(st.lists(taints, max_size=2))),
            labels=draw(selectors),
        )
        for i in range(draw(st.integers(1, 6)))
    ]
    pods = [
        waiting(
            f"p{i}",
            draw(st.sampled_from((1, 2, 8, 9))),
            tolerations=tuple(draw(st.lists(tolerations, max_size=2))),
            node_selector=draw(selectors),
        )
        for i in range(draw(st.integers(1, 6)))
    ]
    return nodes, pods


def plainly(pod: Pod, nodes: list[Node]) -> Verdict | None:
    """The verdict by looking at each node; None: no node offers what the pod asks for."""
    offering = [
        n
        for n in nodes
        if n.groups[0].units[0].allocatable >= pod.requests["nvidia.com/gpu"]
        and all(n.labels.get(k) == v for k, v in pod.node_selector.items())
    ]
    if not offering:
        return None
    open_to = [
        n
        for n in offering
        if all(is_lifecycle(taint) for taint in untolerated(n.taints, pod.tolerations))
    ]
    if not open_to:
        return Verdict.FAIL
    if any(not t.key and t.operator == "Exists" and not t.effect for t in pod.tolerations):
        return Verdict.WARN
    if all(evicted_later(n.taints, pod.tolerations) for n in open_to):
        return Verdict.WARN
    return Verdict.PASS


def found(nodes: list[Node], pods: list[Pod]) -> list[Finding]:
    subject = Subject(cluster(nodes=tuple(nodes), pods=tuple(pods)), TODAY)
    return list(workload_tolerations.check(subject))


@given(fleets())
def test_the_verdicts_are_those_of_looking_at_every_pair(
    fleet: tuple[list[Node], list[Pod]],
) -> None:
    nodes, pods = fleet
    expected = [(pod.name, plainly(pod, nodes)) for pod in pods]
    findings = found(nodes, pods)
    for verdict in (Verdict.FAIL, Verdict.WARN):
        named = {
            f.title.split()[0].removeprefix("team-a/") for f in findings if f.verdict is verdict
        }
        assert named == {name for name, wanted in expected if wanted is verdict}
    passed = any(wanted is Verdict.PASS for _, wanted in expected)
    assert any(f.verdict is Verdict.PASS for f in findings) is passed


def test_every_node_that_is_closed_counts_and_is_shown_with_its_taint() -> None:
    nodes = [gpu_node(f"n{i}", taints=(Taint("gpu", "", "NoSchedule"),)) for i in range(3)]
    nodes += [gpu_node("other", taints=(Taint("team", "a", "NoExecute"),))]
    (finding,) = found(nodes, [waiting("p")])
    assert finding.detail == (
        "4 nodes offer what it asks for, closed to it by gpu:NoSchedule and team=a:NoExecute."
    )
    assert [e.object for e in finding.evidence[1:]] == [
        f"v1 Node {name}" for name in ("n0", "n1", "n2", "other")
    ]


@pytest.mark.parametrize("labelled", [False, True])
def test_thousands_of_different_tolerations_and_nodes_are_few_looks(
    labelled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0

    def counted(*args: object) -> object:
        nonlocal looks
        looks += 1
        return untolerated(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(workload_tolerations, "untolerated", counted)
    closed = (Taint("gpu", "", "NoSchedule"),)
    nodes = [gpu_node(f"n{i}", taints=closed, labels={"host": f"n{i}"}) for i in range(1000)]
    pods = [waiting(f"p{i}", tolerations=(Toleration(f"key-{i}", "Exists"),)) for i in range(1000)]
    if labelled:  # one pod that names a host must not make each host a kind of its own
        pods.append(waiting("chosen", node_selector={"host": "n7"}))
    findings = found(nodes, pods)
    assert looks < 500  # for the findings that are shown; there are a million pairs
    assert len(findings) == SHOWN + 1
    assert str(len(pods) - SHOWN) in findings[-1].title.replace(",", "")
