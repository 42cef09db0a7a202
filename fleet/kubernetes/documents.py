"""From bytes of a file to JSON documents: gzip, text encodings, JSON streams, YAML streams."""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import yaml

from fleet.words import say


class DumpError(ValueError):
    """A source that cannot be used. ``place`` says where, ``message`` what and what to do."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}")
        self.place = place
        self.message = message


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one source may cost. The JSON decoder has its own depth guard (some hundreds)."""

    raw_bytes: int = 512 * 2**20
    unpacked_bytes: int = 2**30
    yaml_bytes: int = 64 * 2**20  # YAML costs about a hundred times more than JSON
    depth: int = 60  # YAML; the deepest object that we read has about 15 levels
    objects: int = 2_000_000
    documents: int = 200_000


def document_of(place: str, number: int) -> str:
    """The place of one document of a source, for people."""
    return say("{place}, document {number}", place=place, number=number)


def line_of(place: str, number: int) -> str:
    """The place of one line of a source, for people."""
    return say("{place}, line {number}", place=place, number=number)


def byte_of(place: str, number: int) -> str:
    """The place of one byte of a source, for people."""
    return say("{place}, byte {number}", place=place, number=number)


_GZIP = b"\x1f\x8b"
_STEP = 2**20
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def unpack(name: str, data: bytes, limits: Limits) -> bytes:
    """The text of a source as UTF-8 bytes, within the limits."""
    place = name[:120]
    if len(data) > limits.raw_bytes:
        raise DumpError(place, say("is larger than {n} MiB", n=limits.raw_bytes // 2**20))
    if data.startswith(_GZIP):
        data = _gunzip(place, data, limits)
        if data.startswith(_GZIP):
            raise DumpError(place, say("is packed twice: unpack it once"))
    for mark, codec in ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"),
                        (codecs.BOM_UTF16_BE, "utf-16")):  # fmt: skip
        if data.startswith(mark):
            try:
                data = data.decode(codec).encode()
            except UnicodeDecodeError as error:
                raise DumpError(
                    byte_of(place, error.start), say("is not {codec} text", codec=codec)
                ) from None
            break
    if len(data) > limits.unpacked_bytes:
        raise DumpError(
            place, say("is larger than {n} MiB of text", n=limits.unpacked_bytes // 2**20)
        )
    if not data.strip():
        raise DumpError(place, say("is empty"))
    if _CONTROL.search(data, 0, 4096):
        raise DumpError(
            place, say("is not text: expected what kubectl prints with -o json or -o yaml")
        )
    return data


def _gunzip(place: str, data: bytes, limits: Limits) -> bytes:
    parts: list[bytes] = []
    total = 0
    rest = data
    while rest.startswith(_GZIP):  # one file may hold several members
        stream = zlib.decompressobj(wbits=31)
        pending = rest
        while not stream.eof:
            try:
                piece = stream.decompress(pending, _STEP)
            except zlib.error as error:
                raise DumpError(
                    place, say("is a broken gzip file ({error})", error=error)
                ) from None
            if not piece and not stream.unconsumed_tail and not stream.eof:
                raise DumpError(place, say("is a gzip file that ends too early"))
            parts.append(piece)
            total += len(piece)
            if total > limits.unpacked_bytes:
                size = limits.unpacked_bytes // 2**20
                raise DumpError(place, say("unpacks to more than {n} MiB", n=size))
            pending = stream.unconsumed_tail
        rest = stream.unused_data
    return b"".join(parts)


def json_documents(name: str, text: bytes, limits: Limits) -> Iterator[bytes | memoryview]:
    """The documents of a text as JSON, one at a time. Raises ``DumpError``."""
    place = name[:120]
    if text.lstrip()[:1] in (b"{", b"["):
        yield from _json(place, text, limits)
    else:
        yield from _yaml(place, text, limits)


def _json(place: str, text: bytes, limits: Limits) -> Iterator[bytes | memoryview]:
    view = memoryview(text)
    start = 0
    count = 0
    while start < len(text):
        length = _document_length(place, view, start)
        document = view[start : start + length]
        if bytes(document[:1024]).lstrip()[:1] == b"[":  # an array of objects
            yield from msgspec.json.decode(document, type=list[msgspec.Raw])
        elif bytes(document[:1024]).strip() or bytes(document).strip():
            yield document
        start += length
        count += 1
        if count > limits.documents:
            raise DumpError(place, say("holds more than {n:,} documents", n=limits.documents))


def _document_length(place: str, view: memoryview, start: int) -> int:
    rest = view[start:]
    try:
        msgspec.json.decode(rest, type=msgspec.Raw)
    except msgspec.DecodeError as error:
        trailing = _TRAILING.search(str(error))
        if trailing is not None:
            return int(trailing.group(1)) - 1  # counted from one
        if "truncated" in str(error):
            raise DumpError(
                byte_of(place, len(view)),
                say("ends in the middle of a JSON document: was the export cut off?"),
            ) from None
        at = re.search(r"\(byte (\d+)\)", str(error))
        where = start + (int(at.group(1)) if at else 0)
        raise DumpError(
            byte_of(place, where), say("is not valid JSON ({error})", error=error)
        ) from None
    except UnicodeDecodeError as error:
        raise DumpError(byte_of(place, start + error.start), say("is not UTF-8 text")) from None
    except RecursionError:
        raise DumpError(byte_of(place, start), say("is nested too deeply")) from None
    return len(rest)


class _Loader(yaml.CSafeLoader):
    """Timestamps, binary and the like stay texts: Kubernetes knows JSON types only."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _yaml(place: str, text: bytes, limits: Limits) -> Iterator[bytes]:
    if len(text) > limits.yaml_bytes:
        size = limits.yaml_bytes // 2**20
        raise DumpError(
            place, say("is YAML of more than {n} MiB: export with -o json instead", n=size)
        )
    try:
        _guard(place, text, limits)
        documents: Iterator[Any] = yaml.load_all(text, Loader=_Loader)
        for number, document in enumerate(documents, start=1):
            if document is None:
                continue  # an empty document between two markers
            where = document_of(place, number)
            if not isinstance(document, dict | list):
                raise DumpError(where, say("is not a Kubernetes object: expected a mapping"))
            for item in document if isinstance(document, list) else (document,):
                yield _as_json(where, item)
    except yaml.YAMLError as error:
        raise DumpError(
            _yaml_place(place, error), say("is not valid YAML ({error})", error=_problem(error))
        ) from None
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        if isinstance(error, DumpError):
            raise
        raise DumpError(
            place, say("is not valid YAML ({error})", error=type(error).__name__)
        ) from None


def _as_json(where: str, item: object) -> bytes:
    try:
        return msgspec.json.encode(item)
    except (TypeError, msgspec.MsgspecError, OverflowError) as error:
        raise DumpError(
            where, say("holds a value that JSON cannot carry ({error})", error=error)
        ) from None


def _guard(place: str, text: bytes, limits: Limits) -> None:
    """Refuse aliases and great depth before anything is built in memory."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        line = event.start_mark.line + 1 if event.start_mark is not None else 0
        if isinstance(event, yaml.AliasEvent):
            raise DumpError(line_of(place, line), say("uses a YAML alias: kubectl writes none"))
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > limits.depth:
                raise DumpError(
                    line_of(place, line), say("is nested deeper than {n}", n=limits.depth)
                )
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _yaml_place(place: str, error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return line_of(place, mark.line + 1) if mark is not None else place


def _problem(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", None) or say("syntax error"))[:120]
