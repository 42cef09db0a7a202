"""Question 1: version support, kubelet skew, emulation, DRA, alpha objects."""

from __future__ import annotations

from datetime import date

import pytest

from fleet.catalogue.kubernetes_releases import gates, maturity, newest_supported, releases
from fleet.inventory import (
    DeviceClass,
    DeviceGroup,
    GangObject,
    Inventory,
    ReadStatus,
    ServerVersion,
    UnitKind,
    Units,
)
from fleet.readiness.finding import Verdict
from tests.fleet.readiness.answers import answers, verdicts
from tests.fleet.readiness.clusters import cluster, gpu_node, pod, reads, waiting


def of_minor(minor: int | None, provider: str = "", source: str = "GET /version") -> Inventory:
    text = f"v1.{minor}.0" if minor is not None else ""
    return cluster(version=ServerVersion(text, 1, minor, source), provider=provider)


@pytest.mark.parametrize(
    ("minor", "today", "verdict"),
    [
        (36, date(2026, 12, 1), Verdict.PASS),
        (35, date(2026, 12, 1), Verdict.PASS),  # 89 days left
        (35, date(2026, 12, 30), Verdict.WARN),  # 60 days left
        (35, date(2027, 2, 28), Verdict.WARN),  # its last day
        (35, date(2027, 3, 1), Verdict.FAIL),
        (34, date(2026, 12, 1), Verdict.FAIL),
        (18, date(2026, 12, 1), Verdict.FAIL),  # older than the table
        (60, date(2026, 12, 1), Verdict.UNKNOWN),  # newer than the table: never a fail
        (None, date(2026, 12, 1), Verdict.UNKNOWN),
    ],
)
def test_support_follows_the_release_table(
    minor: int | None, today: date, verdict: Verdict
) -> None:
    assert verdicts(of_minor(minor), "version-support", today) == [verdict]


def test_managed_cluster_past_upstream_support_is_a_warning() -> None:
    (finding,) = answers(of_minor(33, "eks"), "version-support")
    assert finding.verdict is Verdict.WARN
    assert "sells longer support" in finding.detail
    assert "--kubernetes-version 1.34" in finding.snippet


def test_self_managed_k3s_past_support_fails() -> None:
    assert verdicts(of_minor(33, "k3s"), "version-support") == [Verdict.FAIL]


def test_support_sentence_carries_the_date() -> None:
    (finding,) = answers(of_minor(36), "version-support")
    assert finding.title == "1.36 is in support until 28 June 2027"


def test_version_from_kubelets_says_so() -> None:
    source = "kubelet versions (the file has no server version)"
    (finding,) = answers(of_minor(36, source=source), "version-support")
    assert "kubelets" in finding.detail


@pytest.mark.parametrize(
    ("kubelet", "verdict"),
    [
        ("v1.36.1", Verdict.PASS),
        ("v1.35.9", Verdict.PASS),
        ("v1.34.0", Verdict.WARN),
        ("v1.33.0-gke.5", Verdict.WARN),
        ("v1.32.0", Verdict.FAIL),
        ("v1.37.0", Verdict.FAIL),
        ("", Verdict.NOT_APPLICABLE),
    ],
)
def test_kubelets_of_gpu_nodes_are_held_against_the_server(kubelet: str, verdict: Verdict) -> None:
    found = cluster(nodes=(gpu_node(kubelet_version=kubelet),))
    assert verdicts(found, "node-skew") == [verdict]


def test_skew_is_unknown_without_the_server_version() -> None:
    version = ServerVersion("", 1, 36, "kubelet versions (the file has no server version)")
    assert verdicts(cluster(nodes=(gpu_node(),), version=version), "node-skew") == [Verdict.UNKNOWN]


def test_pool_with_two_kubelet_minors_is_a_warning() -> None:
    nodes = (
        gpu_node("a", pool="h100", kubelet_version="v1.36.1"),
        gpu_node("b", pool="h100", kubelet_version="v1.35.1"),
    )
    assert verdicts(cluster(nodes=nodes), "node-skew") == [Verdict.WARN, Verdict.PASS]


def test_emulated_older_version_is_a_warning() -> None:
    version = ServerVersion("v1.36.0", 1, 36, "GET /version", emulation_minor=34)
    assert verdicts(cluster(version=version), "emulation") == [Verdict.WARN]


