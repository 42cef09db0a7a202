"""Tables of the inventory: which columns there are and how they sort. What a row shows is one
template, ``inventory/node_table.html``. CSV: ``exports``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import django_tables2 as tables
from django.core.paginator import Paginator
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django_tables2 import RequestConfig

from planner.inventory.models import NodeRow
from planner.inventory.node_lines import NodeLine, node_lines

_NUMBER = {"th": {"class": "num"}}
_SECOND = {"th": {"class": "secondary"}}
_SECOND_NUMBER = {"th": {"class": "num secondary"}}


class CountColumn(tables.Column):  # type: ignore[misc]  # ships no types
    """A count; unknown sorts last either way."""

    def order(self, queryset: QuerySet[Any], is_descending: bool) -> tuple[QuerySet[Any], bool]:
        column = F(self.accessor or self._name)
        way = column.desc(nulls_last=True) if is_descending else column.asc(nulls_last=True)
        return queryset.order_by(way, "snapshot__cluster__name", "name"), True


class NodeTable(tables.Table):  # type: ignore[misc]  # ships no types
    """Nodes with their GPUs: physical, schedulable, requested and free kept apart."""

    names_cluster = True

    @property
    def lines(self) -> Iterator[NodeLine]:
        """The rows of this page, as the template shows them."""
        return node_lines(row.record for row in self.paginated_rows)

    # A key ends each order: rows that are equal in all else would else change between pages.
    name = tables.Column(verbose_name=_("Node"), order_by=("name", "pk"))
    cluster = tables.Column(
        verbose_name=_("Cluster"), order_by=("snapshot__cluster__name", "name"), attrs=_SECOND
    )
    gpu_model = tables.Column(
        verbose_name=_("GPU model"), order_by=("gpu_model", "gpu_label", "name", "pk")
    )
    squares = tables.Column(verbose_name=_("GPUs"), orderable=False)
    pool = tables.Column(
        verbose_name=_("Node pool"), order_by=("pool", "name", "pk"), attrs=_SECOND
    )
    state = tables.Column(
        verbose_name=_("Takes pods"),
        order_by=("schedulable", "not_schedulable_reason", "name", "pk"),
        attrs=_SECOND,
    )
    physical = CountColumn(verbose_name=_("Physical"), attrs=_SECOND_NUMBER)
    allocatable = CountColumn(verbose_name=_("Schedulable"), attrs=_SECOND_NUMBER)
    requested = CountColumn(verbose_name=_("Requested"), attrs=_SECOND_NUMBER)
    free = CountColumn(verbose_name=_("Free"), attrs=_NUMBER)
    stranded = CountColumn(verbose_name=_("Stranded"), attrs=_SECOND_NUMBER)

    class Meta:
        model = NodeRow
        fields = ()
        order_by = ("cluster",)
        empty_text = _("No node matches these filters.")
        attrs = {"class": "table table-snug"}
        template_name = "inventory/node_table.html"


class ClusterNodeTable(NodeTable):
    """The nodes of one cluster: the column that says which one is left out."""

    names_cluster = False

    class Meta(NodeTable.Meta):
        exclude = ("cluster",)
        order_by = ("name",)


class CountedPaginator(Paginator):  # type: ignore[type-arg]  # not generic at run time
    """Pages of rows whose number is known already."""

    def __init__(self, rows: Any, per_page: int, *, count: int) -> None:
        super().__init__(rows, per_page)
        self.count = count


def paginate(request: HttpRequest, table: tables.Table, per_page: int, count: int) -> None:
    """Order ``table`` and turn to its page as the address says; it has ``count`` rows in all."""
    RequestConfig(
        request,
        paginate={
            "paginator_class": CountedPaginator,
            "per_page": per_page,
            "silent": True,
            "count": count,
        },
    ).configure(table)
