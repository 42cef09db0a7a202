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
from fleet.read_words import read_words
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
        self.is_fresh = True

    def recall(self) -> Served | None:
        return self.served if self.is_fresh else None

    def last(self) -> Served | None:
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


ORDINARY = (
    NODES, PODS, "/api/v1/namespaces", "/api/v1/resourcequotas", "/apis/apps/v1/deployments",
)  # fmt: skip


@pytest.mark.parametrize("everything", [True, False], ids=["all that is read", "an ordinary one"])
def test_a_cluster_is_asked_once_within_ten_minutes(fake: FakeKubeApi, everything: bool) -> None:
    if not everything:
        for path in set(paths()) - set(ORDINARY):
            fake.remove(path)
    memory = Kept()
    first = read(fake, memory)
    assert asked(fake) == [("/api", False), ("/apis", False)]
    second = read(fake, memory)
    assert asked(fake) == []
    assert second.apis == first.apis
    assert statuses(second) == statuses(first)


def test_without_a_memory_each_reading_asks(fake: FakeKubeApi) -> None:
    for _ in range(2):
        read(fake, None)
        assert asked(fake) == [("/api", False), ("/apis", False)]


def test_an_absence_that_is_remembered_says_how_old_it_may_be(fake: FakeKubeApi) -> None:
    fake.remove(SLICES)
    memory = Kept()
    said = []
    for _ in range(2):
        (absent,) = (
            result for result in read(fake, memory).reads if result.status is ReadStatus.NOT_SERVED
        )
        said.append(read_words(absent.status, absent.reason, absent.number))
    assert said == [
        "The cluster does not serve it.",
        "The cluster did not serve it when it was asked last, at most 10 minutes ago.",
    ]


def test_after_ten_minutes_the_server_is_asked_whether_that_still_holds(fake: FakeKubeApi) -> None:
    memory = Kept()
    first = read(fake, memory)
    memory.is_fresh = False
    second = read(fake, memory)
    assert asked(fake) == [("/api", True), ("/apis", True)]
    assert second.apis == first.apis


def test_what_was_installed_since_is_read_after_ten_minutes_at_the_latest(
    fake: FakeKubeApi,
) -> None:
    key = "resourceslices.resource.k8s.io"
    fake.remove(SLICES)
    memory = Kept()
    read(fake, memory)
    fake.add(SLICES, "ResourceSliceList", [])
    assert statuses(read(fake, memory))[key] is ReadStatus.NOT_SERVED
    memory.is_fresh = False
    assert statuses(read(fake, memory))[key] is ReadStatus.READ


@pytest.mark.parametrize("path", [NODES, PODS])
def test_a_memory_without_nodes_or_pods_is_none(fake: FakeKubeApi, path: str) -> None:
    memory = Kept()
    read(fake, memory)
    assert memory.served is not None
    left = tuple(name for name in memory.served.apis["v1"] if not path.endswith(name))
    memory.served = Served({**memory.served.apis, "v1": left})
    read(fake, memory)
    assert asked(fake) == [("/api", False), ("/apis", False)]


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


def test_where_memory_is_wrong_in_one_thing_what_it_lacks_is_asked_for_too(
    fake: FakeKubeApi,
) -> None:
    job_sets = "/apis/jobset.x-k8s.io/v1/jobsets"
    fake.remove(job_sets)
    memory = Kept()
    read(fake, memory)
    fake.remove(SLICES)
    fake.add(job_sets, "JobSetList", [])
    found = statuses(read(fake, memory))
    assert found["jobsets.jobset.x-k8s.io"] is ReadStatus.READ
    assert found["resourceslices.resource.k8s.io"] is ReadStatus.NOT_SERVED


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
