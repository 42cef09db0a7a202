"""Loading the synthetic demo fleet into a team."""

from __future__ import annotations

from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _

from fleet.demo import demo_clusters
from planner.accounts.models import Team, User
from planner.inventory import clusters
from planner.inventory.models import Cluster


@transaction.atomic
def load_demo_fleet(
    *, team: Team, by: User | None, request: HttpRequest | None = None
) -> list[Cluster]:
    """Add the demo clusters, or give those that are there a new snapshot; all or nothing.

    Raises ``ClusterRefused`` when a cluster that is no demo has one of the names.
    """
    loaded = []
    for name, sources in demo_clusters().items():
        existing = Cluster.objects.filter(team=team, name=name).first()
        if existing is None:
            existing = clusters.create_from_files(
                team=team,
                name=name,
                sources=sources,
                source=Cluster.Source.DEMO,
                by=by,
                request=request,
            )
        elif existing.source == Cluster.Source.DEMO:
            clusters.import_files(cluster=existing, sources=sources, by=by, request=request)
        else:
            raise clusters.ClusterRefused(
                "name",
                _("The team has a cluster of its own called %(name)s.") % {"name": name},
            )
        loaded.append(existing)
    return loaded
