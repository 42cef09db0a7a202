"""Groups of pods in every system and version: the minimum, who is there, and whether it is whole.

Inputs are those of the real cases 60 to 68, changed; every expected value follows from the rule
that the test names.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.gang_members import GangMembers, gang_members
from fleet.inventory import GangObject
from tests.fleet.kubernetes.written import Json, cluster, node, pod

VERSIONS = {
    "native 1.36": "scheduling.k8s.io/v1alpha2",
    "native 1.37": "scheduling.k8s.io/v1beta1",
    "native 1.37 alpha": "scheduling.k8s.io/v1alpha3",
    "coscheduling": "scheduling.x-k8s.io/v1alpha1",
    "volcano": "scheduling.volcano.sh/v1beta1",
    "kai": "scheduling.run.ai/v2alpha2",
}


def group(name: str, api: str, spec: Json, *, kind: str = "PodGroup", **status: Any) -> Json:
    meta = {"name": name, "namespace": "team-a"}
    return {"apiVersion": api, "kind": kind, "metadata": meta, "spec": spec, "status": status}


def minimum(system: str, number: int | None) -> Json:
    """A group's spec in its system's own words; None: it promises nothing."""
    if system.startswith("native"):
        return {"schedulingPolicy": {"gang": {"minCount": number}} if number else {"basic": {}}}
    return {"minMember": number} if number else {}


def in_group(system: str, name: str) -> Json:
    """What makes a pod a member."""
    if system.startswith("native"):
        return {"schedulingGroup": {"podGroupName": name}}
    if system == "coscheduling":
        return {"meta": {"labels": {"scheduling.x-k8s.io/pod-group": name}}}
    note = "scheduling.k8s.io/group-name" if system == "volcano" else "pod-group-name"
    return {"meta": {"annotations": {note: name}}}


def members(system: str, name: str, bound: int, waiting: int = 0) -> list[Json]:
    return [
        pod(f"{name}-{n}", "node-a" if n < bound else "", gpus=1, **in_group(system, name))
        for n in range(bound + waiting)
    ]


def only(*objects: Json) -> GangMembers:
    (found,) = gang_members(cluster(node(gpus=64), *objects))
    return found


@pytest.mark.parametrize("system", VERSIONS)
@pytest.mark.parametrize(
    ("least", "bound", "waiting", "whole", "partial"),
    [(3, 3, 3, True, False), (4, 3, 3, False, True), (2, 0, 1, False, False),
     (8, 8, 0, True, False)],
)  # fmt: skip
def test_members_are_counted_from_the_pods_in_every_system(
    system: str, least: int, bound: int, waiting: int, whole: bool, partial: bool
) -> None:
    item = group("g", VERSIONS[system], minimum(system, least))
    found = only(item, *members(system, "g", bound, waiting))
    assert (found.system, found.minimum) == (system.split()[0], least)
    assert (len(found.pods), found.bound) == (bound + waiting, bound)
    assert (found.is_gang, found.is_whole, found.is_partial) == (True, whole, partial)


@pytest.mark.parametrize("system", VERSIONS)
def test_a_group_without_a_minimum_promises_nothing(system: str) -> None:
    found = only(group("g", VERSIONS[system], minimum(system, None)), *members(system, "g", 2))
    assert (found.minimum, found.is_gang, found.is_whole) == (None, False, None)


@pytest.mark.parametrize("system", VERSIONS)
def test_a_group_of_one_is_no_gang(system: str) -> None:
    """Volcano's controller makes a PodGroup for every lone pod."""
    found = only(group("g", VERSIONS[system], minimum(system, 1)), *members(system, "g", 1))
    assert (found.is_gang, found.is_whole) == (False, True)


def test_four_kinds_of_one_name_are_four_groups() -> None:
    items = [
        group("g", VERSIONS[s], minimum(s, 2)) for s in ("native 1.37", "coscheduling", "volcano")
    ]
    found = gang_members(cluster(node(gpus=8), *items, *members("volcano", "g", 1)))
    assert {g.system: len(g.pods) for g in found} == {
        "native": 0, "coscheduling": 0, "volcano": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("condition", "bound", "lost"),
    [
        ("PodGroupInitiallyScheduled", 4, False),  # 1.37: sticky
        ("PodGroupInitiallyScheduled", 3, True),
        ("PodGroupScheduled", 3, True),  # 1.36
        ("DisruptionTarget", 3, False),  # says nothing of a start
    ],
)
def test_a_started_gang_that_lost_members_is_found_by_counting(
    condition: str, bound: int, lost: bool
) -> None:
    item = group("g", VERSIONS["native 1.37"], minimum("native", 4),
                 conditions=[{"type": condition, "status": "True"}])  # fmt: skip
    assert only(item, *members("native", "g", bound)).has_lost_members is lost


