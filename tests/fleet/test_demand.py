"""Demand that no pod shows: wanted minus present, and nothing twice."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.demand import Unborn, unborn
from fleet.inventory_report.report import as_report
from tests.fleet.kubernetes.written import Json, cluster, node, pod

GPU = "nvidia.com/gpu"


def template(gpus: int = 8, claims: int = 0) -> Json:
    spec: Json = {"containers": [{"name": "main", "resources": {"limits": {GPU: str(gpus)}}}]}
    if claims:
        spec["resourceClaims"] = [
            {"name": f"c{n}", "resourceClaimTemplateName": "t"} for n in range(claims)
        ]
    return {"spec": spec}


def job(name: str = "train", **spec: Any) -> Json:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": {"template": template()} | {k: v for k, v in spec.items() if k != "status"},
        "status": spec.get("status", {}),
    }


def made_by(kind: str, name: str, count: int, **more: Any) -> list[Json]:
    reference = {"kind": kind, "name": name, "controller": True}
    return [
        pod(f"{name}-{n}", gpus=8, meta={"ownerReferences": [reference]} | more.get("meta", {}),
            **{k: v for k, v in more.items() if k != "meta"})
        for n in range(count)
    ]  # fmt: skip


def of(*objects: Json) -> list[tuple[str, int, int, bool]]:
    """(name, pods, GPUs, is it suspended) of what is missing."""
    found = unborn(cluster(*objects))
    return [
        (u.controller.name, u.pods, u.requests.get(GPU, 0), u.is_suspended) for u in found
    ]  # fmt: skip


def test_a_suspended_job_wants_all_its_pods() -> None:
    assert of(job(suspend=True, parallelism=4)) == [("train", 4, 32, True)]


def test_a_job_with_all_its_pods_wants_none() -> None:
    assert of(job(parallelism=4), *made_by("Job", "train", 4)) == []


def test_pods_that_wait_or_are_gated_are_there_already() -> None:
    gated = made_by("Job", "train", 1, schedulingGates=[{"name": "x"}])
    assert of(job(parallelism=2), *gated) == [("train", 1, 8, False)]


@pytest.mark.parametrize(
    ("state", "missing"),
    [
        ({"phase": "Failed"}, 4),
        ({"meta": {"deletionTimestamp": "2026-06-01T00:00:00Z"}, "on": "node-a"}, 4),
        ({"on": "gone"}, 4),
        ({"on": "node-a"}, 2),
    ],
)
def test_pods_that_are_gone_or_going_are_wanted_again(state: Json, missing: int) -> None:
    pods = made_by("Job", "train", 2, **state)
    assert of(node(gpus=8), job(parallelism=4), *pods) == [("train", missing, missing * 8, False)]


def test_a_job_wants_no_more_than_it_has_left_to_do() -> None:
    nearly = job(parallelism=4, completions=10, status={"succeeded": 9})
    assert of(nearly) == [("train", 1, 8, False)]
    assert of(nearly, *made_by("Job", "train", 1)) == []


def test_a_suspended_job_that_still_holds_its_pods_counts_them_once() -> None:
    item = job(suspend=True, parallelism=4)
    assert of(node(gpus=8), item, *made_by("Job", "train", 4, on="node-a")) == []


def test_a_finished_job_and_a_job_being_deleted_want_nothing() -> None:
    done = job(suspend=True, status={"conditions": [{"type": "Failed", "status": "True"}]})
    deleted = job("old", suspend=True)
    deleted["metadata"]["deletionTimestamp"] = "2026-06-01T00:00:00Z"
    assert of(done, deleted) == []


def test_pods_that_the_server_would_refuse_are_no_demand() -> None:
    item = job(suspend=True)
    resources = {"requests": {GPU: "1"}, "limits": {GPU: "3"}}
    item["spec"]["template"]["spec"]["containers"][0]["resources"] = resources
    assert of(item) == []


def cron_job(suspend: bool) -> Json:
    body = {"jobTemplate": {"spec": {"template": template(1)}}, "suspend": suspend}
    meta = {"name": "nightly", "namespace": "team-a"}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": meta, "spec": body}


@pytest.mark.parametrize("suspend", [False, True])
def test_a_cron_job_wants_pods_only_when_its_hour_comes(suspend: bool) -> None:
    assert of(cron_job(suspend)) == []


def test_no_pod_can_be_made_of_a_part_of_a_device() -> None:
    item = deployment("web", 2)
    item["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {GPU: "0.5"}}
    assert of(item) == []
    totals = as_report(cluster(item))["totals"]
    assert (totals["declared_gpus"], totals["declared_pods"]) == (0, 0)


def test_the_launcher_of_an_mpi_job_is_no_further_demand() -> None:
    """Its Job was not read: the pod's label says whose it is."""
    replicas = {"Launcher": {"template": template(2)},
                "Worker": {"replicas": 2, "template": template(2)}}  # fmt: skip
    item = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob",
            "metadata": {"name": "mp", "namespace": "team-a"},
            "spec": {"mpiReplicaSpecs": replicas}}  # fmt: skip
    (launcher,) = made_by("Job", "mp-launcher", 1, on="node-a", meta={
        "labels": {"training.kubeflow.org/job-name": "mp"}})  # fmt: skip
    workers = made_by("MPIJob", "mp", 2, on="node-a")
    assert of(node(gpus=8), item, launcher, *workers) == []


