"""The broker is only a bell: lost, doubled, forged or silent, the rows decide."""

from __future__ import annotations

import base64
import json
import os
import pickle
import re
import threading
import time
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now
from kombu import Connection, Queue

from planner.celery import app
from planner.inventory.models import Cluster, Snapshot
from planner.inventory.sync import request_sync_job
from planner.jobs.models import Job
from tests.processes import Process, manage, wait_for
from tests.services.conftest import Stack
from tests.services.fleet_api import add_cluster, fleet_api


def test_fifty_queued_jobs_survive_a_broker_that_loses_everything(stack: Stack) -> None:
    with fleet_api() as api:
        for number in range(50):
            add_cluster(api, f"live-{number}")
        assert stack.redis.llen("sync") == 50
        stack.redis.flushall()
        assert Job.objects.filter(state=Job.State.QUEUED).count() == 50
        stack.worker()
        stack.beat()
        wait_for(
            "all fifty syncs end",
            lambda: Job.objects.filter(state=Job.State.DONE).count() == 50,
            timeout_s=110,
            every_s=0.5,
        )
    assert Snapshot.objects.filter(is_complete=True).count() == 50


def test_duplicate_clicks_make_one_run(stack: Stack) -> None:
    with fleet_api() as api:
        cluster, first = add_cluster(api)
        Job.objects.all().delete()
        assert first is not None
        asked: list[tuple[int, bool]] = []
        start = threading.Barrier(8)

        def click() -> None:
            try:
                start.wait(timeout=10)
                job, is_new = request_sync_job(cluster, by=None)
                asked.append((job.pk, is_new))
            finally:
                connection.close()

        threads = [threading.Thread(target=click) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=30)
        assert len({pk for pk, _ in asked}) == 1
        assert [is_new for _, is_new in asked].count(True) == 1
        stack.worker()
        wait_for("the one run ends", lambda: not Job.objects.active().exists())
        assert Snapshot.objects.count() == 1


def test_two_beats_make_one_run_of_what_is_due(stack: Stack) -> None:
    with fleet_api() as api:
        cluster, job = add_cluster(api)
        stack.worker()
        wait_for("the first sync", lambda: Job.objects.get(pk=job.pk).state == Job.State.DONE)
        Cluster.objects.filter(pk=cluster.pk).update(
            sync_interval_s=3600, next_sync_at=Now() - timedelta(seconds=1)
        )
        stack.beat()
        stack.beat()
        wait_for("the due sync ends", lambda: Snapshot.objects.count() == 2)
        time.sleep(4)  # four more ticks of each beat
        assert Snapshot.objects.count() == 2
        assert Job.objects.filter(kind="sync").count() == 2


class Bomb:
    """Would leave a mark on disk if a worker unpickled it."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.mark),)


def test_pickled_yaml_and_misshapen_messages_change_nothing(stack: Stack, tmp_path: Path) -> None:
    mark = tmp_path / "unpickled"
    with fleet_api() as api, Connection(settings.PLANNER_BROKER_URL) as broker:
        cluster, job = add_cluster(api)
        stack.redis.flushall()
        producer = broker.Producer()
        headers = {"task": "jobs.run_one", "id": "forged", "lang": "py", "argsrepr": ""}
        queue = Queue("sync", routing_key="sync")
        for body, kind, encoding in (
            (pickle.dumps(Bomb(mark)), "application/x-python-serialize", "binary"),
            (b"!!python/object/apply:os.system ['true']", "application/x-yaml", "utf-8"),
            (b"not json", "application/json", "utf-8"),
            (b'{"args": 1}', "application/json", "utf-8"),
        ):
            producer.publish(
                body,
                routing_key="sync",
                declare=[queue],
                content_type=kind,
                content_encoding=encoding,
                headers=headers,
            )
        for argument in ("1", None, -5, 2**70, {"id": job.pk}, [job.pk], 10**9):
            app.send_task("jobs.run_one", args=[argument], queue="sync")
        app.send_task("jobs.run_one", args=[job.pk], queue="sync")
        worker = stack.worker()
        wait_for(
            "the honest message is served",
            lambda: Job.objects.get(pk=job.pk).state == Job.State.DONE,
        )
        assert worker.is_alive()
    assert not mark.exists()
    assert Snapshot.objects.filter(cluster=cluster).count() == 1


def test_messages_carry_ids_only(stack: Stack) -> None:
    with fleet_api(token="CANARY-token-3f9a") as api:
        _cluster, job = add_cluster(api)
        [message] = stack.redis.lrange("sync", 0, -1)
        assert b"CANARY" not in message
        assert base64.b64encode(b"CANARY")[:7] not in message
        body = base64.b64decode(json.loads(message)["body"])
        arguments, keywords, _embed = json.loads(body)
        assert (arguments, keywords) == ([job.pk], {})


ASK = """
import time
from planner.inventory.models import Cluster
from planner.inventory.sync import request_sync_job
began = time.monotonic()
request_sync_job(Cluster.objects.get(), by=None)
print("asked within", round(time.monotonic() - began, 2), "s")
"""


def test_a_silent_broker_holds_up_no_request_and_loses_no_work(stack: Stack) -> None:
    with fleet_api() as api:
        cluster, _job = add_cluster(api)
        Job.objects.all().delete()
        stack.redis.flushall()
        # A process of its own, whose broker refuses every call.
        environment = stack.environment | {"PLANNER_BROKER_URL": "redis://127.0.0.1:1/0"}
        asking = Process("ask", manage("shell", "-v0", "-c", ASK), environment, stack.folder)
        assert asking.wait(60) == 0, asking.output()
        took = re.search(r"asked within ([0-9.]+) s", asking.output())
        assert took is not None, asking.output()
        assert float(took.group(1)) < 3
        job = Job.objects.get()
        assert (job.state, job.rung_at) == (Job.State.QUEUED, None)
        stack.worker()
        stack.beat()
        wait_for(
            "the sweeper rings for it", lambda: Job.objects.get(pk=job.pk).state == Job.State.DONE
        )
    cluster.refresh_from_db()
    assert cluster.current_snapshot is not None
