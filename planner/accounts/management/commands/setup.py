"""``manage.py setup``: the first admin and the first team."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils.text import slugify

from planner import environment
from planner.accounts import services
from planner.accounts.models import Team, User


class Command(BaseCommand):
    help = (
        "Make the first admin and the first team. The password is PLANNER_ADMIN_PASSWORD (or the "
        "file that PLANNER_ADMIN_PASSWORD_FILE names); without it one is made, printed once and "
        "changed at the first login. Does nothing when there is a user already."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--admin", default="admin", help="user name of the first admin")
        parser.add_argument("--team", default="Default", help="name of the first team")

    def handle(self, *args: Any, **options: Any) -> None:
        if User.objects.exists():
            self.stdout.write("There are users already; nothing to set up.")
            return
        slug = slugify(options["team"])
        if not slug:
            raise CommandError(f"--team: {options['team']!r} holds no letter or digit.")
        given = environment.text("ADMIN_PASSWORD")
        password = given or services.one_time_password()
        with transaction.atomic():
            team = Team.objects.filter(slug=slug).first() or services.create_team(
                name=options["team"], slug=slug
            )
            services.create_first_admin(
                username=options["admin"], password=password, team=team, own_password=bool(given)
            )
        self.stdout.write(f"Team:     {team.name}\nUser:     {options['admin']}")
        if given:
            self.stdout.write("Password: as given by PLANNER_ADMIN_PASSWORD")
        else:
            self.stdout.write(f"Password: {password}   (change it at the first login)")
