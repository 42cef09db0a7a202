"""Reading people and the record of what they did."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from planner.accounts.models import AuditEvent, Membership, Team, User


def members(team: Team) -> QuerySet[Membership]:
    """Members of the team with their users, by name."""
    return Membership.objects.filter(team=team).select_related("user").order_by("user__username")


def audit_events(team: Team, user: User, text: str = "") -> QuerySet[AuditEvent]:
    """What happened in the team, newest first; a superuser also sees what has no team.

    ``text`` keeps the events whose actor, action or object holds it.
    """
    mine = Q(team=team)
    if user.is_superuser:
        mine |= Q(team=None)
    events = AuditEvent.objects.filter(mine)
    if text:
        events = events.filter(
            Q(actor_name__icontains=text)
            | Q(action__icontains=text)
            | Q(object_name__icontains=text)
        )
    return events
