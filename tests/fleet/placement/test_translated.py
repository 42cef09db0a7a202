"""In another language an answer speaks that language whole, also when it was stored in English."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from fleet import words
from fleet.placement.notes import problem_notes
from fleet.placement.problem import Problem
from fleet.placement.result import Placement, SearchNote
from fleet.placement.retelling import retold
from fleet.placement.solver import solve
from tests.fleet.placement.builders import (
    H100,
    T4,
    contested_problems,
    demand,
    node,
    problem,
    shape,
    slot,
    small_problems,
)

_INNERMOST = re.compile(r"⟦[^⟦⟧]*⟧")
MARKED = words._Translator(
    lambda text: f"⟦{text}⟧", lambda one, many, number: f"⟦{one if number == 1 else many}⟧"
)


def noted(case: Problem) -> Problem:
    """The problem with the notes that planning gives it."""
    return replace(case, notes=problem_notes(case.nodes, case.currency, case.quotas_left_out))


def marked(case: Problem, answer: Placement) -> tuple[Problem, Placement]:
    """Told by a reader whose language sets every sentence in brackets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "_translator", MARKED)
        return retold(case, answer)


def outside(text: str) -> str:
    """What stands outside of all brackets."""
    while _INNERMOST.search(text):
        text = _INNERMOST.sub("", text)
    return text.strip("; ")


def texts(answer: Placement) -> list[str]:
    waits = answer.unplaced
    return [
        *(a.why_here for a in answer.assignments),
        *(u.sentence for u in waits),
        *(u.nearest for u in waits),
        *(step.label for u in waits for step in u.steps),
        *answer.notes,
    ]


many_problems = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@many_problems
@given(small_problems() | contested_problems())
def test_every_sentence_of_an_answer_is_translated_whole(case: Problem) -> None:
    case = noted(case)
    answer = solve(case)
    _, spoken = marked(case, answer)
    assert [text for text in texts(spoken) if outside(text)] == []
    # Every text there was is there: nothing was kept in English or got lost.
    assert list(map(bool, texts(spoken))) == list(map(bool, texts(answer)))


@many_problems
@given(small_problems() | contested_problems())
def test_an_answer_told_anew_in_its_own_language_is_the_same(case: Problem) -> None:
    case = noted(case)
    answer = solve(case)
    assert retold(case, answer) == (case, answer)


def test_notes_of_the_search_are_told_anew() -> None:
    case = problem([node("a")], [demand("x", shape())])
    notes = ((SearchNote.TOO_LARGE, "250,001"), (SearchNote.CUT, ""), (SearchNote.REPLACED, "x"))
    _, spoken = retold(case, replace(solve(case), search_notes=notes, notes=("stale",)))
    assert spoken.notes[0] == (
        "Too large for the exact part (250,001 choices): the bound is a simple one."
    )
    assert len(spoken.notes) == 3
    assert "(x)" in spoken.notes[2]


def test_notes_of_what_is_left_out_are_told_anew() -> None:
    nodes = [
        node("a", slot(T4, 4, None), unknown_cards=2, unusable=("4 nvidia.com/gpu.shared",)),
        node("b", slot(H100, 8)),
    ]
    case = replace(problem(nodes, []), quotas_left_out=2)
    told, spoken = marked(case, solve(case))
    assert len(told.notes) == 4
    assert spoken.notes == told.notes
    assert not any(map(outside, told.notes))


def test_an_answer_that_does_not_belong_to_its_problem_keeps_its_texts() -> None:
    case = problem([node("a")], [demand("x", shape())])
    answer = solve(case)
    elsewhere = problem([node("b")], [demand("x", shape())])
    assert retold(elsewhere, answer)[1].assignments == answer.assignments
    smaller = problem([node("a")], [demand("y", shape())])
    assert retold(smaller, answer)[1].assignments == answer.assignments
