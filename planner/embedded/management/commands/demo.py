"""``manage.py demo``: everything on this machine, ready to log in."""

from __future__ import annotations

import argparse
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from planner.embedded import content
from planner.embedded.processes import HOST, Children, PortInUse, require_free


def _has_to_migrate() -> bool:
    """Whether tables are missing. Asking takes a tenth of the time of an idle ``migrate``."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


class Command(BaseCommand):
    help = "Start web and job loop on this machine, with a synthetic fleet on the first start."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--empty", action="store_true", help="without the demo fleet")

    def handle(self, *args: Any, **options: Any) -> None:
        port = options["port"]
        try:
            require_free(port)
        except PortInUse as error:
            raise CommandError(str(error)) from None
        if _has_to_migrate():
            call_command("migrate", verbosity=0, interactive=False)
        children = Children(port)
        try:
            # The processes start while the login and the fleet are made ready.
            children.start()
            login = content.ensure_login()
            if not options["empty"]:
                content.ensure_demo(login.user, self.stdout.write)
            if not children.wait_until_ready():
                raise CommandError("The web process did not start; its messages stand above.")
            self._say(port, login)
            ended = children.wait()
        finally:
            children.stop()
        if ended:
            raise CommandError("A part ended by itself; its messages stand above.")
        self.stdout.write("Stopped.")

    def _say(self, port: int, login: content.Login) -> None:
        lines = [
            "",
            f"  GPU fleet planner   http://{HOST}:{port}/",
            f"  Log in as           {login.user.get_username()}",
            f"  Password            {login.password or 'the one that you have set'}",
            f"  Data                {settings.DATA_DIR}",
            "",
            "  Ctrl-C ends everything.",
            "",
        ]
        self.stdout.write("\n".join(lines))
        self.stdout.flush()
