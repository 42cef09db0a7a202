"""What the inventory tells the frame: counts of the menu, clusters to choose, search results."""

from __future__ import annotations

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from planner.accounts.models import Team
from planner.frame import navigation, search
from planner.inventory import queries
from planner.inventory.models import Cluster, NodeRow


def register() -> None:
    """Called once, when the app is ready."""
    navigation.register_count("clusters", count_clusters)
    navigation.register_count("nodes", count_nodes)
    navigation.register_count("readiness", count_failed, words=say_failed, verdict="fail")
    navigation.register_clusters(cluster_names)
    search.register(gettext_lazy("Clusters"), find_clusters)
    search.register(gettext_lazy("Nodes"), find_nodes)


def _clusters(team: Team, cluster: str) -> QuerySet[Cluster]:
    found = Cluster.objects.filter(team=team)
    return found.filter(name=cluster) if cluster else found


def count_clusters(team: Team, cluster: str) -> int:
    return Cluster.objects.filter(team=team).count()


def count_nodes(team: Team, cluster: str) -> int:
    """GPU nodes that are shown now."""
    counts = _clusters(team, cluster).values_list("current_snapshot__gpu_node_count", flat=True)
    return sum(count or 0 for count in counts)


def count_failed(team: Team, cluster: str) -> int:
    """Failed checks of the clusters."""
    verdicts = _clusters(team, cluster).values_list("current_snapshot__verdicts", flat=True)
    return sum((found or {}).get("fail", 0) for found in verdicts)


def say_failed(number: int) -> str:
    """What the number beside "Readiness" counts."""
    return ngettext("%(n)d failed check", "%(n)d failed checks", number) % {"n": number}


def cluster_names(team: Team) -> list[str]:
    return list(Cluster.objects.filter(team=team).values_list("name", flat=True))


def find_clusters(team: Team, text: str) -> list[search.Result]:
    found = Cluster.objects.filter(Q(name__icontains=text) | Q(description__icontains=text))
    return [
        search.Result(cluster.name, queries.cluster_url(cluster), cluster.get_source_display())
        for cluster in found.filter(team=team)[: search.LIMIT]
    ]


def find_nodes(team: Team, text: str) -> list[search.Result]:
    rows: QuerySet[NodeRow] = queries.nodes_of(team)
    found = (
        rows.filter(
            Q(name__icontains=text) | Q(gpu_model__icontains=text) | Q(gpu_label__icontains=text)
        )
        .order_by("name")
        .select_related("snapshot__cluster")
        .only(*queries.NODE_COLUMNS)
    )
    return [
        search.Result(
            row.name,
            queries.node_url(row.snapshot.cluster.uuid, row.name),
            _("%(model)s in %(cluster)s")
            % {"model": _model(row), "cluster": row.snapshot.cluster.name},
        )
        for row in found[: search.LIMIT]
    ]


def _model(row: NodeRow) -> str:
    return row.model_words or (_("unknown model") if row.is_gpu_node else _("no GPU"))
