"""Claims are won by one worker, renewed by its holder only, and timed by the database's clock."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone

from planner.accounts.models import Team
from planner.jobs import claims, sweeper
from planner.jobs.models import Job


def make_job(**fields: object) -> Job:
    team, _ = Team.objects.get_or_create(name="Search", slug="search")
    number = Job.objects.count() + 1
    values: dict[str, object] = {
        "kind": "test",
        "queue": "sync",
        "key": f"test:{number}",
        "subject_id": number,
        "team": team,
    }
    return Job.objects.create(**(values | fields))


def let_lease_end(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(lease_until=Now() - timedelta(seconds=1))


@pytest.mark.django_db
def test_only_the_first_claim_wins() -> None:
    job = make_job()
    assert claims.claim(job.pk, "w1")
    assert not claims.claim(job.pk, "w2")
    job.refresh_from_db()
    assert (job.claimed_by, job.attempts) == ("w1", 1)


@pytest.fixture
def eight_threads(transactional_db: None) -> Iterator[list[bool]]:
    job = make_job()
    won: list[bool] = []
    start = threading.Barrier(8)

    def work(name: str) -> None:
        try:
            start.wait(timeout=10)
            won.append(claims.claim(job.pk, name))
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(f"w{i}",)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    return won


def test_eight_threads_at_once_make_one_claim(eight_threads: list[bool]) -> None:
    assert len(eight_threads) == 8
    assert eight_threads.count(True) == 1


@pytest.mark.django_db
def test_a_job_that_waits_is_not_claimed_early() -> None:
    job = make_job(run_after=timezone.now() + timedelta(hours=1))
    assert not claims.claim(job.pk, "w1")
    assert claims.next_queued(["sync"]) is None


@pytest.mark.django_db
def test_a_lost_lease_can_neither_be_renewed_nor_ended() -> None:
    job = make_job()
    claims.claim(job.pk, "w1")
    let_lease_end(job)
    sweeper.sweep()
    Job.objects.filter(pk=job.pk).update(run_after=Now() - timedelta(seconds=1))
    assert claims.claim(job.pk, "w2")
    assert not claims.renew(job.pk, "w1")
    assert not claims.end(job.pk, "w1", Job.State.DONE)
    assert claims.end(job.pk, "w2", Job.State.DONE)


@pytest.mark.django_db
@pytest.mark.parametrize("hours", [-2, 2])
def test_a_wrong_clock_of_a_worker_changes_no_lease(hours: int) -> None:
    job = make_job()
    with time_machine.travel(timezone.now() + timedelta(hours=hours), tick=True):
        assert claims.claim(job.pk, "w1")
        assert sweeper.sweep() == 0
    assert sweeper.sweep() == 0
    job.refresh_from_db()
    assert job.state == Job.State.RUNNING


@pytest.mark.django_db
def test_queues_are_served_oldest_first() -> None:
    first, _second = make_job(), make_job()
    make_job(queue="solve")
    assert claims.next_queued(["sync"]) == first.pk


@pytest.mark.django_db
def test_a_dead_workers_job_is_queued_again_and_fails_after_the_last_attempt(
    settings: object,
) -> None:
    job = make_job()
    for attempt in range(1, 4):
        Job.objects.filter(pk=job.pk).update(run_after=Now() - timedelta(seconds=1))
        assert claims.claim(job.pk, f"w{attempt}")
        let_lease_end(job)
        assert sweeper.sweep() == 1
        job.refresh_from_db()
        assert job.attempts == attempt
    assert job.state == Job.State.FAILED
    assert job.error_code == "worker-died"
    assert job.error_way_out


@pytest.mark.django_db
def test_a_cancelled_job_of_a_dead_worker_ends_cancelled() -> None:
    job = make_job()
    claims.claim(job.pk, "w1")
    Job.objects.filter(pk=job.pk).update(cancel_requested=True)
    let_lease_end(job)
    sweeper.sweep()
    job.refresh_from_db()
    assert job.state == Job.State.CANCELLED
