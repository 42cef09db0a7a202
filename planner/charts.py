"""Values to Plotly figures, as plain JSON for the page.

Figures carry no colours and no template: traces name a *role* in ``meta`` (a state letter of
``planner.frame.gpus``, or "card-0" for GPU models), and ``static/js/charts.js`` paints each role
from the page's CSS variables, again when the theme changes. Labels are pseudo-HTML to Plotly, so
every name is escaped here.

Plotly under the content policy (no ``unsafe-inline``) makes two style elements. Its own rules go
by script into an empty element, which the hash of the empty text in ``SECURE_CSP`` allows. The
rules of MapLibre, which only maps need and no figure here is one, go in as text when the file is
loaded, which the policy refuses and reports; Plotly leaves that out when an element with the id
``MAP_STYLE_ID`` is there already, so the page has an empty one. Nothing is lost and no report
remains: bars and their labels get no style attribute (colour bars and heat maps would).
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from planner.frame import amounts, gpus

LONGEST_LABEL = 40
ROW_PX = 30
CARD_ROLES = 6
MAP_STYLE_ID = "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53"
"""The id that plotly.js asks for before it adds the style sheet of its maps."""


@dataclass(frozen=True, slots=True)
class Table:
    """The data of a chart as texts: a header and rows, the first cell of each its name."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """What the chart component takes: figure, height of its place on the page, table."""

    figure: dict[str, Any]
    height: str
    table: Table


def label(name: str) -> str:
    """A name as Plotly may show it: bounded and without markup."""
    short = name if len(name) <= LONGEST_LABEL else name[: LONGEST_LABEL - 1] + "…"
    return html.escape(short, quote=False)


def _layout(rows: int, unit: str) -> dict[str, Any]:
    return {
        "barmode": "stack",
        "bargap": 0.35,
        "height": 64 + ROW_PX * max(rows, 2),
        "margin": {"l": 8, "r": 16, "t": 8, "b": 40},
        "showlegend": False,  # the component has its own, which wraps on a phone
        "xaxis": {"title": {"text": unit}, "rangemode": "tozero", "automargin": True},
        "yaxis": {"automargin": True, "autorange": "reversed", "type": "category"},
        "hoverlabel": {"namelength": -1},
        "dragmode": False,
    }


def _bar(
    name: str, role: str, names: Sequence[str], values: Sequence[float], hover: Sequence[str]
) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": label(name),
        "meta": {"role": role, "name": name},
        "y": list(names),
        "x": list(values),
        "customdata": list(hover),
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _height(rows: int) -> str:
    return "small" if rows <= 4 else "medium" if rows <= 8 else "large"


def _unique(names: Sequence[str]) -> list[str]:
    """Labels that differ, since bars of equal labels would be drawn onto each other."""
    seen: dict[str, int] = {}
    labels = []
    for name in names:
        text = label(name)
        seen[text] = seen.get(text, 0) + 1
        labels.append(text if seen[text] == 1 else f"{text} ({seen[text]})")
    return labels


def cost_per_workload(
    costs: Sequence[tuple[str, Mapping[str, Decimal]]], *, currency: str = "USD"
) -> Chart:
    """Cost a month of each workload as a bar, split by GPU model.

    ``costs``: workload name and its cost by GPU model, in ``currency`` a month; an empty mapping
    is a workload without a price: it is in the table as "no price" and has no bar.
    """
    priced = sorted(
        ((name, parts) for name, parts in costs if parts),
        key=lambda item: sum(item[1].values()),
        reverse=True,
    )
    models = sorted({model for _name, parts in priced for model in parts})
    names = _unique([name for name, _parts in priced])
    unit = _("%(currency)s a month") % {"currency": currency}
    traces = [
        _bar(
            model,
            f"card-{index % CARD_ROLES}",
            names,
            [float(parts.get(model, 0)) for _name, parts in priced],
            [
                f"{name}: {_amount(parts.get(model, Decimal(0)))} {unit} ({label(model)})"
                for name, (_name, parts) in zip(names, priced, strict=True)
            ],
        )
        for index, model in enumerate(models)
    ]
    header = (_("Workload"), *models, _("Sum, %(unit)s") % {"unit": unit})
    rows = [
        (
            name,
            *(_amount(parts[model]) if model in parts else "–" for model in models),
            _amount(sum(parts.values(), Decimal(0))) if parts else _("no price"),
        )
        for name, parts in [*priced, *((n, p) for n, p in costs if not p)]
    ]
    figure = {"data": traces, "layout": _layout(len(priced), unit)}
    return Chart(figure, _height(len(priced)), Table(header, tuple(rows)))


def capacity_per_model(models: Sequence[tuple[str, Mapping[str, int]]]) -> Chart:
    """GPUs of each model as a bar, stacked by state.

    ``models``: GPU model and its number of GPUs by state letter (see ``planner.frame.gpus``).
    """
    states = [state for state in gpus.STATES if any(counts.get(state) for _n, counts in models)]
    names = _unique([name for name, _counts in models])
    traces = [
        _bar(
            gpus.word(state),
            state,
            names,
            [counts.get(state, 0) for _name, counts in models],
            [
                f"{name}: {counts.get(state, 0)} {gpus.word(state)}"
                for name, (_name, counts) in zip(names, models, strict=True)
            ],
        )
        for state in states
    ]
    header = (_("GPU model"), *(gpus.word(state) for state in states), _("Sum"))
    rows = tuple(
        (
            name,
            *(str(counts.get(state, 0)) for state in states),
            str(sum(counts.get(state, 0) for state in states)),
        )
        for name, counts in models
    )
    figure = {"data": traces, "layout": _layout(len(models), _("GPUs"))}
    return Chart(figure, _height(len(models)), Table(header, rows))


def _amount(amount: Decimal) -> str:
    return amounts.text(amount, 2)