def test_jobs_of_two_api_groups_may_share_a_name() -> None:
    tasks = [{"name": "t", "replicas": 2, "template": template(2)}]
    running = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
               "metadata": {"name": "x", "namespace": "team-a", "uid": "v"},
               "spec": {"minAvailable": 2, "tasks": tasks}}  # fmt: skip
    held = job("x", suspend=True, parallelism=2)
    held["spec"]["template"] = template(2)
    pods = made_by("Job", "x", 2, on="node-a")
    for each in pods:
        each["metadata"]["ownerReferences"][0] |= {"apiVersion": "batch.volcano.sh/v1alpha1",
                                                   "uid": "v"}  # fmt: skip
    assert of(node(gpus=8), held, running, *pods) == [("x", 2, 4, True)]
    told = as_report(cluster(node(gpus=8), held, running, *pods))
    assert list(told["gang"]) == ["team-a/x (Job)", "team-a/x (Job 2)"]
    assert sorted(gang["pods_bound"] for gang in told["gang"].values()) == [0, 2]


def job_set(suspend: bool) -> Json:
    bare = {"spec": {"containers": [{"name": "driver", "resources": {}}]}}
    jobs = [
        {"name": "driver", "template": {"spec": {"template": bare}}},
        {"name": "w", "replicas": 2, "template": {"spec": {"parallelism": 2,
                                                           "template": template()}}},
    ]  # fmt: skip
    meta = {"name": "js", "namespace": "team-a"}
    spec = {"replicatedJobs": jobs, "suspend": suspend}
    return {"apiVersion": "jobset.x-k8s.io/v1", "kind": "JobSet", "metadata": meta, "spec": spec}


def test_only_pods_that_ask_for_accelerators_are_looked_at() -> None:
    assert of(job_set(suspend=True)) == [("js", 4, 32, True)]


def test_the_parts_of_a_job_set_count_under_its_name() -> None:
    child = job("js-w-0", parallelism=2)
    child["metadata"]["ownerReferences"] = [{"kind": "JobSet", "name": "js", "controller": True}]
    pods = made_by("Job", "js-w-0", 2)
    assert of(job_set(suspend=False), child, *pods) == [("js", 2, 16, False)]


def test_parts_that_succeeded_are_not_wanted_again() -> None:
    item = job_set(suspend=False)
    item["status"] = {"replicatedJobsStatus": [{"name": "w", "succeeded": 1}]}
    assert of(item) == [("js", 2, 16, False)]


def test_devices_of_claim_templates_are_demand_too() -> None:
    item = job(suspend=True, parallelism=3)
    item["spec"]["template"] = template(0, claims=2)
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 4}}
    of_two = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
              "metadata": {"name": "t", "namespace": "team-a"},
              "spec": {"spec": {"devices": {"requests": [request]}}}}  # fmt: skip
    (found,) = unborn(cluster(item, of_two))
    assert (found.pods, found.requests, found.claim_devices) == (3, {}, 24)
    (unread,) = unborn(cluster(item))
    assert (unread.pods, unread.claim_devices) == (3, 0)


