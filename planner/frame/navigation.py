"""The menu, its counts, and the choice of a cluster.

Apps say what they have to count and which clusters there are to choose from; the frame imports
none of them. Each registers in the ``ready`` of its ``AppConfig``::

    navigation.register_count("nodes", count_nodes)      # (team, cluster name or "") -> int
    navigation.register_count("readiness", count_failed, words=say_failed, verdict="fail")
    navigation.register_clusters(cluster_names)          # (team) -> names, in order
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from planner.accounts.models import Team

Count = Callable[[Team, str], int]
Clusters = Callable[[Team], Sequence[str]]
Words = Callable[[int], str]


@dataclass(frozen=True, slots=True)
class Counted:
    """How an entry is counted, said ("9 failed checks") and coloured unless it is 0."""

    count: Count
    words: Words | None = None
    verdict: str = ""


_counts: dict[str, Counted] = {}
_clusters: list[Clusters] = []


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of the menu, for one request."""

    key: str
    label: str | Promise
    url_name: str
    is_current: bool
    count: int | None = None
    words: str = ""
    verdict: str = ""


MENU: tuple[tuple[str | Promise, tuple[tuple[str, str | Promise, str], ...]], ...] = (
    (
        _("Fleet"),
        (
            ("overview", _("Overview"), "inventory:overview"),
            ("clusters", _("Clusters"), "inventory:cluster-list"),
            ("nodes", _("Nodes"), "inventory:node-list"),
            ("readiness", _("Readiness"), "inventory:readiness"),
        ),
    ),
    (
        _("Planning"),
        (
            ("workloads", _("Workloads"), "plans:workload-list"),
            ("plans", _("Plans"), "plans:plan-list"),
            ("prices", _("Prices"), "plans:price-list"),
        ),
    ),
)


def register_count(
    key: str, count: Count, *, words: Words | None = None, verdict: str = ""
) -> None:
    """Say how many things stand behind the entry ``key`` of the menu.

    ``words`` says what is counted, where the label of the entry does not ("9 failed checks");
    ``verdict`` colours a number that is not 0.
    """
    _counts[key] = Counted(count, words, verdict)


def register_clusters(clusters: Clusters) -> None:
    """Say which clusters a team can choose from."""
    _clusters[:] = [clusters]


def clusters(request: HttpRequest) -> Sequence[str]:
    """Names of the clusters of the current team; asked for once a request."""
    team = getattr(request, "team", None)
    if team is None or not _clusters:
        return ()
    kept: Sequence[str] | None = getattr(request, "_frame_clusters", None)
    if kept is None:
        kept = tuple(_clusters[0](team))
        request._frame_clusters = kept  # type: ignore[attr-defined]  # cache for this request
    return kept


def chosen_cluster(request: HttpRequest) -> str:
    """The cluster that ``?cluster=`` names, if the team has it; else ""."""
    name = request.GET.get("cluster", "")
    return name if name and name in clusters(request) else ""


def cluster_query(request: HttpRequest) -> str:
    """What links carry to keep the choice: "?cluster=prod-tokyo" or ""."""
    chosen = chosen_cluster(request)
    return "?" + urlencode({"cluster": chosen}) if chosen else ""


def teams(request: HttpRequest) -> Sequence[Team]:
    """The teams that the user can switch to."""
    return list(Team.objects.visible_to(request.user).order_by("name"))


def sections(request: HttpRequest, current: str) -> list[dict[str, Any]]:
    """The menu for this request, with counts for the current team and cluster."""
    team = getattr(request, "team", None)
    chosen = chosen_cluster(request)

    def item(key: str, label: str | Promise, url_name: str) -> Item:
        counted = _counts.get(key)
        if counted is None or team is None:
            return Item(key, label, url_name, key == current)
        number = counted.count(team, chosen)
        words = counted.words(number) if counted.words else ""
        verdict = counted.verdict if number else ""
        return Item(key, label, url_name, key == current, number, words, verdict)

    return [
        {
            "label": label,
            "entries": [item(*entry) for entry in entries],
        }
        for label, entries in MENU
    ]
