"""What an importing or connecting person is told comes in that person's language."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.kubernetes.address import AddressError, AddressPolicy, check, parse_networks
from fleet.kubernetes.api import FetchError, fetch
from fleet.kubernetes.dump import DumpError, Limits, Source, load
from fleet.kubernetes.fetching import FetchLimits
from fleet.kubernetes.kubeconfig import AccessError, from_fields, in_cluster, parse
from fleet.kubernetes.reader import read
from tests.fakes.kubeapi import FakeKubeApi, status

pytestmark = pytest.mark.usefixtures("shouting")

OPEN = AddressPolicy(parse_networks("10.0.0.0/8"))
NODES = "/api/v1/nodes"


def refusal(url: str) -> str:
    with pytest.raises(AddressError) as caught:
        check(url, OPEN)
    return caught.value.message


@pytest.mark.parametrize(
    ("url", "values"),
    [
        ("ftp://10.0.0.1", ()),
        ("https://", ()),
        ("https://a:b@10.0.0.1", ()),
        ("https://10.0.0.1?x", ()),
        ("https://10.0.0.1:0", ()),
        ("https://10.0.0.1 ", ()),
        ("https://" + "a" * 3000, ()),
        ("https://a..b", ("a..b",)),
        ("https://169.254.169.254", ()),
        ("https://169.254.1.1", ()),
        ("https://[::ffff:10.0.0.1]", ("::ffff:10.0.0.1", "::ffff:a00:1")),
        ("https://224.0.0.1", ()),
        ("https://0.0.0.0", ()),
        ("https://240.0.0.1", ()),
        ("https://127.0.0.1", ()),
        ("http://10.0.0.1", ()),
        ("https://192.168.0.1", ()),
    ],
)
def test_refused_address_is_explained_in_the_readers_language(
    url: str, values: tuple[str, ...]
) -> None:
    message = refusal(url)
    for value in values:
        message = message.replace(value, "")
    assert message.isupper()


@pytest.mark.parametrize(
    "text",
    [
        "a: [",
        "a: &x 1",
        "a: 1\na: 2",
        "apiVersion: v2",
        "kind: List",
        "- a",
        "contexts: {}",
        "contexts: []",
        "unheard: x",
        "x" * 70_000,
        "clusters: [{name: a, cluster: {server: 'https://10.0.0.1', proxy-url: x}}]\n"
        "contexts: [{name: a, context: {cluster: a}}]",
        "clusters: [{name: a, cluster: {server: 'https://10.0.0.1'}}]\n"
        "contexts: [{name: a, context: {cluster: a, user: a}}]\n"
        "users: [{name: a, user: {exec: {command: x}}}]",
        "clusters: [{name: a, cluster: {server: 'https://10.0.0.1'}}]\n"
        "contexts: [{name: a, context: {cluster: a}}]",
    ],
)
def test_refused_kubeconfig_is_explained_in_the_readers_language(text: str) -> None:
    with pytest.raises(AccessError) as caught:
        parse(text)
    assert caught.value.message.isupper()
    assert caught.value.way_out.isupper()


def test_other_ways_in_are_explained_in_the_readers_language(tmp_path: Path) -> None:
    for fields in (
        ("https://10.0.0.1", "", ""),
        ("http://10.0.0.1", "t", ""),
        ("https://10.0.0.1", "a b", ""),
        ("https://10.0.0.1", "t", "no certificate"),
        ("nowhere", "t", ""),
    ):
        with pytest.raises(AccessError) as caught:
            from_fields(*fields)
        assert caught.value.message.isupper(), fields
        assert caught.value.way_out.replace("https", "").isupper(), fields
    with pytest.raises(AccessError) as caught:
        in_cluster(tmp_path)
    assert caught.value.message.isupper()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\x01",
        b"\x1f\x8bbroken",
        b'{"kind": "List"',
        b"{}",
        b'{"kind": 1}',
        b"a: [",
        b"a: &x 1\nb: *x",
        b"text",
        b"x" * 3000,
    ],
)
def test_unusable_file_is_explained_in_the_readers_language(data: bytes) -> None:
    with pytest.raises(DumpError) as caught:
        load([Source("7", data)], Limits(raw_bytes=2000))
    # What a decoder says itself stands in brackets or after a colon, and stays English.
    own = caught.value.message.partition("(")[0].partition(": ")[0]
    assert own.isupper()
    assert caught.value.place.isupper() or caught.value.place == "7"


def test_what_is_kept_with_the_inventory_stays_english() -> None:
    odd = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": 7}},
    ]
    documents = json.dumps({"kind": "List", "items": odd}) + '{"no": "kind"}'
    inventory = read(load([Source("f.json", documents.encode())]))
    assert len(inventory.problems) == 3
    assert not any(line.isupper() for line in inventory.problems)
    assert any("f.json, document 2: no kind, left out" in line for line in inventory.problems)
    assert inventory.nodes[0].not_schedulable_reason == "no Ready condition"
    assert all(result.reason.islower() or not result.reason for result in inventory.reads)  # codes


@pytest.fixture
def fake() -> Iterator[FakeKubeApi]:
    with FakeKubeApi(token="secret") as server:
        server.add(NODES, "NodeList", [])
        server.add("/api/v1/pods", "PodList", [])
        yield server


@pytest.mark.parametrize("code", [401, 403, 429, 500, 418])
def test_failed_sync_is_explained_in_the_readers_language(fake: FakeKubeApi, code: int) -> None:
    fake.script(NODES, *[status(code)] * 4)
    with pytest.raises(FetchError) as caught:
        fetch(
            fake.access(),
            AddressPolicy((), allow_loopback=True),
            limits=FetchLimits(back_off_s=0.01),
        )
    assert caught.value.message.replace(NODES, "").replace("nodes", "").isupper()
    assert caught.value.way_out.isupper()
