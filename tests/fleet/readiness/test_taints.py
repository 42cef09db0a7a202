"""Question 2: taints, tolerations, offered devices."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.inventory import Owner, Taint, Toleration
from fleet.readiness.finding import Verdict
from fleet.tolerations import evicted_later, is_lifecycle, tolerates, untolerated
from tests.fleet.readiness.answers import answers, verdicts
from tests.fleet.readiness.clusters import cluster, controller, gpu_node, pod, waiting

GPU = Taint("nvidia.com/gpu", "present", "NoSchedule")
TOLERATES = Toleration("nvidia.com/gpu", "Exists")
STARTING = Taint("node.kubernetes.io/not-ready", "", "NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "covers"),
    [
        (Toleration("nvidia.com/gpu", "Exists"), True),
        (Toleration("nvidia.com/gpu", "Equal", "present"), True),
        (Toleration("nvidia.com/gpu", "", "present"), True),
        (Toleration("nvidia.com/gpu", "Equal", "other"), False),
        (Toleration("nvidia.com/gpu", "Exists", effect="NoExecute"), False),
        (Toleration("amd.com/gpu", "Exists"), False),
        (Toleration("", "Exists"), True),
        (Toleration("", "Equal"), False),
        (Toleration("nvidia.com/gpu", "Gt", "1"), False),
    ],
)
def test_toleration_matches_as_the_scheduler_does(toleration: Toleration, covers: bool) -> None:
    assert tolerates(toleration, GPU) is covers


def test_numeric_operators_compare_the_taints_value() -> None:
    taint = Taint("age", "5", "NoSchedule")
    assert tolerates(Toleration("age", "Lt", "6"), taint)
    assert not tolerates(Toleration("age", "Lt", "5"), taint)
    assert tolerates(Toleration("age", "Gt", "4"), taint)


@given(
    st.lists(st.builds(Taint, st.text(), st.text(), st.sampled_from(["NoSchedule", "NoExecute"])))
)
def test_blanket_toleration_covers_every_taint(taints: list[Taint]) -> None:
    assert untolerated(taints, [Toleration("", "Exists")]) == ()


def test_soft_taint_never_blocks() -> None:
    assert untolerated([Taint("a", "", "PreferNoSchedule")], []) == ()


def test_toleration_for_seconds_is_told_from_one_for_ever() -> None:
    taint = Taint("a", "", "NoExecute")
    limited = Toleration("a", "Exists", seconds=60)
    assert evicted_later([taint], [limited]) == (taint,)
    assert evicted_later([taint], [limited, Toleration("a", "Exists")]) == ()
    assert evicted_later([taint], []) == ()


def test_startup_taints_are_no_policy() -> None:
    assert is_lifecycle(STARTING)
    assert is_lifecycle(Taint("startup-taint.cluster-autoscaler.kubernetes.io/x", "", "NoSchedule"))
    assert not is_lifecycle(GPU)


def test_bare_node_without_strays_is_a_warning() -> None:
    assert verdicts(cluster(nodes=(gpu_node(),)), "gpu-taint") == [Verdict.WARN]


def test_bare_node_with_strays_fails_and_names_what_they_take() -> None:
    stray = pod("web", 0, cpu_milli=4500, memory_mib=3 * 1024)
    (finding,) = answers(cluster(nodes=(gpu_node(),), pods=(stray,)), "gpu-taint")
    assert finding.verdict is Verdict.FAIL
    assert "4.5 CPUs and 3.0 GiB" in finding.detail
    assert [e.object for e in finding.evidence] == ["v1 Node gpu-1", "v1 Pod team-a/web"]


@pytest.mark.parametrize(
    "guest",
    [
        pod("log-agent", 0, is_daemon=True),
        pod("proxy", 0, owner=Owner("DaemonSet", "proxy")),
        pod("done", 0, state="finished"),
        pod("train", 8),
        pod("claiming", 0, claims=("gpu",)),
    ],
)
def test_pod_that_belongs_there_is_no_stray(guest: object) -> None:
    found = cluster(nodes=(gpu_node(),), pods=(guest,))
    assert verdicts(found, "gpu-taint") == [Verdict.WARN]


def test_startup_taint_does_not_protect() -> None:
    found = cluster(nodes=(gpu_node(taints=(STARTING,)),))
    assert verdicts(found, "gpu-taint") == [Verdict.WARN]


def test_tainted_and_bare_nodes_are_counted_apart() -> None:
    nodes = (gpu_node("a", taints=(GPU,)), gpu_node("b"), gpu_node("c"))
    bare, kept = answers(cluster(nodes=nodes), "gpu-taint")
    assert bare.title == "2 of 3 GPU nodes carry no taint"
    assert kept.title == "1 of 3 GPU nodes carries a protecting taint"
    assert {e.node for e in bare.evidence} == {"b", "c"}


def test_remedy_names_the_pool_on_gke() -> None:
    found = cluster(provider="gke", nodes=(gpu_node(pool="h100-pool"),))
    assert "node-pools update h100-pool" in answers(found, "gpu-taint")[0].snippet


def test_pool_with_one_node_tainted_differently_is_a_warning() -> None:
    nodes = (
        gpu_node("a", pool="p", taints=(GPU,)),
        gpu_node("b", pool="p", taints=(GPU, STARTING)),
        gpu_node("c", pool="p"),
    )
    (finding,) = answers(cluster(nodes=nodes), "pool-taints")
    assert finding.verdict is Verdict.WARN
    assert [e.node for e in finding.evidence] == ["c"]


def test_workload_that_no_node_lets_in_fails_with_the_toleration_to_paste() -> None:
    found = cluster(nodes=(gpu_node(taints=(GPU,)),), pods=(waiting("a"),))
    (finding,) = answers(found, "workload-tolerations")
    assert finding.verdict is Verdict.FAIL
    assert finding.snippet.splitlines() == [
        "tolerations:",
        "- key: nvidia.com/gpu",
        "  operator: Equal",
        "  value: present",
        "  effect: NoSchedule",
    ]


def test_one_open_node_is_enough() -> None:
    nodes = (gpu_node("a", taints=(GPU,)), gpu_node("b"))
    found = cluster(nodes=nodes, pods=(waiting("a"),))
    assert verdicts(found, "workload-tolerations") == [Verdict.PASS]


def test_tolerations_added_to_pods_by_admission_count() -> None:
    job = controller("Job", "train", 8, 1)
    member = pod("train-x", 8, owner=Owner("Job", "train"), tolerations=(TOLERATES,))
    found = cluster(nodes=(gpu_node(taints=(GPU,)),), controllers=(job,), pods=(member,))
    assert verdicts(found, "workload-tolerations") == [Verdict.PASS]


def test_blanket_toleration_is_a_warning() -> None:
    found = cluster(
        nodes=(gpu_node(taints=(GPU,)),),
        pods=(waiting("a", tolerations=(Toleration("", "Exists"),)),),
    )
    assert verdicts(found, "workload-tolerations") == [Verdict.WARN]


def test_toleration_for_seconds_is_a_warning() -> None:
    taint = Taint("maintenance", "", "NoExecute")
    found = cluster(
        nodes=(gpu_node(taints=(taint,)),),
        pods=(waiting("a", tolerations=(Toleration("maintenance", "Exists", seconds=300),)),),
    )
    assert verdicts(found, "workload-tolerations") == [Verdict.WARN]


def test_starting_node_is_not_held_against_a_workload() -> None:
    found = cluster(nodes=(gpu_node(taints=(STARTING,)),), pods=(waiting("a"),))
    assert verdicts(found, "workload-tolerations") == [Verdict.PASS]


def test_equal_pods_of_one_owner_make_one_finding() -> None:
    pods = tuple(waiting(f"a-{i}", owner=Owner("ReplicaSet", "a")) for i in range(50))
    found = cluster(nodes=(gpu_node(taints=(GPU,)),), pods=pods)
    assert verdicts(found, "workload-tolerations") == [Verdict.FAIL]


def test_many_findings_are_counted_instead_of_listed() -> None:
    pods = tuple(waiting(f"a-{i}") for i in range(500))
    found = answers(cluster(nodes=(gpu_node(taints=(GPU,)),), pods=pods), "workload-tolerations")
    assert len(found) < 30
    assert any("475 more workloads" in f.title for f in found)


def test_request_for_a_name_that_nobody_offers_fails_with_the_nearest() -> None:
    wrong = waiting("a", requests={"nvidia.com/gpus": 1})
    (finding,) = answers(cluster(nodes=(gpu_node(),), pods=(wrong,)), "request-offered")
    assert finding.verdict is Verdict.FAIL
    assert "nearest name is nvidia.com/gpu" in finding.detail


def test_request_larger_than_any_node_fails() -> None:
    (finding,) = answers(cluster(nodes=(gpu_node(),), pods=(waiting("a", 9),)), "request-offered")
    assert finding.verdict is Verdict.FAIL
    assert "offers 8" in finding.detail


def test_selector_that_no_node_meets_fails() -> None:
    lost = waiting("a", node_selector={"pool": "gone"})
    (finding,) = answers(cluster(nodes=(gpu_node(),), pods=(lost,)), "request-offered")
    assert finding.verdict is Verdict.FAIL
    assert "pool=gone" in finding.detail


def test_running_pod_is_no_impossible_request() -> None:
    found = cluster(nodes=(gpu_node(),), pods=(pod("a", 1, requests={"example.com/gpu": 1}),))
    assert verdicts(found, "request-offered") == [Verdict.PASS]


def test_template_that_the_api_refuses_fails() -> None:
    broken = controller("Deployment", "srv", problems=("request 1 differs from limit 3",))
    (finding,) = answers(cluster(controllers=(broken,)), "request-offered")
    assert finding.verdict is Verdict.FAIL
    assert "request 1 differs from limit 3" in finding.detail


def test_node_that_offers_nothing_fails() -> None:
    found = cluster(nodes=(gpu_node("a"), gpu_node("b", allocatable=0)))
    (finding,) = answers(found, "devices-advertised")
    assert finding.verdict is Verdict.FAIL
    assert [e.node for e in finding.evidence] == ["b"]


def test_withdrawn_gpu_is_a_warning() -> None:
    found = cluster(nodes=(gpu_node(allocatable=7),))
    assert verdicts(found, "devices-advertised") == [Verdict.PASS]
    (finding,) = answers(found, "devices-usable")
    assert finding.verdict is Verdict.WARN
    assert finding.title.startswith("1 GPU withdrawn")


def test_node_that_went_down_is_a_warning_and_not_a_start() -> None:
    down = gpu_node(
        ready=False, schedulable=False, not_schedulable_reason="NotReady", taints=(STARTING,)
    )
    (finding,) = answers(cluster(nodes=(down,)), "devices-usable")
    assert finding.verdict is Verdict.WARN
    assert finding.evidence[0].value == "NotReady"


def test_node_still_starting_is_not_judged() -> None:
    node = gpu_node(allocatable=0, ready=False, taints=(STARTING,))
    assert verdicts(cluster(nodes=(node,)), "devices-advertised") == [Verdict.NOT_APPLICABLE]


def test_virtual_nodes_are_left_out() -> None:
    found = cluster(nodes=(gpu_node(is_virtual=True),))
    assert verdicts(found, "gpu-taint") == [Verdict.NOT_APPLICABLE]
