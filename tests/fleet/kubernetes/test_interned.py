"""Equal values are held once, and what is held is bounded whatever a cluster sends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fleet.kubernetes import interned
from fleet.kubernetes.address import AddressPolicy
from fleet.kubernetes.api import FetchError, Reason, fetch
from fleet.kubernetes.fetching import FetchLimits
from fleet.kubernetes.interned import Interned
from tests.fakes.kubeapi import FakeKubeApi

LOOPBACK = AddressPolicy((), allow_loopback=True)


def fresh(text: str) -> str:
    """An equal text that is another object."""
    return "".join([text[:1], text[1:]])


def test_equal_values_are_one() -> None:
    same = Interned()
    first = same.text(fresh("node-a"))
    assert same.text(fresh("node-a")) is first
    made: list[list[int]] = []

    def make() -> list[int]:
        made.append([1])
        return made[-1]

    assert same.value({"a": 1}, make) is same.value({"a": 1}, make)
    assert len(made) == 1
    assert same.unshared == 0


def test_beyond_its_bytes_a_memory_only_passes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interned, "_KEPT_BYTES", 10_000)
    same = Interned()
    kept = same.text(fresh("short"))
    for number in range(100):
        text = f"{number:03}" * 100
        assert same.text(text) == text
        assert same.value([text], lambda text=text: text) == text  # type: ignore[misc]
    assert same.text(fresh("short")) is kept
    late = fresh("x" * 300)
    assert same.text(late) is late
    assert same.text(fresh("x" * 300)) is not late
    assert same.unshared > 100 * 300


def test_a_key_that_is_too_long_is_counted_and_not_kept() -> None:
    same = Interned()
    long = ["x" * 50_000]
    assert same.value(long, lambda: 1) == 1
    assert same.value(long, lambda: 2) == 2
    assert same.unshared >= 100_000


@pytest.fixture
def hostile() -> Iterator[FakeKubeApi]:
    """Pods that have nothing in common: each with a long selector of its own."""
    with FakeKubeApi(token=None) as fake:
        fake.add("/api/v1/nodes", "NodeList", [{"metadata": {"name": "a"}}])
        pods = [
            {
                "metadata": {"name": f"p{i}", "namespace": "n"},
                "spec": {"nodeSelector": {f"k{i}-{j}": "v" * 60 for j in range(50)}},
                "status": {"phase": "Pending"},
            }
            for i in range(200)
        ]
        fake.add("/api/v1/pods", "PodList", pods)
        yield fake


def test_pods_without_anything_in_common_end_the_sync_before_they_fill_the_memory(
    hostile: FakeKubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interned, "_KEPT_BYTES", 100_000)
    limits = FetchLimits(unshared_bytes=200_000)
    with pytest.raises(FetchError) as caught:
        fetch(hostile.access(), LOOPBACK, limits=limits, page_size=20)
    assert caught.value.code is Reason.TOO_LARGE
    assert hostile.paths().count("/api/v1/pods") < 10
    raw = fetch(hostile.access(), LOOPBACK, page_size=20)
    assert raw.pods.total == 200, "within the limit all of them are read"
