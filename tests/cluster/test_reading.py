"""Reading a real server page by page: what is asked for, and what happens when it breaks off."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate, count
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import trustme

from fleet.inventory import ReadStatus
from fleet.kubernetes.fetching import FetchError, FetchProgress, Reason
from fleet.read_words import EXPIRED
from planner.inventory.models import NodeRow, PodRow, Snapshot
from planner.jobs.models import Job
from planner.jobs.runner import Run
from tests.cluster.client import ApiError
from tests.cluster.filling import fill
from tests.cluster.objects import container, gpu_node, gpus, pod
from tests.cluster.planes import Running
from tests.cluster.product import inventory_of
from tests.cluster.syncing import resynced, synced
from tests.cluster.wire import Wire

PODS = "/api/v1/namespaces/default/pods"
PAGE = 20


def small_pod(number: int) -> bytes:
    return json.dumps(pod(f"p-{number:04}", gpus(1), nodeName="a")).encode()


def large_pod(number: int) -> bytes:
    """As large as pods are in use, with an environment of its own."""
    env = [{"name": f"SETTING_{i}", "value": f"{number}-{i}" * 8} for i in range(25)]
    made = pod(f"p-{number:04}", container(env=env), nodeName="a")
    return json.dumps(made).encode()


@pytest.fixture
def filled(newest: Running) -> Running:
    """One node with 100 pods, which 20 a page read in five pages."""
    newest.admin.create(gpu_node("a", 128))
    fill(newest.plane.admin, PODS, small_pod, 100, writers=2)
    return newest


class AfterPage:
    """Does something after the first page of pods, or each time that it comes."""

    def __init__(
        self, act: Callable[[], object], *, settle_s: float = 1, again: bool = False
    ) -> None:
        self.act, self.settle_s, self.again = act, settle_s, again
        self.times = 0
        self._before: int | None = None  # objects that were read before pods

    def __call__(self, progress: FetchProgress) -> None:
        if progress.phase != "pods":
            return
        if self._before is None:
            self._before = progress.objects
        is_first = progress.objects - self._before == PAGE
        if is_first and (self.again or not self.times):
            self.times += 1
            time.sleep(self.settle_s)  # the reader asks for one page ahead: let that one come
            self.act()


def names(found: object) -> list[str]:
    return sorted(p.name for p in found.pods)  # type: ignore[attr-defined]


ALL = [f"p-{number:04}" for number in range(100)]


def test_pages_show_one_moment_while_objects_come_and_go(filled: Running) -> None:
    def change() -> None:
        for number in (5, 50, 99):
            filled.admin.delete(json.loads(small_pod(number)))
        filled.admin.create(json.loads(small_pod(500)))

    watch = AfterPage(change)
    found = inventory_of(filled.plane.access(filled.token), page_size=PAGE, progress=watch)
    assert watch.times == 1
    assert names(found) == ALL
    again = inventory_of(filled.plane.access(filled.token), page_size=PAGE)
    assert names(again) == sorted({*ALL, "p-0500"} - {"p-0005", "p-0050", "p-0099"})


def test_a_server_that_restarts_between_pages_costs_nothing(filled: Running) -> None:
    watch = AfterPage(filled.plane.restart_server)
    found = inventory_of(filled.plane.access(filled.token), page_size=PAGE, progress=watch)
    assert watch.times == 1
    assert names(found) == ALL


def test_a_server_that_stays_away_fails_with_its_reason(filled: Running) -> None:
    watch = AfterPage(filled.plane.stop_server)
    try:
        with pytest.raises(FetchError) as caught:
            inventory_of(filled.plane.access(filled.token), page_size=PAGE, progress=watch)
    finally:
        filled.plane.start_server()
    assert watch.times == 1
    assert caught.value.code is Reason.REFUSED


def forget_history(running: Running) -> None:
    """Between two pages: something changes, and etcd forgets how it was before."""
    running.admin.create(json.loads(small_pod(600)))
    running.plane.compact()
    running.plane.restart_server()  # its cache would still know the moment of the first page


def test_a_continue_token_that_expired_starts_the_list_anew(filled: Running) -> None:
    watch = AfterPage(partial(forget_history, filled))
    found = inventory_of(filled.plane.access(filled.token), page_size=PAGE, progress=watch)
    assert watch.times == 1
    assert names(found) == sorted([*ALL, "p-0600"])


def test_the_server_really_says_410_there(filled: Running) -> None:
    """The ground of the test above, without the product."""
    page = filled.admin.get(f"{PODS}?limit={PAGE}")
    forget_history(filled)
    with pytest.raises(ApiError) as caught:
        filled.admin.get(f"{PODS}?limit={PAGE}&continue={page['metadata']['continue']}")
    assert caught.value.status == 410


def test_a_list_that_expires_again_and_again_is_read_to_its_end_and_marked(
    filled: Running,
) -> None:
    """The server's own offer with its last 410: the rest of the list as it is by then."""
    numbers = count(700)

    def forget() -> None:
        filled.admin.create(json.loads(small_pod(next(numbers))))
        filled.plane.compact()
        filled.plane.restart_server()

    watch = AfterPage(forget, again=True)
    found = inventory_of(filled.plane.access(filled.token), page_size=PAGE, progress=watch)
    assert watch.times == 3
    read = found.read("pods")
    assert read is not None
    assert (read.status, read.count, read.is_consistent) == (ReadStatus.READ, 103, False)
    assert (read.reason, read.number) == (EXPIRED, 3)
    assert names(found) == [*ALL, "p-0700", "p-0701", "p-0702"]


