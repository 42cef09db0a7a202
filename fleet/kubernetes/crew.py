"""Several calls to one API server at a time, but never more than a polite few.

Threads wait for the network; whoever fetches waits for them and looks at "cancel" meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from fleet.kubernetes.calls import Caller
from fleet.kubernetes.fetching import POLL_S, Patience

MOST_IN_FLIGHT = 3
"""Requests to one cluster at a time: API servers share their seats among all their clients."""


class Crew:
    """Workers with a connection each. Use it from one thread, and close it."""

    def __init__(self, connect: Callable[[], Caller], patience: Patience) -> None:
        self._connect = connect
        self._patience = patience
        self._pool = ThreadPoolExecutor(MOST_IN_FLIGHT, thread_name_prefix="fetch")
        self._callers: list[Caller] = []
        self._idle: list[Caller] = []  # the last one used comes first: its connection is warm

    def submit[T](self, work: Callable[[Caller], T]) -> Future[T]:
        """Do ``work`` in a thread, as soon as one is free."""
        return self._pool.submit(self._with_caller, work)

    def _with_caller[T](self, work: Callable[[Caller], T]) -> T:
        self._patience.left()
        try:
            caller = self._idle.pop()
        except IndexError:
            caller = self._connect()
            self._callers.append(caller)
        try:
            return work(caller)
        finally:
            self._idle.append(caller)

    def result[T](self, future: Future[T]) -> T:
        """What the work gave or raised. Raises FetchError when cancelled or out of time."""
        while not wait([future], timeout=POLL_S).done:
            self._patience.poll()
        self._patience.poll()
        return future.result()

    def first_of[T](self, futures: set[Future[T]]) -> set[Future[T]]:
        """Those that are done, after at most ``POLL_S``. Raises as ``result`` does."""
        done = wait(futures, timeout=POLL_S, return_when=FIRST_COMPLETED).done
        self._patience.poll()
        return done

    def call[T](self, work: Callable[[Caller], T]) -> T:
        """Do ``work`` in a thread and wait for it."""
        return self.result(self.submit(work))

    def close(self) -> None:
        """End what is under way and close every connection."""
        self._patience.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for caller in self._callers:
            caller.close()
