"""Why a value was refused: the messages of msgspec as a place and a sentence of ours.

msgspec speaks English only. Its messages for the types that we declare are few; each becomes a
sentence that can be translated. A message of another form is shown as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

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
        match = _MESSAGES["missing"].fullmatch(self.what)
        return match["field"] if match else None

    @property
    def is_pattern(self) -> bool:
        """Whether a text does not have the form that its field asks for."""
        return _MESSAGES["pattern"].fullmatch(self.what) is not None

    @property
    def sentence(self) -> str:
        """The reason in the reader's language, beginning with a small letter in English."""
        found = _sentence(self.what)[:_LONGEST]
        return say("a key: {reason}", reason=found) if self.of_a_key else found


_MESSAGES = {
    kind: re.compile(pattern, re.DOTALL)
    for kind, pattern in {
        "got": r"Expected `(?P<type>[^`]*)`, got `(?P<got>[^`]*)`",
        "type": r"Expected `(?P<type>[^`]*)`",
        "limit": r"Expected `(?P<type>[^`]*)` (?P<limit>[<>]=? [-+0-9.e]+)",
        "length": r"Expected `(?P<type>[^`]*)` of length (?P<limit>[<>]=? [0-9]+)",
        "pattern": r"Expected `(?P<type>[^`]*)` matching regex (?P<pattern>.*)",
        "unknown": r"Object contains unknown field `(?P<field>.*)`",
        "missing": r"Object missing required field `(?P<field>.*)`",
        "choice": r"Invalid enum value (?P<value>.*)",
        "value": r"Invalid value (?P<value>.*)",
        "range": r"(?:Number|Integer value) out of range",
    }.items()
}


def _sentence(what: str) -> str:
    for kind, pattern in _MESSAGES.items():
        match = pattern.fullmatch(what)
        if match is not None:
            return _spoken(kind, match.groupdict())
    return what[:1].lower() + what[1:]


def _spoken(kind: str, parts: dict[str, str]) -> str:
    match kind:
        case "got":
            return say("expected `{type}`, got `{got}`", **parts)
        case "type":
            return say("expected `{type}`", **parts)
        case "limit":
            return say("expected `{type}` {limit}", **parts)
        case "length":
            return say("expected `{type}` of length {limit}", **parts)
        case "pattern":
            return say("expected `{type}` matching regex {pattern}", **parts)
        case "unknown":
            return say("there is no field `{field}`", **parts)
        case "missing":
            return say("the field is missing: `{field}`", **parts)
        case "choice":
            return say("invalid enum value {value}", **parts)
        case "value":
            return say("invalid value {value}", **parts)
    return say("number out of range")