def dra_node(name: str = "gpu-1", plugin: bool = False) -> object:
    node = gpu_node(name)
    units = Units("dra:gpu.nvidia.com", UnitKind.DRA, 8, 8)
    old = node.groups[0]
    group = DeviceGroup(
        **{f: getattr(old, f) for f in old.__slots__ if f not in ("units", "sharing")},
        units=(*old.units, units) if plugin else (units,),
        sharing="dra",
    )
    return gpu_node(name, groups=(group,))


def test_published_slices_mean_dra_is_in_use() -> None:
    assert verdicts(cluster(nodes=(dra_node(),)), "dra") == [Verdict.PASS]


def test_plugin_and_dra_on_one_node_is_a_warning() -> None:
    found = cluster(nodes=(dra_node(plugin=True),))
    assert verdicts(found, "dra") == [Verdict.WARN, Verdict.PASS]


def test_forbidden_slices_leave_dra_unknown() -> None:
    found = cluster(
        apis={"resource.k8s.io/v1": ("resourceslices",)},
        reads=reads(**{"resourceslices.resource.k8s.io": ReadStatus.FORBIDDEN}),
    )
    (finding,) = answers(found, "dra")
    assert finding.verdict is Verdict.UNKNOWN
    assert "forbidden (403)" in finding.detail
    assert 'apiGroups: ["resource.k8s.io"]' in finding.snippet


def test_unserved_dra_is_not_applicable_and_not_unknown() -> None:
    (finding,) = answers(cluster(apis={"apps/v1": ("deployments",)}), "dra")
    assert finding.verdict is Verdict.NOT_APPLICABLE


def test_claims_on_a_cluster_without_dra_fail() -> None:
    found = cluster(apis={}, pods=(waiting("a", 0, claims=("gpu",)),))
    assert verdicts(found, "dra") == [Verdict.FAIL]


def test_claims_without_any_class_fail() -> None:
    states = reads(**{"deviceclasses.resource.k8s.io": ReadStatus.READ})
    apis = {"resource.k8s.io/v1": ("deviceclasses",)}
    claiming = (waiting("a", 0, claims=("gpu",)),)
    assert verdicts(cluster(apis=apis, reads=states, pods=claiming), "dra") == [Verdict.FAIL]
    classes = (DeviceClass("gpu.nvidia.com", "", ()),)
    found = cluster(apis=apis, reads=states, pods=claiming, device_classes=classes)
    assert verdicts(found, "dra") == [Verdict.WARN]


def test_alpha_objects_are_a_warning_before_an_upgrade() -> None:
    alpha = GangObject("scheduling.k8s.io/v1alpha2", "PodGroup", "team-a", "x", 2, (), {})
    assert verdicts(cluster(gang_objects=(alpha,)), "alpha-objects") == [Verdict.WARN]
    assert verdicts(cluster(), "alpha-objects") == [Verdict.PASS]
    unserved = reads(**{"podgroups.scheduling.k8s.io": ReadStatus.NOT_SERVED})
    assert verdicts(cluster(reads=unserved), "alpha-objects") == [Verdict.NOT_APPLICABLE]


def test_every_minor_of_the_feature_table_is_a_release() -> None:
    assert gates()
    for gate in gates():
        for minor in range(32, 38):
            found = maturity(gate, minor)
            assert found is not None
            assert found.stage in ("none", "alpha", "beta", "ga")
            assert (found.default == "") == (found.stage == "none")
            assert minor in releases()


def test_native_gang_scheduling_is_off_by_default_up_to_1_37() -> None:
    for minor in range(32, 38):
        found = maturity("GangScheduling", minor)
        assert found is not None
        assert not found.on_by_default


def test_newest_supported_release_changes_with_the_day() -> None:
    today, past = newest_supported(date(2026, 12, 1)), newest_supported(date(2026, 8, 1))
    assert today is not None
    assert past is not None
    assert (today.minor, past.minor) == (37, 36)
    assert newest_supported(date(2040, 1, 1)) is None


def test_running_pods_with_claims_count_in_the_dra_sentence() -> None:
    found = cluster(nodes=(dra_node(),), pods=(pod("a", 0, claims=("c",)),))
    assert "1 pod holds" in answers(found, "dra")[0].detail
