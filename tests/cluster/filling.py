"""Filling a cluster with many objects of one kind from several processes."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

from tests.cluster.client import Access, ApiError, Client

Make = Callable[[int], bytes]


def fill(access: Access, path: str, make: Make, count: int, *, writers: int = 6) -> float:
    """Create ``count`` objects at a list's path ("/api/v1/nodes"); the seconds that it took.

    ``make(number)`` gives the JSON of one object as bytes; numbers go from 0 on. It runs in the
    writer processes, so it must be a function of a module, or a ``functools.partial`` of one.
    Raises ``ApiError`` with the server's words when it refuses an object; 409 (it is there
    already) is no refusal, so that a fill that was cut off can go on.
    """
    began = time.monotonic()
    # fork: the writers need nothing of the caller's main module. A writer that dies ends the fill.
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(writers, mp_context=context) as pool:
        work = [(access, path, make, range(i, count, writers)) for i in range(writers)]
        for refusal in pool.map(_write, work):
            if refusal is not None:
                raise ApiError(*refusal)
    return time.monotonic() - began


def _write(work: tuple[Access, str, Make, range]) -> tuple[int, str, str] | None:
    """One writer's share. A refusal is returned: an ApiError cannot be pickled."""
    access, path, make, numbers = work
    with Client(access) as client:
        for number in numbers:
            status, data = client.send("POST", path, make(number))
            if status == 429:
                time.sleep(1)
                status, data = client.send("POST", path, make(number))
            if status >= 400 and status != 409:
                return status, data[:500].decode("utf-8", "replace"), f"POST {path} {number}"
    return None
