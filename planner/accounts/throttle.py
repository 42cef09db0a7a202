"""Slowing down password guessing: failed logins are counted in the database, so that the limit
holds across web processes and restarts."""

from __future__ import annotations

from datetime import timedelta

from django.db.models.functions import Now

from planner.accounts.models import LoginFailure

WINDOW = timedelta(minutes=15)
PER_USER = 5  # failures of one name from one address
PER_ADDRESS = 100  # failures of any names from one address: a proxy may stand for many people


def is_blocked(username: str, address: str) -> bool:
    """Whether this name, or anybody at this address, has failed too often in the last minutes."""
    recent = LoginFailure.objects.filter(address=address, at__gt=Now() - WINDOW)
    if recent.count() >= PER_ADDRESS:
        return True
    return recent.filter(username=username[:150].casefold()).count() >= PER_USER


def note_failure(username: str, address: str) -> None:
    """Remember a failed login, and forget those outside the window."""
    LoginFailure.objects.filter(at__lt=Now() - WINDOW).delete()
    LoginFailure.objects.create(username=username[:150].casefold(), address=address)


def forget(username: str, address: str) -> None:
    """The right password was given: start counting anew."""
    LoginFailure.objects.filter(username=username[:150].casefold(), address=address).delete()