def test_pods_that_ended_or_lost_their_node_are_no_members_and_leaving_ones_do_not_run() -> None:
    items = members("native", "g", 4)
    items[0]["status"]["phase"] = "Succeeded"
    items[1]["spec"]["nodeName"] = "gone"
    items[2]["metadata"]["deletionTimestamp"] = "2026-06-01T00:00:00Z"
    found = only(group("g", VERSIONS["native 1.37"], minimum("native", 4)), *items)
    assert (len(found.pods), found.bound, found.is_whole) == (2, 1, False)


def test_the_workload_of_1_35_holds_the_minimum_of_its_groups() -> None:
    parts = [{"name": "workers", "policy": {"gang": {"minCount": 3}}},
             {"name": "loose", "policy": {"basic": {}}}]  # fmt: skip
    item = group("w", "scheduling.k8s.io/v1alpha1", {"podGroups": parts}, kind="Workload")
    pods = [
        pod(f"p{n}", "node-a", gpus=1, workloadRef={"name": "w", "podGroup": part})
        for n, part in enumerate(["workers", "workers", "loose"])
    ]
    found = gang_members(cluster(node(gpus=8), item, *pods))
    assert [(g.group, g.minimum, g.bound, g.is_whole) for g in found] == [
        ("w/loose", None, 1, None), ("w/workers", 3, 2, False),
    ]  # fmt: skip


@pytest.mark.parametrize(("total", "there", "whole"), [("2", 2, True), ("3", 2, False)])
def test_a_pod_group_of_kueue_states_its_size_on_its_pods(
    total: str, there: int, whole: bool
) -> None:
    labels = {"kueue.x-k8s.io/queue-name": "q", "kueue.x-k8s.io/pod-group-name": "g"}
    meta = {"labels": labels, "annotations": {"kueue.x-k8s.io/pod-group-total-count": total}}
    pods = [pod(f"p{n}", "node-a", gpus=1, meta=meta) for n in range(there)]
    found = only(*pods)
    assert (found.system, found.group, found.is_whole) == ("kueue", "g", whole)


def test_pods_of_one_queue_are_no_gang() -> None:
    meta = {"labels": {"kueue.x-k8s.io/queue-name": "q"}}
    assert gang_members(cluster(pod("a", gpus=1, meta=meta), pod("b", gpus=1, meta=meta))) == ()


def test_each_group_of_a_leader_worker_set_is_counted_alone() -> None:
    """Case 63, changed: leaders of every group run, only one worker found a node."""

    def one(index: int, worker: int, on: str) -> Json:
        labels = {"leaderworkerset.sigs.k8s.io/name": "l",
                  "leaderworkerset.sigs.k8s.io/group-index": str(index)}  # fmt: skip
        notes = {"leaderworkerset.sigs.k8s.io/size": "2"}
        meta = {"labels": labels, "annotations": notes}
        return pod(f"l-{index}-{worker}", on, gpus=1, meta=meta)

    pods = [one(0, 0, "node-a"), one(0, 1, "node-a"), one(1, 0, "node-a"), one(1, 1, "")]
    found = gang_members(cluster(node(gpus=8), *pods))
    assert [(g.group, g.system, g.is_whole, g.is_partial) for g in found] == [
        ("l-0", "lws", True, False), ("l-1", "lws", False, True),
    ]  # fmt: skip


def test_members_without_gpus_on_nodes_without_gpus_count() -> None:
    """A launcher is a member like any other."""
    pods = members("coscheduling", "g", 2)
    launcher = pod("launcher", "cpu-node", **in_group("coscheduling", "g"))
    item = group("g", VERSIONS["coscheduling"], {"minMember": 3})
    found = only(node("cpu-node"), item, *pods, launcher)
    assert (found.bound, found.is_whole) == (3, True)


def pod_gang(*minima: int | None, **spec: Any) -> Json:
    groups = [{"name": f"c{n}", "minReplicas": m} for n, m in enumerate(minima)]
    return group("pg", "scheduler.grove.io/v1alpha1", {"podgroups": groups} | spec, kind="PodGang")


