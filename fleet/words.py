"""Sentences for people: one template with named values, so that each can be translated whole.

``fleet`` speaks English by itself. A program around it may give a translator (the web does, so
that a page speaks its reader's language); it is asked at the moment when a sentence is made. Texts
are therefore derived when they are shown, not kept as facts.

    say("{node} has {free} free GPUs", node=name, free=3)
    say_many("{n} GPU node carries no taint", "{n} GPU nodes carry no taint", 9)

The first argument is always a literal: that is how the sentences are collected for translation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Translate = Callable[[str], str]
TranslateMany = Callable[[str, str, int], str]


@dataclass(frozen=True, slots=True)
class _Translator:
    one: Translate
    many: TranslateMany


def _english(text: str) -> str:
    return text


def _english_many(singular: str, plural: str, number: int) -> str:
    return singular if number == 1 else plural


_translator = _Translator(_english, _english_many)


def use_translator(one: Translate, many: TranslateMany) -> None:
    """Translate from now on with gettext-like functions, asked anew for each sentence."""
    global _translator
    _translator = _Translator(one, many)


def say(template: str, /, **values: object) -> str:
    """The sentence in the reader's language, with its values filled in.

    Values go in as they are and are never read as templates: names from clusters may hold braces.
    A translation with a wrong placeholder falls back to the English template.
    """
    return _filled(_translator.one(template), template, values)


def say_many(singular: str, plural: str, number: int, /, **values: object) -> str:
    """Like ``say``, with the form for ``number``, which both templates may use as ``{n}``."""
    english = _english_many(singular, plural, number)
    return _filled(
        _translator.many(singular, plural, number), english, {"n": f"{number:,}"} | values
    )


def _filled(template: str, english: str, values: dict[str, object]) -> str:
    try:
        return template.format(**values)
    except (KeyError, IndexError, ValueError):
        return english.format(**values)
