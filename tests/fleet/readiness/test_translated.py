"""In another language every sentence of a finding is in that language, whole."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from fleet import words
from fleet.inventory import Inventory, ReadResult, ReadStatus
from fleet.readiness.finding import QUESTIONS, Finding, question_title
from fleet.readiness.report import check, counts
from fleet.workloads import LlmWorkload
from tests.fleet.readiness.clusters import probes, times
from tests.fleet.readiness.test_cases import CASES, TODAY, inventory
from tests.fleet.readiness.test_probes import DECLARED, requirement, server

_INNERMOST = re.compile(r"⟦[^⟦⟧]*⟧")


@contextmanager
def marked() -> Iterator[None]:
    """A reader whose language sets every sentence in brackets of its own."""
    words.use_translator(
        lambda text: f"⟦{text}⟧",
        lambda one, many, number: f"⟦{one if number == 1 else many}⟧",
    )
    try:
        yield
    finally:
        words.use_translator(words._english, words._english_many)


def untranslated(text: str) -> str:
    """What stands outside of all brackets, but for the space between two sentences."""
    while _INNERMOST.search(text):
        text = _INNERMOST.sub("", text)
    return text.strip()


def shown(finding: Finding) -> tuple[str, ...]:
    return finding.title, finding.detail, finding.remedy, finding.costs


def judged(taken: Inventory) -> Iterator[Finding]:
    """While the minor is in support, about to leave it, and long out of it."""
    for days in (0, 180, 3000):
        yield from check(taken, today=TODAY + timedelta(days=days))


def without(taken: Inventory, status: ReadStatus) -> Inventory:
    """The inventory as if no resource could be read."""
    reads = tuple(ReadResult(result.resource, status, 0, "") for result in taken.reads)
    return dataclasses.replace(taken, reads=reads, apis=None)


@pytest.mark.parametrize("case", sorted(path.name[:2] for path in CASES.glob("[0-9]*.json")))
def test_every_finding_on_a_real_cluster_is_translated_whole(case: str) -> None:
    taken = inventory(case)
    refusals = {text for c in taken.controllers for text in c.problems}  # kept in English
    in_english = counts(judged(taken))
    with marked():
        findings = list(judged(taken))
        for status in ReadStatus:
            findings += check(without(taken, status), today=TODAY)
    left = {rest for f in findings for text in shown(f) if (rest := untranslated(text))}
    assert left - refusals == set()
    with marked():
        assert counts(judged(taken)) == in_english


@pytest.mark.parametrize("failures", [None, 10, 100, 200])
def test_findings_on_declared_workloads_are_translated_whole(failures: int | None) -> None:
    startup = times(period=10, failures=failures) if failures else None
    absent = LlmWorkload(name="absent", model="m")
    declared = [(DECLARED, requirement(900.0)), (absent, requirement(900.0))]
    taken = server(60, probes=probes(startup=startup))
    with marked():
        findings = check(taken, today=TODAY, declared=declared)
    assert [untranslated(text) for f in findings for text in shown(f) if untranslated(text)] == []


def test_the_titles_of_the_questions_are_translated() -> None:
    with marked():
        titles = [question_title(number) for number in QUESTIONS]
    assert len(set(titles)) == len(QUESTIONS)
    assert [untranslated(title) for title in titles] == [""] * len(QUESTIONS)


def test_a_number_that_is_no_question_has_no_title() -> None:
    with pytest.raises(ValueError, match="no question 6"):
        question_title(6)


def test_a_glued_sentence_would_be_seen() -> None:
    assert untranslated("⟦Pods wait⟧ for ever") == "for ever"
    assert untranslated("⟦⟦3 pods⟧ wait.⟧ ⟦One restarted.⟧") == ""
