"""One resource, page by page: `limit` and `continue`, restarts, and lists that never end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlencode

import msgspec

from fleet.inventory import ReadResult, ReadStatus
from fleet.kubernetes.calls import reading, unexpected
from fleet.kubernetes.fetching import FetchError, FetchLimits, PageTooLarge, Reason, malformed
from fleet.kubernetes.interned import Interned
from fleet.kubernetes.objects import Page, cut_page, decode_items, note, unique
from fleet.kubernetes.objects_core import Object
from fleet.kubernetes.resources import Resource
from fleet.kubernetes.served import api_path
from fleet.kubernetes.transport import Answer
from fleet.read_words import EXPIRED
from fleet.words import say

_MOST_A_PAGE = {"resourceslices.resource.k8s.io": 100}
"""A slice of 128 devices with their counters is as large as a hundred pods."""

Ask = Callable[[str], Callable[[], Answer]]
"""Sends a request, perhaps in a thread; what it gives waits for the answer."""


class Sink(Protocol):
    """Takes the objects of one list."""

    @property
    def count(self) -> int:
        """Objects so far."""

    def add(self, items: tuple[Object, ...], /) -> None:
        """The objects of one more page."""

    def begin_again(self) -> None:
        """Forget everything: the list is read from its start once more."""


class ObjectSink:
    """Keeps the objects as they are."""

    def __init__(self) -> None:
        self._items: list[Object] = []
        self._same = Interned()

    @property
    def count(self) -> int:
        return len(self._items)

    def add(self, items: tuple[Object, ...], /) -> None:
        for item in items:
            meta = item.metadata
            if meta.labels:  # the same few texts on thousands of nodes
                text = self._same.text
                meta.labels = {text(key): text(value) for key, value in meta.labels.items()}
        self._items += items

    def begin_again(self) -> None:
        self._items.clear()

    def whole(self, key: str, problems: list[str]) -> tuple[Object, ...]:
        """All objects, each name once."""
        return unique(key, self._items, problems)


@dataclass(frozen=True, slots=True)
class Listing:
    """What became of one list. Only after READ may its sink be used."""

    status: ReadStatus
    resource_version: str = ""
    problems: tuple[str, ...] = ()
    reason: str = ""  # see ReadResult
    number: int = 0
    is_consistent: bool = True  # all pages are of one moment

    def result(self, resource: Resource, count: int, seconds: float) -> ReadResult:
        return ReadResult(
            resource=resource.key,
            status=self.status,
            count=count if self.status is ReadStatus.READ else 0,
            reason=self.reason,
            number=self.number,
            seconds=round(seconds, 3),
            resource_version=self.resource_version,
            is_consistent=self.is_consistent,
        )


def not_served() -> Listing:
    """The answer for a resource that the cluster does not have."""
    return Listing(ReadStatus.NOT_SERVED)


def _torn(listing: Listing, times: int) -> Listing:
    return Listing(
        ReadStatus.READ,
        listing.resource_version,
        listing.problems,
        reason=EXPIRED,
        number=times,
        is_consistent=False,
    )


class _Expired(Exception):
    """410: the continue token has died, so the rest of this list cannot be had as it was."""


@dataclass(frozen=True, slots=True)
class ListReader:
    """Reads one list into a sink.

    on_page hears the number of objects so far, after each page, and may raise.
    """

    resource: Resource
    ask: Ask
    limits: FetchLimits
    page_size: int
    sink: Sink
    on_page: Callable[[int], None]

    def read(self, versions: tuple[str, ...]) -> Listing:
        """All objects of the resource in the first of ``versions`` that is served.

        403 and 404 are answers, not errors; everything else that goes wrong raises FetchError.
        """
        for version in versions:
            listing = self._read_version(version)
            if listing.status is not ReadStatus.NOT_SERVED:
                return listing
        return not_served()

    def _read_version(self, version: str) -> Listing:
        path = f"{api_path(self.resource.group, version)}/{self.resource.plural}"
        for _ in range(self.limits.restarts):
            try:
                return self._read_once(path)
            except _Expired:
                self.sink.begin_again()
                self.on_page(0)
        try:
            return self._read_once(path, take_rest=True)
        except _Expired:
            raise FetchError(
                Reason.EXPIRED,
                say(
                    "The list of {resource} expired while it was read, {n} times.",
                    resource=self.resource.key,
                    n=self.limits.restarts + 1,
                ),
                say(
                    "Sync at a quieter time; the API server is too slow for a list of this length."
                ),
                number=self.limits.restarts + 1,
            ) from None

    def _read_once(self, path: str, *, take_rest: bool = False) -> Listing:
        """take_rest: after 410, go on with the token that the server offers for the rest as it
        is by then (``ListMeta.continue`` of the API); the listing is marked as inconsistent."""
        problems: list[str] = []
        seen: set[str] = set()
        resource_version = ""
        expired = 0
        token = ""
        size = min(self.page_size, _MOST_A_PAGE.get(self.resource.key, self.page_size))
        pending = self._ask(path, token, size)
        for number in range(1, self.limits.pages + 1):
            try:
                answer = pending()
            except PageTooLarge:
                if size == 1:
                    raise self._too_large_an_object() from None
                size //= 2
                pending = self._ask(path, token, size)
                continue
            if answer.status == 410 and take_rest and expired < self.limits.restarts:
                expired += 1
                token = _new_token(answer.body)
                if not token or token in seen:
                    raise _Expired
                seen.add(token)
                pending = self._ask(path, token, size)
                continue
            if refused := self._refused(answer.status, path):
                return refused
            page = _cut(answer.body, path, self.resource)
            token = page.continue_token
            if token in seen:
                malformed(
                    say("The answer to {where} repeats itself and would never end.", where=path)
                )
            if token and number < self.limits.pages:
                seen.add(token)
                pending = self._ask(path, token, size)  # on its way while this page is decoded
            self._take(page, path, problems)
            resource_version = resource_version or page.resource_version
            if not token:
                listing = Listing(ReadStatus.READ, resource_version, tuple(problems))
                return _torn(listing, self.limits.restarts + expired) if expired else listing
        raise self._too_long()

    def _ask(self, path: str, token: str, size: int) -> Callable[[], Answer]:
        query = {"limit": str(size), **({"continue": token} if token else {})}
        return self.ask(f"{path}?{urlencode(query)}")

    def _refused(self, status: int, path: str) -> Listing | None:
        if status == 403:
            return Listing(ReadStatus.FORBIDDEN)
        if status == 404:
            return not_served()
        if status == 410:
            raise _Expired
        if status != 200:
            unexpected(path, status)
        return None

    def _take(self, page: Page, path: str, problems: list[str]) -> None:
        with reading(path):
            items, lines = decode_items(self.resource, page.items, page.api_version)
        self.sink.add(items)
        for line in lines:
            note(problems, line)
        self.on_page(self.sink.count)

    def _too_large_an_object(self) -> FetchError:
        return FetchError(
            Reason.TOO_LARGE,
            say(
                "One object of the list of {resource} is larger than {n} MiB.",
                resource=self.resource.key,
                n=self.limits.page_bytes >> 20,
            ),
            say("API servers keep none of this size: check that the address is that of one."),
        )

    def _too_long(self) -> FetchError:
        return FetchError(
            Reason.TOO_LARGE,
            say(
                "The list of {resource} has more than {n} pages.",
                resource=self.resource.key,
                n=self.limits.pages,
            ),
            say("Check that the address is that of a Kubernetes API server."),
        )


def _cut(body: bytes, path: str, resource: Resource) -> Page:
    """A page, if it is one. What has status 200 and is no list of this resource (a login page, a
    proxy's excuse, the list of another) must not pass for an empty list, nor a list that ends
    before its server says so for a whole one."""
    with reading(path):
        page = cut_page(body)
    if page.kind not in (f"{resource.kind}List", "List") or not page.has_items:
        malformed(
            say(
                "The answer to {where} is not a list of {kind} objects.",
                where=path,
                kind=resource.kind,
            )
        )
    if page.remaining > 0 and not page.continue_token:
        malformed(
            say(
                "The answer to {where} ends though {n} more objects are said to follow.",
                where=path,
                n=page.remaining,
            )
        )
    return page


class _Status(msgspec.Struct):
    class Meta(msgspec.Struct):
        continue_: str | None = msgspec.field(default=None, name="continue")

    metadata: Meta | None = None


def _new_token(body: bytes) -> str:
    """The token that a 410 offers for the rest of the list; "" when it offers none."""
    try:
        status = msgspec.json.decode(body, type=_Status)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    return (status.metadata.continue_ if status.metadata else None) or ""
