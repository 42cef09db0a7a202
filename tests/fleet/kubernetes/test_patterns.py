"""Patterns from a cluster: the same answer as Python's on what is read, and never a long wait."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.kubernetes.patterns import PatternError, pattern

ATOMS = st.sampled_from(["a", "b", "-", "0", ".", "[ab]", "[^a]", "[a-c0]", r"\d", r"\.", r"\W"])


def _repeated(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    marks = st.sampled_from(["", "*", "+", "?", "{2}", "{1,3}", "{0,}", "+?"])
    return st.one_of(
        st.builds(lambda text, mark: f"(?:{text}){mark}", inner, marks),
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join),
    )


PATTERNS = st.recursive(ATOMS, _repeated, max_leaves=6)


@settings(max_examples=300, deadline=None)
@given(PATTERNS, st.text("ab-0.c", max_size=8), st.booleans(), st.booleans())
def test_what_is_read_matches_as_python_does(text: str, name: str, start: bool, end: bool) -> None:
    whole = f"{'^' if start else ''}(?:{text}){'$' if end else ''}"
    assert pattern(whole).search(name) == (re.search(whole, name) is not None)


@pytest.mark.parametrize("text", ["(a+)+$", "(a|a)*$", "(.*)*x", "a" * 40 + "?" + "a" * 40])
def test_patterns_made_to_hurt_end_at_once(text: str) -> None:
    assert pattern(text).search("a" * 200 + "!") in (True, False)


@pytest.mark.parametrize(
    "text",
    ["(", ")", "a**", "*", "[a", "a{1001}", "((a{99}){99}){99}", r"\p{L}", "(?i)a", "a{x}",
     "[[:alpha:]]", "\\", "(" * 60 + ")" * 60, "[z-a]"],
)  # fmt: skip
def test_what_is_not_read_is_refused(text: str) -> None:
    with pytest.raises(PatternError):
        pattern(text)
