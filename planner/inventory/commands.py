"""What the inventory's management commands share: teams and clusters by name, files by path."""

from __future__ import annotations

import sys
from pathlib import Path

from django.core.management.base import CommandError

from fleet.kubernetes.dump import Source
from planner.accounts.models import Team
from planner.inventory.models import Cluster


def team_by_name(name: str) -> Team:
    """The team by slug or name; the only one there is when ``name`` is empty.

    Raises ``CommandError`` naming the teams.
    """
    if name:
        found = Team.objects.filter(slug=name).first() or Team.objects.filter(name=name).first()
    else:
        teams = list(Team.objects.all()[:2])
        found = teams[0] if len(teams) == 1 else None
    if found is None:
        known = ", ".join(Team.objects.values_list("slug", flat=True)[:50]) or "none"
        raise CommandError(f"Say which team by --team. Teams: {known}.")
    return found


def cluster_by_name(name: str, team: str) -> Cluster:
    """The cluster of that name. Raises ``CommandError`` when there is none, or several."""
    found = Cluster.objects.filter(name=name).select_related("team")
    if team:
        found = found.filter(team=team_by_name(team))
    clusters = list(found[:2])
    if not clusters:
        raise CommandError(f"There is no cluster called {name!r}.")
    if len(clusters) > 1:
        raise CommandError(f"Several teams have a cluster called {name!r}: say which by --team.")
    return clusters[0]


def files_by_path(paths: list[str]) -> list[Source]:
    """The files, a folder as all the files in it, and "-" as standard input.

    Raises ``CommandError`` naming the file that cannot be read.
    """
    sources = []
    for text in paths:
        if text == "-":
            sources.append(Source("standard input", sys.stdin.buffer.read()))
            continue
        path = Path(text)
        members = sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else [path]
        for member in members:
            try:
                sources.append(Source(member.name, member.read_bytes()))
            except OSError as error:
                raise CommandError(f"{member}: cannot be read ({error.strerror}).") from None
    return sources
