"""How a cluster is read: in what order, how much at a time, and that nothing is left behind."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator

import pytest

from fleet.inventory import ReadStatus
from fleet.kubernetes.address import AddressPolicy
from fleet.kubernetes.api import FetchError, FetchProgress, Reason, fetch
from fleet.kubernetes.crew import MOST_IN_FLIGHT
from fleet.kubernetes.fetching import FetchLimits
from fleet.kubernetes.objects import RawCluster
from fleet.kubernetes.reader import read as inventory_of
from fleet.kubernetes.resources import RESOURCES
from fleet.kubernetes.served import api_path
from tests.fakes.kubeapi import FakeKubeApi, expired, list_body, page, slow, status

LOOPBACK = AddressPolicy((), allow_loopback=True)
QUICK = FetchLimits(connect_s=2, silence_s=2, back_off_s=0.01, retry_after_s=2)
NODES = "/api/v1/nodes"
PODS = "/api/v1/pods"


def path_of(resource: object) -> str:
    group, versions, plural = (getattr(resource, n) for n in ("group", "versions", "plural"))
    return f"{api_path(group, versions[0])}/{plural}"


def pod(name: str, on: str = "n0", gpus: int = 1) -> dict[str, object]:
    return {
        "metadata": {"name": name, "namespace": "team"},
        "spec": {
            "nodeName": on,
            "containers": [
                {"name": "main", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
            ],
        },
    }


@pytest.fixture
def fake() -> Iterator[FakeKubeApi]:
    """A cluster that serves everything that we read, two objects of each."""
    with FakeKubeApi(token=None) as server:
        for resource in RESOURCES:
            items = [{"metadata": {"name": f"x{i}"}} for i in range(2)]
            server.add(path_of(resource), f"{resource.kind}List", items)
        server.add(NODES, "NodeList", [{"metadata": {"name": f"n{i}"}} for i in range(6)])
        server.add(PODS, "PodList", [pod(f"p{i}") for i in range(6)])
        yield server


def read(fake: FakeKubeApi, **more: object) -> RawCluster:
    return fetch(fake.access(), LOOPBACK, limits=QUICK, page_size=2, **more)  # type: ignore[arg-type]


def wait_until_closed(fake: FakeKubeApi) -> None:
    end = time.monotonic() + 5
    while fake.open_connections and time.monotonic() < end:
        time.sleep(0.01)
    assert fake.open_connections == 0


# --- how much at a time ------------------------------------------------------------------------


def test_never_more_than_three_requests_are_in_flight(fake: FakeKubeApi) -> None:
    for resource in RESOURCES:
        fake.script(path_of(resource), slow(0.03))
    raw = read(fake)
    assert all(result.status is ReadStatus.READ for result in raw.reads)
    assert fake.most_at_once == MOST_IN_FLIGHT == 3


def test_the_pages_of_one_list_are_asked_for_one_after_the_other(fake: FakeKubeApi) -> None:
    for path in (NODES, PODS):
        fake.script(path, *[slow(0.03)] * 3)
    at_once = []
    original = fake.handle

    def handle(handler: object, request: object) -> None:
        original(handler, request)  # type: ignore[arg-type]
        at_once.append((getattr(request, "path", ""), fake.most_at_once))

    fake.handle = handle  # type: ignore[method-assign, assignment]
    read(fake)
    assert [most for path, most in at_once if path == NODES] == [1, 1, 1]
    pages = [request.query.get("continue") for request in fake.requests if request.path == PODS]
    assert pages == [None, "2", "4"]


def test_the_next_page_is_on_its_way_while_one_is_decoded(fake: FakeKubeApi) -> None:
    heard: list[int] = []

    def decoded(progress: FetchProgress) -> None:
        if progress.phase != "pods":
            return
        heard.append(progress.objects)
        wanted = min(len(heard), 3)  # the first word comes before the first page
        end = time.monotonic() + 5
        while fake.paths().count(PODS) < wanted and time.monotonic() < end:
            time.sleep(0.01)
        assert fake.paths().count(PODS) == wanted or len(heard) == 1

    read(fake, progress=decoded)
    assert len(heard) == 4


def test_nodes_come_first_and_pods_last(fake: FakeKubeApi) -> None:
    read(fake)
    paths = [path for path in fake.paths() if path not in ("/version", "/api", "/apis")]
    assert paths[:3] == [NODES] * 3
    assert paths[-3:] == [PODS] * 3


def test_progress_and_cancel_are_heard_in_the_thread_that_fetches(fake: FakeKubeApi) -> None:
    threads: set[threading.Thread] = set()

    def cancelled() -> bool:
        threads.add(threading.current_thread())
        return False

    read(fake, progress=lambda _: threads.add(threading.current_thread()), cancelled=cancelled)
    assert threads == {threading.current_thread()}


# --- the end -----------------------------------------------------------------------------------


def test_connections_and_threads_end_with_the_reading(fake: FakeKubeApi) -> None:
    before = threading.active_count()
    read(fake)
    wait_until_closed(fake)
    assert not [t for t in threading.enumerate() if t.name.startswith("fetch")]
    assert threading.active_count() <= before + fake.open_connections


def test_one_failure_of_several_lists_arrives_once_and_ends_the_others(fake: FakeKubeApi) -> None:
    for resource in RESOURCES[2:]:
        fake.script(path_of(resource), status(401))
    with pytest.raises(FetchError) as caught:
        read(fake)
    assert caught.value.code is Reason.UNAUTHORIZED
    assert PODS not in fake.paths()
    # The lists that were under way may have been refused too; no further one was asked for.
    assert len([p for p in fake.paths() if p.startswith("/apis/") or p == NODES]) < 3 + 8
    wait_until_closed(fake)


def test_cancel_ends_all_lists_that_are_under_way(fake: FakeKubeApi) -> None:
    for resource in RESOURCES[2:]:
        fake.script(path_of(resource), slow(30))
    started = time.monotonic()
    with pytest.raises(FetchError) as caught:
        read(fake, cancelled=lambda: time.monotonic() - started > 0.4)
    assert caught.value.code is Reason.CANCELLED
    assert not [t for t in threading.enumerate() if t.name.startswith("fetch")]


def test_the_deadline_ends_all_lists_that_are_under_way(fake: FakeKubeApi) -> None:
    for resource in RESOURCES[2:]:
        fake.script(path_of(resource), slow(30))
    with pytest.raises(FetchError) as caught:
        read(fake, deadline_s=0.8)
    assert caught.value.code is Reason.TIMEOUT


# --- a list that expires -----------------------------------------------------------------------


def test_pods_of_a_list_that_is_begun_again_count_once(fake: FakeKubeApi) -> None:
    old = [pod("gone", gpus=4), pod("p0")]
    fake.script(PODS, page("PodList", old, "2"), status(410))
    inventory = inventory_of(read(fake))
    assert sorted(p.name for p in inventory.pods) == [f"p{i}" for i in range(6)]
    assert inventory.nodes[0].pods_count == 6
    assert inventory.read("pods").is_consistent  # type: ignore[union-attr]
    assert inventory.problems == ()


def test_the_rest_of_a_list_that_expires_again_and_again_is_taken_and_flagged(
    fake: FakeKubeApi,
) -> None:
    start = page("PodList", [pod("p0"), pod("p1")], "2")
    fake.script(PODS, start, expired("a"), start, expired("b"), start, expired("c"),
                page("PodList", [pod("p2"), pod("p1", gpus=2)]))  # fmt: skip
    inventory = inventory_of(read(fake))
    result = inventory.read("pods")
    assert result is not None
    assert (result.status, result.count, result.is_consistent) == (ReadStatus.READ, 3, False)
    assert (result.reason, result.number) == ("expired", 3)
    assert any(
        line.startswith("pods: the list expired while it was read, 3 times")
        for line in inventory.problems
    )
    assert [request.query.get("continue") for request in fake.requests if request.path == PODS] == [
        None, "2", None, "2", None, "2", "c",
    ]  # fmt: skip
    assert {p.name: p.requests for p in inventory.pods} == {
        "p0": {"nvidia.com/gpu": 1}, "p1": {"nvidia.com/gpu": 2}, "p2": {"nvidia.com/gpu": 1},
    }  # fmt: skip
    assert inventory.nodes[0].pods_count == 3
    assert any("came twice" in line for line in inventory.problems)


def test_a_list_whose_rest_expires_for_ever_ends_the_sync(fake: FakeKubeApi) -> None:
    tokens = iter(range(1000))

    def always(handler: object, request: object) -> None:
        if getattr(request, "query", {}).get("continue"):
            expired(f"t{next(tokens)}")(handler, request)  # type: ignore[arg-type]
        else:
            page("PodList", [pod("p0")], "2")(handler, request)  # type: ignore[arg-type]

    fake.script(PODS, always, repeat_last=True)
    with pytest.raises(FetchError) as caught:
        read(fake)
    assert caught.value.code is Reason.EXPIRED
    assert fake.paths().count(PODS) < 12


def test_the_token_of_a_rest_may_not_repeat_itself(fake: FakeKubeApi) -> None:
    start = page("PodList", [pod("p0")], "2")
    fake.script(PODS, *[start, status(410)] * 2, start, expired("2"))
    with pytest.raises(FetchError) as caught:
        read(fake)
    assert caught.value.code is Reason.EXPIRED


# --- odd pods ----------------------------------------------------------------------------------


def test_an_odd_pod_of_a_page_costs_that_pod_and_a_line(fake: FakeKubeApi) -> None:
    odd = [
        {"metadata": {"name": "p1", "namespace": "team"}, "spec": {"containers": 7}},
        {"metadata": {"name": "n" * 10_000, "namespace": "team"}},
        {"metadata": {}},
        7,
        pod("absurd", gpus=10**40),
        pod("negative", gpus=-1),
    ]
    body = json.loads(list_body("PodList", [pod("p0"), *odd, pod("p2")]))
    fake.script(PODS, page("PodList", body["items"]))
    inventory = inventory_of(read(fake))
    assert sorted(p.name for p in inventory.pods if p.requests) == ["p0", "p2"]
    assert len([line for line in inventory.problems if line.startswith("pods")]) == 4
    assert all(len(line) <= 400 for line in inventory.problems)
    assert inventory.nodes[0].cpu_requested == 0
    for name in ("absurd", "negative"):
        assert [bool(p.notes) for p in inventory.pods if p.name == name] in ([], [True])
