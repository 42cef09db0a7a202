"""The filters of the node table. Their state is the address of the page."""

from __future__ import annotations

import re
from typing import Any

import django_filters
from django import forms
from django.db.models import F, Q, QuerySet
from django.db.models.fields.json import KeyTransform
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from fleet.model_names import model_words
from planner.inventory.models import Cluster, NodeRow
from planner.inventory.queries import NO_MODEL, NO_POOL
from planner.inventory.stranded import CAUSE_WORDS

STATES = (
    ("free", _("Has free GPUs")),
    ("full", _("Nothing free")),
    ("requested", _("Has requested GPUs")),
    ("stranded", _("Has stranded GPUs")),
    ("withheld", _("Has GPUs that are not schedulable")),
    ("not-schedulable", _("Takes no pods")),
    ("fragment", _("Has free GPUs in too small a piece")),
    ("unhealthy", _("Has unhealthy GPUs")),
    ("unknown", _("Use unknown")),
    ("problems", _("Has odd values")),
)
MOST_LEVELS = 8
_DOMAIN = re.compile(r"(?P<level>[a-z0-9-]{1,60}):(?P<value>[^\0]{0,253})")


def _cluster_words(name: str, source: str) -> str:
    """A cluster as the filter offers it: one that does not exist says so."""
    if source != Cluster.Source.DEMO:
        return name
    return gettext("%(name)s (synthetic)") % {"name": name}


