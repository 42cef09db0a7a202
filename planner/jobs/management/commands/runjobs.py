"""``manage.py runjobs``: the job loop of the embedded default (no broker, no Celery)."""

from __future__ import annotations

import argparse
import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from planner.jobs.loop import JobLoop
from planner.jobs.models import Job


class Command(BaseCommand):
    help = "Run queued jobs and the schedule in this process until it is stopped."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--queues", default=",".join(Job.Queue.values), help="queues to serve, by comma"
        )
        parser.add_argument("--once", action="store_true", help="run what is queued, then end")

    def handle(self, *args: Any, **options: Any) -> None:
        loop = JobLoop(options["queues"].split(","))
        if options["once"]:
            ran = loop.drain()
            self.stdout.write(f"{ran} jobs run.")
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_args: stop.set())
        loop.run(stop)
