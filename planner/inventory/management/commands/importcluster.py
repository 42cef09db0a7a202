"""``manage.py importcluster``: newer files of a file cluster, as its next snapshot."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from planner.inventory import clusters
from planner.inventory.commands import cluster_by_name, files_by_path


class Command(BaseCommand):
    help = "Import newer files of kubectl as the next snapshot of a cluster."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("files", nargs="+", help="files, a folder of files, or - (stdin)")
        parser.add_argument("--team", default="", help="slug of the team that owns it")

    def handle(self, *args: Any, **options: Any) -> None:
        cluster = cluster_by_name(options["name"], options["team"])
        try:
            snapshot = clusters.import_files(
                cluster=cluster, sources=files_by_path(options["files"]), by=None
            )
        except clusters.ClusterRefused as error:
            raise CommandError(error.message) from None
        self.stdout.write(
            f"{cluster}: snapshot {snapshot.number} with {snapshot.node_count} nodes."
        )
