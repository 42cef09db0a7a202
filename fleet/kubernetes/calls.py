"""One GET to an API server with the manners it asks for: retries, Retry-After, reason codes."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NoReturn

import msgspec

from fleet.kubernetes.fetching import (
    ConnectionBroke,
    FetchError,
    FetchLimits,
    Patience,
    Reason,
    malformed,
)
from fleet.kubernetes.transport import Answer, Connection
from fleet.words import say

_PASSED_ON = frozenset({200, 403, 404, 406, 410})
_TRY_AGAIN = frozenset({409, 429, 500, 502, 503, 504})


class Caller:
    """GET with retries over one connection."""

    def __init__(self, connection: Connection, patience: Patience, limits: FetchLimits) -> None:
        self._connection = connection
        self._patience = patience
        self._limits = limits

    def close(self) -> None:
        """Close the connection; a later call would open it again."""
        self._connection.close()

    def get(self, path: str, accept: str = "application/json", etag: str = "") -> Answer:
        """An answer with status 200, 403, 404, 406 or 410, and 304 where an etag was sent. All
        others raise FetchError."""
        where = path.partition("?")[0]
        for attempt in range(1, self._limits.tries + 1):
            answer = self._answer(path, accept, etag)
            if answer.status == 403 and self._connection.came_back and attempt < self._limits.tries:
                # A server that has just started refuses everybody until it has read its roles.
                self._patience.sleep(self._back_off(attempt))
                continue
            if answer.status in _PASSED_ON or (etag and answer.status == 304):
                return answer
            if answer.status == 401:
                raise FetchError(
                    Reason.UNAUTHORIZED,
                    say("The API server does not accept the credential (401)."),
                    say("It may have expired or been revoked: enter a new one."),
                )
            if answer.status not in _TRY_AGAIN:
                unexpected(where, answer.status)
            if attempt < self._limits.tries:
                self._patience.sleep(self._pause(answer, attempt, where))
        raise _worn_out(answer.status, where)

    def _answer(self, path: str, accept: str, etag: str) -> Answer:
        """An answer whatever its status, over another connection where one breaks off.

        Where nothing has answered yet, the address may be wrong: that is said soon.
        """
        for attempt in itertools.count(1):
            try:
                return self._connection.get(path, accept, etag)
            except ConnectionBroke:
                known = self._connection.has_answered
                if attempt > (self._limits.reconnects if known else self._limits.tries - 1):
                    raise
            self._patience.sleep(self._back_off(attempt))
        raise AssertionError("unreachable")

    def _back_off(self, attempt: int) -> float:
        """Seconds, with jitter: many clusters' syncs must not come back in step."""
        jitter = random.uniform(0.5, 1.5)  # noqa: S311 (no secret)
        return self._limits.back_off_s * (1 << (attempt - 1)) * jitter

    def _pause(self, answer: Answer, attempt: int, where: str) -> float:
        asked = retry_after_s(answer.retry_after)
        if asked is None:
            return self._back_off(attempt)
        if asked > self._limits.retry_after_s:
            raise _worn_out(answer.status, where)
        later = random.uniform(0, self._limits.back_off_s)  # noqa: S311 (no secret)
        return asked + later  # never before it was asked for


def _worn_out(status: int, where: str) -> FetchError:
    if status == 429:
        return FetchError(
            Reason.TOO_MANY_REQUESTS,
            say("The API server is too busy to answer {where} (429).", where=where),
            say("Sync later; if it goes on, give this account its own FlowSchema."),
        )
    return FetchError(
        Reason.SERVER_ERROR,
        say(
            "The API server answered {where} with an error ({status}), several times.",
            where=where,
            status=status,
        ),
        say("Look at the API server's log, then sync again."),
        number=status,
    )


def unexpected(where: str, status: int) -> NoReturn:
    """Raise the FetchError for a status that no API server gives here."""
    malformed(
        say("The answer to {where} has the unexpected status {status}.", where=where, status=status)
    )


def retry_after_s(header: str, now: datetime | None = None) -> float | None:
    """Seconds that a Retry-After header asks for (number or HTTP date), None for nonsense."""
    text = header.strip()
    if text.isascii() and text.isdigit() and len(text) <= 18:
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, OverflowError, TypeError):  # an absurd zone or year is no date either
        return None


@contextlib.contextmanager
def reading(where: str) -> Iterator[None]:
    """Turns what a decoder raises into the FetchError for a malformed answer to `where`."""
    try:
        yield
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        malformed(say("The answer to {where} is not the JSON of an API server.", where=where))


def decoded[Decoded](answer: Answer, shape: type[Decoded], where: str) -> Decoded:
    """The JSON of an answer in a shape; FetchError when it is anything else."""
    with reading(where):
        return msgspec.json.decode(answer.body, type=shape)
