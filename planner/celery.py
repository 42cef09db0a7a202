"""The Celery application: rings workers about job rows, and beats the schedule.

Only ids travel. A message that is lost, doubled or forged changes nothing, since a row is
claimed by a conditional UPDATE (``planner.jobs.claims``).
"""

import os

from celery import Celery
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")

app = Celery("planner")
app.conf.update(
    broker_url=settings.PLANNER_BROKER_URL or "memory://",
    broker_connection_retry_on_startup=True,
    broker_connection_timeout=2,
    broker_transport_options={
        "visibility_timeout": 4 * 3600,
        "socket_connect_timeout": 2,
        "socket_timeout": 10,
    },
    accept_content=["json"],
    task_serializer="json",
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_publish_retry=False,
    task_default_queue="sync",
    task_soft_time_limit=3600,
    task_time_limit=3700,
    worker_prefetch_multiplier=1,
    worker_max_tasks_per_child=50,
    worker_hijack_root_logger=False,
    timezone="UTC",
    beat_schedule={
        "tick": {
            "task": "jobs.tick",
            "schedule": float(settings.PLANNER_TICK_S),
            "options": {"expires": 2 * settings.PLANNER_TICK_S, "queue": "sync"},
        }
    },
    imports=["planner.jobs.tasks"],
)
