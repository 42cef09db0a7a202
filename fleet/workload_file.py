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

from fleet.workloads import KIND_NAMES, Workload

MAX_BYTES = 2**20
MAX_WORKLOADS = 200
MAX_DEPTH = 12

_SCALARS: tuple[tuple[re.Pattern[str], Callable[[str], object]], ...] = (
    (re.compile(r"|~|null"), lambda _: None),
    (re.compile(r"true|false"), lambda text: text == "true"),
    (re.compile(r"[+-]?[0-9]{1,18}"), int),
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
        raise WorkloadFileError("", f"the file is larger than {MAX_BYTES // 2**20} MiB")
    try:
        decoded = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WorkloadFileError(f"byte {error.start}", "the file is not UTF-8 text") from None
    lines: dict[str, int] = {}
    value = _json(decoded)
    if value is _NOT_JSON:
        value = _yaml(decoded, lines)
    if value is None:
        raise WorkloadFileError("", "the file is empty: expected `workloads:` with a list")
    if not isinstance(value, dict):
        raise WorkloadFileError("line 1", "expected a mapping with the key `workloads`")
    if "workloads" not in value:
        keys = ", ".join(str(key) for key in value)[:100]
        raise WorkloadFileError("", f"expected the key `workloads`, found {keys or 'none'}")
    try:
        workloads = msgspec.convert(value, type=WorkloadFile).workloads
    except msgspec.ValidationError as error:
        _refuse(error, lines)
    first: dict[str, int] = {}
    for index, workload in enumerate(workloads):
        if workload.name in first:
            path = f"workloads[{index}].name"
            raise WorkloadFileError(
                _place(path, lines),
                f"the name {workload.name!r} is already used by workloads[{first[workload.name]}]",
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


_VALIDATION = re.compile(r"(?P<what>.*) - at `\$\.?(?P<path>[^`]*)`", re.DOTALL)


def _refuse(error: msgspec.ValidationError, lines: dict[str, int]) -> NoReturn:
    match = _VALIDATION.fullmatch(str(error))
    what, path = (match["what"], match["path"]) if match else (str(error), "")
    if path.endswith(".kind"):
        what = f"expected one of {', '.join(KIND_NAMES)}"
    raise WorkloadFileError(_place(path, lines), _words(what)) from None


def _words(what: str) -> str:
    what = what.replace("Object contains unknown field", "there is no field")
    what = what.replace("Object missing required field", "the field is missing:")
    return (what[:1].lower() + what[1:])[:300]


def _place(path: str, lines: dict[str, int]) -> str:
    """The path with the line of the nearest part of it that has one."""
    known = path
    while known and known not in lines:
        known = known[: max(known.rfind("."), known.rfind("["), 0)]
    line = lines.get(known)
    if line is None:
        return path
    return f"{path}, line {line}" if path else f"line {line}"


_NOT_JSON = object()


def _json(text: str) -> object:
    """The value of a JSON text; ``_NOT_JSON`` when it is not one (YAML may still read it)."""
    if not text.lstrip().startswith("{"):
        return _NOT_JSON
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_constant=_no_constant)
    except json.JSONDecodeError:
        return _NOT_JSON
    except RecursionError:
        raise WorkloadFileError("", f"nested deeper than {MAX_DEPTH} levels") from None


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise WorkloadFileError("", f"the key {twice[:60]!r} is given twice in one object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise WorkloadFileError("", f"{name} is not a number that can be used")


def _yaml(text: str, lines: dict[str, int]) -> object:
    """The value of a YAML text of one document; fills ``lines`` with the line of each path."""
    try:
        return _Builder(lines).build(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}" if mark is not None else ""
        raise WorkloadFileError(place, f"not valid YAML: {error.problem}") from None
    except yaml.YAMLError:
        raise WorkloadFileError("", "a character that YAML does not allow") from None


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
                    _bad(event, "more than one document: put all workloads into one list")
            elif isinstance(event, yaml.AliasEvent):
                _bad(event, "YAML aliases are not allowed: write the value out")
            elif isinstance(event, yaml.CollectionEndEvent):
                self.open.pop()
                self.keys.pop()
            elif isinstance(event, yaml.NodeEvent):
                self._node(event)
        return self.root[0] if self.root else None

    def _node(self, event: yaml.NodeEvent) -> None:
        if event.anchor is not None:
            _bad(event, "YAML anchors are not allowed: write the value out")
        if isinstance(event, yaml.ScalarEvent):
            if event.tag is not None:
                _bad(event, "YAML tags are not allowed")
            plain = event.style is None or event.style == ""
            self._scalar(event, event.value, _typed(event.value) if plain else event.value)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if event.tag is not None:
                _bad(event, "YAML tags are not allowed")
            value: dict[str, object] | list[object]
            value = {} if isinstance(event, yaml.MappingStartEvent) else []
            path = self._attach(event, value)
            if len(self.open) > MAX_DEPTH:
                _bad(event, f"nested deeper than {MAX_DEPTH} levels")
            self.open.append((value, path))
            self.keys.append(None)

    def _scalar(self, event: yaml.NodeEvent, text: str, value: object) -> None:
        parent, _ = self.open[-1]
        if isinstance(parent, dict) and self.keys[-1] is None:
            if text in parent:
                _bad(event, f"the key {text[:60]!r} is given twice")
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
                _bad(event, "a key must be a word")
            here = f"{path}.{key}" if path else key
            parent[key] = value
            self.keys[-1] = None
        self.lines[here] = _line(event)
        return here


def _typed(text: str) -> object:
    return next((make(text) for pattern, make in _SCALARS if pattern.fullmatch(text)), text)


def _bad(event: yaml.Event, what: str) -> NoReturn:
    raise WorkloadFileError(f"line {_line(event)}", what)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark is not None else 1
