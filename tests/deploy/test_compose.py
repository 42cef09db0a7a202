"""docker-compose.yml as data: what it starts exists, and it publishes no database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


def test_only_the_web_port_is_published_and_only_on_this_host(services: dict[str, Any]) -> None:
    published = {name: s["ports"] for name, s in services.items() if "ports" in s}
    assert published == {"web": ["127.0.0.1:8000:8000"]}


def test_images_are_pinned_to_a_version(services: dict[str, Any]) -> None:
    foreign = {s["image"] for s in services.values() if "build" not in s}
    assert foreign == {"postgres:17", "redis:8"}


def test_every_queue_of_jobs_has_a_worker(services: dict[str, Any]) -> None:
    from planner.jobs.models import Job

    served = set()
    for service in services.values():
        command = service.get("command", [])
        if "worker" in command:
            served |= set(command[command.index("-Q") + 1].split(","))
    assert served == set(Job.Queue.values)


def test_no_secret_has_a_default(services: dict[str, Any]) -> None:
    for name in ("PLANNER_SECRET_KEY", "PLANNER_CREDENTIAL_KEYS", "PLANNER_DATABASE_URL"):
        assert ":?" in services["web"]["environment"][name]
    assert ":?" in services["postgres"]["environment"]["POSTGRES_PASSWORD"]


def test_commands_run_as_they_stand(services: dict[str, Any]) -> None:
    from django.core.management import get_commands

    for service in services.values():
        command = service.get("command", [])
        if command[:2] == ["python", "manage.py"]:
            assert command[2] in get_commands()
        elif command and command[0] == "celery":
            assert command[1:3] == ["-A", "planner"]
