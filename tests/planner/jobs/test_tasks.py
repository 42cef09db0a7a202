"""The Celery side: bound to our own application, carrying ids only."""

from __future__ import annotations

import pytest

from planner.celery import app
from planner.jobs import tasks


def test_tasks_belong_to_the_planners_application() -> None:
    assert tasks.run_one.app is app
    assert tasks.tick.app is app


def test_only_json_is_accepted() -> None:
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_serializer == "json"
    assert app.conf.result_backend is None


@pytest.mark.django_db
@pytest.mark.parametrize("argument", ["1", None, True, -1, 2**63, {"id": 1}, [1], 99])
def test_foreign_arguments_change_nothing(argument: object) -> None:
    tasks.run_one(argument)
