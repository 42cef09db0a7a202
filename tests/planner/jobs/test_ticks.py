"""The mark of the schedule, and what is said when it grows old."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client

from planner.accounts.models import Team, User
from planner.jobs import schedule, ticks
from planner.jobs.models import Job, JobTick

BANNER = "Nobody does the jobs"


def _tick_was(seconds: float) -> None:
    JobTick.objects.update_or_create(pk=1, defaults={"at": Now() - timedelta(seconds=seconds)})


@pytest.fixture
def queued(team: Team) -> Job:
    return Job.objects.create(kind="sync", queue="sync", key="sync:1", subject_id=1, team=team)


@pytest.fixture(autouse=True)
def every_ten_seconds(settings: Any) -> None:
    settings.PLANNER_TICK_S = 10


def _warnings() -> dict[str, str]:
    response = Client().get("/readyz")
    assert response.status_code == 200
    found: dict[str, str] = response.json()["warnings"]
    return found


def _page(user: User, client_for: Callable[..., Client]) -> str:
    return client_for(user).get("/account/profile/").content.decode()


def test_a_tick_leaves_one_mark_by_the_clock_of_the_database(db: None) -> None:
    assert ticks.age() is None
    schedule.tick()
    _tick_was(500)
    schedule.tick()
    age = ticks.age()
    assert age is not None
    assert age < timedelta(seconds=100)
    assert JobTick.objects.count() == 1


def test_readyz_warns_when_no_tick_was_ever_seen(db: None) -> None:
    assert "no tick was ever seen" in _warnings()["jobs"]


def test_readyz_warns_after_three_intervals_and_stays_ready(db: None) -> None:
    _tick_was(20)
    assert "jobs" not in _warnings()
    _tick_was(3600)
    assert _warnings()["jobs"].startswith("the last tick was 1 h ago")


def test_an_admin_reads_that_nobody_does_the_jobs(
    queued: Job, ada: User, client_for: Callable[..., Client]
) -> None:
    assert BANNER in _page(ada, client_for)
    _tick_was(3600)
    assert BANNER in _page(ada, client_for)


def test_a_tick_takes_the_banner_away(
    queued: Job, ada: User, client_for: Callable[..., Client]
) -> None:
    schedule.tick()
    assert BANNER not in _page(ada, client_for)


def test_no_banner_stands_without_work_that_waits(
    queued: Job, ada: User, client_for: Callable[..., Client]
) -> None:
    Job.objects.update(run_after=Now() + timedelta(hours=1))
    assert BANNER not in _page(ada, client_for)
    Job.objects.update(run_after=Now(), state=Job.State.DONE)
    assert BANNER not in _page(ada, client_for)


def test_only_admins_read_the_banner(
    queued: Job, pia: User, vic: User, client_for: Callable[..., Client]
) -> None:
    assert BANNER not in _page(pia, client_for)
    assert BANNER not in _page(vic, client_for)


def test_the_banner_costs_one_statement(
    queued: Job, ada: User, django_assert_num_queries: Any, rf: Any
) -> None:
    request = rf.get("/")
    request.role = "admin"
    with django_assert_num_queries(1):
        assert ticks.nobody_works(request)
