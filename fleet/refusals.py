"""Why a value was refused: the messages of msgspec as a place and a sentence of ours.

msgspec speaks English only. Its messages for the types that we declare are few; each becomes a
sentence that can be translated. A message of another form is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import msgspec

from fleet.words import say

_PLACED = re.compile(
    r"(?P<what>.*?)(?: - at (?P<key>`key` in )?`\$\.?(?P<path>[^`]*)`)?", re.DOTALL
)
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Refusal:
    """What msgspec says of a value."""

    path: str  # "workloads[2].replicas"; "" for the whole
    what: str  # "Expected `int` >= 1", as msgspec says it
    of_a_key: bool  # the key of a mapping is meant, not its value

    @classmethod
    def of(cls, error: msgspec.ValidationError) -> Self:
        """Read the message of an error."""
        match = _PLACED.fullmatch(str(error))
        if match is None:
            return cls("", str(error), of_a_key=False)
        return cls(match["path"] or "", match["what"], of_a_key=match["key"] is not None)

    @property
    def missing_field(self) -> str | None:
        """The field that should have been there, when that is what is wrong."""
        match = re.fullmatch(r"Object missing required field `([^`]*)`", self.what)
        return match[1] if match else None

    @property
    def is_pattern(self) -> bool:
        """Whether a text does not have the form that its field asks for."""
        return "` matching regex " in self.what

    @property
    def sentence(self) -> str:
        """The reason in the reader's language, beginning with a small letter in English."""
        found = _sentence(self.what)[:_LONGEST]
        return say("a key: {reason}", reason=found) if self.of_a_key else found


_FORMS: tuple[tuple[str, Callable[[dict[str, Any]], str]], ...] = (
    (
        r"Expected `(?P<type>[^`]*)`, got `(?P<got>[^`]*)`",
        lambda part: say("expected `{type}`, got `{got}`", **part),
    ),
    (r"Expected `(?P<type>[^`]*)`", lambda part: say("expected `{type}`", **part)),
    (
        r"Expected `(?P<type>[^`]*)` (?P<limit>[<>]=? [-+0-9.e]+)",
        lambda part: say("expected `{type}` {limit}", **part),
    ),
    (
        r"Expected `(?P<type>[^`]*)` of length (?P<limit>[<>]=? [0-9]+)",
        lambda part: say("expected `{type}` of length {limit}", **part),
    ),
    (
        r"Expected `(?P<type>[^`]*)` matching regex (?P<pattern>.*)",
        lambda part: say("expected `{type}` matching regex {pattern}", **part),
    ),
    (
        r"Object contains unknown field `(?P<field>.*)`",
        lambda part: say("there is no field `{field}`", **part),
    ),
    (
        r"Object missing required field `(?P<field>.*)`",
        lambda part: say("the field is missing: `{field}`", **part),
    ),
    (r"Invalid enum value (?P<value>.*)", lambda part: say("invalid enum value {value}", **part)),
    (r"Invalid value (?P<value>.*)", lambda part: say("invalid value {value}", **part)),
    (r"(?:Number|Integer value) out of range", lambda part: say("number out of range", **part)),
)


def _sentence(what: str) -> str:
    for pattern, spoken in _FORMS:
        match = re.fullmatch(pattern, what, re.DOTALL)
        if match is not None:
            return spoken(match.groupdict())
    return what[:1].lower() + what[1:]
