"""``manage.py prunesnapshots``: delete old snapshots of all clusters."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from planner.inventory import history


class Command(BaseCommand):
    help = "Delete snapshots beyond PLANNER_SNAPSHOTS_KEPT and PLANNER_SNAPSHOT_DAYS."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{history.prune()} snapshots deleted.")
