"""A broken or hostile API server costs one failed or flagged sync, with a reason: never a crash,
never half a snapshot, never a wrong zero."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count

import pytest

from fleet.kubernetes import api
from fleet.kubernetes.fetching import FetchLimits
from planner.accounts.models import Team
from planner.inventory import sync
from planner.inventory.models import Cluster, NodeRow, PodRow, Snapshot
from planner.inventory.reaching import keep_access
from planner.jobs import runner
from planner.jobs.models import Job
from tests.fakes.kubeapi import (
    FakeKubeApi,
    Step,
    chunks_that_stop,
    cut_after,
    expired,
    hang_up,
    list_body,
    page,
    raw,
    status,
)
from tests.planner.inventory.builders import node, pod

pytestmark = pytest.mark.django_db(transaction=True)

NODES, PODS, QUOTAS = "/api/v1/nodes", "/api/v1/pods", "/api/v1/resourcequotas"


@pytest.fixture
def fake() -> Iterator[FakeKubeApi]:
    with FakeKubeApi(token=None) as server:
        server.add(NODES, "NodeList", [node("a"), node("b")])
        server.add(PODS, "PodList", [pod("p", "a", gpus=3)])
        server.add(QUOTAS, "ResourceQuotaList", [])
        yield server


@pytest.fixture
def cluster(fake: FakeKubeApi, team: Team) -> Cluster:
    found = Cluster.objects.create(
        team=team, name="prod", source=Cluster.Source.FIELDS, server=fake.url
    )
    keep_access(found, fake.access())
    return found


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """As patient as the product, only faster."""
    monkeypatch.setattr(api, "FetchLimits", partial(FetchLimits, back_off_s=0.01))


def run_sync(cluster: Cluster) -> Job:
    job, _ = sync.request_sync_job(cluster, by=None)
    assert runner.run(job.pk)
    job.refresh_from_db()
    cluster.refresh_from_db()
    return job


def stored() -> tuple[int, int, int]:
    return (
        Snapshot.objects.filter(is_complete=True).count(),
        NodeRow.objects.count(),
        PodRow.objects.count(),
    )


FIRST = page("PodList", [pod("first-half", "a")], "more")
BODY = list_body("PodList", [pod("second-half", "a")])


def endless() -> Step:
    tokens = count()

    def step(handler: object, request: object) -> None:
        page("PodList", [], f"t{next(tokens)}")(handler, request)  # type: ignore[arg-type]

    return step


@dataclass(frozen=True)
class Bad:
    """How the answer to the second page of pods is bad, and the reason that people are given."""

    step: Step
    code: str = "malformed"


BAD = {
    "cut off, again and again": Bad(cut_after(300, body=BODY), "connection"),
    "chunks that stop": Bad(chunks_that_stop(BODY[:200]), "connection"),
    "gzip cut off": Bad(raw(gzip.compress(BODY)[:-12], Content_Encoding="gzip"), "connection"),
    "no answer": Bad(hang_up(), "connection"),
    "HTML with 200": Bad(raw(b"<html><body>Sign in</body></html>", "text/html")),
    "a gzip bomb": Bad(
        raw(gzip.compress(b" " * 80_000_000, 9), Content_Encoding="gzip"), "too-large"
    ),
    "no gzip at all": Bad(raw(BODY, Content_Encoding="gzip")),
    "items of a wrong type": Bad(raw(b'{"kind":"PodList","items":{"a":1}}')),
    "metadata of a wrong type": Bad(raw(b'{"kind":"PodList","metadata":[],"items":[]}')),
    "a token of a wrong type": Bad(raw(b'{"kind":"PodList","metadata":{"continue":7},"items":[]}')),
    "the same token again": Bad(page("PodList", [], "more")),
    "another object": Bad(raw(b'{"kind":"Status","status":"Success"}')),
    "nothing": Bad(raw(b"")),
    "forbidden by now": Bad(status(403), "forbidden"),
    "gone by now": Bad(status(404), "not-found"),
    "an unknown status": Bad(status(299)),
    "unauthorized by now": Bad(status(401), "unauthorized"),
}


@pytest.mark.parametrize("name", BAD)
def test_half_a_list_of_pods_is_never_stored(
    cluster: Cluster, fake: FakeKubeApi, name: str
) -> None:
    run_sync(cluster)
    good, before = cluster.current_snapshot, stored()
    fake.script(PODS, FIRST, BAD[name].step, repeat_last=True)
    job = run_sync(cluster)
    assert (job.state, job.error_code) == (Job.State.FAILED, BAD[name].code)
    assert job.error_message
    assert cluster.current_snapshot == good
    assert stored() == before
    assert not PodRow.objects.filter(name__contains="half").exists()


def test_the_sync_after_a_bad_one_is_whole(cluster: Cluster, fake: FakeKubeApi) -> None:
    fake.script(PODS, FIRST, BAD["HTML with 200"].step)
    assert run_sync(cluster).state == Job.State.FAILED
    assert run_sync(cluster).state == Job.State.DONE
    assert cluster.current_snapshot is not None
    assert cluster.current_snapshot.requested_gpus == 3


def test_pages_without_end_fail_with_a_reason(
    cluster: Cluster, fake: FakeKubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.script(PODS, endless(), repeat_last=True)
    original = sync.api.fetch

    def fetch(*args: object, **options: object) -> object:
        return original(*args, **options, limits=FetchLimits(pages=20))  # type: ignore[arg-type]

    monkeypatch.setattr(sync.api, "fetch", fetch)
    job = run_sync(cluster)
    assert (job.state, job.error_code) == (Job.State.FAILED, "too-large")
    assert fake.paths().count(PODS) == 20


def test_a_list_that_expires_for_ever_fails_with_a_reason(
    cluster: Cluster, fake: FakeKubeApi
) -> None:
    fake.script(PODS, *[FIRST, expired()] * 3)
    job = run_sync(cluster)
    assert (job.state, job.error_code) == (Job.State.FAILED, "expired")
    assert stored() == (0, 0, 0)


def test_items_null_is_an_empty_list_and_the_fall_is_flagged(
    cluster: Cluster, fake: FakeKubeApi
) -> None:
    run_sync(cluster)
    fake.script(NODES, page("NodeList", None))
    job = run_sync(cluster)
    assert job.state == Job.State.DONE
    assert cluster.current_snapshot is not None
    assert "shrunk by more than half" in cluster.current_snapshot.flagged
    assert cluster.current_snapshot.node_count == 0


def test_pods_on_no_node_at_all_are_no_silent_zero(cluster: Cluster, fake: FakeKubeApi) -> None:
    fake.script(NODES, page("NodeList", []))
    job = run_sync(cluster)
    snapshot = cluster.current_snapshot
    assert snapshot is not None
    assert "1 pods and not one node" in snapshot.flagged
    assert snapshot.flagged in job.result
    assert any("bound to nodes that are not there" in line for line in snapshot.problems)


@pytest.mark.parametrize("before", [True, False], ids=["after a good sync", "at the first sync"])
def test_no_pod_at_all_is_no_silent_all_free(
    cluster: Cluster, fake: FakeKubeApi, before: bool
) -> None:
    if before:
        run_sync(cluster)
        assert cluster.current_snapshot is not None
        assert cluster.current_snapshot.flagged == ""
    fake.script(PODS, page("PodList", []))
    run_sync(cluster)
    assert cluster.current_snapshot is not None
    flagged = cluster.current_snapshot.flagged
    assert "2 nodes and not one pod" in flagged
    assert ("0 instead of 1 pods, 0 instead of 3 requested GPUs" in flagged) is before


def test_requests_that_fall_by_more_than_half_are_flagged(
    cluster: Cluster, fake: FakeKubeApi
) -> None:
    fake.add(PODS, "PodList", [pod(f"p{i}", "a") for i in range(5)])
    run_sync(cluster)
    fake.add(
        PODS, "PodList", [pod("p0", "a", gpus=2), *[pod(f"q{i}", "b", gpus=0) for i in "abcd"]]
    )
    run_sync(cluster)
    assert cluster.current_snapshot is not None
    assert cluster.current_snapshot.flagged == (
        "shrunk by more than half since snapshot 1: 2 instead of 5 requested GPUs"
    )
    fake.add(PODS, "PodList", [pod("p0", "a"), pod("q0", "b", gpus=0), pod("q1", "b", gpus=0)])
    run_sync(cluster)
    assert cluster.current_snapshot.flagged == "", "half of it or more is an ordinary day"


def test_a_bad_answer_for_a_resource_beside_them_fails_the_sync_too(
    cluster: Cluster, fake: FakeKubeApi
) -> None:
    fake.script(QUOTAS, BAD["HTML with 200"].step)
    job = run_sync(cluster)
    assert (job.state, job.error_code) == (Job.State.FAILED, "malformed")
    assert QUOTAS in job.error_message
    assert stored() == (0, 0, 0)


def test_odd_objects_cost_themselves_and_a_line_each_and_their_numbers_are_not_zero(
    cluster: Cluster, fake: FakeKubeApi
) -> None:
    absurd = node("absurd")
    absurd["status"]["capacity"]["nvidia.com/gpu"] = "1e30"
    absurd["status"]["allocatable"]["nvidia.com/gpu"] = "1e30"
    long = node("n" * 10_000)
    twisted = {**node("twisted"), "status": "Ready"}
    huge = json.loads(json.dumps(pod("huge", "a")).replace('"1Gi"', str(10**40)))
    fake.add(NODES, "NodeList", [node("a"), absurd, long, twisted, 7, None])  # type: ignore[list-item]
    fake.add(PODS, "PodList", [pod("p", "a"), pod("x" * 10_000, "a"), huge, "pod"])  # type: ignore[list-item]
    assert run_sync(cluster).state == Job.State.DONE
    snapshot = cluster.current_snapshot
    assert snapshot is not None
    rows = {row.name: row for row in NodeRow.objects.filter(snapshot=snapshot)}
    assert set(rows) == {"a", "absurd"}
    assert rows["absurd"].allocatable is None
    # Of the pod with an absurd amount of memory only that amount is left out, with a note.
    assert (rows["a"].allocatable, rows["a"].requested) == (8, 2)
    assert snapshot.problem_count >= 6
    assert all(len(line) <= 500 for line in snapshot.problems)
