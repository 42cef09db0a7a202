"""The embedded job loop: one thread per queue and one for the schedule, on the same claims."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from django.db import DatabaseError, close_old_connections, connection

from planner.jobs import claims, runner, schedule

log = logging.getLogger(__name__)
POLL_S = 1.0
TICK_S = 5.0


class JobLoop:
    """Polls job rows. A long solve never holds up a sync, since each queue has its thread."""

    def __init__(self, queues: list[str]) -> None:
        self.queues = queues

    def drain(self) -> int:
        """Run everything that is queued now, in this thread; how many were run."""
        ran = 0
        schedule.tick()
        while (job_id := claims.next_queued(self.queues)) is not None:
            ran += runner.run(job_id)
        return ran

    def run(self, stop: threading.Event) -> None:
        """Serve until ``stop`` is set; a job that runs then is left to its lease."""
        threads = [
            threading.Thread(target=self._forever, args=(stop, POLL_S, work), daemon=True)
            for work in (*(self._worker(queue) for queue in self.queues), self._tick)
        ]
        for thread in threads:
            thread.start()
        stop.wait()
        for thread in threads:
            thread.join(timeout=2)

    @staticmethod
    def _worker(queue: str) -> Callable[[], float]:
        def work() -> float:
            close_old_connections()  # Celery does the same around its tasks
            job_id = claims.next_queued([queue])
            if job_id is None:
                return POLL_S
            runner.run(job_id)
            return 0.0

        return work

    @staticmethod
    def _tick() -> float:
        schedule.tick()
        return TICK_S

    @staticmethod
    def _forever(stop: threading.Event, pause: float, work: Callable[[], float]) -> None:
        try:
            while not stop.is_set():
                try:
                    wait = work()
                except DatabaseError as error:
                    log.warning("database not usable (%s); trying again", type(error).__name__)
                    connection.close()
                    wait = pause * 2
                if wait:
                    stop.wait(wait)
        finally:
            connection.close()
