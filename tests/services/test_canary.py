"""A cluster's token is nowhere but inside its ciphertext: database, broker, logs of workers."""

from __future__ import annotations

import base64
from urllib.parse import quote

from django.db import connection

from planner.inventory.models import ClusterCredential
from planner.inventory.sync import request_sync_job
from planner.jobs.models import Job
from tests.fakes.kubeapi import status
from tests.processes import wait_for
from tests.services.conftest import Stack
from tests.services.fleet_api import add_cluster, fleet_api

TOKEN = "CANARY/9+zq=token"


def forms_of(secret: str) -> list[bytes]:
    plain = secret.encode()
    shifted = [base64.b64encode(b"x" * n + plain)[4 * (n > 0) : -4] for n in range(3)]
    return [plain, quote(secret, safe="").encode(), plain.hex().encode(), *shifted]


def whole_database() -> bytes:
    """Every table as text, as a dump would hold it."""
    parts: list[bytes] = []
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        tables = [row[0] for row in cursor.fetchall()]
        for table in tables:
            cursor.execute(f'SELECT t::text FROM "{table}" t')
            parts += [row[0].encode() for row in cursor.fetchall()]
    assert len(tables) > 10
    return b"\n".join(parts)


def test_the_token_is_nowhere_outside_its_ciphertext(stack: Stack) -> None:
    seen_by_broker = b""
    with fleet_api(token=TOKEN) as api:
        cluster, job = add_cluster(api)
        seen_by_broker += b"".join(stack.redis.lrange("sync", 0, -1))
        stack.worker()
        wait_for("a sync that works", lambda: Job.objects.get(pk=job.pk).state == "done")
        for code in (401, 403, 500):
            api.script("/api/v1/nodes", status(code), repeat_last=True)
            failing, _ = request_sync_job(cluster, by=None)
            wait_for(
                f"a sync that meets {code}",
                lambda pk=failing.pk: Job.objects.get(pk=pk).state == "failed",  # type: ignore[misc]
            )
            for key in stack.redis.keys("*"):
                kind = stack.redis.type(key)
                value = stack.redis.dump(key) if kind != b"none" else b""
                seen_by_broker += value or b""
    assert ClusterCredential.objects.filter(cluster=cluster).exists()
    places = {
        "database": whole_database(),
        "broker": seen_by_broker,
        "logs": stack.logs().encode(),
    }
    for place, content in places.items():
        assert content
        for form in forms_of(TOKEN):
            assert form not in content, (place, form)
