"""The workload file: what users declare, as YAML or JSON, read strictly and with places named.

The file is one mapping with one key, ``workloads``. Fields are those of ``fleet.workloads``;
``docs/workload-file.md`` describes them and ``docs/workloads.schema.json`` is their JSON Schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Annotated, Any, NoReturn

import msgspec
import yaml
from msgspec import Meta

from fleet.refusals import Refusal
from fleet.words import say
from fleet.workloads import Workload

MAX_BYTES = 2**20
MAX_WORKLOADS = 200
MAX_DEPTH = 12
MAX_DIGITS = 40

_SCALARS: tuple[tuple[re.Pattern[str], Callable[[str], object]], ...] = (
    (re.compile(r"|~|null"), lambda _: None),
    (re.compile(r"true|false"), lambda text: text == "true"),
    # Also what is far too great for any field: it is a number, and refused as one.
    (re.compile(rf"[+-]?[0-9]{{1,{MAX_DIGITS}}}"), int),
    (re.compile(r"[+-]?([0-9]{1,18}(\.[0-9]{0,18})?|\.[0-9]{1,18})([eE][+-]?[0-9]{1,2})?"), float),
)
"""Plain scalars as JSON knows them; all else is text, so that ``yes`` or ``12:30`` stay words."""


class WorkloadFileError(ValueError):
    """A file that cannot be used. ``place`` says where ("workloads[2].replicas, line 14"),
    ``message`` what is wrong."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.place = place
        self.message = message


class WorkloadFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The shape of the file."""

    workloads: Annotated[tuple[Workload, ...], Meta(min_length=1, max_length=MAX_WORKLOADS)]


def load(text: bytes) -> tuple[Workload, ...]:
    """The workloads of a file, in its order.

    Raises ``WorkloadFileError`` on anything but a well-formed file: more than 1 MiB, more than
    200 workloads, aliases, unknown fields, wrong types, values out of range, a name used twice.
    """
    if len(text) > MAX_BYTES:
        raise WorkloadFileError(
            "", say("the file is larger than {size}", size=f"{MAX_BYTES // 2**20} MiB")
        )
    try:
        decoded = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = say("byte {n}", n=error.start)
        raise WorkloadFileError(place, say("the file is not UTF-8 text")) from None
    lines: dict[str, int] = {}
    value = _json(decoded)
    if value is _NOT_JSON:
        value = _yaml(decoded, lines)
    if value is None:
        raise WorkloadFileError("", say("the file is empty: expected `workloads:` with a list"))
    if not isinstance(value, dict):
        raise WorkloadFileError(_on_line(1), say("expected a mapping with the key `workloads`"))
    if "workloads" not in value:
        keys = ", ".join(str(key) for key in value)[:100] or say("none")
        raise WorkloadFileError("", say("expected the key `workloads`, found {keys}", keys=keys))
    try:
        workloads = msgspec.convert(value, type=WorkloadFile).workloads
    except msgspec.ValidationError as error:
        _refuse(error, value, lines)
    first: dict[str, int] = {}
    for index, workload in enumerate(workloads):
        if workload.name in first:
            path = f"workloads[{index}].name"
            raise WorkloadFileError(
                _place(path, lines),
                say(
                    "the name {name!r} is already used by {other}",
                    name=workload.name,
                    other=f"workloads[{first[workload.name]}]",
                ),
            )
        first[workload.name] = index
    return workloads


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the file."""
    schema = msgspec.json.schema(WorkloadFile)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Workload file of the GPU fleet planner",
        **schema,
    }


def _refuse(error: msgspec.ValidationError, value: object, lines: dict[str, int]) -> NoReturn:
    refusal = Refusal.of(error, WorkloadFile, value)
    raise WorkloadFileError(_place(refusal.path, lines), refusal.sentence) from None


def _place(path: str, lines: dict[str, int]) -> str:
    """The path with the line of the nearest part of it that has one."""
    known = path
    while known and known not in lines:
        known = known[: max(known.rfind("."), known.rfind("["), 0)]
    line = lines.get(known)
    if line is None:
        return path
    return say("{path}, line {line}", path=path, line=line) if path else _on_line(line)


def _on_line(line: int) -> str:
    return say("line {line}", line=line)


