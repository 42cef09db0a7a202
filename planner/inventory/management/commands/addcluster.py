"""``manage.py addcluster``: add a cluster from files, or live by a kubeconfig."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from fleet.kubernetes import kubeconfig
from planner.inventory import clusters
from planner.inventory.commands import files_by_path, team_by_name
from planner.inventory.models import Cluster


class Command(BaseCommand):
    help = "Add a cluster from files of kubectl, or live by a kubeconfig or in-cluster account."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name", help="how people call the cluster")
        parser.add_argument("files", nargs="*", help="files, a folder of files, or - (stdin)")
        parser.add_argument("--team", default="", help="slug of the team that owns it")
        parser.add_argument("--description", default="")
        parser.add_argument("--kubeconfig", metavar="FILE", help="read it live by this kubeconfig")
        parser.add_argument("--in-cluster", action="store_true", help="read the own cluster live")
        parser.add_argument("--interval", type=int, metavar="SECONDS", help="0: by hand only")

    def handle(self, *args: Any, **options: Any) -> None:
        ways = [bool(options["files"]), bool(options["kubeconfig"]), options["in_cluster"]]
        if sum(ways) != 1:
            raise CommandError("Give files, --kubeconfig or --in-cluster: one of the three.")
        named = {
            "team": team_by_name(options["team"]),
            "name": options["name"],
            "description": options["description"],
            "by": None,
        }
        try:
            if options["files"]:
                cluster = clusters.create_from_files(
                    **named, sources=files_by_path(options["files"])
                )
                self.stdout.write(f"{cluster}: imported.")
                return
            if options["in_cluster"]:
                access, source = kubeconfig.in_cluster(), Cluster.Source.IN_CLUSTER
            else:
                text = files_by_path([options["kubeconfig"]])[0].data
                access, source = kubeconfig.parse(text), Cluster.Source.KUBECONFIG
            cluster, job = clusters.create_live(
                **named, source=source, access=access, sync_interval_s=options["interval"]
            )
        except clusters.ClusterRefused as error:
            raise CommandError(error.message) from None
        except kubeconfig.AccessError as error:
            raise CommandError(f"{error.key}: {error.message} {error.way_out}") from None
        self.stdout.write(f"{cluster}: added, its first sync is job {job.pk}.")
