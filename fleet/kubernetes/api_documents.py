"""Which APIs a server serves, from any of the forms in which discovery is written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct

from fleet.kubernetes.objects_core import Metadata, Name, VersionInfo


class _Resource(Struct):
    name: Name = ""


class ResourceList(Struct):
    """``kind: APIResourceList``: one group version."""

    groupVersion: Name = ""
    resources: list[_Resource] | None = None


class _Discovered(Struct):
    resource: Name = ""


class _Version(Struct):
    version: Name = ""
    resources: list[_Discovered] | None = None


class _Group(Struct):
    metadata: Metadata | None = None
    versions: list[_Version] | None = None


class GroupDiscovery(Struct):
    """``kind: APIGroupDiscoveryList``: aggregated discovery of ``/api`` or ``/apis``."""

    items: list[_Group] | None = None


def from_resource_list(body: bytes | memoryview) -> dict[str, tuple[str, ...]]:
    """ "group/version" -> resources of one ``APIResourceList``; sub-resources are left out."""
    listing = msgspec.json.decode(body, type=ResourceList)
    if not listing.groupVersion:
        return {}
    names = (r.name for r in listing.resources or ())
    return {listing.groupVersion: tuple(sorted(n for n in names if n and "/" not in n))}


def from_aggregated(body: bytes | memoryview) -> dict[str, tuple[str, ...]]:
    """ "group/version" -> resources of an ``APIGroupDiscoveryList``; the core group is "v1"."""
    found: dict[str, tuple[str, ...]] = {}
    for group in msgspec.json.decode(body, type=GroupDiscovery).items or ():
        name = group.metadata.name if group.metadata else ""
        for version in group.versions or ():
            key = f"{name}/{version.version}" if name else version.version
            names = {r.resource for r in version.resources or () if r.resource}
            found[key] = tuple(sorted(names))
    return found


def merge(parts: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    """Several answers as one; the same group version may come in parts."""
    found: dict[str, set[str]] = {}
    for part in parts:
        for key, names in part.items():
            found.setdefault(key, set()).update(names)
    return {key: tuple(sorted(names)) for key, names in sorted(found.items())}


class _KubectlVersion(Struct):
    serverVersion: VersionInfo | None = None
    gitVersion: Name = ""


def version_of(body: bytes | memoryview) -> VersionInfo | None:
    """The server's version out of ``kubectl version -o json`` or of ``GET /version``.

    None when the document is neither, or when kubectl reached no server.
    """
    found = msgspec.json.decode(body, type=_KubectlVersion)
    if found.serverVersion is not None:
        return found.serverVersion
    return msgspec.json.decode(body, type=VersionInfo) if found.gitVersion else None
