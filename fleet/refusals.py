"""Why a value was refused: the messages of msgspec as a place and a sentence of ours.

msgspec speaks of its own types, and of one bound at a time (``Expected `int` >= 1``). What a field
takes is therefore said from its declared type ("a whole number from 1 to 10,000"); msgspec's
message gives the place and what was found there. Workload files and forms say it alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Self

import msgspec
from msgspec import inspect

from fleet.words import say

_PLACED = re.compile(
    r"(?P<what>.*?)(?: - at (?P<key>`key` in )?`\$\.?(?P<path>[^`]*)`)?", re.DOTALL
)
_PART = re.compile(r"\.?(?P<field>[^.\[\]]+)|\[(?P<index>[0-9]+|\.\.\.)\]")
_LONGEST = 300

_MESSAGES = {
    kind: re.compile(pattern, re.DOTALL)
    for kind, pattern in {
        "got": r"Expected `[^`]*`, got `(?P<got>[^`]*)`",
        "unknown": r"Object contains unknown field `(?P<field>.*)`",
        "missing": r"Object missing required field `(?P<field>.*)`",
    }.items()
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """What msgspec says of a value."""

    path: str  # "workloads[2].replicas"; "" for the whole
    what: str  # "Expected `int` >= 1", as msgspec says it
    wanted: str  # "a whole number from 1 to 10,000"; "" when the place cannot be followed
    of_a_key: bool  # the key of a mapping is meant, not its value

    @classmethod
    def of(cls, error: msgspec.ValidationError, declared: Any, value: object) -> Self:
        """Read the error that msgspec raised when it converted ``value`` to type ``declared``."""
        match = _PLACED.fullmatch(str(error))
        if match is None:
            return cls("", str(error), "", of_a_key=False)
        path, of_a_key = match["path"] or "", match["key"] is not None
        kind = _type_at(inspect.type_info(declared), value, path)
        if of_a_key:
            kind = kind.key_type if isinstance(kind, inspect.DictType) else inspect.StrType()
        return cls(path, match["what"], wanted_words(kind) if kind is not None else "", of_a_key)

    @property
    def missing_field(self) -> str | None:
        """The field that should have been there, when that is what is wrong."""
        match = _MESSAGES["missing"].fullmatch(self.what)
        return match["field"] if match else None

    @property
    def sentence(self) -> str:
        """The reason in the reader's language, beginning with a small letter in English."""
        found = self._reason[:_LONGEST]
        return say("a key: {reason}", reason=found) if self.of_a_key else found

    @property
    def _reason(self) -> str:
        if self.missing_field is not None:
            return say("the field is missing: `{field}`", field=self.missing_field)
        unknown = _MESSAGES["unknown"].fullmatch(self.what)
        if unknown is not None:
            return say("there is no field `{field}`", field=unknown["field"])
        if not self.wanted:
            return self.what[:1].lower() + self.what[1:]
        got = _MESSAGES["got"].fullmatch(self.what)
        found = _found(got["got"]) if got is not None else ""
        if not found:
            return say("expected {wanted}", wanted=self.wanted)
        return say("expected {wanted}; found {found}", wanted=self.wanted, found=found)


def _name_words() -> str:
    """What a Kubernetes name is made of. No other text of a declared value has a pattern."""
    return say(
        "lower-case letters, digits and hyphens, as Kubernetes names are "
        "(at most 63 characters, no hyphen at either end)"
    )


def _found(msgspec_type: str) -> str:
    return {
        "int": say("a whole number"),
        "float": say("a number with a fraction"),
        "str": say("a text"),
        "bool": say("true or false"),
        "array": say("a list"),
        "object": say("a mapping"),
        "null": say("nothing"),
        "NoneType": say("nothing"),
    }.get(msgspec_type, "")


def _type_at(kind: inspect.Type, value: object, path: str) -> inspect.Type | None:
    """The declared type at a path of the value; None when the path leads nowhere."""
    found: inspect.Type | None = kind
    for part in _PART.finditer(path):
        found = _inside(found, value, part["field"])
        key = part["field"] if part["field"] is not None else part["index"]
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list | tuple) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            value = None
    return found


def _inside(kind: inspect.Type | None, value: object, field: str | None) -> inspect.Type | None:
    """The type of a field, or with no field of the entries of a list or a mapping."""
    for one in _alternatives(kind):
        if isinstance(one, inspect.StructType) and field is not None:
            tag = value.get(one.tag_field) if isinstance(value, dict) else None
            if field == one.tag_field:
                return inspect.LiteralType(tuple(_tags(kind)))
            if one.tag_field is None or one.tag == tag:
                return next((f.type for f in one.fields if f.encode_name == field), None)
        elif isinstance(one, inspect.DictType):
            return one.value_type
        elif isinstance(one, inspect.VarTupleType | inspect.ListType) and field is None:
            return one.item_type
    return None


def _alternatives(kind: inspect.Type | None) -> tuple[inspect.Type | None, ...]:
    return kind.types if isinstance(kind, inspect.UnionType) else (kind,)


def _tags(kind: inspect.Type | None) -> list[str]:
    return [
        str(one.tag)
        for one in _alternatives(kind)
        if isinstance(one, inspect.StructType) and one.tag is not None
    ]


def wanted_words(kind: inspect.Type) -> str:
    """What a field of that type takes, as a person says it; "" for a type that has no words."""
    match kind:
        case inspect.IntType():
            return _whole_number(kind.ge, kind.le)
        case inspect.FloatType():
            return _number(kind)
        case inspect.StrType(pattern=None):
            return say("a text")
        case inspect.StrType():
            return _name_words()
        case inspect.LiteralType():
            choices = ", ".join(str(value) for value in kind.values if value != "")
            if "" in kind.values:
                return say("one of {choices}, or an empty text", choices=choices)
            return say("one of {choices}", choices=choices)
        case inspect.BoolType():
            return say("true or false")
        case inspect.VarTupleType() | inspect.ListType():
            return _list(kind.min_length, kind.max_length)
        case inspect.DictType() | inspect.StructType():
            return say("a mapping")
        case inspect.UnionType():
            kinds = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
            if all(isinstance(one, inspect.StructType) for one in kinds) or len(kinds) == 1:
                return wanted_words(kinds[0])
    return ""


def _whole_number(least: int | None, most: int | None) -> str:
    if least is None:
        return say("a whole number")
    if most is None:
        return say("a whole number of at least {least}", least=f"{least:,}")
    return say("a whole number from {least} to {most}", least=f"{least:,}", most=f"{most:,}")


def _number(kind: inspect.FloatType) -> str:
    most = None if kind.le is None else f"{kind.le:,}"
    if kind.gt is not None:
        above = f"{kind.gt:,}"
        if most is None:
            return say("a number above {above}", above=above)
        return say("a number above {above} and at most {most}", above=above, most=most)
    if kind.ge is None:
        return say("a number")
    if most is None:
        return say("a number of at least {least}", least=f"{kind.ge:,}")
    return say("a number from {least} to {most}", least=f"{kind.ge:,}", most=most)


def _list(least: int | None, most: int | None) -> str:
    if least is None or most is None:
        return say("a list")
    return say("a list with {least} to {most} entries", least=f"{least:,}", most=f"{most:,}")
