"""Python's collector of cycles, while very many values without any are held."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_AT_ONCE = 50_000
_SELDOM = 1_000_000
_lock = threading.Lock()
_users = 0
_before = gc.get_threshold()


@contextmanager
def young_only() -> Iterator[None]:
    """Look for cycles among what was made lately, not through everything, again and again.

    Nothing that a sync reads holds a cycle, and to go through all of it while it grows would take
    a tenth of the time of a large one. The collector is never off: other work of the process, such
    as another job, makes cycles that die young, and these go. For several threads at a time.
    """
    global _before, _users
    with _lock:
        if not _users:
            _before = gc.get_threshold()
            gc.set_threshold(_AT_ONCE, _before[1], _SELDOM)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                gc.set_threshold(*_before)
