"""What a cluster can do wrong while it is read, and that no half of a list survives it."""

from __future__ import annotations

import contextlib
import errno
import gc
import gzip
import json
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise
from traceback import TracebackException

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.inventory import ReadStatus
from fleet.kubernetes.address import AddressPolicy
from fleet.kubernetes.api import FetchError, FetchProgress, Reason, fetch
from fleet.kubernetes.calls import Caller, retry_after_s
from fleet.kubernetes.fetching import FetchLimits
from fleet.kubernetes.kubeconfig import ClusterAccess
from fleet.kubernetes.objects import MAX_PROBLEMS, RawCluster, decode_items
from fleet.kubernetes.resources import PODS as PODS_RESOURCE
from fleet.kubernetes.transport import Answer
from fleet.read_words import read_words
from tests.fakes.kubeapi import (
    FakeKubeApi,
    Step,
    chunks_that_stop,
    cut_after,
    drip,
    hang,
    hang_up,
    list_body,
    page,
    raw,
    status,
)

LOOPBACK = AddressPolicy((), allow_loopback=True)
QUICK = FetchLimits(connect_s=2, silence_s=0.6, back_off_s=0.01, retry_after_s=2)
NODES = "/api/v1/nodes"
PODS = "/api/v1/pods"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"


@pytest.fixture
def fake() -> Iterator[FakeKubeApi]:
    with FakeKubeApi(token=None) as server:
        server.add(NODES, "NodeList", [{"metadata": {"name": f"n{i}"}} for i in range(6)])
        server.add(PODS, "PodList", [])
        server.add(SLICES, "ResourceSliceList", [])
        yield server


def read(fake: FakeKubeApi, limits: FetchLimits = QUICK, **more: object) -> RawCluster:
    return fetch(fake.access(), LOOPBACK, limits=limits, page_size=2, **more)  # type: ignore[arg-type]


def failure(fake: FakeKubeApi, limits: FetchLimits = QUICK, **more: object) -> FetchError:
    with pytest.raises(FetchError) as caught:
        read(fake, limits, **more)
    assert caught.value.message
    return caught.value


def result(cluster: RawCluster, key: str) -> tuple[ReadStatus, str]:
    found = next(read for read in cluster.reads if read.resource == key)
    return found.status, read_words(found.status, found.reason, found.number)


# --- rights and what is not installed -----------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "wanted"), [(403, ReadStatus.FORBIDDEN), (404, ReadStatus.NOT_SERVED)]
)
def test_an_optional_resource_may_be_forbidden_or_absent(
    fake: FakeKubeApi, code: int, wanted: ReadStatus
) -> None:
    fake.script(SLICES, status(code))
    cluster = read(fake)
    status_, detail = result(cluster, "resourceslices.resource.k8s.io")
    assert status_ is wanted
    assert detail
    assert len(cluster.objects["nodes"]) == 6
    assert "resourceslices.resource.k8s.io" not in cluster.objects


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        ([NODES], "may not list nodes in all"),
        ([PODS], "may not list pods in all"),
        ([NODES, PODS], "nodes and pods"),
        ([NODES, SLICES], "nor 1 other"),
    ],
)
def test_without_nodes_or_pods_there_is_no_inventory(
    fake: FakeKubeApi, paths: list[str], words: str
) -> None:
    for path in paths:
        fake.script(path, status(403))
    error = failure(fake)
    assert error.code is Reason.FORBIDDEN
    assert words in error.message
    assert "ClusterRole" in error.way_out


def test_a_server_without_nodes_is_no_api_server() -> None:
    with FakeKubeApi(token=None) as fake:
        fake.add(PODS, "PodList", [])
        assert failure(fake).code is Reason.NOT_FOUND


def test_a_right_that_is_lost_between_two_pages_leaves_no_half_list(fake: FakeKubeApi) -> None:
    fake.script(NODES, page("NodeList", [{}], "2"), status(403))
    assert failure(fake).code is Reason.FORBIDDEN


# --- discovery ---------------------------------------------------------------------------------


