"""Question 4: distributed workloads start all together or not at all."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fleet.inventory import Controller, Gang, GangObject, Inventory, Owner, ReadStatus
from fleet.readiness.distributed import distributed
from fleet.readiness.finding import Verdict
from fleet.readiness.subject import Subject
from tests.fleet.readiness.answers import TODAY, answers, verdicts
from tests.fleet.readiness.clusters import (
    TAKEN_AT,
    cluster,
    controller,
    gpu_node,
    pod,
    reads,
    waiting,
)

JOB = controller("Job", "train", 8, 4)
KUEUE_APIS = {"kueue.x-k8s.io/v1beta1": ("localqueues", "clusterqueues")}
QUEUE = GangObject(
    "kueue.x-k8s.io/v1beta1",
    "LocalQueue",
    "team-a",
    "training",
    None,
    (),
    {},
    {"clusterQueue": "cq"},
)


def held_by(system: str, minimum: int | None = 4, **fields: object) -> Controller:
    return controller("Job", "train", 8, 4, gang=Gang(system, "train", minimum), **fields)


def group(api: str, minimum: int | None, **fields: object) -> GangObject:
    return GangObject(api, "PodGroup", "team-a", "train", minimum, (), {}, **fields)


def test_single_pod_with_eight_gpus_is_not_distributed() -> None:
    found = cluster(controllers=(controller("Job", "one", 8, 1),))
    assert verdicts(found, "gang-evidence") == [Verdict.NOT_APPLICABLE]


def test_deployment_with_replicas_is_not_distributed() -> None:
    found = cluster(controllers=(controller("Deployment", "srv", 1, 6),))
    assert verdicts(found, "gang-evidence") == [Verdict.NOT_APPLICABLE]


def test_group_of_a_larger_set_needs_only_its_own_share() -> None:
    lws = controller(
        "LeaderWorkerSet", "vllm", 1, 6, gang_size=3, total_requests={"nvidia.com/gpu": 4}
    )
    (found,) = distributed(Subject(cluster(controllers=(lws,)), TODAY))
    assert (found.needed, found.requests) == (3, {"nvidia.com/gpu": 2})


def test_plain_job_of_several_pods_fails() -> None:
    (finding,) = answers(cluster(controllers=(JOB,)), "gang-evidence")
    assert finding.verdict is Verdict.FAIL
    assert finding.title == "team-a/train starts pod by pod"
    assert finding.evidence[0].object == "batch/v1 Job team-a/train"


def test_remedy_names_the_queue_found_on_this_cluster() -> None:
    found = cluster(controllers=(JOB,), apis=KUEUE_APIS, gang_objects=(QUEUE,))
    (finding,) = answers(found, "gang-evidence")
    assert "This cluster runs Kueue" in finding.remedy
    assert finding.snippet == (
        "metadata:\n  labels:\n    kueue.x-k8s.io/queue-name: training\nspec:\n  suspend: true\n"
    )


@pytest.mark.parametrize(
    ("api", "words"),
    [
        ("scheduling.volcano.sh/v1beta1", "schedulerName: volcano"),
        ("scheduling.run.ai/v2alpha2", "schedulerName: kai-scheduler"),
        ("scheduling.x-k8s.io/v1alpha1", "scheduling.x-k8s.io/pod-group: train"),
        ("kueue.x-k8s.io/v1beta1", "kind: LocalQueue"),
    ],
)
def test_remedy_fits_the_system_found(api: str, words: str) -> None:
    found = cluster(controllers=(JOB,), apis={api: ("podgroups",)})
    assert words in answers(found, "gang-evidence")[0].snippet


def test_native_beta_api_is_a_remedy_and_alpha_is_not() -> None:
    beta = cluster(controllers=(JOB,), apis={"scheduling.k8s.io/v1beta1": ("podgroups",)})
    assert "minCount: 4" in answers(beta, "gang-evidence")[0].snippet
    alpha = cluster(controllers=(JOB,), apis={"scheduling.k8s.io/v1alpha2": ("podgroups",)})
    assert "minCount" not in answers(alpha, "gang-evidence")[0].snippet


@pytest.mark.parametrize(
    ("job", "verdict"),
    [
        (held_by("volcano", 4), Verdict.PASS),
        (held_by("volcano", 1), Verdict.WARN),  # made for lone pods: no gang
        (held_by("coscheduling", 3), Verdict.WARN),
        (held_by("kai", 4), Verdict.PASS),
        (held_by("kueue", None), Verdict.WARN),  # quota only
        (held_by("kueue", None, topology_keys=("rack",)), Verdict.PASS),
        (held_by("lws", 4), Verdict.FAIL),  # groups, does not hold
        (held_by("none", None), Verdict.FAIL),
    ],
)
def test_evidence_decides_by_system_and_minimum(job: Controller, verdict: Verdict) -> None:
    assert verdicts(cluster(controllers=(job,)), "gang-evidence") == [verdict]


def test_queue_label_on_the_object_is_evidence() -> None:
    labels = {"kueue.x-k8s.io/queue-name": "training"}
    job = controller("Job", "train", 8, 4, labels=labels)
    (finding,) = answers(cluster(controllers=(job,)), "gang-evidence")
    assert finding.title == "team-a/train is held by quota only"


def test_basic_policy_of_a_native_group_is_a_warning() -> None:
    objects = (group("scheduling.k8s.io/v1beta1", None, details={"policy": "basic"}),)
    found = cluster(controllers=(held_by("native", None),), gang_objects=objects)
    (finding,) = answers(found, "gang-evidence")
    assert finding.title == "team-a/train is grouped, not held"


def test_pod_groups_of_other_api_groups_are_not_mixed_up() -> None:
    objects = (group("scheduling.volcano.sh/v1beta1", 1), group("scheduling.k8s.io/v1beta1", 4))
    found = cluster(controllers=(held_by("native", None),), gang_objects=objects)
    assert verdicts(found, "gang-evidence") == [Verdict.PASS]


def members(bound: int, lacking: int, **fields: object) -> Inventory:
    owner = Owner("Job", "train")
    pods = [pod(f"train-{i}", 8, owner=owner) for i in range(bound)]
    pods += [
        waiting(f"train-{bound + i}", 8, owner=owner, created=TAKEN_AT - timedelta(hours=1))
        for i in range(lacking)
    ]
    return cluster(pods=tuple(pods), controllers=(JOB,), **fields)


def test_job_started_in_part_fails_with_its_gpu_hours() -> None:
    (finding,) = answers(members(3, 1), "gang-partial")
    assert finding.verdict is Verdict.FAIL
    assert finding.costs == "24 GPUs held for nothing, 48.0 GPU-hours so far"


@pytest.mark.parametrize(("bound", "lacking"), [(4, 0), (0, 4)])
def test_all_or_none_bound_is_no_partial_start(bound: int, lacking: int) -> None:
    assert verdicts(members(bound, lacking), "gang-partial") == [Verdict.PASS]


def test_pods_that_came_up_minutes_ago_are_given_time() -> None:
    found = members(3, 1, taken_at=TAKEN_AT - timedelta(minutes=55))
    assert verdicts(found, "gang-partial") == [Verdict.PASS]


def test_partial_start_without_dates_says_no_hours() -> None:
    (finding,) = answers(members(3, 1, taken_at=None), "gang-partial")
    assert finding.costs == "24 GPUs held for nothing"


def test_gang_with_its_minimum_running_is_not_partial() -> None:
    gang = Gang("coscheduling", "train", 3)
    pods = [pod(f"p{i}", gang=gang) for i in range(3)]
    pods += [waiting(f"w{i}", gang=gang) for i in range(3)]
    found = cluster(pods=tuple(pods))
    assert verdicts(found, "gang-partial") == [Verdict.PASS]
    (finding,) = answers(found, "gang-evidence")
    assert finding.title == "team-a/train starts with 3 of 6 pods"


def test_gang_larger_than_the_cluster_fails() -> None:
    assert verdicts(
        cluster(controllers=(JOB,), nodes=(gpu_node("a"), gpu_node("b"), gpu_node("c"))),
        "gang-feasible",
    ) == [Verdict.FAIL]


def test_gang_as_large_as_the_cluster_is_feasible() -> None:
    nodes = tuple(gpu_node(f"n{i}") for i in range(4))
    assert verdicts(cluster(controllers=(JOB,), nodes=nodes), "gang-feasible") == [Verdict.PASS]


def rack_nodes(racks: str) -> tuple[object, ...]:
    return tuple(gpu_node(f"n{i}", labels={"rack": r}) for i, r in enumerate(racks))


def test_topology_that_no_node_carries_fails() -> None:
    job = held_by("kueue", None, topology_keys=("rack",))
    nodes = tuple(gpu_node(f"n{i}") for i in range(4))
    (finding,) = answers(cluster(controllers=(job,), nodes=nodes), "gang-feasible")
    assert finding.verdict is Verdict.FAIL
    assert "rack" in finding.detail


@pytest.mark.parametrize(("racks", "verdict"), [("aaaab", Verdict.PASS), ("aabbc", Verdict.WARN)])
def test_gang_must_fit_one_domain(racks: str, verdict: Verdict) -> None:
    job = held_by("kueue", None, topology_keys=("rack",))
    found = cluster(controllers=(job,), nodes=rack_nodes(racks))
    assert verdicts(found, "gang-feasible") == [verdict]


def test_group_that_waits_for_pods_that_do_not_exist_fails() -> None:
    gang = Gang("volcano", "dist", 2)
    found = cluster(pods=(waiting("master", gang=gang, scheduler="volcano"),))
    (finding,) = answers(found, "gang-feasible")
    assert finding.title == "team-a/dist waits for pods that do not exist"


@pytest.mark.parametrize(
    ("reason", "minutes", "verdict"),
    [
        ("", 6, Verdict.WARN),
        ("", 4, Verdict.NOT_APPLICABLE),
        ("Unschedulable", 60, Verdict.NOT_APPLICABLE),
    ],
)
def test_silence_of_a_scheduler_is_noticed(reason: str, minutes: int, verdict: Verdict) -> None:
    created = TAKEN_AT - timedelta(minutes=minutes)
    lost = waiting("a", scheduler="volcno", waiting_reason=reason, created=created)
    assert verdicts(cluster(pods=(lost,)), "gang-scheduler") == [verdict]


def test_scheduler_that_binds_pods_passes() -> None:
    found = cluster(pods=(pod("a", scheduler="volcano"),))
    assert verdicts(found, "gang-scheduler") == [Verdict.PASS]


def test_pod_of_higher_priority_may_break_a_gang() -> None:
    found = members(4, 0)
    assert verdicts(found, "gang-preemption") == [Verdict.PASS]
    hunter = pod("serve", 1, priority=100)
    disturbed = cluster(pods=(*found.pods, hunter), controllers=(JOB,))
    assert verdicts(disturbed, "gang-preemption") == [Verdict.WARN]
    polite = pod("serve", 1, priority=100, preemption_policy="Never")
    quiet = cluster(pods=(*found.pods, polite), controllers=(JOB,))
    assert verdicts(quiet, "gang-preemption") == [Verdict.PASS]


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"controllers": (JOB,)}, Verdict.FAIL),
        ({}, Verdict.NOT_APPLICABLE),
        ({"controllers": (JOB,), "apis": KUEUE_APIS}, Verdict.WARN),
        ({"controllers": (held_by("kueue", None),), "apis": KUEUE_APIS}, Verdict.PASS),
        ({"apis": KUEUE_APIS}, Verdict.PASS),
        (
            {
                "controllers": (held_by("native"),),
                "apis": {"scheduling.k8s.io/v1alpha2": ("podgroups",)},
            },
            Verdict.WARN,
        ),
        ({"apis": {"scheduling.k8s.io/v1": ("priorityclasses",)}}, Verdict.NOT_APPLICABLE),
    ],
)
def test_gang_machinery_is_found_by_what_is_served(
    fields: dict[str, object], verdict: Verdict
) -> None:
    assert verdicts(cluster(**fields), "gang-api")[0] is verdict


def test_forbidden_pod_groups_leave_the_machinery_unknown() -> None:
    hidden = reads(**{"podgroups.scheduling.volcano.sh": ReadStatus.FORBIDDEN})
    found = cluster(controllers=(JOB,), reads=hidden)
    assert verdicts(found, "gang-api") == [Verdict.UNKNOWN]


def test_file_without_discovery_leaves_the_machinery_unknown() -> None:
    found = cluster(controllers=(JOB,), apis=None, reads=())
    assert verdicts(found, "gang-api") == [Verdict.UNKNOWN]
