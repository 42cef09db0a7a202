"""Clusters out of files: what ``kubectl get … -o json`` or ``-o yaml`` printed.

Accepted, in any mix and in any number of files: a ``List``, single objects, typed lists
(``PodList``), several documents in a row (JSON one after the other, YAML with ``---``), gzip,
UTF-8 or the UTF-16 that a Windows shell writes. ``kubectl version -o json`` and discovery
documents may lie among them.

Nothing is read by halves: a source that cannot be read to its end raises ``DumpError``. An odd
*object* in a readable source costs that object and leaves a line in ``problems``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import batched
from typing import cast

import msgspec
from msgspec import Raw, Struct

from fleet.inventory import ReadResult, ReadStatus
from fleet.kubernetes import api_documents
from fleet.kubernetes.documents import DumpError, Limits, document_of, json_documents, unpack
from fleet.kubernetes.gathering import PodGathering
from fleet.kubernetes.objects import RawCluster, decode_items, note, resource_of, unique
from fleet.kubernetes.objects_core import Object, PodObject, VersionInfo
from fleet.kubernetes.resources import PODS, RESOURCES, Resource
from fleet.words import say

__all__ = ["DumpError", "Limits", "Source", "load"]


@dataclass(frozen=True, slots=True)
class Source:
    """One file or stream. ``name`` is shown in messages."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class _Place:
    """A document of a source. As text it is English: lines of ``problems`` are kept with the
    inventory, which people of several languages read."""

    name: str
    number: int

    def __str__(self) -> str:
        return f"{self.name}, document {self.number}"

    def shown(self) -> str:
        """In the words of the person who imports, for an error."""
        return document_of(self.name, self.number)


class _Head(Struct):
    apiVersion: str = ""
    kind: str = ""


class _Envelope(_Head):
    items: list[Raw] | None = None


_AT_ONCE = 500
_HEAD = msgspec.json.Decoder(_Head)
_ENVELOPE = msgspec.json.Decoder(_Envelope)


@dataclass(slots=True)
class _Collected:
    # by Resource.key, then by the version that the object or its list names
    raw: dict[str, dict[str, list[Raw | bytes | memoryview]]] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)  # resources of which a list was there
    apis: list[dict[str, tuple[str, ...]]] = field(default_factory=list)
    version: VersionInfo | None = None
    named: str = ""  # the resource after which the file at hand is called
    objects: int = 0
    problems: list[str] = field(default_factory=list)


def load(sources: Iterable[Source], limits: Limits | None = None) -> RawCluster:
    """Read one cluster out of its files.

    Raises ``DumpError`` (``.place``, ``.message``) when a source is broken, too large, or when
    no source holds anything of a cluster.
    """
    limits = limits or Limits()
    collected = _Collected()
    names = []
    for source in sources:
        names.append(source.name)
        collected.named = _named_after(source.name)
        text = unpack(source.name, source.data, limits)
        for number, document in enumerate(json_documents(source.name, text, limits), start=1):
            place = _Place(source.name[:120], number)
            try:
                _document(document, collected, place, limits)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise DumpError(
                    place.shown(), say("is not a Kubernetes object or list: {error}", error=error)
                ) from None
            except RecursionError:
                raise DumpError(place.shown(), say("is nested too deeply")) from None
    if not (collected.seen or collected.version or collected.apis):
        raise DumpError(
            ", ".join(names)[:200] or say("(no file)"),
            say(
                "holds no Kubernetes object that we read. Export with: "
                "kubectl get nodes,pods,resourcequotas -A -o json"
            ),
        )
    return _raw_cluster(collected)


def _document(
    document: bytes | memoryview, into: _Collected, place: _Place, limits: Limits
) -> None:
    head = _HEAD.decode(document)
    if head.kind == "APIResourceList":
        into.apis.append(api_documents.from_resource_list(document))
    elif head.kind == "APIGroupDiscoveryList":
        into.apis.append(api_documents.from_aggregated(document))
    elif head.kind.endswith("List"):
        listing = _ENVELOPE.decode(document)
        _list(listing, into, place, limits)
    elif head.kind:
        _item(document, head, into, place, limits)
    else:
        version = api_documents.version_of(document)
        if version is not None:
            into.version = version
        elif bytes(document[:200]).strip() not in (b"null", b"{}"):
            note(into.problems, f"{place}: no kind, left out")


