"""The progress of a job: alive while it runs, silent afterwards, stopped by a button."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone, translation

from planner.accounts.models import AuditEvent, Team, User
from planner.jobs.models import Job

HTMX = {"HX-Request": "true"}


@pytest.fixture
def make_job(team: Team) -> Callable[..., Job]:
    def make(**fields: Any) -> Job:
        return Job.objects.create(
            kind="sync",
            queue="sync",
            key="sync:7",
            subject_id=7,
            subject_name="prod-tokyo",
            team=team,
            **fields,
        )

    return make


def _fragment(client: Client, job: Job) -> tuple[str, str | None]:
    response = client.get(f"/jobs/{job.pk}/", headers=HTMX)
    assert response.status_code == 200
    return response.content.decode(), response.headers.get("HX-Trigger")


def test_a_running_job_is_polled_and_shows_phase_objects_and_time(
    make_job: Callable[..., Job], vic: User, client_for: Callable[..., Client]
) -> None:
    job = make_job(
        state="running", phase="reading pods", objects_read=3200, started_at=timezone.now()
    )
    body, event = _fragment(client_for(vic), job)
    assert 'hx-trigger="every 2s"' in body
    assert "reading pods" in body
    assert "3,200 objects read" in body
    assert "running for 0 s" in body
    assert event is None
    assert "<html" not in body


def test_an_ended_job_is_polled_no_more_and_tells_the_page(
    make_job: Callable[..., Job], vic: User, client_for: Callable[..., Client]
) -> None:
    now = timezone.now()
    job = make_job(state="done", result="44 nodes read", started_at=now, finished_at=now)
    body, event = _fragment(client_for(vic), job)
    assert "hx-trigger" not in body
    assert "44 nodes read" in body
    assert event == "job-ended"


def test_a_failed_job_says_what_happened_and_what_to_do(
    make_job: Callable[..., Job], vic: User, client_for: Callable[..., Client]
) -> None:
    job = make_job(
        state="failed",
        error_code="tls",
        error_message="The certificate is for <another> name.",
        error_way_out="Give the right CA.",
    )
    body, _event = _fragment(client_for(vic), job)
    assert "The certificate is for &lt;another&gt; name." in body
    assert "<code>tls</code>" in body
    assert "Give the right CA." in body


def test_a_reader_of_another_language_gets_the_kept_sentence_marked_as_english(
    make_job: Callable[..., Job], vic: User, client_for: Callable[..., Client]
) -> None:
    vic.language = "ja"
    vic.save()
    job = make_job(state="failed", error_code="tls", error_message="10.0.0.5: <no>.")
    body, _event = _fragment(client_for(vic), job)
    assert 'lang="en">10.0.0.5: &lt;no&gt;.</p>' in body
    with translation.override("ja"):
        assert job.failure.way_out
        assert job.failure.way_out in body


def test_a_planner_cancels_a_queued_job_once_with_its_audit_event(
    make_job: Callable[..., Job], pia: User, client_for: Callable[..., Client]
) -> None:
    job = make_job()
    client = client_for(pia)
    body = client.post(f"/jobs/{job.pk}/cancel/", headers=HTMX).content.decode()
    client.post(f"/jobs/{job.pk}/cancel/", headers=HTMX)
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert "Cancelled" in body
    assert [event.action for event in AuditEvent.objects.all()] == ["job.cancelled"]


def test_a_running_job_is_asked_to_stop_and_says_so(
    make_job: Callable[..., Job], pia: User, client_for: Callable[..., Client]
) -> None:
    job = make_job(state="running", started_at=timezone.now())
    body = client_for(pia).post(f"/jobs/{job.pk}/cancel/", headers=HTMX).content.decode()
    job.refresh_from_db()
    assert job.state == "running"
    assert job.cancel_requested
    assert "stopping at the next step" in body
    assert "Cancel</button>" not in body


def test_a_viewer_sees_no_cancel_button(
    make_job: Callable[..., Job], vic: User, pia: User, client_for: Callable[..., Client]
) -> None:
    job = make_job()
    assert "Cancel</button>" not in _fragment(client_for(vic), job)[0]
    assert "Cancel</button>" in _fragment(client_for(pia), job)[0]


def test_the_page_of_a_job_survives_a_reload(
    make_job: Callable[..., Job], vic: User, client_for: Callable[..., Client]
) -> None:
    body = client_for(vic).get(f"/jobs/{make_job().pk}/").content.decode()
    assert "<html" in body
    assert 'hx-trigger="every 2s"' in body
