"""Reading a live API server: everything in the table of resources, or a reason why not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import cast

from fleet.inventory import ReadResult, ReadStatus
from fleet.kubernetes.address import AddressError, AddressPolicy, Resolver, check
from fleet.kubernetes.calls import Caller, decoded
from fleet.kubernetes.crew import Crew
from fleet.kubernetes.fetching import (
    FetchError,
    FetchLimits,
    FetchProgress,
    Patience,
    Reason,
    Spent,
    no_api_server,
)
from fleet.kubernetes.gathering import PodGathering
from fleet.kubernetes.kubeconfig import ClusterAccess
from fleet.kubernetes.objects import RawCluster, note
from fleet.kubernetes.objects_core import Object, VersionInfo
from fleet.kubernetes.pages import Ask, Listing, ListReader, ObjectSink, Sink, not_served
from fleet.kubernetes.resources import NODES, PODS, RESOURCES, Resource
from fleet.kubernetes.served import REMEMBERED_MIN, Memory, Served, ask
from fleet.kubernetes.transport import Answer, Connection
from fleet.read_words import RECALLED, SILENT
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
    memory: Memory | None = None,
) -> RawCluster:
    """Read one cluster. The address is tested now, whatever was tested when it was saved.

    memory: of what this cluster served at its last reading; without one, the server is asked.

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
    spent = Spent()

    def connect() -> Caller:
        return Caller(Connection(access, target, patience, limits, spent), patience, limits)

    crew = Crew(connect, patience)
    try:
        return _ClusterReader(crew, patience, limits, progress, page_size, memory).read()
    finally:
        crew.close()


@dataclass(frozen=True, slots=True)
class _Read:
    """One resource as it was read, before its objects count as whole."""

    objects: tuple[Object, ...]
    problems: tuple[str, ...]
    result: ReadResult


