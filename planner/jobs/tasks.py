"""The Celery side of jobs: thin, with integer ids as the only arguments."""

from __future__ import annotations

from planner.celery import app
from planner.jobs import runner, schedule


@app.task(name="jobs.run_one")
def run_one(job_id: int) -> None:
    """Look at one job row, and run it if it is queued."""
    if isinstance(job_id, int) and not isinstance(job_id, bool) and 0 < job_id < 2**63:
        runner.run(job_id)


@app.task(name="jobs.tick")
def tick() -> None:
    """Sweep, then ask for what is due."""
    schedule.tick()
