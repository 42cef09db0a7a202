"""Sentences are filled safely, counted rightly, and translated whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet import words
from fleet.words import say, say_many


@pytest.fixture
def german() -> Iterator[None]:
    table = {
        "{node} has {free} free GPUs": "{free} freie GPUs auf {node}",
        "wrong {node}": "falsch {knoten}",
    }
    words.use_translator(
        lambda text: table.get(text, text),
        lambda one, many, n: "{n} Knoten" if one == "{n} node" else (one if n == 1 else many),
    )
    yield
    words.use_translator(words._english, words._english_many)


def test_english_needs_no_translator() -> None:
    assert say("{node} has {free} free GPUs", node="a", free=3) == "a has 3 free GPUs"
    assert say_many("{n} node", "{n} nodes", 1) == "1 node"
    assert say_many("{n} node", "{n} nodes", 1200) == "1,200 nodes"


def test_a_translation_may_turn_the_sentence_around(german: None) -> None:
    assert say("{node} has {free} free GPUs", node="a", free=3) == "3 freie GPUs auf a"
    assert say_many("{n} node", "{n} nodes", 2) == "2 Knoten"


def test_a_broken_translation_falls_back_to_english(german: None) -> None:
    assert say("wrong {node}", node="a") == "wrong a"


@given(st.text())
def test_values_are_never_read_as_templates(name: str) -> None:
    assert say("[{name}]", name=name) == f"[{name}]"