def deployment(name: str, replicas: int, owner: Json | None = None, **labels: str) -> Json:
    meta: Json = {"name": name, "namespace": "team-a", "labels": labels}
    if owner is not None:
        meta["ownerReferences"] = [owner | {"controller": True}]
    spec = {"replicas": replicas, "template": template()}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}


def test_two_objects_of_one_unread_owner_share_its_pods() -> None:
    """Decode and prefill of one service whose own object may not be read."""
    owner = {"kind": "LLMInferenceService", "name": "llm"}
    pods = made_by("LLMInferenceService", "llm", 3)
    parts = [deployment("llm-decode", 2, owner), deployment("llm-prefill", 2, owner)]
    assert sum(missing for _, missing, _, _ in of(*parts, *pods)) == 1
    assert of(*parts, *made_by("LLMInferenceService", "llm", 4)) == []


def test_a_quota_that_refuses_pods_leaves_a_demand() -> None:
    pods = made_by("Deployment", "web", 1)
    assert of(deployment("web", 3), *pods) == [("web", 2, 16, False)]


states = st.sampled_from(["running", "pending", "gated", "terminating", "Succeeded", "orphaned"])


@given(st.integers(0, 6), st.lists(states, max_size=8), st.booleans())
def test_present_and_missing_pods_are_never_more_than_wanted_unless_there_are(
    wanted: int, there: list[str], suspend: bool
) -> None:
    shown: dict[str, Json] = {
        "running": {"on": "node-a"}, "pending": {}, "gated": {"schedulingGates": [{"name": "x"}]},
        "terminating": {"on": "node-a", "meta": {"deletionTimestamp": "2026-06-01T00:00:00Z"}},
        "Succeeded": {"phase": "Succeeded"}, "orphaned": {"on": "gone"},
    }  # fmt: skip
    pods = []
    for number, state in enumerate(there):
        (item,) = made_by("Job", "train", 1, **shown[state])
        item["metadata"]["name"] = f"train-{number}"
        pods.append(item)
    alive = sum(state in ("running", "pending", "gated") for state in there)
    item = job(parallelism=wanted, suspend=suspend)
    found: tuple[Unborn, ...] = unborn(cluster(node(gpus=8), item, *pods))
    missing = sum(u.pods for u in found)
    assert missing == max(0, wanted - alive)
    assert sum(u.requests.get(GPU, 0) for u in found) == 8 * missing
    assert sum(u.cpu_milli for u in found) == 0


@pytest.mark.parametrize(
    ("objects", "queued", "not_created"),
    [
        ([job(suspend=True, parallelism=4)], 32, 0),
        ([job(suspend=True, parallelism=4),
          *made_by("Job", "train", 4, schedulingGates=[{"name": "kueue.x-k8s.io/admission"}])],
         32, 0),
        ([job(parallelism=4), *made_by("Job", "train", 1)], 0, 24),
    ],
)  # fmt: skip
def test_the_report_counts_queued_pods_once(
    objects: list[Json], queued: int, not_created: int
) -> None:
    found = as_report(cluster(*objects))["totals"]
    assert (found["queued_gpus"], found["queued_units"]) == (queued, queued)
    assert found["not_created_gpus"] == not_created


def claim_template(count: int) -> Json:
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": count}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
            "metadata": {"name": "t", "namespace": "team-a"},
            "spec": {"spec": {"devices": {"requests": [request]}}}}  # fmt: skip


def with_claims(kind: str) -> tuple[Json, int]:
    """An object whose pods get 8 GPUs each through a claim, and how many pods that are."""
    asking = template(0, claims=1)
    if kind == "Job":
        item = job("x", parallelism=4)
        item["spec"]["template"] = asking
        return item, 4
    spec = {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": asking}}
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": kind,
            "metadata": {"name": "x", "namespace": "team-a"}, "spec": spec}, 2  # fmt: skip


