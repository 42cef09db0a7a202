"""``manage.py synccluster``: ask for a sync, and wait for it if wanted."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from planner.inventory import sync
from planner.inventory.commands import cluster_by_name
from planner.jobs import runner
from planner.jobs.models import Job


class Command(BaseCommand):
    help = "Ask for a sync of a live cluster. A worker does it, or this process with --now."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--team", default="", help="slug of the team that owns it")
        parser.add_argument("--now", action="store_true", help="do it in this process")

    def handle(self, *args: Any, **options: Any) -> None:
        cluster = cluster_by_name(options["name"], options["team"])
        if not cluster.is_live:
            raise CommandError(f"{cluster} comes from files: use importcluster.")
        job, _is_new = sync.request_sync_job(cluster, by=None)
        if not options["now"]:
            self.stdout.write(f"{cluster}: job {job.pk} is queued.")
            return
        runner.run(job.pk)
        job.refresh_from_db()
        if job.state != Job.State.DONE:
            raise CommandError(f"{cluster}: {job.state}. {job.error_message} {job.error_way_out}")
        self.stdout.write(f"{cluster}: {job.result}.")
