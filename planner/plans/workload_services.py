"""Declaring, changing and removing workloads. Each act is one transaction with its audit event."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from fleet.workloads import Workload as WorkloadValue
from fleet.workloads import kind_of
from planner.accounts import audit
from planner.accounts.models import Team, User
from planner.plans.models import Workload
from planner.plans.versions import update_if_unchanged
from planner.plans.workload_specs import to_spec

MAX_WORKLOADS = 2000


class Refused(Exception):
    """The act cannot be done; the message is for the person who asked."""


def _name_taken(name: str) -> Refused:
    return Refused(_("Your team already has a workload named “%(name)s”.") % {"name": name})


def create_workload(*, team: Team, by: User, value: WorkloadValue) -> Workload:
    """Raises ``Refused`` when the name is taken or the team has too many."""
    if team.workloads.count() >= MAX_WORKLOADS:
        raise Refused(_("A team keeps at most %(count)d workloads.") % {"count": MAX_WORKLOADS})
    try:
        with transaction.atomic():
            row = Workload.objects.create(
                team=team,
                name=value.name,
                kind=kind_of(value),
                spec=to_spec(value),
                created_by=by,
                updated_by=by,
            )
            audit.record("workload.created", row, by=by, team=team, kind=row.kind)
    except IntegrityError as error:
        raise _name_taken(value.name) from error
    return row


def update_workload(*, workload: Workload, by: User, version: int, value: WorkloadValue) -> None:
    """Raises ``StaleVersion`` when somebody else was first, ``Refused`` when the name is taken."""
    try:
        with transaction.atomic():
            update_if_unchanged(
                workload,
                version,
                name=value.name,
                spec=to_spec(value),
                updated_by=by,
                updated_at=Now(),
            )
            audit.record("workload.changed", workload, by=by, team=workload.team)
    except IntegrityError as error:
        raise _name_taken(value.name) from error


def delete_workload(*, workload: Workload, by: User) -> None:
    """Finished runs keep their copy of it; plans lose it."""
    with transaction.atomic():
        audit.record("workload.deleted", workload, by=by, team=workload.team)
        workload.delete()


def import_workloads(*, team: Team, by: User, values: Iterable[WorkloadValue]) -> tuple[int, int]:
    """Create what is new, replace what has the same name and kind: all or nothing.

    Returns (created, replaced). Raises ``Refused`` when a name is used by another kind.
    """
    created = replaced = 0
    with transaction.atomic():
        held = {row.name: row for row in team.workloads.select_for_update()}
        for value in values:
            row = held.get(value.name)
            if row is None:
                held[value.name] = create_workload(team=team, by=by, value=value)
                created += 1
                continue
            if row.kind != kind_of(value):
                raise Refused(
                    _("“%(name)s” exists as another kind (%(kind)s). Nothing was imported.")
                    % {"name": row.name, "kind": row.get_kind_display()}
                )
            update_workload(workload=row, by=by, version=row.version, value=value)
            replaced += 1
    return created, replaced
