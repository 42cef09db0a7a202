"""What a process needs before it can serve: the database and its migrations."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor


@dataclass(slots=True)
class Readiness:
    """Answers by question; ``ready`` is whether pages can be served."""

    ready: bool = True
    checks: dict[str, str] = field(default_factory=dict)
    warnings: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {"ready": self.ready, "checks": self.checks, "warnings": self.warnings}


_warnings: dict[str, Callable[[], str]] = {}


def register_warning(name: str, warning: Callable[[], str]) -> None:
    """Ask ``warning`` when the database can be used; it answers with a sentence or ""."""
    _warnings[name] = warning


def _broker_heard() -> bool:
    """Whether something listens at the broker's address (no login, one second)."""
    parts = urlsplit(settings.PLANNER_BROKER_URL)
    try:
        with socket.create_connection((parts.hostname or "localhost", parts.port or 6379), 1):
            return True
    except OSError:
        return False


def readiness() -> Readiness:
    """Database and migrations decide. A broker or a job loop that is away only warns, since rows
    wait for them."""
    report = Readiness()
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        report.ready = False
        report.checks["database"] = f"not usable ({type(error).__name__})"
        return report
    report.checks["database"] = "ok"
    report.checks["migrations"] = f"{len(missing)} to apply" if missing else "ok"
    report.ready = not missing
    if settings.PLANNER_BROKER_URL and not _broker_heard():
        report.warnings["broker"] = "not reachable: jobs start late, by the job loop or the sweeper"
    if report.ready:
        found = {name: warning() for name, warning in _warnings.items()}
        report.warnings |= {name: text for name, text in found.items() if text}
    return report
