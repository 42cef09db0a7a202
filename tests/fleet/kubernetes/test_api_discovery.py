"""What a cluster serves is remembered between readings, and never believed where it would hide
something."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fleet.inventory import ReadStatus
from fleet.kubernetes.address import AddressPolicy
from fleet.kubernetes.api import FetchError, Reason, fetch
from fleet.kubernetes.fetching import FetchLimits
from fleet.kubernetes.objects import RawCluster
from fleet.kubernetes.resources import RESOURCES
from fleet.kubernetes.served import Served, api_path
from tests.fakes.kubeapi import FakeKubeApi, redirect, status

LOOPBACK = AddressPolicy((), allow_loopback=True)
QUICK = FetchLimits(connect_s=2, silence_s=2, back_off_s=0.01)
ROOTS = ("/api", "/apis")
NODES, PODS = "/api/v1/nodes", "/api/v1/pods"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"


class Kept:
    """A memory that lasts as long as the test."""

    def __init__(self) -> None:
        self.served: Served | None = None

    def recall(self) -> Served | None:
        return self.served

    def keep(self, served: Served) -> None:
        self.served = served

    def forget(self) -> None:
        self.served = None


def paths() -> dict[str, str]:
    return {f"{api_path(r.group, r.versions[0])}/{r.plural}": r.kind for r in RESOURCES}


@pytest.fixture
def fake() -> Iterator[FakeKubeApi]:
    """A cluster that serves everything that we read."""
    with FakeKubeApi(token=None) as server:
        for path, kind in paths().items():
            server.add(path, f"{kind}List", [])
        yield server


def read(fake: FakeKubeApi, memory: Kept | None) -> RawCluster:
    fake.requests.clear()
    return fetch(fake.access(), LOOPBACK, limits=QUICK, memory=memory)


def asked(fake: FakeKubeApi) -> list[tuple[str, bool]]:
    """Requests for discovery, and whether each only asked if anything has changed."""
    return [
        (request.path, "if-none-match" in request.headers)
        for request in fake.requests
        if request.path in ROOTS
    ]


def statuses(raw: RawCluster) -> dict[str, ReadStatus]:
    return {result.resource: result.status for result in raw.reads}


def test_a_cluster_that_serves_all_that_is_read_is_asked_once(fake: FakeKubeApi) -> None:
    memory = Kept()
    first = read(fake, memory)
    assert asked(fake) == [("/api", False), ("/apis", False)]
    second = read(fake, memory)
    assert asked(fake) == []
    assert second.apis == first.apis
    assert set(statuses(second).values()) == {ReadStatus.READ}


def test_without_a_memory_each_reading_asks(fake: FakeKubeApi) -> None:
    for _ in range(2):
        read(fake, None)
        assert asked(fake) == [("/api", False), ("/apis", False)]


def test_where_something_is_missing_the_server_is_asked_whether_that_still_holds(
    fake: FakeKubeApi,
) -> None:
    fake.remove(SLICES)
    memory = Kept()
    first = read(fake, memory)
    second = read(fake, memory)
    assert asked(fake) == [("/api", True), ("/apis", True)]
    assert second.apis == first.apis
    assert statuses(second)["resourceslices.resource.k8s.io"] is ReadStatus.NOT_SERVED


def test_what_was_installed_since_is_read_at_the_next_sync(fake: FakeKubeApi) -> None:
    fake.remove(SLICES)
    memory = Kept()
    read(fake, memory)
    fake.add(SLICES, "ResourceSliceList", [])
    assert statuses(read(fake, memory))["resourceslices.resource.k8s.io"] is ReadStatus.READ


def test_what_was_removed_since_is_found_out_and_forgotten(fake: FakeKubeApi) -> None:
    memory = Kept()
    read(fake, memory)
    fake.remove(SLICES)
    fake.add("/apis/resource.k8s.io/v1beta1/resourceslices", "ResourceSliceList", [])
    raw = read(fake, memory)
    assert asked(fake) == [("/api", False), ("/apis", False)]
    assert statuses(raw)["resourceslices.resource.k8s.io"] is ReadStatus.READ
    assert "resourceslices" in raw.apis["resource.k8s.io/v1beta1"]  # type: ignore[index]
    assert memory.served is not None
    assert "resourceslices" not in memory.served.apis["resource.k8s.io/v1"]


@pytest.mark.parametrize("path", [NODES, PODS])
def test_a_server_without_nodes_or_pods_is_no_api_server_whatever_memory_says(
    fake: FakeKubeApi, path: str
) -> None:
    memory = Kept()
    read(fake, memory)
    fake.remove(path)
    with pytest.raises(FetchError) as caught:
        read(fake, memory)
    assert caught.value.code is Reason.NOT_FOUND
    assert asked(fake) == [("/api", False), ("/apis", False)]


def test_an_answer_with_an_api_that_does_not_respond_is_not_kept(fake: FakeKubeApi) -> None:
    memory = Kept()
    fake.discovery = "legacy"
    fake.script("/apis/resource.k8s.io/v1", status(503), repeat_last=True)
    read(fake, memory)
    assert memory.served is None


def test_a_server_that_may_not_be_asked_is_not_remembered(fake: FakeKubeApi) -> None:
    memory = Kept()
    fake.script("/apis", status(403))
    assert read(fake, memory).apis is None
    assert memory.served is None


def test_unchanged_is_no_answer_to_somebody_who_knows_nothing(fake: FakeKubeApi) -> None:
    fake.script("/api", redirect("https://elsewhere.example", 304))
    with pytest.raises(FetchError) as caught:
        read(fake, Kept())
    assert caught.value.code is Reason.REDIRECT
