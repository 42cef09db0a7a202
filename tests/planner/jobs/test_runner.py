"""Running jobs: the handler's answer, its failures, cancelling, and losing the lease."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from django.db import transaction
from django.utils import translation
from django.utils.translation import get_language

from planner.accounts.models import Team
from planner.jobs import registry, runner, schedule
from planner.jobs.loop import JobLoop
from planner.jobs.models import Job
from planner.jobs.requests import request_cancel, request_job
from planner.jobs.runner import JobFailed, LeaseLost, Run

pytestmark = pytest.mark.django_db(transaction=True)

Use = Callable[[registry.Handler], Job]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Iterator[Use]:
    """Registers a handler for the kind "test" and asks for a job of it."""
    kinds: dict[str, registry.Handler] = {}
    monkeypatch.setattr(registry, "_handlers", kinds)

    def start(handler: registry.Handler) -> Job:
        registry.register("test", handler)
        team, _ = Team.objects.get_or_create(name="Search", slug="search")
        return request_job(
            kind="test", queue="sync", subject_id=1, subject_name="one", team=team, by=None
        )[0]

    return start


def test_a_job_runs_in_english_whoever_starts_it(use: Use) -> None:
    job = use(lambda run: str(get_language()))
    with translation.override("ja"):
        assert runner.run(job.pk)
    job.refresh_from_db()
    assert job.result == "en"


def test_the_handlers_sentence_is_kept(use: Use) -> None:
    def handler(run: Run) -> str:
        run.progress("reading", 5, 10)
        return "5 nodes read"

    job = use(handler)
    assert runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.result) == (Job.State.DONE, "5 nodes read")
    assert (job.phase, job.objects_read, job.total) == ("reading", 5, 10)
    assert job.finished_at is not None


def test_a_job_runs_once(use: Use) -> None:
    ran: list[int] = []
    job = use(lambda run: ran.append(run.job_id) or "done")
    assert runner.run(job.pk)
    assert not runner.run(job.pk)
    assert ran == [job.pk]


def test_a_failure_says_what_and_what_to_do(use: Use) -> None:
    def handler(run: Run) -> str:
        raise JobFailed("refused", "The cluster refused the token.", "Paste a new one.")

    job = use(handler)
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert (job.error_code, job.error_way_out) == ("refused", "Paste a new one.")


def test_an_unexpected_error_does_not_leak_its_text(use: Use) -> None:
    def handler(run: Run) -> str:
        raise RuntimeError("token CANARY-1234")

    job = use(handler)
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert "CANARY" not in job.error_message + job.error_way_out
    assert "RuntimeError" in job.error_message


def test_an_unknown_kind_fails_with_its_name(use: Use) -> None:
    job = use(lambda run: "never")
    Job.objects.filter(pk=job.pk).update(kind="foreign")
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error_code) == (Job.State.FAILED, "unknown-kind")


def test_cancel_ends_a_running_job_at_its_next_step(use: Use) -> None:
    def handler(run: Run) -> str:
        request_cancel(Job.objects.get(pk=run.job_id))
        run.beat()
        run.progress("more")
        return "not reached"

    job = use(handler)
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.result) == (Job.State.CANCELLED, "")


def test_a_worker_that_lost_its_lease_writes_nothing(use: Use) -> None:
    seen: list[str] = []

    def handler(run: Run) -> str:
        Job.objects.filter(pk=run.job_id).update(claimed_by="another")
        with transaction.atomic():
            try:
                run.guard()
            except LeaseLost:
                seen.append("lost")
                raise
        return "not reached"

    job = use(handler)
    runner.run(job.pk)
    job.refresh_from_db()
    assert seen == ["lost"]
    assert (job.state, job.claimed_by, job.result) == (Job.State.RUNNING, "another", "")


def test_guard_outside_a_transaction_is_a_mistake(use: Use) -> None:
    def handler(run: Run) -> str:
        run.guard()
        return "not reached"

    job = use(handler)
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.FAILED


def test_the_loop_runs_what_is_queued_and_stops(use: Use) -> None:
    done = threading.Event()

    def handler(run: Run) -> str:
        done.set()
        return "done"

    use(handler)
    stop = threading.Event()
    thread = threading.Thread(target=JobLoop(["sync"]).run, args=(stop,))
    thread.start()
    try:
        assert done.wait(timeout=20)
    finally:
        stop.set()
        thread.join(timeout=20)
    assert not thread.is_alive()


def test_a_failing_schedule_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> int:
        raise RuntimeError("no")

    monkeypatch.setattr(registry, "_due", {"broken": broken, "fine": lambda: 3})
    assert schedule.tick() == 3