def _list(listing: _Envelope, into: _Collected, place: _Place, limits: Limits) -> None:
    own = listing.kind.removesuffix("List")
    typed = resource_of(_group(listing.apiVersion), own) if own else None
    if typed is not None:
        into.seen.add(typed.key)
    for raw in listing.items or ():
        try:
            head = _HEAD.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            note(into.problems, f"{place}: an item was left out, {error}")
            continue
        if not head.kind:
            head = _Head(apiVersion=listing.apiVersion, kind=own)  # items of a typed list
        if head.kind == "List":  # lists inside a list, as jq and yq make them
            _document(bytes(raw), into, place, limits)
        else:
            _item(raw, head, into, place, limits)
    if not listing.items and own == "":
        # An empty List: the cluster has none of what was asked for. kubectl does not say of what,
        # but our export calls each file after its resource.
        into.seen.add(into.named)


def _item(
    raw: Raw | bytes | memoryview, head: _Head, into: _Collected, place: _Place, limits: Limits
) -> None:
    into.objects += 1
    if into.objects > limits.objects:
        raise DumpError(place.shown(), say("holds more than {n:,} objects", n=limits.objects))
    resource = resource_of(_group(head.apiVersion), head.kind)
    if resource is not None:  # other kinds (Service, Secret …) are not looked at
        into.seen.add(resource.key)
        by_version = into.raw.setdefault(resource.key, {})
        by_version.setdefault(head.apiVersion, []).append(raw)


def _named_after(name: str) -> str:
    """The key of the resource after which a file is called, such as jobs.batch.json, or ""."""
    stem = name.rsplit("/", 1)[-1].removesuffix(".gz").removesuffix(".json").removesuffix(".yaml")
    return stem if any(resource.key == stem for resource in RESOURCES) else ""


def _group(api_version: str) -> str:
    group, slash, _ = api_version.partition("/")
    return group if slash else ""


def _raw_cluster(collected: _Collected) -> RawCluster:
    apis = api_documents.merge(collected.apis) if collected.apis else None
    problems = collected.problems
    objects: dict[str, tuple[Object, ...]] = {}
    for resource in RESOURCES:
        if resource.key != "pods":
            found = [item for page in _pages(resource, collected) for item in page]
            objects[resource.key] = unique(resource.key, found, problems)
    raw = RawCluster(objects=objects, version=collected.version, apis=apis)
    pods = PodGathering(raw)  # last: a pod is understood from what is around it
    for page in _pages(PODS, collected):
        pods.add(cast("tuple[PodObject, ...]", page))
    gathered = pods.whole(problems)
    counts = {key: len(items) for key, items in objects.items()} | {PODS.key: gathered.total}
    return replace(
        raw,
        pods=gathered,
        reads=tuple(_read_result(r, counts[r.key], collected, apis) for r in RESOURCES),
        problems=tuple(problems),
    )


def _pages(resource: Resource, collected: _Collected) -> Iterator[tuple[Object, ...]]:
    """The objects of one resource, some at a time, so that they need not all be held at once."""
    for version, raw in collected.raw.pop(resource.key, {}).items():
        for some in batched(raw, _AT_ONCE):
            items, lines = decode_items(resource, some, version)
            for line in lines:
                note(collected.problems, line)
            yield items


def _read_result(
    resource: Resource,
    count: int,
    collected: _Collected,
    apis: dict[str, tuple[str, ...]] | None,
) -> ReadResult:
    if resource.key in collected.seen:
        return ReadResult(resource.key, ReadStatus.READ, count)
    if apis is not None and not _served(resource, apis):
        return ReadResult(resource.key, ReadStatus.NOT_SERVED, 0)
    return ReadResult(resource.key, ReadStatus.NOT_IN_FILE, 0)


def _served(resource: Resource, apis: dict[str, tuple[str, ...]]) -> bool:
    prefix = f"{resource.group}/" if resource.group else ""
    return any(resource.plural in apis.get(prefix + version, ()) for version in resource.versions)