def test_a_restart_while_a_page_is_under_way_costs_nothing(filled: Running) -> None:
    """The connection ends before, in or after the handshake, or within an answer."""
    watch = AfterPage(filled.plane.restart_server, settle_s=0)
    found = inventory_of(filled.plane.access(filled.token), page_size=PAGE, progress=watch)
    assert watch.times == 1
    assert names(found) == ALL


def test_a_sync_only_reads_in_pages_and_never_much_at_once(filled: Running) -> None:
    """The server's own record of what was asked of it."""
    filled.audit.write_text("")
    inventory_of(filled.plane.access(filled.token), page_size=PAGE)
    asked = [json.loads(line) for line in filled.audit.read_text().splitlines()]
    assert {entry["verb"] for entry in asked} == {"get", "list"}
    assert {entry["userAgent"] for entry in asked} == {"gpu-fleet-planner"}
    assert {entry["responseStatus"]["code"] for entry in asked} == {200}
    paths = [urlsplit(entry["requestURI"]) for entry in asked]
    plain = [part.path for part in paths if not part.query]
    assert sorted(plain) == ["/api", "/apis", "/version"]
    lists = [(part.path, parse_qs(part.query)) for part in paths if part.query]
    assert all(set(query) <= {"limit", "continue"} for _, query in lists)
    assert {query["limit"][0] for _, query in lists} == {str(PAGE)}
    assert [path for path, _ in lists].count("/api/v1/pods") == 5
    assert [path for path, _ in lists].count("/api/v1/nodes") == 1
    assert most_at_once(asked) <= 3


def most_at_once(asked: list[dict[str, Any]]) -> int:
    """The largest number of requests that were under way at the same moment."""
    changes = sorted(
        [(entry["requestReceivedTimestamp"], 1) for entry in asked]
        + [(entry["stageTimestamp"], -1) for entry in asked]
    )
    return max(accumulate(step for _, step in changes))


def test_a_list_is_compressed_on_the_wire(newest: Running) -> None:
    newest.admin.create(gpu_node("a"))
    fill(newest.plane.admin, PODS, large_pod, 200, writers=2)
    _, plain = newest.admin.send("GET", PODS)
    assert len(plain) > 500_000
    with Wire(newest.plane.port) as wire:
        server = f"https://127.0.0.1:{wire.own_port}"
        found = inventory_of(newest.plane.access(newest.token, server=server))
    assert found.other_pods + len(found.pods) == 200
    assert 10_000 < wire.received < len(plain) / 3


def test_a_certificate_of_another_authority_is_refused(newest: Running) -> None:
    foreign = trustme.CA().cert_pem.bytes().decode()
    with pytest.raises(FetchError, match="signed by an authority") as caught:
        inventory_of(newest.plane.access(newest.token, ca_pem=foreign))
    assert caught.value.code is Reason.TLS


@pytest.mark.parametrize("way", ["address", "tls-server-name"])
def test_a_certificate_for_another_name_is_refused(newest: Running, way: str) -> None:
    changes = (
        {"server": f"https://localhost:{newest.plane.port}"}
        if way == "address"
        else {"tls_server_name": "kubernetes.example"}
    )
    with pytest.raises(FetchError, match="for another host name") as caught:
        inventory_of(newest.plane.access(newest.token, **changes))
    assert caught.value.code is Reason.TLS


# The same through the sync job: what readers of the planner see meanwhile and afterwards.


@pytest.fixture
def thousand(newest: Running) -> Running:
    """More pods than the sync job reads in one page."""
    newest.admin.create(gpu_node("a", 128))
    fill(newest.plane.admin, PODS, small_pod, 1_100, writers=4)
    return newest


@pytest.fixture
def after_first_page(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Callable[[], None]]]:
    """What is put into this list is done once, when the job says that it has read pods."""
    acts: list[Callable[[], None]] = []
    said = Run.progress

    def progress(run: Run, phase: str, objects: int = 0, total: int | None = None) -> None:
        said(run, phase, objects, total)
        if phase == "pods" and objects > 500 and acts:
            time.sleep(1)  # one page is asked for ahead
            acts.pop()()

    monkeypatch.setattr(Run, "progress", progress)
    yield acts
    assert acts == []


@pytest.mark.django_db(transaction=True)
def test_a_sync_outlives_a_restart_in_the_middle_of_a_list(
    thousand: Running, after_first_page: list[Callable[[], None]]
) -> None:
    after_first_page.append(thousand.plane.restart_server)
    planned, job = synced(thousand.plane.access(thousand.token))
    assert job.state == Job.State.DONE, job.error_message
    assert planned.current_snapshot is not None
    assert planned.current_snapshot.pod_count == 1_100


@pytest.mark.django_db(transaction=True)
def test_a_sync_that_breaks_off_leaves_the_snapshot_before(
    thousand: Running, after_first_page: list[Callable[[], None]]
) -> None:
    planned, job = synced(thousand.plane.access(thousand.token))
    assert job.state == Job.State.DONE, job.error_message
    before = planned.current_snapshot
    rows = (NodeRow.objects.count(), PodRow.objects.count())
    thousand.admin.delete(gpu_node("a"))
    after_first_page.append(thousand.plane.stop_server)
    try:
        job = resynced(planned)
    finally:
        thousand.plane.start_server()
    assert (job.state, job.error_code) == (Job.State.FAILED, "refused")
    assert job.error_way_out
    assert planned.current_snapshot == before
    assert list(Snapshot.objects.filter(cluster=planned)) == [before]
    assert (NodeRow.objects.count(), PodRow.objects.count()) == rows
