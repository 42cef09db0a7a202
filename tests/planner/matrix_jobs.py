"""Who gets what at the URLs of jobs."""

from __future__ import annotations

from typing import Any

from planner.accounts.models import Team, User
from planner.jobs.models import Job
from tests.planner.matrix import MARKER, PLANNER_ACTS, READ, Entry


def objects(team: Team, admin: User) -> dict[str, Any]:
    job = Job.objects.create(
        kind="sync", queue="sync", key="sync:0", subject_id=0, subject_name=MARKER, team=team
    )
    return {"jobs_job": job}


ENTRIES = {
    "jobs:progress": Entry(get=READ, args=lambda w: [w["jobs_job"].pk]),
    "jobs:cancel": Entry(post=PLANNER_ACTS, args=lambda w: [w["jobs_job"].pk]),
}
