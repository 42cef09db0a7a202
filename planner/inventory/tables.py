"""Tables of the inventory: what a column shows and how it sorts. CSV: ``exports``."""

from __future__ import annotations

from typing import Any

import django_tables2 as tables
from django.db.models import F, QuerySet
from django.utils.translation import gettext_lazy as _

from planner.inventory.models import NodeRow

_NUMBER = {"th": {"class": "num"}, "td": {"class": "num"}}
_SECOND = {"th": {"class": "secondary"}, "td": {"class": "secondary"}}
_NOWRAP = {"td": {"class": "nowrap"}}
_SECOND_NOWRAP = {"th": {"class": "secondary"}, "td": {"class": "secondary nowrap"}}
_SECOND_NUMBER = {"th": {"class": "num secondary"}, "td": {"class": "num secondary"}}


class CountColumn(tables.Column):  # type: ignore[misc]  # ships no types
    """A count; unknown is a word of its own, sorts last, and is an empty cell in CSV."""

    def __init__(self, *args: Any, secondary: bool = False, **kwargs: Any) -> None:
        kwargs.setdefault("attrs", _SECOND_NUMBER if secondary else _NUMBER)
        super().__init__(*args, default=_("unknown"), **kwargs)

    def order(self, queryset: QuerySet[Any], is_descending: bool) -> tuple[QuerySet[Any], bool]:
        column = F(self.accessor or self._name)
        way = column.desc(nulls_last=True) if is_descending else column.asc(nulls_last=True)
        return queryset.order_by(way, "snapshot__cluster__name", "name"), True


class NodeTable(tables.Table):  # type: ignore[misc]  # ships no types
    """Nodes with their GPUs: physical, schedulable, requested and free kept apart."""

    name = tables.TemplateColumn(
        template_name="inventory/node_name.html",
        verbose_name=_("Node"),
        attrs={"td": {"class": "name"}},
        extra_context={"with_cluster": True},
    )
    cluster = tables.TemplateColumn(
        template_name="inventory/node_cluster.html",
        verbose_name=_("Cluster"),
        order_by=("snapshot__cluster__name", "name"),
        attrs=_SECOND,
    )
    gpu_model = tables.TemplateColumn(
        template_name="inventory/node_model.html",
        verbose_name=_("GPU model"),
        order_by=("gpu_model", "gpu_label", "name"),
        attrs=_NOWRAP,
    )
    squares = tables.TemplateColumn(
        template_name="inventory/node_squares.html", verbose_name=_("GPUs"), orderable=False
    )
    pool = tables.TemplateColumn(
        template_name="inventory/node_pool.html",
        verbose_name=_("Node pool"),
        attrs=_SECOND_NOWRAP,
        order_by=("pool", "name"),
    )
    state = tables.TemplateColumn(
        template_name="inventory/node_state.html",
        verbose_name=_("Takes pods"),
        attrs=_SECOND,
        order_by=("schedulable", "not_schedulable_reason", "name"),
    )
    physical = CountColumn(verbose_name=_("Physical"), secondary=True)
    allocatable = CountColumn(verbose_name=_("Schedulable"), secondary=True)
    requested = CountColumn(verbose_name=_("Requested"), secondary=True)
    free = CountColumn(verbose_name=_("Free"))
    stranded = CountColumn(verbose_name=_("Stranded"), secondary=True)

    class Meta:
        model = NodeRow
        fields = ()
        order_by = ("cluster",)
        empty_text = _("No node matches these filters.")
        attrs = {"class": "table table-snug"}


class ClusterNodeTable(NodeTable):
    """The nodes of one cluster: the column that says which one is left out."""

    class Meta(NodeTable.Meta):
        exclude = ("cluster",)
        order_by = ("name",)

    name = tables.TemplateColumn(
        template_name="inventory/node_name.html",
        verbose_name=_("Node"),
        attrs={"td": {"class": "name"}},
    )