def test_the_older_discovery_is_understood(fake: FakeKubeApi) -> None:
    fake.discovery = "legacy"
    cluster = read(fake)
    assert cluster.apis == {
        "v1": ("nodes", "pods"),
        "resource.k8s.io/v1": ("resourceslices",),
    }
    assert result(cluster, "resourceslices.resource.k8s.io")[0] is ReadStatus.READ
    assert len(cluster.objects["nodes"]) == 6


def test_a_server_that_refuses_the_newer_form_is_asked_for_the_older(fake: FakeKubeApi) -> None:
    fake.discovery = "legacy"
    fake.script("/api", status(406))
    assert len(read(fake).objects["nodes"]) == 6


def test_where_discovery_is_forbidden_each_version_is_tried(fake: FakeKubeApi) -> None:
    fake.script("/api", status(403))
    fake.add("/apis/kueue.x-k8s.io/v1beta1/clusterqueues", "ClusterQueueList", [])
    cluster = read(fake)
    assert cluster.apis is None
    assert result(cluster, "clusterqueues.kueue.x-k8s.io")[0] is ReadStatus.READ
    assert result(cluster, "topologies.kueue.x-k8s.io")[0] is ReadStatus.NOT_SERVED


def test_an_api_whose_server_is_down_is_not_called_absent(fake: FakeKubeApi) -> None:
    group = {
        "metadata": {"name": "kueue.x-k8s.io"},
        "versions": [{"version": "v1beta1", "freshness": "Stale", "resources": []}],
    }
    body = {"kind": "APIGroupDiscoveryList", "items": [group]}
    fake.script("/apis", raw(json.dumps(body).encode()))
    cluster = read(fake)
    assert result(cluster, "clusterqueues.kueue.x-k8s.io")[0] is ReadStatus.FAILED
    assert result(cluster, "jobsets.jobset.x-k8s.io")[0] is ReadStatus.NOT_SERVED


def test_an_older_api_whose_server_is_down_is_not_called_absent(fake: FakeKubeApi) -> None:
    fake.discovery = "legacy"
    fake.script("/apis/resource.k8s.io/v1", status(503), repeat_last=True)
    assert result(read(fake), "resourceslices.resource.k8s.io")[0] is ReadStatus.FAILED


def test_the_best_version_that_is_served_is_read(fake: FakeKubeApi) -> None:
    fake.add("/apis/resource.k8s.io/v1beta1/resourceslices", "ResourceSliceList", [])
    read(fake)
    assert SLICES in fake.paths()
    assert "/apis/resource.k8s.io/v1beta1/resourceslices" not in fake.paths()


def test_a_forbidden_version_is_unknown_and_the_sync_goes_on(fake: FakeKubeApi) -> None:
    fake.script("/version", status(403))
    assert read(fake).version is None


@pytest.mark.parametrize("path", ["/version", "/api", "/apis"])
def test_a_server_without_discovery_is_no_api_server(fake: FakeKubeApi, path: str) -> None:
    fake.script(path, status(404))
    assert failure(fake).code is Reason.NOT_FOUND


# --- a server in trouble -----------------------------------------------------------------------


@pytest.mark.parametrize("code", [409, 429, 500, 502, 503, 504])
def test_a_passing_trouble_is_tried_again(fake: FakeKubeApi, code: int) -> None:
    fake.script(NODES, status(code), status(code, retry_after="0"))
    assert len(read(fake).objects["nodes"]) == 6


@pytest.mark.parametrize(
    ("code", "reason"),
    [(500, Reason.SERVER_ERROR), (503, Reason.SERVER_ERROR), (429, Reason.TOO_MANY_REQUESTS)],
)
def test_a_lasting_trouble_ends_the_sync_after_three_tries(
    fake: FakeKubeApi, code: int, reason: Reason
) -> None:
    fake.script(NODES, status(code), repeat_last=True)
    assert failure(fake).code is reason
    assert fake.paths().count(NODES) == 3


def test_a_lasting_trouble_with_an_optional_resource_costs_only_that(fake: FakeKubeApi) -> None:
    fake.script(SLICES, status(500), repeat_last=True)
    cluster = read(fake)
    assert result(cluster, "resourceslices.resource.k8s.io")[0] is ReadStatus.FAILED
    assert len(cluster.objects["nodes"]) == 6


