"""What a pod is doing, since when and why: what counts on a node and what only waits for one."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import msgspec
import pytest

from fleet.inventory import Pod
from fleet.inventory_report.report import as_report
from fleet.kubernetes.objects_core import PodObject
from fleet.kubernetes.pod_state import State, state_of
from tests.fleet.kubernetes.written import Json, cluster, node, pod

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
SAID = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}


def judged(item: Json, now: datetime | None = NOW) -> State:
    read = msgspec.json.decode(json.dumps(item).encode(), type=PodObject)
    return state_of(read, {"node-a"}, now)


def born(minute: int) -> Json:
    return {"creationTimestamp": f"2026-06-01T11:{minute:02}:00Z"}


@pytest.mark.parametrize(
    ("item", "name", "reason"),
    [
        (pod(on="node-a"), "running", ""),
        (pod(on="node-a", phase="Pending"), "running", ""),  # bound: it holds what it asks for
        (pod(on="node-a", phase="Succeeded"), "finished", ""),
        (pod(on="node-a", phase="Failed", meta={"deletionTimestamp": "2026-06-01T11:00:00Z"}),
         "finished", ""),
        (pod(on="gone"), "orphaned", "bound to node gone, which is not there"),
        (pod(on="gone", meta={"deletionTimestamp": "2026-06-01T11:00:00Z"}),
         "orphaned", "bound to node gone, which is not there"),
        (pod(on="node-a", meta={"deletionTimestamp": "2026-06-01T11:00:00Z"}),
         "terminating", "being deleted"),
        (pod(on="node-a", meta={"deletionTimestamp": "2026-06-01T11:00:00Z"},
             status={"conditions": [{"type": "DisruptionTarget", "status": "True",
                                     "reason": "PreemptionByScheduler"}]}),
         "terminating", "preempted by a pod of higher priority"),
        (pod(on="node-a", meta={"deletionTimestamp": "2026-06-01T11:00:00Z"},
             status={"conditions": [{"type": "DisruptionTarget", "status": "True",
                                     "reason": "DeletionByTaintManager"}]}),
         "terminating", "being evicted: DeletionByTaintManager"),
        (pod(schedulingGates=[{"name": "kueue.x-k8s.io/admission"},
                              {"name": "kueue.x-k8s.io/topology"}]), "gated", "queued by Kueue"),
        (pod(schedulingGates=[{"name": "kueue.x-k8s.io/admission"}, {"name": "test"}]),
         "gated", "held by scheduling gate test"),
        (pod(status=SAID), "pending", "Unschedulable"),
        (pod(status=SAID | {"nominatedNodeName": "node-a"}), "pending",
         "nominated for node node-a, where room is being made or kept for it"),
        (pod(meta=born(58)), "pending", "default-scheduler has not answered for it yet"),
        (pod(meta=born(48), schedulerName="volcano"), "pending",
         "nobody looks at it: no word of volcano for 12 min"),
        (pod(meta=born(48), status=SAID), "pending", "Unschedulable"),
    ],
)  # fmt: skip
def test_a_state_comes_with_its_reason(item: Json, name: str, reason: str) -> None:
    found = judged(item)
    assert (found.name, found.reason) == (name, reason)


def test_a_deletion_dates_from_its_request_not_from_the_end_of_its_grace() -> None:
    meta = {"deletionTimestamp": "2026-06-01T11:10:00Z", "deletionGracePeriodSeconds": 600}
    found = judged(pod(on="node-a", meta=meta))
    assert found.terminating_since == datetime(2026, 6, 1, 11, 0, tzinfo=UTC)


def test_a_pod_that_leaves_a_node_that_is_gone_holds_nothing_and_keeps_its_date() -> None:
    meta = {"deletionTimestamp": "2026-06-01T11:10:00Z", "deletionGracePeriodSeconds": 600}
    found = judged(pod(on="gone", meta=meta))
    assert (found.name, found.terminating_since) == (
        "orphaned", datetime(2026, 6, 1, 11, 0, tzinfo=UTC)
    )  # fmt: skip
    totals = as_report(cluster(node(gpus=8), pod(on="gone", gpus=4, meta=meta)))["totals"]
    assert (totals["running"], totals["running_gpus"]) == (0, 0)


@pytest.mark.parametrize("seconds", [None, -5, 2**61, 0])
def test_an_absurd_grace_period_is_no_crash(seconds: int | None) -> None:
    meta = {"deletionTimestamp": "0001-01-01T00:00:00Z", "deletionGracePeriodSeconds": seconds}
    assert judged(pod(on="node-a", meta=meta)).name == "terminating"


def test_without_a_time_of_reading_nobody_is_called_deaf() -> None:
    found = judged(pod(meta=born(1)), now=None)
    assert found.reason == "default-scheduler has not answered for it yet"


def the_pod(*objects: Json) -> Pod:
    (found,) = cluster(*objects).pods
    return found


def test_a_nominated_pod_shows_where_room_is_kept_and_takes_none_yet() -> None:
    waiting = pod(gpus=2, status=SAID | {"nominatedNodeName": "node-a"})
    inventory = cluster(node(gpus=4), waiting)
    (found,) = inventory.pods
    assert (found.nominated_node, found.is_demand, found.is_unanswered) == ("node-a", True, False)
    assert inventory.nodes[0].groups[0].units[0].requested == 0


def test_once_bound_a_nomination_is_history() -> None:
    bound = pod(on="node-a", gpus=1, status={"nominatedNodeName": "node-b"})
    assert the_pod(node(gpus=4), bound).nominated_node == ""


def test_a_pod_that_no_scheduler_has_answered_is_marked() -> None:
    assert the_pod(pod(gpus=1)).is_unanswered
    assert not the_pod(pod(gpus=1, status=SAID)).is_unanswered
    assert not the_pod(pod(gpus=1, schedulingGates=[{"name": "x"}])).is_unanswered


def test_an_orphan_is_in_no_sum_and_in_the_report() -> None:
    inventory = cluster(node(gpus=4), pod(on="gone", gpus=1))
    assert inventory.nodes[0].groups[0].units[0].requested == 0
    assert inventory.problems == ("1 pod is bound to nodes that are not there",)


@pytest.mark.parametrize(
    "meta",
    [
        {"annotations": {"kubernetes.io/config.mirror": "x"}},
        {"ownerReferences": [{"kind": "Node", "name": "node-a", "controller": True}]},
        {"ownerReferences": [{"kind": "DaemonSet", "name": "d", "controller": True}]},
    ],
)
def test_static_pods_and_daemons_count_like_any_other(meta: Json) -> None:
    inventory = cluster(node(gpus=4), pod(on="node-a", gpus=1, requests={"cpu": "2"}, meta=meta))
    assert inventory.nodes[0].groups[0].units[0].requested == 1
    assert inventory.nodes[0].cpu_requested == 2000
    assert inventory.pods[0].is_daemon
