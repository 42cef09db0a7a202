"""The checklist judges what a team has declared by the probes of what runs under that name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from django.test import Client
from django.urls import reverse

from fleet.readiness.finding import Finding, Verdict
from fleet.workloads import Constraints, EmbeddingWorkload, LlmWorkload, TrainingWorkload
from planner.accounts.models import Team, User
from planner.inventory import clusters, findings
from planner.inventory.models import Cluster
from planner.plans.models import Workload
from tests.planner.inventory.builders import dump, node

Declare = Callable[..., Workload]


def server(name: str, failures: int) -> dict[str, object]:
    """A Deployment of one GPU whose startup probe allows ``failures`` × 10 s."""
    probe = {"httpGet": {"path": "/health", "port": 8000}, "periodSeconds": 10}
    container = {
        "name": "main",
        "image": "registry.example/vllm:1",
        "ports": [{"containerPort": 8000}],
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
        "startupProbe": probe | {"failureThreshold": failures},
        "readinessProbe": probe,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "serve"},
        "spec": {"replicas": 1, "template": {"spec": {"containers": [container]}}},
    }


def cluster_with(team: Team, *servers: dict[str, object], name: str = "prod") -> Cluster:
    return clusters.create_from_files(
        team=team, name=name, sources=[dump(node("gpu-1"), *servers)], by=None
    )


def about_declared(cluster: Cluster) -> Sequence[Finding]:
    found = findings.of_clusters([cluster])[cluster.pk]
    return [finding for finding in found if finding.check == "declared-load"]


def chat(**fields: object) -> LlmWorkload:
    given = {"name": "chat", "model": "meta-llama/Meta-Llama-3.1-8B", "namespace": "serve"}
    return LlmWorkload(**(given | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("failures", "verdict"), [(3, Verdict.FAIL), (45, Verdict.WARN), (400, Verdict.PASS)]
)
def test_a_declared_workload_is_judged_by_the_probes_of_its_namesake(
    failures: int, verdict: Verdict, team: Team, declare: Declare
) -> None:
    declare(chat())
    (finding,) = about_declared(cluster_with(team, server("chat", failures)))
    assert finding.verdict is verdict


def test_a_workload_declared_after_the_sync_is_judged_without_another_one(
    team: Team, declare: Declare
) -> None:
    cluster = cluster_with(team, server("chat", 3))
    assert about_declared(cluster) == []
    declare(chat())
    assert [finding.verdict for finding in about_declared(cluster)] == [Verdict.FAIL]


def test_a_change_of_the_declaration_is_judged_at_once(team: Team, declare: Declare) -> None:
    cluster = cluster_with(team, server("chat", 3))
    row = declare(chat())
    (before,) = about_declared(cluster)
    row.spec = row.spec | {"namespace": "elsewhere"}
    row.save()
    (after,) = about_declared(cluster)
    assert (before.verdict, after.verdict) == (Verdict.FAIL, Verdict.NOT_APPLICABLE)


def test_only_serving_workloads_of_the_team_that_may_run_there_are_judged(
    team: Team, other_team: Team, declare: Declare
) -> None:
    declare(TrainingWorkload(name="tune", model="meta-llama/Meta-Llama-3.1-8B", method="lora"))
    declare(chat(name="away", constraints=Constraints(clusters=("other",))))
    declare(EmbeddingWorkload(name="embed", model="BAAI/bge-m3", namespace="serve"))
    (finding,) = about_declared(cluster_with(team))
    assert finding.title.startswith("serve/embed is not on this cluster yet")
    assert about_declared(cluster_with(other_team)) == []


def test_the_page_prints_the_probes_of_a_workload_that_is_not_there_yet(
    team: Team, declare: Declare, vic: User, client_for: Callable[..., Client]
) -> None:
    cluster = cluster_with(team)
    declare(chat())
    address = reverse("inventory:cluster-readiness", args=[cluster.uuid])
    text = client_for(vic).get(address).content.decode()
    assert "serve/chat is not on this cluster yet" in text
    assert "startupProbe:" in text


def test_one_that_cannot_be_sized_or_read_hides_no_other(team: Team, declare: Declare) -> None:
    declare(chat())
    unsized = declare(chat(name="unsized"))
    unsized.spec = unsized.spec | {"model": "no/such-model"}
    unsized.save()
    unread = declare(chat(name="unread"))
    unread.spec = unread.spec | {"replicas": "many"}
    unread.save()
    (finding,) = about_declared(cluster_with(team, server("chat", 3)))
    assert finding.title.startswith("serve/chat")
