"""Real PostgreSQL, Redis and Celery. Started by ``make test-services``; without them this fails."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings
from django.db import connection

from tests.processes import Process, celery

HERE = Path(__file__).resolve().parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Real processes need more time on a busy machine than a unit test does."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(240))


@pytest.fixture(scope="session", autouse=True)
def services_are_there() -> None:
    if not settings.PLANNER_BROKER_URL or connection.vendor != "postgresql":
        pytest.fail("tests/services need PostgreSQL and Redis: run `make test-services`")


class Stack:
    """Celery processes on the test database, for as long as a test lasts."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder, self.environment = folder, environment
        self.processes: list[Process] = []
        self.redis = redis.Redis.from_url(settings.PLANNER_BROKER_URL)

    def _start(self, name: str, command: list[str]) -> Process:
        process = Process(name, command, self.environment, self.folder)
        self.processes.append(process)
        return process

    def worker(self, queues: str = "sync,solve") -> Process:
        return self._start(
            "worker",
            celery("worker", "-Q", queues, "-c", "1", "--without-gossip", "--without-mingle"),
        )

    def beat(self) -> Process:
        schedule = self.folder / f"beat-{len(self.processes)}"
        return self._start("beat", celery("beat", "-s", str(schedule)))

    def logs(self) -> str:
        return "\n".join(f"--- {p.log.name}\n{p.output()[-4000:]}" for p in self.processes)


@pytest.fixture
def stack(transactional_db: None, tmp_path: Path) -> Iterator[Stack]:
    """The stack on an empty Redis, with short leases so that a killed worker is missed soon."""
    database: dict[str, Any] = connection.settings_dict
    url = f"postgres://{database['USER']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
    stack = Stack(
        tmp_path,
        {
            "DJANGO_SETTINGS_MODULE": "planner.settings",
            "PLANNER_DATABASE_URL": url,
            "PLANNER_BROKER_URL": settings.PLANNER_BROKER_URL,
            "PLANNER_DATA_DIR": os.environ["PLANNER_DATA_DIR"],
            "PLANNER_JOB_LEASE_S": "5",
            "PLANNER_TICK_S": "1",
            "PLANNER_RING_AGAIN_S": "2",
            "C_FORCE_ROOT": "1",
        },
    )
    stack.redis.flushall()
    yield stack
    for process in stack.processes:
        process.end(timeout_s=5)
    stack.redis.flushall()
