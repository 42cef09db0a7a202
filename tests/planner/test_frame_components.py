"""Components: what they say in words, and that they show hostile names literally."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from django import forms
from django.template import Context, Template
from django.utils import timezone

from fleet.readiness.finding import Evidence, Verdict
from fleet.units import Money
from planner.frame import ages, gpus

HOSTILE = '"><script>alert(1)</script><b hx-get="/x">{{7*7}}'


def render(source: str, **values: Any) -> str:
    return Template(source).render(Context(values))


def test_a_verdict_says_itself_in_words_and_shape() -> None:
    html = render("{% verdict v 3 %}", v=Verdict.WARN)
    assert "verdict-warn" in html
    assert "<svg" in html
    assert '3 <span class="verdict-word">warn</span>' in html


def test_a_verdict_that_nobody_knows_is_unknown_and_never_a_pass() -> None:
    html = render('{% verdict "green" %}')
    assert "verdict-unknown" in html
    assert "Unknown" in html


def test_a_brief_verdict_keeps_its_word_for_screen_readers() -> None:
    assert '<span class="visually-hidden"> Fail</span>' in render(
        '{% verdict "fail" 1 brief=True %}'
    )


def test_an_unknown_figure_is_never_drawn_as_zero() -> None:
    html = render('{% key_figure "Idle cost" None %}')
    assert "unknown" in html
    assert ">0<" not in html


def test_a_figure_is_a_door_to_its_rows() -> None:
    html = render('{% key_figure "GPUs" 1612 url="/nodes/?model=h100" %}')
    assert '<a href="/nodes/?model=h100">1,612</a>' in html


def test_the_segments_of_a_bar_fill_its_total() -> None:
    bar = gpus.bar({"r": 3, "f": 1}, total=8)
    assert [(part["state"], part["x"], part["width"]) for part in bar["segments"]] == [
        ("r", "0.000%", "37.500%"),
        ("f", "37.500%", "12.500%"),
    ]
    assert bar["text"] == "3 requested, 1 free"


def test_a_bar_of_nothing_says_so() -> None:
    assert 'aria-label="no GPUs"' in render("{% capacity_bar requested=None free=0 %}")


def test_more_than_the_total_stays_within_the_bar() -> None:
    last = gpus.bar({"r": 6, "f": 4}, total=5)["segments"][-1]
    assert float(last["x"][:-1]) + float(last["width"][:-1]) == pytest.approx(100)


def test_one_square_is_one_gpu_and_each_node_has_its_words() -> None:
    nodes = [SimpleNamespace(name="h100-04", url="/nodes/1/", squares="rrfsup?")]
    html = render("{% gpu_map nodes %}", nodes=nodes)
    assert html.count('<i class="gpu ') == 7
    assert "h100-04: 2 requested, 1 this plan, 1 free, 1 free but stranded" in html
    assert "1 not schedulable, 1 unknown" in html


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("{% gpu_map nodes label=name note=name %}", {}),
        ("{% evidence items %}", {}),
        ("{% key_figure name name note=name %}", {}),
        ("{% verdict 'pass' text=name %}", {}),
        ("{% empty_state name name '/' name %}", {}),
        ("{% copyable name label=name %}", {}),
    ],
)
def test_hostile_names_are_shown_literally(source: str, values: dict[str, Any]) -> None:
    html = render(
        source,
        name=HOSTILE,
        nodes=[SimpleNamespace(name=HOSTILE, url="/", squares=HOSTILE)],
        items=[Evidence(HOSTILE, HOSTILE, HOSTILE)],
        **values,
    )
    assert "<script" not in html
    assert "<b " not in html
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 min ago"),
        (3599, "59 min ago"),
        (3600, "1 h ago"),
        (47 * 3600, "47 h ago"),
        (48 * 3600, "2 days ago"),
    ],
)
def test_an_age_is_said_in_one_unit(seconds: int, words: str) -> None:
    now = timezone.now()
    assert ages.text(now - timedelta(seconds=seconds), now) == words


def test_an_age_keeps_the_exact_time() -> None:
    moment = timezone.make_aware(datetime(2026, 11, 12, 10, 42, 7))
    assert "2026-11-12 10:42:07" in render("{% age moment %}", moment=moment)


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (Decimal("412600.49"), "$412,600"),
        (Decimal("3.5"), "$3.50"),
        (Decimal("0.352"), "$0.3520"),
        (Decimal("-3.5"), "−$3.50"),
        (Decimal("41.746"), "$41.75"),
        (Decimal("-41.745"), "−$41.75"),
        (Decimal("3.156"), "$3.16"),
        (Decimal("0.00005"), "$0.0001"),
        (Decimal("920401.99"), "$920,402"),
        (Money(Decimal("920401.5"), "JPY"), "¥920,402"),
        (Money(Decimal(1200000), "JPY"), "¥1,200,000"),
        (Money(Decimal("12.5"), "CHF"), "CHF 12.50"),
        (None, "no price"),
    ],
)
def test_money_has_its_currency_and_no_price_is_not_zero(amount: Any, text: str) -> None:
    assert render("{% money amount %}", amount=amount) == text


class _Form(forms.Form):
    tokens = forms.IntegerField(label="input tokens", help_text="mean of a request")
    precision = forms.ChoiceField(choices=[("bf16", "bf16")], widget=forms.RadioSelect)
    where = forms.MultipleChoiceField(choices=[("a", HOSTILE)], widget=forms.CheckboxSelectMultiple)
    preempt = forms.BooleanField()


def test_a_field_ties_label_help_and_error_to_its_control() -> None:
    html = render('{% field form.tokens unit="tokens" %}', form=_Form({"tokens": "x"}))
    assert '<label for="id_tokens">Input tokens</label>' in html
    assert 'aria-describedby="id_tokens_helptext id_tokens_error"' in html
    assert 'id="id_tokens_helptext"' in html
    assert 'id="id_tokens_error"' in html
    assert 'aria-invalid="true"' in html
    assert '<span class="unit">tokens</span>' in html


def test_a_choice_of_few_is_a_group_with_a_legend() -> None:
    html = render("{% field form.precision %}", form=_Form())
    assert "<fieldset" in html
    assert "<legend>Precision</legend>" in html
    assert "segmented" in html


def test_choices_from_a_cluster_are_shown_literally() -> None:
    html = render("{% field form.where %}", form=_Form())
    assert "choices-choice" in html
    assert "<script" not in html
