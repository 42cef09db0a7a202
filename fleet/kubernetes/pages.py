"""One resource, page by page: `limit` and `continue`, restarts, and lists that never end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

import msgspec

from fleet.inventory import ReadResult, ReadStatus
from fleet.kubernetes.calls import Caller, reading, unexpected
from fleet.kubernetes.fetching import FetchError, FetchLimits, Reason, malformed
from fleet.kubernetes.objects import Page, decode_page, note, unique
from fleet.kubernetes.objects_core import Object
from fleet.kubernetes.resources import Resource
from fleet.kubernetes.served import api_path
from fleet.words import say


@dataclass(frozen=True, slots=True)
class Listing:
    """What one resource gave. objects are complete or empty, never the first half of a list."""

    status: ReadStatus
    objects: tuple[Object, ...] = ()
    resource_version: str = ""
    problems: tuple[str, ...] = ()
    detail: str = ""

    def result(self, resource: Resource, seconds: float) -> ReadResult:
        return ReadResult(
            resource=resource.key,
            status=self.status,
            count=len(self.objects),
            detail=self.detail,
            seconds=round(seconds, 3),
            resource_version=self.resource_version,
        )


class _Expired(Exception):
    """410: the continue token has died, so the rest of this list cannot be had."""


def read_list(
    caller: Caller,
    resource: Resource,
    versions: tuple[str, ...],
    limits: FetchLimits,
    *,
    page_size: int,
    on_page: Callable[[int], None],
) -> Listing:
    """All objects of one resource in the first of `versions` that is served.

    on_page gets the number of objects so far, after each page. 403 and 404 are answers, not
    errors; everything else that goes wrong raises FetchError.
    """
    for version in versions:
        for _ in range(limits.restarts + 1):
            try:
                listing = _read_once(caller, resource, version, limits, page_size, on_page)
            except _Expired:
                on_page(0)
                continue
            break
        else:
            raise FetchError(
                Reason.EXPIRED,
                say(
                    "The list of {resource} expired while it was read, {n} times.",
                    resource=resource.key,
                    n=limits.restarts + 1,
                ),
                say(
                    "Sync at a quieter time; the API server is too slow for a list of this length."
                ),
            )
        if listing.status is not ReadStatus.NOT_SERVED:
            return listing
    return Listing(ReadStatus.NOT_SERVED, detail="The cluster does not serve it.")


def _read_once(
    caller: Caller,
    resource: Resource,
    version: str,
    limits: FetchLimits,
    page_size: int,
    on_page: Callable[[int], None],
) -> Listing:
    path = f"{api_path(resource.group, version)}/{resource.plural}"
    objects: list[Object] = []
    problems: list[str] = []
    seen: set[str] = set()
    token = resource_version = ""
    for _ in range(limits.pages):
        query = {"limit": str(page_size), **({"continue": token} if token else {})}
        answer = caller.get(f"{path}?{urlencode(query)}")
        match answer.status:
            case 403:
                return Listing(ReadStatus.FORBIDDEN, detail="The credential may not list it (403).")
            case 404:
                return Listing(ReadStatus.NOT_SERVED, detail="The cluster does not serve it.")
            case 410:
                raise _Expired
            case 200:
                page = _decoded(resource, answer.body, path)
            case status:
                unexpected(path, status)
        objects += page.items
        for line in page.problems:
            note(problems, line)
        resource_version = resource_version or page.resource_version
        on_page(len(objects))
        token = page.continue_token
        if not token:
            whole = unique(resource.key, objects, problems)
            return Listing(ReadStatus.READ, whole, resource_version, tuple(problems))
        if token in seen:
            malformed(say("The answer to {where} repeats itself and would never end.", where=path))
        seen.add(token)
    raise FetchError(
        Reason.TOO_LARGE,
        say(
            "The list of {resource} has more than {n} pages.",
            resource=resource.key,
            n=limits.pages,
        ),
        say("Check that the address is that of a Kubernetes API server."),
    )


def _decoded(resource: Resource, body: bytes, path: str) -> Page:
    with reading(path):
        # A page with status 200 that is no list (a login page, a proxy's excuse) must not pass
        # for an empty list.
        if not msgspec.json.decode(body, type=_Kind).kind.endswith("List"):
            malformed(say("The answer to {where} is not a list of objects.", where=path))
        return decode_page(resource, body)


class _Kind(msgspec.Struct):
    kind: str = ""