@pytest.mark.parametrize("kind", ["Job", "LeaderWorkerSet"])
def test_gpus_of_claim_templates_are_declared_and_needed_by_gangs(kind: str) -> None:
    item, together = with_claims(kind)
    told = as_report(cluster(item, claim_template(8)))
    totals, gang = told["totals"], told["gang"]["team-a/x"]
    assert (totals["declared_gpus"], totals["declared_units"], totals["declared_pods"]) == (
        32, 32, 4
    )  # fmt: skip
    assert totals["job_gpus"] == (32 if kind == "Job" else 0)
    assert (totals["not_created_gpus"], totals["largest_gang_gpus"]) == (32, 8 * together)
    assert (gang["gpu_pods"], gang["gpus_per_pod"], gang["gpus_total"]) == (4, 8, 32)
    assert gang["gpus_per_group"] == 8 * together
    assert told["fits"]["workloads"]["team-a/x"]["unknown"] == "asks through ResourceClaims"


@pytest.mark.parametrize(
    "limits",
    [
        {GPU: "1", "nvidia.com/gpumem": "4000"},
        {GPU: "1", "nvidia.com/gpumem-percentage": "50"},
        {GPU: "2", "nvidia.com/gpucores": "30"},
    ],
)
@pytest.mark.parametrize("suspend", [True, False])
def test_parts_of_boards_that_hami_cuts_are_no_whole_boards(limits: Json, suspend: bool) -> None:
    item = job(suspend=suspend, parallelism=4)
    item["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": limits}
    waits = pod("waits", requests=limits)
    totals = as_report(cluster(item, waits))["totals"]
    assert [totals[f"{what}_gpus"] for what in ("queued", "not_created", "declared", "job")] == [
        0, 0, 0, 0
    ]  # fmt: skip
    assert (totals["pending_gpus"], totals["pending_units"]) == (0, int(limits[GPU]))
    assert totals["declared_units"] == 4 * int(limits[GPU])


KAI = {"gpu-fraction": "0.5"}


@pytest.mark.parametrize(
    ("suspend", "there", "queued", "missing"),
    [(True, 0, 2.0, 0), (False, 0, 0, 2.0), (True, 1, 1.5, 0), (False, 4, 0, 0)],
)
def test_parts_of_boards_that_kai_hands_out_are_demand(
    suspend: bool, there: int, queued: float, missing: float
) -> None:
    item = job(suspend=suspend, parallelism=4)
    item["spec"]["template"] = {"metadata": {"annotations": KAI},
                                "spec": {"containers": [{"name": "main"}]}}  # fmt: skip
    pods = made_by("Job", "train", there, on="node-a", meta={"annotations": KAI})
    for each in pods:
        each["spec"]["containers"][0]["resources"] = {}
    told = as_report(cluster(node(gpus=8), item, *pods))
    totals = told["totals"]
    assert (totals["fraction_queued"], totals["fraction_not_created"]) == (queued, missing)
    assert (totals["fraction_in_use"], totals["queued_gpus"]) == (0.5 * there, 0)
    assert (totals["declared_pods"], totals["declared_gpus"]) == (4, 0)
    words = "asks for a part of a board by annotation"
    assert told["fits"]["workloads"]["team-a/train"]["unknown"] == words


def test_pods_that_wait_for_a_part_of_a_board_are_pending() -> None:
    waits = pod("a", meta={"annotations": KAI | {"gpu-fraction-num-devices": "2"}})
    held = pod("b", meta={"annotations": KAI}, schedulingGates=[{"name": "x"}])
    stated = pod("c", "node-a", meta={"annotations": {"gpu-memory": "20390"}})
    totals = as_report(cluster(node(gpus=8), waits, held, stated))["totals"]
    assert (totals["pending"], totals["fraction_pending"], totals["fraction_queued"]) == (
        1, 1.0, 0.5
    )  # fmt: skip
    assert (totals["running"], totals["fraction_in_use"], totals["pods_of_unknown_fraction"]) == (
        1, 0, 1
    )  # fmt: skip