def test_an_absurd_retry_after_is_not_waited_for(fake: FakeKubeApi) -> None:
    for absurd in ("99999999999", "Fri, 31 Dec 9999 23:59:59 GMT"):
        fake.script(NODES, status(429, retry_after=absurd), repeat_last=True)
        fake.requests.clear()
        assert failure(fake).code is Reason.TOO_MANY_REQUESTS
        assert fake.paths().count(NODES) == 1


def test_a_nonsense_retry_after_counts_as_none(fake: FakeKubeApi) -> None:
    fake.script(NODES, status(429, retry_after="soon"), status(429, retry_after="-5"))
    assert len(read(fake).objects["nodes"]) == 6


def test_retry_after_is_read_as_number_or_date() -> None:
    now = datetime(2026, 12, 1, tzinfo=UTC)
    later = format_datetime(now + timedelta(seconds=7), usegmt=True)
    earlier = format_datetime(now - timedelta(hours=1), usegmt=True)
    assert retry_after_s("7", now) == 7
    assert retry_after_s(later, now) == 7
    assert retry_after_s(earlier, now) == 0
    for nonsense in ("", "soon", "-1", "1.5", "9" * 400, "٧", "Mon, 99 Foo 2026"):
        assert retry_after_s(nonsense, now) is None


@pytest.mark.parametrize(
    "hostile",
    [
        "Mon, 01 Jan 2024 00:00:00 +99999999999999999999",
        "Mon, 01 Jan 0001 00:00:00 +1400",
        "Mon, 31 Dec 9999 23:59:59 -2300",
        "Mon, 01 Jan 2024 00:00:00 +2400",
        "Mon, 01 Jan 2024 00:00:00 " + "9" * 5000,
    ],
)
def test_a_retry_after_with_an_absurd_date_crashes_nothing(hostile: str) -> None:
    found = retry_after_s(hostile, datetime(2026, 12, 1, tzinfo=UTC))
    assert found is None or found >= 0


@given(st.text(max_size=60) | st.from_regex(r"Mon, \d\d Jan \d{1,5} 00:00:00 [+-]\d{1,30}"))
def test_no_retry_after_whatsoever_crashes(header: str) -> None:
    found = retry_after_s(header)
    assert found is None or found >= 0


def test_the_longest_wait_that_api_servers_ask_for_is_granted_with_a_little_jitter() -> None:
    """Priority and fairness lets its Retry-After grow to 32 s."""
    caller = Caller(None, None, FetchLimits())  # type: ignore[arg-type]
    waits = [caller._pause(Answer(429, b"", "32"), 1, NODES) for _ in range(50)]
    assert all(32 <= wait <= 33 for wait in waits)
    assert len(set(waits)) > 1


def test_a_list_that_expires_is_begun_again(fake: FakeKubeApi) -> None:
    fake.script(
        NODES,
        page("NodeList", [{"metadata": {"name": "old"}}], "2"),
        status(410),
        page("NodeList", [{"metadata": {"name": "old"}}], "2"),
        status(410),
    )
    seen: list[FetchProgress] = []
    cluster = read(fake, progress=seen.append)
    assert [item.metadata.name for item in cluster.objects["nodes"]] == [f"n{i}" for i in range(6)]


def test_a_list_that_expires_three_times_ends_the_sync(fake: FakeKubeApi) -> None:
    fake.script(NODES, *[page("NodeList", [{}], "2"), status(410)] * 3)
    assert failure(fake).code is Reason.EXPIRED


# --- answers that are not whole ----------------------------------------------------------------

DEEP = b'{"kind":"NodeList","items":' + b"[" * 200_000

