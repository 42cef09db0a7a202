"""Question 3: quotas that cover, that are enforced, that have room."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fleet.inventory import DeviceClass, GangObject, Quota, ReadStatus
from fleet.readiness.finding import Verdict
from fleet.readiness.quota_keys import Key, classify, resource_of
from tests.fleet.readiness.answers import answers, verdicts
from tests.fleet.readiness.clusters import (
    TAKEN_AT,
    cluster,
    controller,
    gpu_node,
    pod,
    quota,
    reads,
    waiting,
)

GPU = "requests.nvidia.com/gpu"


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("requests.nvidia.com/gpu", Key.ENFORCED),
        ("requests.nvidia.com/mig-1g.10gb", Key.ENFORCED),
        ("gpu.nvidia.com.deviceclass.resource.k8s.io/devices", Key.ENFORCED),
        ("requests.deviceclass.resource.kubernetes.io/gpu.nvidia.com", Key.ENFORCED),
        ("nvidia.com/gpu", Key.BARE),
        ("limits.nvidia.com/gpu", Key.LIMITS),
        ("requests.alpha.kubernetes.io/nvidia-gpu", Key.LEGACY),
        ("requests.cpu", Key.NONE),
        ("memory", Key.NONE),
        ("count/deployments.apps", Key.NONE),
        ("gold.storageclass.storage.k8s.io/requests.storage", Key.NONE),
    ],
)
def test_key_is_read_as_kubernetes_reads_it(key: str, kind: Key) -> None:
    assert classify(key) is kind


def test_resource_of_a_key_is_without_its_prefix() -> None:
    assert resource_of("requests.nvidia.com/gpu") == "nvidia.com/gpu"
    assert resource_of("limits.nvidia.com/gpu") == "nvidia.com/gpu"


def test_namespace_without_quota_may_take_every_gpu() -> None:
    (finding,) = answers(cluster(pods=(waiting("a", 4),)), "quota-coverage")
    assert finding.verdict is Verdict.FAIL
    assert finding.title == "team-a may take every GPU"
    assert '    requests.nvidia.com/gpu: "4"' in finding.snippet.splitlines()


def test_quota_on_other_things_does_not_cover_gpus() -> None:
    found = cluster(pods=(pod("a"),), quotas=(quota({"requests.cpu": "10"}),))
    assert verdicts(found, "quota-coverage") == [Verdict.FAIL]


def test_bare_key_does_not_cover() -> None:
    found = cluster(pods=(pod("a"),), quotas=(quota({"nvidia.com/gpu": "1"}),))
    assert verdicts(found, "quota-coverage") == [Verdict.FAIL]


def test_quota_for_the_resource_in_use_passes() -> None:
    found = cluster(pods=(pod("a"),), quotas=(quota({GPU: "4"}),))
    assert verdicts(found, "quota-coverage") == [Verdict.PASS]


def test_quota_for_one_of_two_resources_is_a_warning() -> None:
    mixed = pod("a", requests={"nvidia.com/gpu": 1, "nvidia.com/mig-1g.10gb": 2})
    found = cluster(pods=(mixed,), quotas=(quota({GPU: "4"}),))
    (finding,) = answers(found, "quota-coverage")
    assert finding.verdict is Verdict.WARN
    assert "nvidia.com/mig-1g.10gb" in finding.detail


def test_scoped_quota_is_a_warning() -> None:
    found = cluster(pods=(pod("a"),), quotas=(quota({GPU: "4"}, scopes=("PriorityClass",)),))
    assert verdicts(found, "quota-coverage") == [Verdict.WARN]


def test_forbidden_quotas_are_unknown_and_not_a_fail() -> None:
    found = cluster(pods=(pod("a"),), reads=reads(resourcequotas=ReadStatus.FORBIDDEN))
    (finding,) = answers(found, "quota-coverage")
    assert finding.verdict is Verdict.UNKNOWN
    assert "forbidden (403)" in finding.detail
    assert 'resources: ["resourcequotas"]' in finding.snippet


def test_quotas_missing_from_a_file_are_unknown_with_the_export_command() -> None:
    found = cluster(pods=(pod("a"),), reads=reads(resourcequotas=ReadStatus.NOT_IN_FILE))
    (finding,) = answers(found, "quota-coverage")
    assert finding.verdict is Verdict.UNKNOWN
    assert "kubectl get resourcequotas" in finding.snippet


def test_namespaces_of_the_platform_are_not_asked() -> None:
    found = cluster(pods=(pod("dcgm", 1, namespace="gpu-operator"),))
    assert verdicts(found, "quota-coverage") == [Verdict.NOT_APPLICABLE]


def local_queue(nominal: str = "8") -> tuple[GangObject, ...]:
    version = "kueue.x-k8s.io/v1beta1"
    return (
        GangObject(
            version,
            "ClusterQueue",
            "",
            "cq",
            None,
            (),
            {},
            {"quota:nvidia.com/gpu": nominal},
        ),
        GangObject(version, "LocalQueue", "team-a", "queue", None, (), {}, {"clusterQueue": "cq"}),
    )


def test_kueue_queue_counts_as_a_limit() -> None:
    found = cluster(pods=(pod("a"),), gang_objects=local_queue())
    assert verdicts(found, "quota-coverage") == [Verdict.PASS]


def test_kueue_queue_for_other_resources_does_not_cover() -> None:
    mig = pod("a", requests={"nvidia.com/mig-1g.10gb": 1})
    found = cluster(pods=(mig,), gang_objects=local_queue())
    assert verdicts(found, "quota-coverage") == [Verdict.FAIL]


def test_claims_need_a_device_class_key() -> None:
    claiming = pod("a", 0, claims=("gpu",))
    classes = (DeviceClass("gpu.nvidia.com", "", ()),)
    found = cluster(pods=(claiming,), device_classes=classes)
    (finding,) = answers(found, "quota-coverage")
    assert finding.verdict is Verdict.FAIL
    key = "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"
    assert key in finding.snippet
    covered = cluster(pods=(claiming,), quotas=(quota({key: "4"}),))
    assert verdicts(covered, "quota-coverage") == [Verdict.PASS]


def test_parts_of_boards_by_annotation_are_outside_of_every_quota() -> None:
    sharing = pod("a", 0, gpu_fraction=0.5)
    found = cluster(pods=(sharing,), quotas=(quota({GPU: "4"}),))
    assert verdicts(found, "quota-coverage") == [Verdict.WARN, Verdict.NOT_APPLICABLE]


def test_quotas_far_above_the_cluster_are_a_warning() -> None:
    found = cluster(nodes=(gpu_node(),), pods=(pod("a"),), quotas=(quota({GPU: "17"}),))
    assert verdicts(found, "quota-coverage") == [Verdict.WARN, Verdict.PASS]
    twice = cluster(nodes=(gpu_node(),), pods=(pod("a"),), quotas=(quota({GPU: "16"}),))
    assert verdicts(twice, "quota-coverage") == [Verdict.PASS]


def test_bare_key_fails_and_counts_what_runs_past_it() -> None:
    found = cluster(pods=(pod("a", 4),), quotas=(quota({"nvidia.com/gpu": "1"}, {}),))
    (finding,) = answers(found, "quota-keys")
    assert finding.verdict is Verdict.FAIL
    assert "4 × nvidia.com/gpu are in use past a limit of 1" in finding.detail
    assert 'requests.nvidia.com/gpu: "1"' in finding.snippet


def test_limits_key_is_a_warning_since_hami_reads_it() -> None:
    found = cluster(quotas=(quota({"limits.nvidia.com/gpu": "1"}, {}),))
    assert verdicts(found, "quota-keys") == [Verdict.WARN]


def test_legacy_key_fails() -> None:
    found = cluster(quotas=(quota({"requests.alpha.kubernetes.io/nvidia-gpu": "1"}),))
    assert verdicts(found, "quota-keys") == [Verdict.FAIL]


@pytest.mark.parametrize(
    ("age", "verdict"),
    [(timedelta(minutes=4), Verdict.WARN), (timedelta(minutes=6), Verdict.FAIL)],
)
def test_uncounted_key_fails_once_the_quota_is_old_enough(age: timedelta, verdict: Verdict) -> None:
    found = cluster(quotas=(quota({GPU: "4"}, {}, created=TAKEN_AT - age),))
    assert verdicts(found, "quota-keys") == [verdict]


def headroom(hard: str, used: str, **fields: object) -> Quota:
    return quota({GPU: hard}, {GPU: used}, **fields)


@pytest.mark.parametrize(
    ("hard", "used", "verdict"),
    [
        ("10", "8", Verdict.PASS),
        ("10", "9", Verdict.WARN),
        ("1", "1", Verdict.WARN),
        ("1", "2", Verdict.FAIL),
        ("0", "0", Verdict.PASS),
    ],
)
def test_headroom_follows_use(hard: str, used: str, verdict: Verdict) -> None:
    assert verdicts(cluster(quotas=(headroom(hard, used),)), "quota-headroom") == [verdict]


def test_gang_above_the_quota_can_never_be_created_whole() -> None:
    found = cluster(quotas=(headroom("8", "0"),), controllers=(controller("Job", "train", 8, 2),))
    (finding,) = answers(found, "quota-headroom")
    assert finding.verdict is Verdict.FAIL
    assert finding.title == "team-a/train can never be created whole"


def test_gang_above_what_is_left_is_a_warning() -> None:
    found = cluster(quotas=(headroom("16", "8"),), controllers=(controller("Job", "train", 8, 2),))
    assert verdicts(found, "quota-headroom") == [Verdict.WARN]


def test_gang_above_its_cluster_queue_fails() -> None:
    labels = {"kueue.x-k8s.io/queue-name": "queue"}
    job = controller("Job", "train", 8, 2, labels=labels)
    found = cluster(gang_objects=local_queue(), controllers=(job,))
    assert verdicts(found, "quota-headroom") == [Verdict.FAIL]
    large = cluster(gang_objects=local_queue("16"), controllers=(job,))
    assert verdicts(large, "quota-headroom") == [Verdict.NOT_APPLICABLE]


def test_number_that_is_none_costs_only_itself() -> None:
    found = cluster(quotas=(quota({GPU: "many"}, {GPU: "few"}), headroom("4", "1")))
    assert Verdict.FAIL not in verdicts(found, "quota-headroom")
