"""The figures of the overview: sums, capacity by model, largest gang, idle cost.

They are added up from the figures that are stored with each snapshot. Snapshots never change, so
a process keeps the sums of a set of snapshots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache

from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from fleet.attached import Attached
from fleet.catalogue.prices import PriceBook, PriceKind
from fleet.costs import IdleReport, idle_priced
from fleet.model_names import model_words
from fleet.summary import SummaryRow
from planner import charts
from planner.accounts.models import Team
from planner.frame.templatetags.components import money
from planner.inventory import pricing, stored_figures
from planner.inventory.models import Cluster, Snapshot
from planner.inventory.queries import NO_MODEL, cluster_url, node_list_url

SnapshotKey = tuple[str, int, datetime]
"""Cluster name, snapshot, and when its row was made: a key is never used twice."""


@lru_cache(maxsize=64)
def _together(keys: tuple[SnapshotKey, ...]) -> stored_figures.Figures:
    names = {pk: name for name, pk, _made in keys}
    stored = Snapshot.objects.filter(pk__in=names).values_list("pk", "figures")
    return stored_figures.together(
        stored_figures.decoded(figures, names[pk]) for pk, figures in stored
    )


@dataclass(frozen=True, slots=True)
class ModelLine:
    """One GPU model: its boards by state with the largest gang, and the rows behind it."""

    row: SummaryRow
    name: str
    url: str
    free_url: str

    @property
    def is_known(self) -> bool:
        return self.row.known_free is not None


@dataclass(frozen=True, slots=True)
class Figures:
    """What the overview shows above its tables. Numbers: None is unknown."""

    gpu_nodes: int
    physical: int | None
    schedulable: int
    withheld: int
    withheld_url: str
    uncounted: int
    uncounted_url: str
    requested: int | None
    requested_note: str
    requested_url: str
    free: int | None
    free_note: str
    stranded_link: str
    stranded_url: str
    free_url: str
    nodes_url: str
    idle: str
    idle_note: str
    prices_url: str
    models: list[ModelLine]
    attached: Attached  # GPUs that several nodes reach: in none of the numbers above
    attached_links: list[tuple[str, str]]  # clusters that have some: name, address


def figures(
    team: Team | None, clusters: Sequence[Cluster], scope: Mapping[str, str] | None = None
) -> Figures:
    """The figures of ``clusters``; links to nodes keep the ``scope``, filters of their table."""
    scope = scope or {}

    def nodes(state: str = "") -> str:
        return node_list_url(**scope, state=state)

    keys = tuple(
        (c.name, c.current_snapshot.pk, c.current_snapshot.created_at)
        for c in clusters
        if c.current_snapshot is not None
    )
    book = pricing.price_book(team) if team is not None else PriceBook()
    found = _together(keys)
    summary, idle = found.summary, idle_priced(found.idle, book)
    totals = summary.totals
    stranded = totals.stranded
    amount, note = _idle_text(idle)
    return Figures(
        gpu_nodes=sum(c.current_snapshot.gpu_node_count for c in clusters if c.current_snapshot),
        physical=totals.known_physical,
        schedulable=totals.schedulable,
        withheld=max(0, totals.physical - totals.schedulable),
        withheld_url=nodes("withheld"),
        uncounted=totals.uncounted_nodes,
        uncounted_url=nodes("unknown"),
        requested=totals.known_requested,
        requested_note=_share_note(totals.known_requested, totals.physical),
        requested_url=nodes("requested"),
        free=totals.known_free,
        free_note=free_note(totals),
        stranded_link=_("+ %(count)d stranded: why") % {"count": stranded} if stranded else "",
        stranded_url=nodes("stranded"),
        free_url=nodes("free"),
        nodes_url=nodes(),
        idle=amount,
        idle_note=note,
        prices_url=reverse("plans:price-list"),
        models=[_model_line(row, scope) for row in summary.models],
        attached=found.attached,
        attached_links=[
            (c.name, f"{cluster_url(c)}#attached")
            for c in clusters
            if c.name in found.attached.clusters
        ],
    )


def _share_note(requested: int | None, physical: int) -> str:
    """Of the installed boards: pods also hold boards of nodes that take no new ones, which are
    not among the schedulable."""
    if requested is None or not physical:
        return ""
    return _("%(share)d %% of installed") % {"share": round(100 * requested / physical)}


def free_note(totals: SummaryRow) -> str:
    """What stands beside the free boards: those of which only some units are held, those of which
    nobody could read who holds them, and clusters that may have more; "" for none."""
    texts = []
    if partly := totals.unknown - totals.unread:
        texts.append(
            ngettext("%(count)d partly used", "%(count)d partly used", partly) % {"count": partly}
        )
    if totals.unread:
        texts.append(
            ngettext(
                "of %(count)d the use is unknown", "of %(count)d the use is unknown", totals.unread
            )
            % {"count": totals.unread}
        )
    if totals.uncounted_clusters:
        texts.append(
            ngettext(
                "%(count)d cluster may have more than is counted",
                "%(count)d clusters may have more than is counted",
                totals.uncounted_clusters,
            )
            % {"count": totals.uncounted_clusters}
        )
    return "; ".join(texts)


def _model_line(row: SummaryRow, scope: Mapping[str, str]) -> ModelLine:
    unlisted = model_words(None, row.label, "") if row.label else ""
    name = row.name
    if row.name == "unknown":
        name = unlisted or _("unknown model")
    model = name if row.name != "unknown" else row.label or NO_MODEL
    return ModelLine(
        row=row,
        name=name,
        url=node_list_url(**scope, model=model),
        free_url=node_list_url(**scope, model=model, state="free"),
    )


def _idle_text(report: IdleReport) -> tuple[str, str]:
    """Amount a month and its note: period, kind and age of the prices, what has none."""
    if not report.per_hour:
        return _("no price"), _("for what is idle") if report.unknown else ""
    amount = " + ".join(money(part.per_month()) for part in report.per_hour)
    prices = [line.price for line in report.lines if line.price is not None]
    dates: list[date] = [price.as_of for price in prices if price.as_of is not None]
    kind = _("list prices") if all(p.kind == PriceKind.LIST for p in prices) else _("your prices")
    note = _("a month, %(prices)s") % {"prices": kind}
    if dates:
        template = _("a month, %(prices)s of %(day)s")
        if len(set(dates)) > 1:
            template = _("a month, %(prices)s, oldest of %(day)s")
        note = template % {
            "prices": kind,
            "day": date_format(min(dates), "j M Y"),
        }
    return amount, "; ".join((note, *_left_out(report)))


def _left_out(report: IdleReport) -> list[str]:
    """What is in the fleet and not in the amount, one text a reason."""
    missing = [line for line in report.lines if line.per_hour is None]
    unpriced = sum(1 for line in missing if line.price is None)
    texts = []
    if unpriced:
        texts.append(
            ngettext(
                "%(count)d kind of machine has no price",
                "%(count)d kinds of machine have no price",
                unpriced,
            )
            % {"count": unpriced}
        )
    if unused := len(missing) - unpriced:
        texts.append(
            ngettext(
                "of %(count)d kind of machine the use is unknown",
                "of %(count)d kinds of machine the use is unknown",
                unused,
            )
            % {"count": unused}
        )
    return texts


def chart(figures_shown: Figures) -> charts.Chart | None:
    """The fleet chart; None when no model has GPUs to draw."""
    models = [
        (
            line.name,
            {
                "r": line.row.requested,
                "f": line.row.free,
                "s": line.row.stranded,
                "u": line.row.not_schedulable,
                "x": line.row.unknown,
            },
        )
        for line in figures_shown.models
        if line.row.physical
    ]
    return charts.capacity_per_model(models) if models else None
