"""Reading a live API server: everything in the table of resources, or a reason why not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from fleet.inventory import ReadResult, ReadStatus
from fleet.kubernetes.address import AddressError, AddressPolicy, Resolver, check
from fleet.kubernetes.calls import Caller, decoded
from fleet.kubernetes.fetching import (
    FetchError,
    FetchLimits,
    FetchProgress,
    Patience,
    Reason,
    no_api_server,
)
from fleet.kubernetes.kubeconfig import ClusterAccess
from fleet.kubernetes.objects import RawCluster, note
from fleet.kubernetes.objects_core import Object, VersionInfo
from fleet.kubernetes.pages import Listing, read_list
from fleet.kubernetes.resources import RESOURCES, Resource
from fleet.kubernetes.served import Served, ask
from fleet.kubernetes.transport import Connection
from fleet.words import say

__all__ = ["FetchError", "FetchLimits", "FetchProgress", "Reason", "fetch"]

Progress = Callable[[FetchProgress], None]

# What ends the reading of one optional resource but not the sync: the rest may be well.
_ONE_RESOURCE_ONLY = frozenset({Reason.SERVER_ERROR, Reason.EXPIRED})


def fetch(
    access: ClusterAccess,
    policy: AddressPolicy,
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    deadline_s: float = 600,
    page_size: int = 500,
    limits: FetchLimits | None = None,
    resolver: Resolver | None = None,
) -> RawCluster:
    """Read one cluster. The address is tested now, whatever was tested when it was saved.

    progress is called after every page, cancelled about twice a second and between pages, both in
    this thread. Raises FetchError; then nothing of what was read is to be used.
    """
    try:
        target = check(access.server, policy, resolver=resolver)
    except AddressError as error:
        raise FetchError(
            Reason(error.code), error.message, say("Correct the address of the cluster.")
        ) from None
    limits = limits or FetchLimits()
    patience = Patience(deadline_s, cancelled)
    connection = Connection(access, target, patience, limits)
    try:
        reader = _ClusterReader(
            Caller(connection, patience, limits), patience, limits, progress, page_size
        )
        return reader.read()
    finally:
        connection.close()


class _ClusterReader:
    """The state of one fetch."""

    def __init__(
        self,
        caller: Caller,
        patience: Patience,
        limits: FetchLimits,
        progress: Progress | None,
        page_size: int,
    ) -> None:
        self._caller = caller
        self._patience = patience
        self._limits = limits
        self._progress = progress
        self._page_size = page_size
        self._count = 0

    def read(self) -> RawCluster:
        self._say("connect")
        version = self._version()
        self._say("discovery")
        served = ask(self._caller)
        taken_at = datetime.now(UTC)
        objects: dict[str, tuple[Object, ...]] = {}
        reads: list[ReadResult] = []
        problems: list[str] = []
        for resource in RESOURCES:
            started = self._patience.seconds
            listing = self._listing(resource, served)
            reads.append(listing.result(resource, self._patience.seconds - started))
            if listing.status is ReadStatus.READ:
                objects[resource.key] = listing.objects
            self._count += len(listing.objects)
            for line in listing.problems:
                note(problems, line)
        self._demand_the_needed(reads)
        self._say("done")
        return RawCluster(
            objects=objects,
            version=version,
            apis=None if served is None else dict(served.apis),
            reads=tuple(reads),
            problems=tuple(problems),
            taken_at=taken_at,
        )

    def _version(self) -> VersionInfo | None:
        answer = self._caller.get("/version")
        if answer.status == 403:
            return None
        if answer.status != 200:
            raise no_api_server("/version", answer.status)
        return decoded(answer, VersionInfo, "/version")

    def _listing(self, resource: Resource, served: Served | None) -> Listing:
        # A server that may not be asked what it serves is asked for each version in turn.
        versions = resource.versions if served is None else served.versions(resource)
        if not versions:
            if served is not None and served.is_stale(resource):
                return Listing(ReadStatus.FAILED, detail="The server of this API does not answer.")
            return Listing(ReadStatus.NOT_SERVED, detail="The cluster does not serve it.")

        def on_page(count: int) -> None:
            if self._count + count > self._limits.objects:
                raise FetchError(
                    Reason.TOO_LARGE,
                    say("The cluster has more than {n} objects.", n=self._limits.objects),
                    say("This is beyond what one sync reads."),
                )
            self._say(resource.key, count)

        self._say(resource.key)
        try:
            return read_list(
                self._caller,
                resource,
                versions,
                self._limits,
                page_size=self._page_size,
                on_page=on_page,
            )
        except FetchError as error:
            if resource.needed or error.code not in _ONE_RESOURCE_ONLY:
                raise
            return Listing(ReadStatus.FAILED, detail=error.message)

    def _demand_the_needed(self, reads: list[ReadResult]) -> None:
        status = {read.resource: read.status for read in reads}
        needed = [resource.key for resource in RESOURCES if resource.needed]
        forbidden = [key for key in needed if status[key] is ReadStatus.FORBIDDEN]
        absent = [key for key in needed if status[key] is ReadStatus.NOT_SERVED]
        if forbidden:
            also = [r.resource for r in reads if r.status is ReadStatus.FORBIDDEN]
            raise FetchError(
                Reason.FORBIDDEN,
                _forbidden(forbidden, len(also) - len(forbidden)),
                say("Apply the read-only ClusterRole and its binding, then sync again."),
            )
        if absent:
            raise FetchError(
                Reason.NOT_FOUND,
                say(
                    "The server does not serve {resources}, so it is no full API server.",
                    resources=_both(absent),
                ),
                say("Check the address, its port and its path."),
            )

    def _say(self, phase: str, more: int = 0) -> None:
        self._patience.left()
        if self._progress is not None:
            self._progress(FetchProgress(phase, self._count + more, self._patience.seconds))


def _forbidden(needed: list[str], more: int) -> str:
    resources = _both(needed)
    if not more:
        return say(
            "The credential may not list {resources} in all namespaces (403).", resources=resources
        )
    return say(
        "The credential may not list {resources} in all namespaces, nor {more} other resources "
        "(403).",
        resources=resources,
        more=more,
    )


def _both(resources: list[str]) -> str:
    """Names of the resources without which nothing can be read; there are two of them."""
    return (
        say("{one} and {other}", one=resources[0], other=resources[1])
        if resources[1:]
        else resources[0]
    )