BROKEN: dict[str, Step] = {
    "wrong length": raw(list_body("NodeList", [])[:-4]),
    "a login page": raw(b"<!doctype html><title>Log in</title>", "text/html"),
    "nothing": raw(b""),
    "null": raw(b"null"),
    "a list": raw(b"[]"),
    "an object of another kind": raw(b'{"kind":"Status","status":"Failure"}'),
    "no kind": raw(b'{"items":[]}'),
    "a list of APIs": raw(b'{"kind":"APIResourceList","groupVersion":"v1","resources":[]}'),
    "a list of other objects": raw(b'{"kind":"PodList","apiVersion":"v1","items":[]}'),
    "no items": raw(b'{"kind":"NodeList","apiVersion":"v1"}'),
    "items in capitals": raw(b'{"kind":"NodeList","Items":[{"metadata":{"name":"n"}}]}'),
    "an end before the end": raw(
        b'{"kind":"NodeList","metadata":{"remainingItemCount":5000},"items":[]}'
    ),
    "items of a wrong type": raw(b'{"kind":"NodeList","items":"x"}'),
    "not UTF-8": raw(b'{"kind":"Node\xff\xfeList","items":[]}'),
    "deep nesting": raw(DEEP),
    "broken gzip": raw(b"\x1f\x8bxxxxxxxx", Content_Encoding="gzip"),
    "more after the end of gzip": raw(
        gzip.compress(list_body("NodeList", [])) + b"x" * 1_000_000, Content_Encoding="gzip"
    ),
    "an encoding not asked for": raw(b"xx", Content_Encoding="br"),
    "a teapot": status(418),
    "not modified": status(400),
}


CUT: dict[str, Step] = {
    "cut in the middle": cut_after(200),
    "cut at once": cut_after(0),
    "shorter than promised, though valid": cut_after(1000, body=list_body("NodeList", [])),
    "chunks that stop": chunks_that_stop(list_body("NodeList", [])),
    "cut gzip": raw(gzip.compress(list_body("NodeList", []))[:-9], Content_Encoding="gzip"),
    "hung up": hang_up(),
}


@pytest.mark.parametrize("name", CUT)
def test_an_answer_that_is_cut_off_is_asked_for_again(fake: FakeKubeApi, name: str) -> None:
    """A rolling restart of the API servers cuts a page now and then."""
    first = page("NodeList", [{"metadata": {"name": "n0"}}, {"metadata": {"name": "n1"}}], "2")
    fake.script(NODES, CUT[name], first, CUT[name], CUT[name])
    cluster = read(fake)
    assert [item.metadata.name for item in cluster.objects["nodes"]] == [f"n{i}" for i in range(6)]
    assert cluster.problems == ()


def test_a_server_that_refuses_everybody_just_after_its_start_is_asked_again(
    fake: FakeKubeApi,
) -> None:
    """Until it has read its roles, an API server answers 403 to everybody."""
    first = page("NodeList", [{"metadata": {"name": "n0"}}], "2")
    rest = page("NodeList", [{"metadata": {"name": "n1"}}])
    fake.script(NODES, first, hang_up(), status(403), status(403), rest)
    cluster = read(fake)
    assert [item.metadata.name for item in cluster.objects["nodes"]] == ["n0", "n1"]


def test_a_refusal_that_outlasts_the_start_is_an_answer(fake: FakeKubeApi) -> None:
    fake.script(NODES, hang_up(), *[status(403)] * 5)
    assert failure(fake).code is Reason.FORBIDDEN
    asked = [request for request in fake.requests if request.path == NODES]
    assert len(asked) == 1 + QUICK.tries


@pytest.mark.parametrize("name", CUT)
def test_answers_that_are_cut_off_again_and_again_end_the_sync(
    fake: FakeKubeApi, name: str
) -> None:
    fake.script(NODES, page("NodeList", [{"metadata": {"name": "half"}}], "2"), *[CUT[name]] * 20)
    assert failure(fake, replace(QUICK, reconnects=2)).code is Reason.CONNECTION
    tries = [
        request.query["continue"] for request in fake.requests if request.query.get("continue")
    ]
    assert set(tries) == {"2"}
    # A connection that ends without a byte may have been closed while it was idle: once more each.
    assert len(tries) in (3, 4)


