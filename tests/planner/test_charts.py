"""Figures: what they hold, and that names cannot become markup."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from planner import charts
from planner.frame.templatetags import components


def test_costs_are_split_by_gpu_model_and_sorted_with_the_dearest_first() -> None:
    chart = charts.cost_per_workload(
        [
            ("bge-m3", {"T4": Decimal(3060), "L4": Decimal(900)}),
            ("chat-70b", {"H100": Decimal(27930)}),
        ]
    )
    by_model = {trace["meta"]["name"]: trace for trace in chart.figure["data"]}
    assert list(by_model) == ["H100", "L4", "T4"]
    assert by_model["T4"]["y"] == ["chat-70b", "bge-m3"]
    assert by_model["T4"]["x"] == [0.0, 3060.0]
    assert chart.table.rows == (
        ("chat-70b", "27,930.00", "–", "–", "27,930.00"),
        ("bge-m3", "–", "900.00", "3,060.00", "3,960.00"),
    )


def test_a_workload_without_a_price_has_no_bar_and_says_no_price() -> None:
    chart = charts.cost_per_workload([("free-lunch", {}), ("paid", {"T4": Decimal(1)})])
    assert chart.figure["data"][0]["y"] == ["paid"]
    assert chart.table.rows[-1] == ("free-lunch", "–", "no price")


def test_amounts_are_rounded_half_up_and_never_cut_off() -> None:
    chart = charts.cost_per_workload(
        [("chat-70b", {"H100": Decimal("41.746"), "T4": Decimal("920401.995")})]
    )
    assert chart.table.rows == (("chat-70b", "41.75", "920,402.00", "920,443.74"),)
    hover = [trace["customdata"][0] for trace in chart.figure["data"]]
    assert hover == ["chat-70b: 41.75 USD a month (H100)", "chat-70b: 920,402.00 USD a month (T4)"]


def test_plotly_finds_the_place_of_its_map_styles_taken() -> None:
    path = finders.find("plotly/plotly.min.js")
    assert path is not None
    script = Path(path).read_text(encoding="utf-8")
    asked = re.findall(r'getElementById\("([0-9a-f]{64})"\)', script)
    assert asked == [charts.MAP_STYLE_ID]
    page = render_to_string("components/charts_script.html", components.charts_script())
    assert page.index(f'id="{asked[0]}"') < page.index("plotly.min.js")


def test_capacity_is_stacked_by_the_states_that_occur() -> None:
    chart = charts.capacity_per_model([("H100", {"r": 6, "f": 2}), ("T4", {"f": 4, "s": 0})])
    assert [(trace["meta"]["role"], trace["x"]) for trace in chart.figure["data"]] == [
        ("r", [6, 0]),
        ("f", [2, 4]),
    ]
    assert chart.table.rows == (("H100", "6", "2", "8"), ("T4", "0", "4", "4"))


def test_equal_labels_get_bars_of_their_own() -> None:
    long = "x" * 60
    chart = charts.capacity_per_model([(long + "1", {"f": 1}), (long + "2", {"f": 2})])
    assert len(set(chart.figure["data"][0]["y"])) == 2


@given(st.text(max_size=200))
def test_no_name_becomes_markup_in_what_plotly_draws(name: str) -> None:
    cost = charts.cost_per_workload([(name, {name: Decimal(1)})])
    fleet = charts.capacity_per_model([(name, {"f": 1})])
    for chart in (cost, fleet):
        for trace in chart.figure["data"]:
            drawn = [trace["name"], *trace["y"], *trace["customdata"]]
            assert not any("<" in text for text in drawn)
            assert all(len(text) <= 6 * charts.LONGEST_LABEL + 80 for text in trace["y"])
        json.dumps(chart.figure)


def test_a_figure_carries_no_template_and_no_colour() -> None:
    text = json.dumps(charts.capacity_per_model([("H100", {"r": 6})]).figure)
    assert "template" not in text.replace("hovertemplate", "")
    assert "#" not in text
