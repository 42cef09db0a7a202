"""One secret goes everywhere a secret can go, and must be found nowhere but in ciphertext."""

from __future__ import annotations

import base64
import logging
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from planner.accounts.models import User
from planner.inventory import secrets
from planner.inventory.models import Cluster, ClusterCredential, Snapshot
from planner.jobs import runner
from planner.jobs.models import Job
from tests.fakes.kubeapi import Authority, FakeKubeApi, raw, status
from tests.planner.inventory.builders import node, pod

pytestmark = pytest.mark.django_db(transaction=True)

CANARY = "CANARY-7f3a/9+c1=="
FORMS = tuple(
    form.encode()
    for form in (
        CANARY,
        base64.b64encode(CANARY.encode()).decode(),
        quote(CANARY, safe=""),
    )
)


def assert_absent(data: bytes | str, where: str) -> None:
    raw_bytes = data.encode() if isinstance(data, str) else data
    for form in FORMS:
        assert form not in raw_bytes, where


@pytest.fixture
def fake() -> Iterator[FakeKubeApi]:
    authority = Authority()
    with FakeKubeApi(tls=authority.server(), ca_pem=authority.pem, token=CANARY) as server:
        server.add("/api/v1/nodes", "NodeList", [node("a")])
        server.add("/api/v1/pods", "PodList", [pod("p", "a", TOKEN=CANARY)])
        yield server


def database_bytes() -> bytes:
    """Everything the database holds: as rows for any engine, as the dump of SQLite."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT * FROM "{table}"')
            found.extend(repr(row).encode() for row in cursor.fetchall())
            cursor.execute(f'SELECT * FROM "{table}"')
            found.extend(
                bytes(cell)
                for row in cursor.fetchall()
                for cell in row
                if isinstance(cell, bytes | memoryview)
            )
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite" and Path(str(name)).is_file():
        found.append(Path(str(name)).read_bytes())
    return b"\n".join(found)


def pages(cluster: Cluster) -> list[str]:
    of_cluster = [
        reverse(f"inventory:cluster-{page}", args=[cluster.uuid])
        for page in ("detail", "topology", "running", "readiness", "readiness-csv", "edit")
    ]
    lists = ("overview", "cluster-list", "cluster-csv", "cluster-add", "node-list", "node-csv")
    return [
        *of_cluster,
        *(reverse(f"inventory:{page}") for page in lists),
        reverse("inventory:snapshot-list", args=[cluster.uuid]),
        reverse("inventory:readiness-csv"),
        reverse("accounts:audit-list"),
        reverse("frame:search") + "?q=CANARY",
    ]


def test_a_token_is_found_nowhere_outside_ciphertext(
    ada: User,
    fake: FakeKubeApi,
    client_for: Callable[..., Client],
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    client = client_for(ada)
    form: dict[str, Any] = {
        "name": "prod",
        "address": fake.url,
        "token": CANARY,
        "ca": fake.ca_pem,
        "sync_interval_s": "300",
    }
    create = reverse("inventory:cluster-create", args=["address"])
    refused = [
        client.post(create, form | {"name": "Not A Name"}),
        client.post(create, form | {"ca": "not PEM"}),
        client.post(create, form | {"address": "http://127.0.0.1:1"}),
        client.post(create, form | {"address": "https://169.254.169.254"}),
        client.post(create, form | {"token": CANARY + " with a space"}),
        client.post(
            reverse("inventory:cluster-create", args=["kubeconfig"]),
            {"name": "x", "kubeconfig": f"users: [{{name: u, user: {{token: '{CANARY}'}}}}]"},
        ),
    ]
    for response in refused:
        assert response.status_code == 422
        assert_absent(response.content, "a form that came back")

    assert client.post(create, form).status_code == 302
    cluster = Cluster.objects.get()
    outcomes = []
    for step in (None, status(401), status(403), status(500), raw(b"<html>"), raw(b"{")):
        if step is not None:
            fake.script("/api/v1/nodes", step, repeat_last=True)
        client.post(reverse("inventory:cluster-sync", args=[cluster.uuid]))
        job = Job.objects.latest("pk")
        runner.run(job.pk)
        job.refresh_from_db()
        outcomes.append(job.state)
        for page in pages(cluster):
            assert_absent(client.get(page).content, page)
    assert outcomes[0] == "done"
    assert set(outcomes[1:]) == {"failed"}

    edit = reverse("inventory:cluster-edit", args=[cluster.uuid])
    wrong = client.post(
        edit, {"name": "prod", "version": "1", "address": fake.url, "token": CANARY, "ca": "x"}
    )
    assert wrong.status_code == 422
    assert_absent(wrong.content, "edit form")
    tested = client.post(reverse("inventory:cluster-test", args=[cluster.uuid]))
    assert_absent(tested.content, "test connection")
    assert_absent(client.get("/nothing-here").content, "error page")
    call_command("rotatecredentials")

    assert_absent(database_bytes(), "database")
    for snapshot in Snapshot.objects.all():
        assert_absent(zlib.decompress(bytes(snapshot.value)), "unpacked inventory")
    assert_absent(caplog.text, "log")
    output = capsys.readouterr()
    assert_absent(output.out + output.err, "output")
    sealed = ClusterCredential.objects.get().sealed
    assert secrets.open_sealed(bytes(sealed), cluster.uuid).token == CANARY
    shown = client.get(edit).content.decode()
    assert ClusterCredential.objects.get().fingerprint in shown


def test_rotation_seals_under_the_first_key_and_the_old_one_may_go(
    ada: User, fake: FakeKubeApi, client_for: Callable[..., Client], settings: Any
) -> None:
    client_for(ada).post(
        reverse("inventory:cluster-create", args=["address"]),
        {
            "name": "prod",
            "address": fake.url,
            "token": CANARY,
            "ca": fake.ca_pem,
            "sync_interval_s": "0",
        },
    )
    old = list(settings.PLANNER_CREDENTIAL_KEYS)
    new = "B" * 43 + "="
    settings.PLANNER_CREDENTIAL_KEYS = [new, *old]
    call_command("rotatecredentials")
    settings.PLANNER_CREDENTIAL_KEYS = [new]
    cluster = Cluster.objects.get()
    sealed = ClusterCredential.objects.get().sealed
    assert secrets.open_sealed(bytes(sealed), cluster.uuid).token == CANARY
    settings.PLANNER_CREDENTIAL_KEYS = ["C" * 43 + "="]
    with pytest.raises(CommandError, match="prod"):
        call_command("rotatecredentials")
