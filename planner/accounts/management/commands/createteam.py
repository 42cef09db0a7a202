"""``manage.py createteam``: one more team, with an admin."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils.text import slugify

from planner.accounts import services
from planner.accounts.models import Role, Team


class Command(BaseCommand):
    help = "Make a team and its first admin; a user who does not exist gets a one-time password."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name", help="name of the team")
        parser.add_argument("--admin", required=True, help="user name of its admin")

    def handle(self, *args: Any, **options: Any) -> None:
        name, slug = options["name"], slugify(options["name"])
        if not slug:
            raise CommandError(f"{name!r} holds no letter or digit.")
        if Team.objects.filter(slug=slug).exists() or Team.objects.filter(name=name).exists():
            raise CommandError(f"There is a team {name!r} already.")
        with transaction.atomic():
            team = services.create_team(name=name, slug=slug)
            _member, password = services.add_member(
                team=team, username=options["admin"], role=Role.ADMIN, by=None
            )
        self.stdout.write(f"Team {team.name} with admin {options['admin']}.")
        if password:
            self.stdout.write(f"Password: {password}   (change it at the first login)")
