"""Components as template tags: one template each under templates/components/.

A page is composed of these; it writes no status, bar, map or field by hand. Every value from a
cluster is escaped by the templates; nothing here marks text as safe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django import template
from django.db.models import Model
from django.forms import BoundField, CheckboxInput, CheckboxSelectMultiple, RadioSelect, Textarea
from django.http import QueryDict
from django.template import Context
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from fleet.units import Money, duration_text
from planner import charts
from planner.frame import ages, amounts, gpus, languages, navigation, standing

register = template.Library()


@register.simple_block_tag(takes_context=True)
def navigation_menu(context: Context, content: str) -> str:
    """The menu on the left. What stands between the tags is the key of the current page."""
    request = context["request"]
    current = content.strip()
    return render_to_string(
        "frame/navigation.html",
        {
            "sections": navigation.sections(request, current),
            "cluster_query": navigation.cluster_query(request),
        },
    )


@register.inclusion_tag("frame/topbar.html", takes_context=True)
def topbar(context: Context) -> dict[str, Any]:
    """Search, team and user at the top."""
    request = context["request"]
    return {
        "request": request,
        "user": request.user,
        "team": context.get("team"),
        "role": context.get("role"),
        "theme": context.get("theme"),
        "teams": navigation.teams(request),
        "languages": languages.offered(),
        "search_text": request.GET.get("q", "")[:200] if "q" in request.GET else "",
    }


@register.inclusion_tag("frame/cluster_filter.html", takes_context=True)
def cluster_filter(context: Context) -> dict[str, Any]:
    """The choice of one cluster; its state is ``?cluster=`` in the address."""
    request = context["request"]
    return {
        "request": request,
        "clusters": navigation.clusters(request),
        "chosen": navigation.chosen_cluster(request),
    }


@register.inclusion_tag("frame/standing.html", takes_context=True)
def standing_warnings(context: Context) -> dict[str, Any]:
    """What is wrong for as long as it is, above every page."""
    return {"warnings": standing.warnings(context["request"])}


def _verdict_words() -> dict[str, str]:
    return {
        "pass": _("Pass"),
        "warn": _("Warn"),
        "fail": _("Fail"),
        "unknown": _("Unknown"),
        "na": _("Not applicable"),
    }


@register.inclusion_tag("components/verdict.html")
def verdict(
    kind: object, count: int | None = None, text: str = "", *, brief: bool = False
) -> dict[str, Any]:
    """A status by word, shape and colour.

    ``{% verdict "fail" %}``, ``{% verdict "warn" 3 %}`` ("3 warn"), ``{% verdict "pass" text="3 of
    3" %}``. ``brief=True`` shows the number alone and keeps the word for screen readers.
    """
    words = _verdict_words()
    name = str(kind) if str(kind) in words else "unknown"
    return {"kind": name, "word": words[name], "count": count, "text": text, "brief": brief}


@register.inclusion_tag("components/key_figure.html")
def key_figure(
    label: str,
    value: object,
    note: str = "",
    url: str = "",
    link: str = "",
    link_url: str = "",
) -> dict[str, Any]:
    """One number with its label. ``url``: the rows behind it. None is shown as "unknown".

    ``link`` and ``link_url`` add one more door after the note ("+ 38 stranded: why").
    """
    shown = value
    if isinstance(value, int) and not isinstance(value, bool):
        shown = number_format(value, use_l10n=True, force_grouping=True)
    return {
        "label": label,
        "value": shown,
        "known": value is not None,
        "note": note,
        "url": url,
        "link": link,
        "link_url": link_url,
    }


@register.inclusion_tag("components/capacity_bar.html")
def capacity_bar(
    requested: int = 0,
    free: int = 0,
    stranded: int = 0,
    unschedulable: int = 0,
    total: int | None = None,
    plan: int = 0,
    unknown: int = 0,
) -> dict[str, Any]:
    """GPUs by state as one bar, in the colours of the squares. None counts as absent.

    ``total`` is the full width; without it the sum is. What is missing to ``total`` stays empty.
    """
    counts = {
        "r": requested,
        "p": plan,
        "f": free,
        "s": stranded,
        "u": unschedulable,
        "x": unknown,
    }
    return gpus.bar({state: number or 0 for state, number in counts.items()}, total)


@register.inclusion_tag("components/gpu_map.html")
def gpu_map(nodes: Iterable[Any], label: str = "", note: str = "", url: str = "") -> dict[str, Any]:
    """Every GPU as a square, one box a node. With ``label``, a row with its name on the left.

    Each node has ``name``, ``url`` (may be empty) and ``squares``, a text with one letter a GPU:
    r requested, f free, s stranded, u not schedulable, p this plan, x unknown.
    """
    return {
        "nodes": [gpus.NodeBox.of(node) for node in nodes],
        "label": label,
        "note": note,
        "url": url,
    }


@register.inclusion_tag("components/gpu_legend.html")
def gpu_legend(states: str = "rfsu") -> dict[str, Any]:
    """What the colours of squares and bars mean, for the states that the page shows."""
    return {"states": [(state, gpus.word(state)) for state in states]}


@register.inclusion_tag("components/evidence.html")
def evidence(items: Iterable[Any]) -> dict[str, Any]:
    """Where something was seen. Items have ``object``, ``field``, ``value``, perhaps ``url``."""
    return {"items": list(items)}


@register.inclusion_tag("components/empty_state.html")
def empty_state(
    title: str,
    text: str = "",
    url: str = "",
    action: str = "",
    *,
    post: bool = False,
    second_url: str = "",
    second_action: str = "",
    second_post: bool = False,
) -> dict[str, Any]:
    """What would be here, and the action that fills it (``post=True``: a button in a form)."""
    actions = [
        {"url": url, "text": action, "post": post, "primary": True},
        {"url": second_url, "text": second_action, "post": second_post, "primary": False},
    ]
    return {"title": title, "text": text, "actions": [item for item in actions if item["url"]]}


@register.inclusion_tag("components/job_progress.html", takes_context=True)
def job_progress(context: Context, job: Model) -> dict[str, Any]:
    """A job row, alive: phase, objects read, elapsed time, cancel; then its result or error."""
    return {"job": job, "role": context.get("role"), "now": timezone.now()}


@register.simple_tag
def job_elapsed(job: Any, now: datetime) -> str:
    """How long a job has waited, has been running or took."""
    start = job.started_at or job.created_at
    seconds = max(0.0, ((job.finished_at or now) - start).total_seconds())
    if job.started_at is None:
        words = _("waiting for %(time)s") if job.is_active else _("waited for %(time)s")
    else:
        words = _("running for %(time)s") if job.is_active else _("took %(time)s")
    return words % {"time": duration_text(seconds)}


@register.inclusion_tag("components/field.html")
def field(bound: BoundField, unit: str = "", *, wide: bool = False) -> dict[str, Any]:
    """One form field: label, control with its unit, help and errors tied to it for readers."""
    widget = bound.field.widget
    if isinstance(widget, CheckboxSelectMultiple):  # a RadioSelect to Django
        kind = "choices"
    elif isinstance(widget, RadioSelect):
        kind = "segmented"
    elif isinstance(widget, CheckboxInput):
        kind = "checkbox"
    elif isinstance(widget, Textarea):
        kind = "text"
    else:
        kind = "control"
    return {
        "field": bound,
        "unit": unit,
        "kind": kind,
        "wide": wide or kind == "text",
        "label": capfirst(bound.label),
        "grouped": kind in ("segmented", "choices"),
    }


@register.inclusion_tag("components/form_errors.html")
def form_errors(form: Any) -> dict[str, Any]:
    """What is wrong with the form as a whole, above its fields."""
    return {"errors": form.non_field_errors(), "wrong": len(form.errors)}


@register.inclusion_tag("components/age.html")
def age(moment: datetime | None, absent: str = "") -> dict[str, Any]:
    """How long ago, with the exact time as its title. None is "never" or ``absent``."""
    return {
        "moment": moment,
        "text": ages.text(moment, timezone.now()) if moment else absent or _("never"),
    }


_SIGNS = {"USD": "$", "EUR": "€", "JPY": "¥", "GBP": "£"}


@register.simple_tag
def money(amount: Decimal | Money | None, currency: str = "USD", digits: int | None = None) -> str:
    """An amount with its currency: "$412,600", "$0.3520", "CHF 12.50". None is "no price".

    Digits after the point: as given, else none from 100 up, two from 1 up, four below 1.
    """
    if isinstance(amount, Money):
        currency = amount.currency
        amount = amount.amount
    if amount is None:
        return _("no price")
    size = abs(amount)
    if digits is None:
        digits = 0 if size >= 100 or size == 0 else 2 if size >= 1 else 4
        if currency == "JPY" and size >= 1:
            digits = 0
    number = amounts.text(size, digits)
    sign = "−" if amount < 0 else ""
    symbol = _SIGNS.get(currency)
    return f"{sign}{symbol}{number}" if symbol else f"{sign}{currency} {number}"


@register.inclusion_tag("components/copyable.html")
def copyable(text: str, label: str = "") -> dict[str, Any]:
    """A block of text to paste, with a button that copies it."""
    return {"text": text, "label": label}


@register.inclusion_tag("components/chart.html")
def chart(
    figure: dict[str, Any],
    id: str,
    height: str = "medium",
    table: Any = None,
    *,
    label: str = "",
) -> dict[str, Any]:
    """A Plotly figure from ``planner.charts`` with the table of the same data beneath.

    ``height`` is small, medium or large. ``table`` has ``header`` and ``rows`` of texts.
    """
    return {
        "figure": figure,
        "id": id,
        "data_id": f"{id}-figure",
        "height": height,
        "table": table,
        "label": label,
    }


@register.inclusion_tag("components/charts_script.html")
def charts_script() -> dict[str, Any]:
    """For ``{% block scripts %}`` of a page with charts: Plotly and what draws with it."""
    return {"map_style_id": charts.MAP_STYLE_ID}


@register.filter
def gpu_counts(squares: str) -> str:
    """The squares of a node in words: "6 requested, 2 free"."""
    return gpus.words(Counter(squares))


@register.filter
def gpu_squares(squares: str) -> str:
    """The squares of a node, one a GPU."""
    return gpus.squares_html(squares)


@register.simple_tag
def gpu_count(state: str, count: int) -> str:
    """GPUs of one state in words: "1,204 requested"."""
    return f"{number_format(count, use_l10n=True, force_grouping=True)} {gpus.word(state)}"


@register.simple_tag
def ordering_state(column: Any) -> str:
    """The value of ``aria-sort`` for a column of a django-tables2 table."""
    if not column.is_ordered:
        return "none"
    return "descending" if str(column.order_by_alias).startswith("-") else "ascending"


@register.simple_tag
def page_numbers(page: Any, paginator: Any) -> Sequence[Any]:
    """Page numbers around the current one, with None where some are left out."""
    numbers = paginator.get_elided_page_range(page.number, on_each_side=2, on_ends=1)
    return [None if number == paginator.ELLIPSIS else number for number in numbers]


@register.simple_tag(takes_context=True)
def page_link(context: Context, number: int, field: str = "") -> str:
    """The address of another page of this list: the same filters, one other number."""
    query: QueryDict = context["request"].GET.copy()
    query[field or "page"] = str(number)
    return f"?{query.urlencode()}"
