"""People: users, teams, roles in teams, and the record of what they did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    """What a member of a team may do. Each role includes the ones before it."""

    VIEWER = "viewer", _("Viewer")
    PLANNER = "planner", _("Planner")
    ADMIN = "admin", _("Admin")

    def includes(self, other: Role) -> bool:
        """Whether this role may do what ``other`` may do."""
        order = list(Role)
        return order.index(self) >= order.index(other)


class User(AbstractUser):
    """A person who logs in. A superuser counts as admin of every team."""

    class Theme(models.TextChoices):
        AUTO = "auto", _("As the system")
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")

    theme = models.CharField(max_length=5, choices=Theme, default=Theme.AUTO)
    language = models.CharField(max_length=8, blank=True, default="")
    must_change_password = models.BooleanField(default=False)  # somebody else knows it
    session_epoch = models.PositiveIntegerField(default=0)  # adding one ends every session

    def get_session_auth_hash(self) -> str:
        """What a session must match: another password or epoch ends it."""
        return self._session_hash(None)

    def get_session_auth_fallback_hash(self) -> Iterator[str]:
        """The same under older secret keys, so that a new key logs nobody out."""
        for key in settings.SECRET_KEY_FALLBACKS:
            yield self._session_hash(key)

    def _session_hash(self, secret: str | bytes | None) -> str:
        value = f"{self.password}:{self.session_epoch}"
        return salted_hmac(
            "planner.accounts.session", value, secret=secret, algorithm="sha256"
        ).hexdigest()

    def role_in(self, team: Team) -> Role | None:
        """The role of this user in ``team``; None when the team is none of theirs."""
        if not self.is_active:
            return None
        if self.is_superuser:
            return Role.ADMIN
        role = self.memberships.filter(team=team).values_list("role", flat=True).first()
        return Role(role) if role else None


class TeamQuerySet(models.QuerySet["Team"]):
    def visible_to(self, user: Any) -> TeamQuerySet:
        """Teams that the user belongs to; none for anybody else."""
        if not user.is_authenticated or not user.is_active:
            return self.none()
        if user.is_superuser:
            return self
        return self.filter(memberships__user=user)


class Team(models.Model):
    """Owns clusters, workloads and plans. Nobody outside sees that they exist."""

    name = models.CharField(max_length=80, unique=True)
    slug = models.SlugField(max_length=80, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TeamQuerySet.as_manager()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """One user's role in one team."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=8, choices=Role)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "team"], name="accounts_one_role_per_team")
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} in {self.team}"


class AuditEvent(models.Model):
    """Who did what to what, when, from where. Append-only; never holds a secret.

    Actor and object are kept as texts too, so that the record outlives them.
    """

    at = models.DateTimeField(auto_now_add=True)
    actor = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    actor_name = models.CharField(max_length=150)
    team = models.ForeignKey(Team, on_delete=models.SET_NULL, null=True, related_name="+")
    action = models.CharField(max_length=60)
    object_type = models.CharField(max_length=40)
    object_id = models.CharField(max_length=40)
    object_name = models.CharField(max_length=200)
    detail = models.JSONField(default=dict)
    address = models.CharField(max_length=45, blank=True)

    class Meta:
        ordering = ("-at", "-id")
        indexes = [models.Index(fields=["team", "-at"], name="accounts_audit_by_team")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.actor_name} {self.action} {self.object_name}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise TypeError("audit events are append-only")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        raise TypeError("audit events are append-only")


class LoginFailure(models.Model):
    """One failed login, kept for a while to slow down guessing."""

    username = models.CharField(max_length=150)
    address = models.CharField(max_length=45)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["address", "at"], name="accounts_failures_by_address")]

    def __str__(self) -> str:
        return f"{self.username} from {self.address}"