class NodeFilter(django_filters.FilterSet):  # type: ignore[misc]  # ships no types
    """Filters by what the columns show; choices are those of the nodes at hand."""

    text = django_filters.CharFilter(
        method="filter_text",
        label=_("Search"),
        max_length=100,
        widget=forms.TextInput(attrs={"type": "search", "placeholder": _("name, type, zone …")}),
    )
    cluster = django_filters.ChoiceFilter(
        field_name="snapshot__cluster__name", label=_("Cluster"), empty_label=_("all")
    )
    real = django_filters.ChoiceFilter(
        method="filter_real",
        label=_("Synthetic clusters"),
        choices=(("1", _("left out")),),
        empty_label=_("included"),
    )
    model = django_filters.ChoiceFilter(
        method="filter_model", label=_("GPU model"), empty_label=_("all")
    )
    pool = django_filters.ChoiceFilter(
        method="filter_pool", label=_("Node pool"), empty_label=_("all")
    )
    state = django_filters.ChoiceFilter(
        method="filter_state", label=_("State"), choices=STATES, empty_label=_("any")
    )
    cause = django_filters.ChoiceFilter(
        method="filter_cause",
        label=_("Stranded by"),
        choices=tuple(CAUSE_WORDS.items()),
        empty_label=_("any"),
    )
    free = django_filters.NumberFilter(
        field_name="free", lookup_expr="gte", label=_("Free GPUs, at least"), min_value=0,
        max_value=10**6,
    )  # fmt: skip
    kind = django_filters.ChoiceFilter(
        method="filter_kind",
        label=_("Nodes"),
        choices=(("all", _("all nodes")), ("cpu", _("nodes without GPU"))),
        empty_label=_("GPU nodes"),
    )
    domain = django_filters.CharFilter(
        method="filter_domain",
        label=_("Topology domain"),
        max_length=1000,
        widget=forms.HiddenInput,
    )

    class Meta:
        model = NodeRow
        fields: list[str] = []

    def __init__(self, data: Any, queryset: QuerySet[NodeRow], **kwargs: Any) -> None:
        super().__init__(data, queryset, **kwargs)
        at_hand = queryset.order_by().filter(is_gpu_node=True)
        # Told apart by the database, out of an index: not one line a node.
        kinds = set(at_hand.values_list("snapshot", "gpu_model", "gpu_label", "pool").distinct())
        shown = {snapshot for snapshot, _model, _label, _pool in kinds}
        clusters = set(
            Cluster.objects.filter(current_snapshot__in=shown).values_list("name", "source")
        )
        self._choose(
            "cluster", [(name, _cluster_words(name, source)) for name, source in sorted(clusters)]
        )
        pools = sorted({pool for _snapshot, _model, _label, pool in kinds})
        self._choose("pool", [(pool or NO_POOL, pool or NO_POOL) for pool in pools])
        models = {(model, label) for _snapshot, model, label, _pool in kinds}
        named = sorted({model for model, _label in models if model})
        labels = sorted({label for _model, label in models if label})
        unnamed = [(NO_MODEL, NO_MODEL)] if ("", "") in models else []
        unlisted = [(name, model_words(None, name, "")) for name in labels if name not in named]
        self._choose("model", [(name, name) for name in named] + unnamed + unlisted)
        if not any(source == Cluster.Source.DEMO for _name, source in clusters):
            del self.filters["real"]

    def _choose(self, name: str, choices: list[tuple[str, str]]) -> None:
        self.filters[name].extra["choices"] = choices

    def filter_queryset(self, queryset: QuerySet[NodeRow]) -> QuerySet[NodeRow]:
        filtered: QuerySet[NodeRow] = super().filter_queryset(queryset)
        if not self.form.cleaned_data.get("kind"):
            filtered = filtered.filter(is_gpu_node=True)
        return filtered

    def filter_text(self, queryset: QuerySet[NodeRow], name: str, value: str) -> Any:
        columns = ("name", "pool", "instance_type", "zone", "gpu_model", "gpu_label")
        wanted = Q()
        for column in columns:
            wanted |= Q(**{f"{column}__icontains": value})
        return queryset.filter(wanted)

    def filter_model(self, queryset: QuerySet[NodeRow], name: str, value: str) -> Any:
        if value == NO_MODEL:
            return queryset.filter(gpu_model="", gpu_label="")
        return queryset.filter(Q(gpu_model=value) | Q(gpu_label=value))

    def filter_real(self, queryset: QuerySet[NodeRow], name: str, value: str) -> Any:
        return queryset.exclude(snapshot__cluster__source=Cluster.Source.DEMO)

    def filter_pool(self, queryset: QuerySet[NodeRow], name: str, value: str) -> Any:
        return queryset.filter(pool="" if value == NO_POOL else value)

    def filter_kind(self, queryset: QuerySet[NodeRow], name: str, value: str) -> Any:
        return queryset.filter(is_gpu_node=False) if value == "cpu" else queryset

    def filter_state(self, queryset: QuerySet[NodeRow], name: str, value: str) -> Any:
        conditions = {
            "free": Q(free__gt=0),
            "full": Q(free=0, schedulable=True),
            "stranded": Q(stranded__gt=0),
            "fragment": Q(fragment__gt=0),
            "not-schedulable": Q(schedulable=False),
            "requested": Q(requested__gt=0),
            "withheld": Q(allocatable__lt=F("physical")),
            "unhealthy": Q(unhealthy__gt=0),
            "unknown": Q(free=None),
            "problems": Q(problem_count__gt=0),
        }
        return queryset.filter(conditions[value])

    def filter_cause(self, queryset: QuerySet[NodeRow], name: str, value: str) -> Any:
        return queryset.filter(stranded__gt=0, stranded_cause=value)

    def filter_domain(self, queryset: QuerySet[NodeRow], name: str, value: str) -> Any:
        """ "block:a/rack:1": every level of the path must match; "block:" is a node without one."""
        for number, part in enumerate(value.split("/")):
            domain = _DOMAIN.fullmatch(part)
            if domain is None or number >= MOST_LEVELS:
                return queryset.none()
            if not domain["value"]:
                queryset = queryset.exclude(topology__has_key=domain["level"])
                continue
            alias = f"_level_{number}"
            level = KeyTransform(domain["level"], F("topology"))
            queryset = queryset.alias(**{alias: level}).filter(**{alias: domain["value"]})
        return queryset
