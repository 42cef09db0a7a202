"""Asking a live server what it serves: the aggregated form, else the older one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from msgspec import Struct

from fleet.kubernetes import api_documents
from fleet.kubernetes.calls import Caller, decoded, reading
from fleet.kubernetes.fetching import FetchError, Reason, malformed, no_api_server
from fleet.kubernetes.resources import RESOURCES, Resource
from fleet.kubernetes.transport import Answer
from fleet.words import say

ACCEPT = ",".join(
    (
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",  # 1.30
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",  # 1.27
        "application/json",
    )
)


_LONGEST_ETAG = 500


class _Kind(Struct):
    kind: str = ""


class _Freshness(Struct):
    version: str = ""
    freshness: str = ""


class _Name(Struct):
    name: str = ""


class _Group(Struct):
    metadata: _Name | None = None
    versions: list[_Freshness] | None = None


class _Groups(Struct):
    items: list[_Group] | None = None


class _Version(Struct):
    version: str = ""


class _OldGroup(Struct):
    name: str = ""
    versions: list[_Version] | None = None


class _OldGroups(Struct):
    groups: list[_OldGroup] | None = None


class _OldCore(Struct):
    versions: list[str] | None = None


@dataclass(frozen=True, slots=True)
class Served:
    """apis: "apps/v1" or "v1" -> plural names; from the older form only for groups that we read,
    the others have no names. stale: APIs whose server does not answer, so that absence proves
    nothing."""

    apis: Mapping[str, tuple[str, ...]]
    stale: frozenset[str] = frozenset()
    etags: Mapping[str, str] = field(default_factory=dict)  # "/api", "/apis": of those answers

    def has_needed(self) -> bool:
        """Whether everything is there without which there is no inventory."""
        return all(self.versions(resource) for resource in RESOURCES if resource.needed)

    def below(self, root: str) -> dict[str, tuple[str, ...]]:
        """The APIs that the answer to "/api" (the core group) or to "/apis" named."""
        return {name: found for name, found in self.apis.items() if ("/" in name) == _named(root)}

    def versions(self, resource: Resource) -> tuple[str, ...]:
        """The version to read, best first in the table; nothing when it is not served."""
        for version in resource.versions:
            if resource.plural in self.apis.get(api_version(resource.group, version), ()):
                return (version,)
        return ()

    def is_stale(self, resource: Resource) -> bool:
        """Whether an API that would hold this resource does not answer."""
        return any(api_version(resource.group, v) in self.stale for v in resource.versions)


def api_version(group: str, version: str) -> str:
    """Group and version as objects name them: v1 for the core group, else group/version."""
    return f"{group}/{version}" if group else version


def api_path(group: str, version: str) -> str:
    """Where an API lives on the server."""
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


REMEMBERED_MIN = 10
"""Minutes for which an answer counts: what is installed is read after this time at the latest."""


class Memory(Protocol):
    """Keeps what one cluster serves between two readings of it, for some minutes."""

    def recall(self) -> Served | None:
        """What was kept in the last ``REMEMBERED_MIN`` minutes, to be taken as it is."""

    def last(self) -> Served | None:
        """What was kept last, however old: the server is asked whether it still holds."""

    def keep(self, served: Served) -> None:
        """Remember a fresh answer."""

    def forget(self) -> None:
        """What was kept has proved wrong."""


def _named(root: str) -> bool:
    return root == "/apis"


def ask(caller: Caller, known: Served | None = None) -> Served | None:
    """What the server serves; None when the credential may not ask. Raises FetchError.

    known: an earlier answer. A server that still says the same need not say it again.
    """
    parts: list[Mapping[str, tuple[str, ...]]] = []
    stale: set[str] = set()
    etags: dict[str, str] = {}
    for root in ("/api", "/apis"):
        etag = known.etags.get(root, "") if known is not None else ""
        answer = _get(caller, root, etag)
        if answer is None:
            return None
        if answer.etag:
            etags[root] = answer.etag[:_LONGEST_ETAG]
        if answer.status == 304 and known is not None:
            etags[root] = etag
            parts.append(known.below(root))
            continue
        kind = decoded(answer, _Kind, root).kind
        if kind == "APIGroupDiscoveryList":
            with reading(root):
                parts.append(api_documents.from_aggregated(answer.body))
            stale |= _stale(decoded(answer, _Groups, root))
        elif kind == "APIVersions":
            core = decoded(answer, _OldCore, root)
            parts += _older(caller, "", core.versions or (), stale)
        elif kind == "APIGroupList":
            for group in decoded(answer, _OldGroups, root).groups or ():
                versions = [version.version for version in group.versions or ()]
                parts += _older(caller, group.name, versions, stale)
        else:
            malformed(say("The answer to {where} is not a list of APIs.", where=root))
    return Served(api_documents.merge(parts), frozenset(stale), etags)


def _get(caller: Caller, path: str, etag: str) -> Answer | None:
    answer = caller.get(path, ACCEPT, etag)
    if answer.status == 406:
        answer = caller.get(path)
    if answer.status == 403:
        return None
    if answer.status not in (200, 304):
        raise no_api_server(path, answer.status)
    return answer


def _stale(groups: _Groups) -> set[str]:
    return {
        api_version(group.metadata.name if group.metadata else "", version.version)
        for group in groups.items or ()
        for version in group.versions or ()
        if version.freshness == "Stale"
    }


def _older(
    caller: Caller, group: str, versions: Iterable[str], stale: set[str]
) -> list[Mapping[str, tuple[str, ...]]]:
    """One request per version, so only for those that we read."""
    ours = {v for resource in RESOURCES if resource.group == group for v in resource.versions}
    found: list[Mapping[str, tuple[str, ...]]] = []
    for version in versions:
        name = api_version(group, version)
        found.append({name: ()})
        if version not in ours:
            continue
        path = api_path(group, version)
        try:
            answer = caller.get(path)
        except FetchError as error:
            if error.code is not Reason.SERVER_ERROR:
                raise
            stale.add(name)
            continue
        if answer.status != 200:
            stale.add(name)
            continue
        with reading(path):
            found.append(api_documents.from_resource_list(answer.body))
    return found