def test_a_pod_gang_of_grove_needs_the_minimum_of_every_clique() -> None:
    pods = [pod(f"p{n}", "node-a", gpus=1, meta={"labels": {"grove.io/podgang": "pg"}})
            for n in range(4)]  # fmt: skip
    found = only(pod_gang(2, 3), *pods)
    assert (found.system, found.minimum, found.bound, found.is_whole) == ("grove", 5, 4, False)


def objects(kind: str, *items: Json) -> list[GangObject]:
    return [o for o in cluster(*items).gang_objects if o.kind == kind]


def test_a_pod_gang_names_its_topology_and_its_cliques() -> None:
    pack = {"packConstraint": {"required": "rack", "preferred": "host"}}
    (found,) = objects("PodGang", pod_gang(1, None, topologyConstraint=pack))
    assert found.topology_keys == ("rack", "host")
    assert found.details == {"minimum:c0": "1", "minimum:c1": "0"}


def sub(name: str, parent: str = "", **needs: int) -> Json:
    return {"name": name} | ({"parent": parent} if parent else {}) | needs


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"minMember": 4, "subGroups": [sub("a", minMember=3), sub("b", minMember=1)]}, 4),
        ({"subGroups": [sub("a", minMember=3), sub("b", minMember=2)]}, 5),
        ({"minSubGroup": 1, "subGroups": [sub("a", minMember=3), sub("b", minMember=2)]}, 2),
        ({"minSubGroup": 3, "subGroups": [sub("a", minMember=3)]}, None),  # can never be met
        # a prefill of two replicas, of which one is enough, beside a decode
        ({"subGroups": [sub("prefill", minSubGroup=1), sub("p1", "prefill", minMember=2),
                        sub("p2", "prefill", minMember=4), sub("decode", minMember=8)]}, 10),
        ({"subGroups": [sub("a", minMember=3), sub("b")]}, None),  # b promises nothing
        ({"subGroups": [sub("a", "b"), sub("b", "a")]}, None),  # nothing at the top
        ({"subGroups": [sub("a"), sub("a", "a")]}, None),
        ({"subGroups": []}, None),
    ],
)  # fmt: skip
def test_sub_groups_of_kai_add_up_to_the_fewest_pods_that_start(
    spec: Json, expected: int | None
) -> None:
    (found,) = objects("PodGroup", group("g", VERSIONS["kai"], spec))
    assert found.minimum == expected


def composite(name: str, least: int | None, parent: str = "") -> Json:
    policy: Json = {"gang": {"minGroupCount": least}} if least else {"basic": {}}
    spec = {"schedulingPolicy": policy} | (
        {"parentCompositePodGroupName": parent} if parent else {}
    )
    return group(name, VERSIONS["native 1.37 alpha"], spec, kind="CompositePodGroup")


def child(name: str, parent: str, least: int | None) -> Json:
    spec = minimum("native", least) | {"parentCompositePodGroupName": parent}
    return group(name, VERSIONS["native 1.37 alpha"], spec)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([composite("c", 2), child("a", "c", 3), child("b", "c", 2), child("d", "c", 9)], 5),
        ([composite("c", 3), child("a", "c", 3), child("b", "c", 2)], None),  # too few groups
        ([composite("c", None), child("a", "c", 3)], None),
        ([composite("c", 1), child("a", "c", None)], None),
        ([composite("c", 2), composite("d", 1, "c"), child("x", "d", 4), child("y", "c", 1)], 5),
        ([composite("c", 1, "c"), child("a", "c", 2)], 2),  # its own parent: no loop
    ],
)
def test_a_group_of_groups_needs_the_smallest_that_are_enough(
    items: list[Json], expected: int | None
) -> None:
    found = {o.name: o for o in objects("CompositePodGroup", *items)}
    assert found["c"].minimum == expected


trees = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["", *"abcd"]),
              st.one_of(st.none(), st.integers(-1, 5)), st.one_of(st.none(), st.integers(-1, 3))),
    max_size=8,
)  # fmt: skip


@given(trees, st.one_of(st.none(), st.integers(-1, 4)))
def test_any_tangle_of_groups_ends(
    parts: list[tuple[str, str, int | None, int | None]], least: int | None
) -> None:
    subs = [{"name": n, "parent": p, "minMember": m, "minSubGroup": s} for n, p, m, s in parts]
    spec = {"subGroups": subs, "minSubGroup": least}
    found = cluster(
        group("g", VERSIONS["kai"], spec),
        *(composite(name, least, parent) for name, parent, _, _ in parts),
    )
    for item in found.gang_objects:
        assert item.minimum is None or item.minimum >= 0