class GoesAway:
    """A server that nobody reaches for a while, in the middle of a list."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self, connection: socket.socket, address: object) -> int:
        self.left -= 1
        return errno.ECONNREFUSED if self.left >= 0 else self.real(connection, address)

    real = staticmethod(socket.socket.connect_ex)


@pytest.mark.parametrize("away", [1, 5])
def test_a_server_that_restarts_in_the_middle_of_a_list_costs_nothing(
    fake: FakeKubeApi, monkeypatch: pytest.MonkeyPatch, away: int
) -> None:
    def cut_and_go(handler: object, request: object) -> None:
        monkeypatch.setattr(socket.socket, "connect_ex", lambda *args: gone(*args))
        cut_after(10)(handler, request)  # type: ignore[arg-type]

    gone = GoesAway(away - 1)
    fake.script(PODS, cut_and_go)
    read(fake)
    assert gone.left < 0


def test_a_server_that_stays_away_is_refused(
    fake: FakeKubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_and_go(handler: object, request: object) -> None:
        monkeypatch.setattr(socket.socket, "connect_ex", lambda *_: errno.ECONNREFUSED)
        cut_after(10)(handler, request)  # type: ignore[arg-type]

    fake.script(PODS, cut_and_go)
    assert failure(fake).code is Reason.REFUSED


def test_an_address_that_never_answered_is_given_up_after_three_tries(
    monkeypatch: pytest.MonkeyPatch, fake: FakeKubeApi
) -> None:
    tried = []
    monkeypatch.setattr(
        socket.socket, "connect_ex", lambda *args: tried.append(args) or errno.ECONNREFUSED
    )
    assert failure(fake).code is Reason.REFUSED
    assert len(tried) == 3


@pytest.mark.parametrize("tls", [False, True], ids=["tcp", "tls"])
def test_cancel_is_heard_while_nobody_answers_the_call(tls: bool) -> None:
    """A port that takes calls and then says nothing, as behind some firewalls."""
    asked: list[float] = []
    started = time.monotonic()

    def cancelled() -> bool:
        asked.append(time.monotonic() - started)
        return asked[-1] > 0.3

    full = socket.create_server(("127.0.0.1", 0), backlog=0)
    with contextlib.ExitStack() as calls:
        calls.enter_context(full)
        port = full.getsockname()[1]
        if not tls:  # further calls are not even taken
            for _ in range(4):
                caller = calls.enter_context(socket.socket())
                caller.setblocking(False)
                caller.connect_ex(("127.0.0.1", port))
        scheme = "https" if tls else "http"
        access = ClusterAccess(server=f"{scheme}://127.0.0.1:{port}", token=None)
        with pytest.raises(FetchError) as caught:
            fetch(access, LOOPBACK, limits=FetchLimits(connect_s=60), cancelled=cancelled)
    assert caught.value.code is Reason.CANCELLED


@pytest.mark.parametrize("name", BROKEN)
def test_an_answer_that_is_not_a_whole_list_ends_the_sync(fake: FakeKubeApi, name: str) -> None:
    fake.script(NODES, BROKEN[name], repeat_last=True)
    error = failure(fake)
    assert error.code is Reason.MALFORMED
    assert NODES in error.message
    assert "Log in" not in str(error)


@pytest.mark.parametrize("name", BROKEN)
def test_no_page_before_a_broken_one_survives(fake: FakeKubeApi, name: str) -> None:
    fake.script(NODES, page("NodeList", [{"metadata": {"name": "half"}}], "2"), BROKEN[name])
    assert failure(fake).code is Reason.MALFORMED


@pytest.mark.parametrize("name", BROKEN)
def test_no_traceback_of_a_failure_holds_the_token_not_even_among_its_locals(name: str) -> None:
    with FakeKubeApi(token="CANARY-TOKEN") as server:
        server.add(NODES, "NodeList", [])
        server.add(PODS, "PodList", [])
        server.script(NODES, BROKEN[name])
        error = failure(server)
    told = TracebackException.from_exception(error, capture_locals=True)
    ours = [frame for frame in told.stack if "/fleet/kubernetes/" in frame.filename]
    inside = [frame for frame in ours if "/tests/" not in frame.filename]
    assert len(inside) > 3
    assert "CANARY" not in "".join(str(frame.locals) for frame in inside) + str(error)
    assert "CANARY" not in str(error.__context__)


def test_an_empty_list_may_say_null(fake: FakeKubeApi) -> None:
    fake.script(NODES, page("NodeList", None))
    assert read(fake).objects["nodes"] == ()


def test_one_odd_object_costs_that_object_and_leaves_a_line(fake: FakeKubeApi) -> None:
    fake.script(NODES, page("NodeList", [{"metadata": {"name": "good"}}, {"metadata": 7}]))
    cluster = read(fake)
    assert [item.metadata.name for item in cluster.objects["nodes"]] == ["good"]
    assert len(cluster.problems) == 1


def test_thousands_of_odd_objects_leave_no_garbage_and_a_bounded_number_of_lines() -> None:
    odd = [b'{"metadata":{"name":"p","namespace":"n"},"spec":5}'] * 3000
    decode_items(PODS_RESOURCE, odd)
    gc.collect()
    _, lines = decode_items(PODS_RESOURCE, odd)
    assert gc.collect() < 100
    assert lines[0].startswith("pods n/p: left out")
    assert len(lines) == MAX_PROBLEMS + 1
    assert "left out" in lines[-1]


def test_two_objects_of_one_name_are_one(fake: FakeKubeApi) -> None:
    twins = [{"metadata": {"name": "n", "labels": {"a": str(i)}}} for i in range(2)]
    fake.script(NODES, page("NodeList", twins))
    cluster = read(fake)
    assert [item.metadata.labels for item in cluster.objects["nodes"]] == [{"a": "1"}]
    assert len(cluster.problems) == 1


def test_a_continue_token_that_repeats_is_noticed(fake: FakeKubeApi) -> None:
    fake.script(NODES, page("NodeList", [{}], "same"), repeat_last=True)
    assert failure(fake).code is Reason.MALFORMED
    assert fake.paths().count(NODES) == 2


def test_a_list_without_end_is_stopped_by_the_number_of_pages(fake: FakeKubeApi) -> None:
    fake.script(NODES, *[page("NodeList", [{}], str(i)) for i in range(9)])
    assert failure(fake, replace(QUICK, pages=5)).code is Reason.TOO_LARGE
    assert fake.paths().count(NODES) == 5


def test_a_list_without_end_is_stopped_by_the_number_of_objects(fake: FakeKubeApi) -> None:
    four = [{"metadata": {"name": f"n{i}"}} for i in range(4)]
    fake.script(NODES, *[page("NodeList", four, str(i)) for i in range(9)])
    assert failure(fake, replace(QUICK, objects=10)).code is Reason.TOO_LARGE


def test_a_compressed_bomb_is_stopped_before_it_is_unpacked(fake: FakeKubeApi) -> None:
    bomb = gzip.compress(b" " * 50_000_000, 9)
    assert len(bomb) < 100_000
    fake.script(NODES, raw(bomb, Content_Encoding="gzip"), repeat_last=True)
    assert failure(fake, replace(QUICK, page_bytes=1_000_000)).code is Reason.TOO_LARGE


def test_much_that_unpacks_to_nothing_is_stopped_too(fake: FakeKubeApi) -> None:
    head = b"\x1f\x8b\x08\0\0\0\0\0\0\3"
    empty_block = b"\0\0\0\xff\xff"  # a stored block of deflate, without content
    nothing = raw(head + empty_block * 300_000, Content_Encoding="gzip")
    fake.script(NODES, nothing, repeat_last=True)
    assert failure(fake, replace(QUICK, page_bytes=1_000_000)).code is Reason.TOO_LARGE


def test_cancel_is_asked_for_no_more_than_twice_a_second(fake: FakeKubeApi) -> None:
    asked: list[float] = []

    def cancelled() -> bool:
        asked.append(time.monotonic())
        return False

    read(fake, cancelled=cancelled)
    assert asked
    assert all(later - earlier > 0.4 for earlier, later in pairwise(asked))


def test_a_page_that_is_too_large_is_asked_for_with_fewer_objects(fake: FakeKubeApi) -> None:
    """Ten objects of 30 kB are more than the limit, three are not."""
    large = [{"metadata": {"name": f"n{i}", "labels": {"text": "x" * 30_000}}} for i in range(20)]
    fake.add(NODES, "NodeList", large)
    limits = replace(QUICK, page_bytes=100_000)
    cluster = fetch(fake.access(), LOOPBACK, limits=limits, page_size=10)
    assert len(cluster.objects["nodes"]) == 20 - len(cluster.problems)
    asked = [(r.query["limit"], r.query.get("continue")) for r in fake.requests if r.path == NODES]
    assert asked[:4] == [("10", None), ("5", None), ("2", None), ("2", "2")]
    assert {limit for limit, _ in asked[2:]} == {"2"}


def test_a_page_in_the_middle_that_is_too_large_is_asked_for_anew(fake: FakeKubeApi) -> None:
    bulky = raw(b" " * 200_000 + list_body("NodeList", [{"metadata": {"name": "no"}}]))
    first = page("NodeList", [{"metadata": {"name": "n0"}}, {"metadata": {"name": "n1"}}], "2")
    fake.script(NODES, first, bulky)
    cluster = read(fake, replace(QUICK, page_bytes=100_000))
    assert [item.metadata.name for item in cluster.objects["nodes"]] == [f"n{i}" for i in range(6)]
    asked = [(r.query["limit"], r.query.get("continue")) for r in fake.requests if r.path == NODES]
    assert asked[:3] == [("2", None), ("2", "2"), ("1", "2")]


def test_an_object_that_is_too_large_alone_ends_the_sync(fake: FakeKubeApi) -> None:
    fake.script(NODES, raw(b" " * 2_000_000), repeat_last=True)
    error = failure(fake, replace(QUICK, page_bytes=1_048_576))
    assert error.code is Reason.TOO_LARGE
    assert "One object of the list of nodes is larger than 1 MiB" in error.message
    assert [r.query["limit"] for r in fake.requests if r.path == NODES] == ["2", "1"]


def test_resource_slices_come_in_smaller_pages(fake: FakeKubeApi) -> None:
    fetch(fake.access(), LOOPBACK, limits=QUICK)
    assert [r.query["limit"] for r in fake.requests if r.path == SLICES] == ["100"]
    assert [r.query["limit"] for r in fake.requests if r.path == NODES] == ["500"]


def test_the_bytes_of_all_pages_together_are_bounded(fake: FakeKubeApi) -> None:
    fake.script(NODES, *[raw(b" " * 50_000 + list_body("NodeList", [], str(i))) for i in range(9)])
    assert failure(fake, replace(QUICK, total_bytes=120_000)).code is Reason.TOO_LARGE
    assert fake.paths().count(NODES) == 3


# --- time --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "step", [drip(0.05), drip(0.05, headers=True)], ids=["in the body", "in the headers"]
)
def test_a_slow_drip_ends_at_the_deadline(fake: FakeKubeApi, step: Step) -> None:
    fake.script(NODES, step)
    error = failure(fake, deadline_s=1.0)
    assert error.code is Reason.TIMEOUT
    assert "1 s" in error.message


def test_a_server_that_falls_silent_is_given_up(fake: FakeKubeApi) -> None:
    fake.script(NODES, hang())
    error = failure(fake)
    assert error.code is Reason.TIMEOUT
    assert "silent" in error.message


def test_an_idle_connection_that_the_server_closed_is_opened_again(fake: FakeKubeApi) -> None:
    fake.script(NODES, hang_up())
    assert len(read(fake).objects["nodes"]) == 6


def test_cancel_ends_a_wait_for_the_network(fake: FakeKubeApi) -> None:
    fake.script(NODES, hang())
    started = time.monotonic()
    error = failure(
        fake, replace(QUICK, silence_s=60), cancelled=lambda: time.monotonic() - started > 0.3
    )
    assert error.code is Reason.CANCELLED
    assert PODS not in fake.paths()


def test_cancel_ends_a_pause_between_two_tries(fake: FakeKubeApi) -> None:
    fake.script(NODES, status(429, retry_after="60"), repeat_last=True)
    error = failure(
        fake, replace(QUICK, retry_after_s=100), cancelled=lambda: NODES in fake.paths()
    )
    assert error.code is Reason.CANCELLED


def test_a_deadline_that_has_passed_ends_a_pause(fake: FakeKubeApi) -> None:
    fake.script(NODES, status(429, retry_after="60"), repeat_last=True)
    error = failure(fake, replace(QUICK, retry_after_s=100), deadline_s=0.8)
    assert error.code is Reason.TIMEOUT