class _ClusterReader:
    """The state of one fetch.

    Nodes come first, since without them there is nothing to read; then everything else, a few
    lists at a time; pods last, since each is understood from what is around it and reduced at
    once. The pages of one list are never asked for side by side, but the next one is on its way
    while one is decoded.
    """

    def __init__(
        self,
        crew: Crew,
        patience: Patience,
        limits: FetchLimits,
        progress: Progress | None,
        page_size: int,
        memory: Memory | None,
    ) -> None:
        self._crew = crew
        self._memory = memory
        self._is_recalled = False
        self._patience = patience
        self._limits = limits
        self._progress = progress
        self._page_size = page_size
        self._counts = dict.fromkeys((resource.key for resource in RESOURCES), 0)
        self._served: Served | None = None

    def read(self) -> RawCluster:
        self._say("connect")
        version = self._crew.call(_version)
        self._say("discovery")
        self._discover()
        taken_at = datetime.now(UTC)
        reads = {NODES.key: self._paged(NODES)}
        reads |= self._side_by_side(r for r in RESOURCES if r not in (NODES, PODS))
        if self._contradicted(reads):
            self._discover(anew=True)  # then every other absence is doubtful, too
            reads |= self._side_by_side(_not_served_of(reads))
        around = RawCluster(
            objects={
                key: read.objects
                for key, read in reads.items()
                if read.result.status is ReadStatus.READ
            },
            taken_at=taken_at,
        )
        pods = PodGathering(around)
        reads[PODS.key] = self._paged(PODS, pods)
        if self._contradicted(reads):
            self._discover(anew=True)
            reads[PODS.key] = self._paged(PODS, pods)
        ordered = [reads[resource.key] for resource in RESOURCES]
        self._demand_the_needed([read.result for read in ordered])
        problems: list[str] = []
        for line in (line for read in ordered for line in read.problems):
            note(problems, line)
        gathered = pods.whole(problems)
        self._say("done")
        return replace(
            around,
            pods=gathered,
            version=version,
            apis=None if self._served is None else dict(self._served.apis),
            reads=tuple(read.result for read in ordered),
            problems=tuple(problems),
        )

    def _discover(self, *, anew: bool = False) -> None:
        """Find out what the server serves, from memory where that is fresh.

        anew: memory has proved wrong, so that nothing of it is to be trusted.
        """
        memory = self._memory
        if memory is None:
            self._served = self._crew.call(ask)
            return
        fresh = memory.recall() if not anew else None
        self._is_recalled = fresh is not None and fresh.has_needed()
        if self._is_recalled:
            self._served = fresh
            return
        known = memory.last() if not anew else None
        self._served = self._crew.call(lambda caller: ask(caller, known))
        if self._served is None or self._served.stale:
            memory.forget()  # what does not answer now may do so in a minute
        else:
            memory.keep(self._served)

    def _contradicted(self, reads: Mapping[str, _Read]) -> bool:
        """Whether a resource is gone that memory names: then nothing of it is to be trusted."""
        if not self._is_recalled or self._served is None:
            return False
        return any(self._served.versions(resource) for resource in _not_served_of(reads))

    def _paged(self, resource: Resource, pods: PodGathering | None = None) -> _Read:
        """One list alone, its objects decoded here while a thread waits for the next page."""

        def ahead(path: str) -> Callable[[], Answer]:
            future = self._crew.submit(lambda caller: caller.get(path))
            return lambda: self._crew.result(future)

        self._say(resource.key)
        return self._resource(resource, ahead, pods, lambda: self._say(resource.key))

    def _side_by_side(self, resources: Iterable[Resource]) -> dict[str, _Read]:
        """Several lists, each read by a thread of its own from first page to last."""

        def job(resource: Resource) -> Callable[[Caller], _Read]:
            def work(caller: Caller) -> _Read:
                def directly(path: str) -> Callable[[], Answer]:
                    return lambda: caller.get(path)

                return self._resource(resource, directly, None, self._patience.left)

            return work

        futures = {self._crew.submit(job(resource)): resource for resource in resources}
        found: dict[str, _Read] = {}
        waiting = set(futures)
        while waiting:
            done = self._crew.first_of(waiting)
            waiting -= done
            for future in done:
                found[futures[future].key] = future.result()
                self._say(futures[future].key)
        return found

    def _resource(
        self,
        resource: Resource,
        how: Ask,
        pods: PodGathering | None,
        heard: Callable[[], object],
    ) -> _Read:
        """One resource, in whichever thread this runs."""
        objects = ObjectSink()
        sink = cast("Sink", pods) if pods is not None else objects
        started = self._patience.seconds

        def on_page(count: int) -> None:
            self._counts[resource.key] = count
            self._bound_objects()
            if pods is not None:
                self._bound_bytes(pods)
            heard()

        reader = ListReader(resource, how, self._limits, self._page_size, sink, on_page)
        listing = self._listing(resource, reader)
        is_read = listing.status is ReadStatus.READ
        if not is_read:
            sink.begin_again()
            self._counts[resource.key] = 0
        problems = list(listing.problems)
        if is_read and not listing.is_consistent:
            note(
                problems,
                f"{resource.key}: the list expired while it was read, {listing.number} times: "
                "its end is of a later moment than its start",
            )
        whole = objects.whole(resource.key, problems)
        result = listing.result(
            resource,
            pods.count if pods is not None else len(whole),
            self._patience.seconds - started,
        )
        return _Read(whole, tuple(problems), result)

    def _listing(self, resource: Resource, reader: ListReader) -> Listing:
        # A server that may not be asked what it serves is asked for each version in turn.
        served = self._served
        versions = resource.versions if served is None else served.versions(resource)
        if not versions:
            if served is not None and served.is_stale(resource):
                return Listing(ReadStatus.FAILED, reason=SILENT)
            if self._is_recalled:
                return Listing(ReadStatus.NOT_SERVED, reason=RECALLED, number=REMEMBERED_MIN)
            return not_served()
        try:
            return reader.read(versions)
        except FetchError as error:
            if resource.needed or error.code not in _ONE_RESOURCE_ONLY:
                raise
            return Listing(ReadStatus.FAILED, reason=error.code, number=error.number)

    def _bound_objects(self) -> None:
        if sum(self._counts.values()) > self._limits.objects:
            raise FetchError(
                Reason.TOO_LARGE,
                say("The cluster has more than {n} objects.", n=self._limits.objects),
                say("This is beyond what one sync reads."),
            )

    def _bound_bytes(self, pods: PodGathering) -> None:
        if pods.unshared > self._limits.unshared_bytes:
            raise FetchError(
                Reason.TOO_LARGE,
                say(
                    "The pods have so little in common that they take more than {n} MiB of memory.",
                    n=self._limits.unshared_bytes >> 20,
                ),
                say("This is beyond what one sync reads."),
            )

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

    def _say(self, phase: str) -> None:
        self._patience.poll()
        if self._progress is not None:
            read = sum(self._counts.values())
            self._progress(FetchProgress(phase, read, self._patience.seconds))


def _not_served_of(reads: Mapping[str, _Read]) -> list[Resource]:
    return [
        resource
        for resource in RESOURCES
        if resource.key in reads and reads[resource.key].result.status is ReadStatus.NOT_SERVED
    ]


def _version(caller: Caller) -> VersionInfo | None:
    answer = caller.get("/version")
    if answer.status == 403:
        return None
    if answer.status != 200:
        raise no_api_server("/version", answer.status)
    return decoded(answer, VersionInfo, "/version")


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
