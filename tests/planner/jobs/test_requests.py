"""Asking for work: one active job for a subject, however many ask."""

from __future__ import annotations

import pytest

from planner.accounts.models import Team
from planner.jobs import claims
from planner.jobs.models import Job
from planner.jobs.requests import request_cancel, request_job

pytestmark = pytest.mark.django_db


def ask(team: Team, subject: int = 7) -> tuple[Job, bool]:
    return request_job(
        kind="test", queue="sync", subject_id=subject, subject_name="seven", team=team, by=None
    )


@pytest.fixture
def team() -> Team:
    return Team.objects.create(name="Search", slug="search")


def test_a_second_request_finds_the_first_job(team: Team) -> None:
    first, is_new = ask(team)
    second, is_new_again = ask(team)
    assert (is_new, is_new_again) == (True, False)
    assert first.pk == second.pk
    assert Job.objects.count() == 1


def test_an_ended_job_makes_room_for_a_new_one(team: Team) -> None:
    first, _ = ask(team)
    assert claims.claim(first.pk, "w1")
    assert claims.end(first.pk, "w1", Job.State.DONE)
    second, is_new = ask(team)
    assert is_new
    assert second.pk != first.pk


def test_subjects_do_not_block_each_other(team: Team) -> None:
    assert ask(team, 1)[1]
    assert ask(team, 2)[1]


def test_a_queued_job_is_cancelled_at_once(team: Team) -> None:
    job, _ = ask(team)
    assert request_cancel(job)
    job.refresh_from_db()
    assert job.state == Job.State.CANCELLED
    assert not claims.claim(job.pk, "w1")


def test_a_running_job_is_only_asked_to_stop(team: Team) -> None:
    job, _ = ask(team)
    assert claims.claim(job.pk, "w1")
    assert request_cancel(job)
    job.refresh_from_db()
    assert job.state == Job.State.RUNNING
    assert job.cancel_requested


def test_an_ended_job_cannot_be_cancelled(team: Team) -> None:
    job, _ = ask(team)
    claims.claim(job.pk, "w1")
    claims.end(job.pk, "w1", Job.State.DONE)
    assert not request_cancel(job)
