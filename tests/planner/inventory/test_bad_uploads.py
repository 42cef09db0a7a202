"""Bad files: a clear message that names the place, nothing stored, never a 500."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.accounts.models import AuditEvent, Team, User
from planner.inventory.models import Cluster, Snapshot
from tests.planner.inventory.builders import dump, node

GOOD = dump(node("a")).data
BOMB = b"a: &a [x, x]\n" + b"".join(
    b"%c: &%c [*%c, *%c]\n" % (98 + i, 98 + i, 97 + i, 97 + i) for i in range(20)
)

BAD: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \n\t ",
    "truncated": GOOD[:-40],
    "binary": bytes(range(256)) * 40,
    "text": b"NAME   STATUS   ROLES\nnode-1 Ready  <none>\n",
    "html": b"<!doctype html><title>Log in</title>",
    "number": b"17",
    "string": b'"nodes"',
    "null": b"null",
    "array": b"[1, 2, 3]",
    "deep-json": b"[" * 100_000,
    "deep-object": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "deep-yaml": b"a: " + b"[" * 5_000 + b"]" * 5_000,
    "yaml-bomb": BOMB,
    "yaml-tag": b"!!python/object/apply:os.system ['true']",
    "no-kind": b'{"items": []}',
    "not-a-cluster": b'{"apiVersion": "v1", "kind": "Secret", "data": {"a": "Yg=="}}',
    "items-text": b'{"apiVersion": "v1", "kind": "List", "items": "x"}',
    "half-gzip": gzip.compress(GOOD)[:60],
    "twice-gzip": gzip.compress(gzip.compress(GOOD)),
    "gzip-bomb": gzip.compress(b"\0" * 20 * 2**20),
    "utf16-half": b"\xff\xfea",
}
ODD: dict[str, Any] = {
    "name-number": {"metadata": {"name": 7}},
    "name-missing": {"metadata": {}},
    "metadata-list": {"metadata": []},
    "status-text": {"status": "Ready"},
    "labels-nested": {"metadata": {"name": "a", "labels": {"x": {"y": 1}}}},
    "capacity-text": {"status": {"capacity": {"nvidia.com/gpu": "eight"}}},
    "capacity-huge": {"status": {"capacity": {"nvidia.com/gpu": "9" * 400}}},
    "surrogate": {"metadata": {"name": "\ud800"}},
    "nul": {"metadata": {"name": "a\0b", "labels": {"topology.kubernetes.io/zone": "\0"}}},
}


def post(client: Client, data: bytes, name: str = "nodes.json") -> Any:
    address = reverse("inventory:cluster-create", args=["files"])
    return client.post(address, {"name": "prod", "files": SimpleUploadedFile(name, data)})


@pytest.mark.parametrize("kind", sorted(BAD))
def test_a_bad_file_gets_a_message_with_its_name_and_stores_nothing(
    kind: str, ada: User, client_for: Callable[..., Client]
) -> None:
    response = post(client_for(ada), BAD[kind])
    assert response.status_code == 422
    text = response.content.decode()
    assert "nodes.json" in text or "empty" in text
    assert not Cluster.objects.exists()
    assert not Snapshot.objects.exists()
    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize("kind", sorted(ODD))
def test_an_odd_object_costs_at_most_itself(
    kind: str, ada: User, client_for: Callable[..., Client]
) -> None:
    client = client_for(ada)
    odd = {"apiVersion": "v1", "kind": "Node", **ODD[kind]}
    response = post(client, json.dumps({"kind": "List", "items": [odd, node("good")]}).encode())
    assert response.status_code in (302, 422)
    if response.status_code == 302:
        snapshot = Snapshot.objects.get()
        assert snapshot.nodes.filter(name="good").exists()
        for name in snapshot.nodes.values_list("name", flat=True):
            address = reverse("inventory:node-detail", args=[snapshot.cluster.uuid, name])
            assert client.get(address).status_code == 200
    for page in ("overview", "node-list", "node-csv", "cluster-list", "readiness"):
        assert client.get(reverse(f"inventory:{page}")).status_code == 200


@pytest.mark.parametrize(
    "data",
    [
        b'{"apiVersion": "v1", "kind": "List", "items": null}',
        b'{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "\xff\xfe"}}',
    ],
)
def test_a_file_of_which_nothing_is_left_is_an_empty_cluster_whose_pages_open(
    data: bytes, ada: User, client_for: Callable[..., Client]
) -> None:
    client = client_for(ada)
    assert post(client, data).status_code == 302
    cluster = Cluster.objects.get()
    assert cluster.current_snapshot is not None
    assert cluster.current_snapshot.node_count == 0
    for page in ("detail", "topology", "running", "readiness"):
        address = reverse(f"inventory:cluster-{page}", args=[cluster.uuid])
        assert client.get(address).status_code == 200
    assert client.get(reverse("inventory:overview")).status_code == 200


def test_a_form_without_a_file_says_so(ada: User, client_for: Callable[..., Client]) -> None:
    address = reverse("inventory:cluster-create", args=["files"])
    response = client_for(ada).post(address, {"name": "prod"})
    assert response.status_code == 422
    assert "required" in response.content.decode()


def test_more_than_the_limit_is_cut_off_and_said(
    ada: User, client_for: Callable[..., Client], settings: Any
) -> None:
    settings.PLANNER_UPLOAD_MIB = 1
    response = post(client_for(ada), b" " * (2 * 2**20))
    assert response.status_code == 422
    assert "1 MiB" in response.content.decode()
    assert not Cluster.objects.exists()


def test_the_limit_counts_all_files_together(
    ada: User, client_for: Callable[..., Client], settings: Any
) -> None:
    settings.PLANNER_UPLOAD_MIB = 1
    files = [SimpleUploadedFile(f"{n}.json", GOOD + b" " * 600_000) for n in range(3)]
    address = reverse("inventory:cluster-create", args=["files"])
    response = client_for(ada).post(address, {"name": "prod", "files": files})
    assert response.status_code == 422
    assert not Cluster.objects.exists()


def test_a_large_file_for_a_form_that_takes_none_is_only_dropped(
    ada: User, client_for: Callable[..., Client], settings: Any
) -> None:
    settings.PLANNER_UPLOAD_MIB = 1
    address = reverse("inventory:cluster-create", args=["kubeconfig"])
    files = {"name": "prod", "files": SimpleUploadedFile("x", b" " * (2 * 2**20))}
    assert client_for(ada).post(address, files).status_code == 422


@pytest.mark.parametrize("name", ["", "Prod", "a b", "-a", "a" * 64, "a/../b", "<b>", "あ", "a\0"])
def test_a_bad_name_is_a_message(name: str, ada: User, client_for: Callable[..., Client]) -> None:
    address = reverse("inventory:cluster-create", args=["files"])
    files = SimpleUploadedFile("nodes.json", GOOD)
    assert client_for(ada).post(address, {"name": name, "files": files}).status_code == 422
    assert not Cluster.objects.exists()


QUERIES = (
    "sort=-free", "sort=nonsense", "sort=" + "x" * 5000, "page=0", "page=-1", "page=99999999999",
    "page=x", "free=-1", "free=9999999999999999999999", "free=x", "free=1e9", "state=x",
    "cluster=%00", "text=%00", "text=%25_%5C", "text=" + "a" * 5000, "domain=rack:%00", "domain=:",
    "domain=rack:r1", "domain=x%27%22:y", "domain=" + "a:b/" * 200, "model=%F0%9F%92%A9",
    "kind=cpu", "kind=all&sort=stranded,-name", "per_page=100000", "pool=(none)&model=(unknown)",
)  # fmt: skip


@pytest.mark.parametrize("page", ["node-list", "node-csv", "overview", "readiness"])
def test_no_query_makes_a_page_fail(
    page: str, ada: User, client_for: Callable[..., Client]
) -> None:
    client = client_for(ada)
    post(client, GOOD)
    for query in QUERIES:
        response = client.get(f"{reverse(f'inventory:{page}')}?{query}")
        assert response.status_code == 200, query[:80]


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(at=st.integers(0, len(GOOD) - 1), byte=st.integers(0, 255), cut=st.booleans())
def test_a_damaged_file_never_makes_the_page_fail(
    at: int, byte: int, cut: bool, team: Team, ada: User, client_for: Callable[..., Client]
) -> None:
    damaged = GOOD[:at] if cut else GOOD[:at] + bytes([byte]) + GOOD[at + 1 :]
    assert post(client_for(ada), damaged).status_code in (302, 422)
    Cluster.objects.update(current_snapshot=None)
    Cluster.objects.all().delete()