def _too_deep() -> str:
    return say("nested deeper than {most} levels", most=MAX_DEPTH)


_NOT_JSON = object()


def _json(text: str) -> object:
    """The value of a JSON text; ``_NOT_JSON`` when it is not one (YAML may still read it)."""
    if not text.lstrip().startswith("{"):
        return _NOT_JSON
    try:
        return json.loads(
            text, object_pairs_hook=_pairs, parse_int=_integer, parse_constant=_no_constant
        )
    except json.JSONDecodeError:
        return _NOT_JSON
    except RecursionError:
        raise WorkloadFileError("", _too_deep()) from None


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise WorkloadFileError(
            "", say("the key {key!r} is given twice in one object", key=twice[:60])
        )
    return found


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:  # Python refuses by itself to read one of thousands of digits
        raise WorkloadFileError("", say("a number has more than {most} digits", most=MAX_DIGITS))
    return int(text)


def _no_constant(name: str) -> NoReturn:
    raise WorkloadFileError("", say("{name} is not a number that can be used", name=name))


def _yaml(text: str, lines: dict[str, int]) -> object:
    """The value of a YAML text of one document; fills ``lines`` with the line of each path."""
    try:
        return _Builder(lines).build(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = _on_line(mark.line + 1) if mark is not None else ""
        reason = say("not valid YAML: {problem}", problem=error.problem)
        raise WorkloadFileError(place, reason) from None
    except yaml.YAMLError:
        raise WorkloadFileError("", say("a character that YAML does not allow")) from None


class _Builder:
    """Values from YAML events, without ever resolving an alias or a tag."""

    def __init__(self, lines: dict[str, int]) -> None:
        self.lines = lines
        self.root: list[object] = []
        self.open: list[tuple[dict[str, object] | list[object], str]] = [(self.root, "")]
        self.keys: list[str | None] = [None]

    def build(self, text: str) -> object:
        documents = 0
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    _bad(event, say("more than one document: put all workloads into one list"))
            elif isinstance(event, yaml.AliasEvent):
                _bad(event, say("YAML aliases are not allowed: write the value out"))
            elif isinstance(event, yaml.CollectionEndEvent):
                self.open.pop()
                self.keys.pop()
            elif isinstance(event, yaml.NodeEvent):
                self._node(event)
        return self.root[0] if self.root else None

    def _node(self, event: yaml.NodeEvent) -> None:
        if event.anchor is not None:
            _bad(event, say("YAML anchors are not allowed: write the value out"))
        if isinstance(event, yaml.ScalarEvent):
            if event.tag is not None:
                _bad(event, say("YAML tags are not allowed"))
            plain = event.style is None or event.style == ""
            self._scalar(event, event.value, _typed(event.value) if plain else event.value)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if event.tag is not None:
                _bad(event, say("YAML tags are not allowed"))
            value: dict[str, object] | list[object]
            value = {} if isinstance(event, yaml.MappingStartEvent) else []
            path = self._attach(event, value)
            if len(self.open) > MAX_DEPTH:
                _bad(event, _too_deep())
            self.open.append((value, path))
            self.keys.append(None)

    def _scalar(self, event: yaml.NodeEvent, text: str, value: object) -> None:
        parent, _ = self.open[-1]
        if isinstance(parent, dict) and self.keys[-1] is None:
            if text in parent:
                _bad(event, say("the key {key!r} is given twice", key=text[:60]))
            self.keys[-1] = text
        else:
            self._attach(event, value)

    def _attach(self, event: yaml.NodeEvent, value: object) -> str:
        """Put a value where it belongs; its path as msgspec writes it."""
        parent, path = self.open[-1]
        if isinstance(parent, list):
            here = f"{path}[{len(parent)}]" if parent is not self.root else ""
            parent.append(value)
        else:
            key = self.keys[-1]
            if key is None:
                _bad(event, say("a key must be a word"))
            here = f"{path}.{key}" if path else key
            parent[key] = value
            self.keys[-1] = None
        self.lines[here] = _line(event)
        return here


def _typed(text: str) -> object:
    return next((make(text) for pattern, make in _SCALARS if pattern.fullmatch(text)), text)


def _bad(event: yaml.Event, what: str) -> NoReturn:
    raise WorkloadFileError(_on_line(_line(event)), what)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark is not None else 1
