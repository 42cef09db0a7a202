"""Words shared by everything that reads from a live API server: limits, reasons, patience."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn

from fleet.words import say

POLL_S = 0.5  # how often a wait looks at its deadline and at "cancel"


class Reason(StrEnum):
    """Why reading a cluster failed. Stored and shown; texts from the cluster never are."""

    ADDRESS = "address"  # refused by the address rules
    DNS = "dns"
    REFUSED = "refused"  # nothing answers there
    CONNECTION = "connection"  # broke off, again and again
    TLS = "tls"
    TIMEOUT = "timeout"
    UNAUTHORIZED = "unauthorized"  # 401
    FORBIDDEN = "forbidden"  # 403
    NOT_FOUND = "not-found"  # 404 for what every API server has
    TOO_MANY_REQUESTS = "too-many-requests"  # 429
    SERVER_ERROR = "server-error"  # 5xx
    REDIRECT = "redirect"
    EXPIRED = "expired"  # 410, again and again
    MALFORMED = "malformed"
    TOO_LARGE = "too-large"
    CANCELLED = "cancelled"


class FetchError(Exception):
    """Reading failed. code: a Reason. message: what and where. way_out: what to do. number: the
    status of HTTP of a server's error, or how often a list expired."""

    def __init__(self, code: Reason, message: str, way_out: str, *, number: int = 0) -> None:
        super().__init__(f"{message} {way_out}".strip())
        self.code = code
        self.message = message
        self.way_out = way_out
        self.number = number


class ConnectionBroke(FetchError):
    """There was no connection, or it ended before its answer did. Servers that restart do that,
    so another try may do."""


class PageTooLarge(FetchError):
    """One answer is beyond the limit on bytes; one of fewer objects may not be."""


@dataclass(frozen=True, slots=True)
class FetchProgress:
    """phase: "connect", "discovery", a resource such as "pods", "done". objects: read so far, in
    all. seconds: since the start."""

    phase: str
    objects: int
    seconds: float


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Bounds on one fetch. Bytes are counted after decompression."""

    connect_s: float = 10.0
    silence_s: float = 90.0  # longest wait for the next byte; API servers end a list at 60 s
    page_bytes: int = 64 * 1024 * 1024
    total_bytes: int = 8 * 1024 * 1024 * 1024
    pages: int = 4_000  # per resource
    objects: int = 1_000_000  # in all
    unshared_bytes: int = 1024 * 1024 * 1024  # held of single pods, beside what pods share
    tries: int = 3
    reconnects: int = 5  # 1 + 2 + 4 + 8 + 16 s: a server that has answered may restart meanwhile
    back_off_s: float = 1.0  # doubled with every try
    retry_after_s: float = 60.0  # longest wait that a server may ask for; API servers ask up to 32
    restarts: int = 2  # of one list, after 410


class Patience:
    """The deadline of one fetch and the wish to cancel it, looked at wherever we wait.

    Threads that wait for the network ask ``left``; only the thread that fetches asks ``poll``,
    since "cancelled" is the caller's own and may look into a database.
    """

    def __init__(self, deadline_s: float, cancelled: Callable[[], bool] | None = None) -> None:
        self._started = time.monotonic()
        self._deadline_s = deadline_s
        self._cancelled = cancelled
        self._asked = -POLL_S  # when "cancelled" was asked last
        self._stopped = threading.Event()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def stop(self) -> None:
        """End every wait within ``POLL_S``: what is read is not wanted any more."""
        self._stopped.set()

    def poll(self) -> None:
        """Raises FetchError when cancelled, or when no time is left."""
        seconds = self.seconds
        if self._cancelled is not None and seconds - self._asked >= POLL_S:
            self._asked = seconds
            if self._cancelled():
                self.stop()
        self.left()

    def left(self) -> float:
        """Seconds that are left; raises FetchError when none are, or when stopped."""
        if self._stopped.is_set():
            raise FetchError(Reason.CANCELLED, say("Reading was cancelled."), "")
        left = self._deadline_s - self.seconds
        if left <= 0:
            raise FetchError(
                Reason.TIMEOUT,
                say("Reading the cluster took longer than {limit:g} s.", limit=self._deadline_s),
                say("Look at the load of the API server, or give the sync more time."),
            )
        return left

    def sleep(self, seconds: float) -> None:
        """Wait, but no longer than the deadline and not after a stop."""
        until = time.monotonic() + seconds
        while (rest := until - time.monotonic()) > 0:
            self._stopped.wait(min(rest, POLL_S, self.left()))
        self.left()


class Spent:
    """What all connections of one fetch have read together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.bytes = 0
        self.answers = 0

    def add(self, more: int, *, is_whole: bool = True) -> None:
        """Count the bytes of an answer, or of the start of one, after decompression."""
        with self._lock:
            self.bytes += more
            self.answers += is_whole


def no_api_server(path: str, status: int) -> FetchError:
    """The FetchError for a server that lacks what every API server has."""
    return FetchError(
        Reason.NOT_FOUND,
        say(
            "The server has no {path} (status {status}), so it is no API server.",
            path=path,
            status=status,
        ),
        say("Check the address, its port and its path."),
    )


def malformed(message: str) -> NoReturn:
    """Raise the FetchError for an answer that an API server does not give."""
    raise FetchError(
        Reason.MALFORMED,
        message,
        say(
            "Check that the address is that of a Kubernetes API server and not of a login page or "
            "proxy, then sync again."
        ),
    )
