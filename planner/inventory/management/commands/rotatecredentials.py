"""``manage.py rotatecredentials``: seal every credential again under the first key."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from planner.inventory import secrets
from planner.inventory.models import ClusterCredential


class Command(BaseCommand):
    help = "Seal the stored credentials again under the first key of PLANNER_CREDENTIAL_KEYS."

    def handle(self, *args: Any, **options: Any) -> None:
        unreadable = []
        resealed = 0
        for credential in ClusterCredential.objects.select_related("cluster"):
            try:
                sealed = secrets.reseal(bytes(credential.sealed))
            except secrets.CredentialUnreadable:
                unreadable.append(credential.cluster.name)
                continue
            with transaction.atomic():
                # Only if nobody entered another one meanwhile.
                resealed += ClusterCredential.objects.filter(
                    pk=credential.pk, sealed=credential.sealed
                ).update(sealed=sealed)
        self.stdout.write(f"{resealed} credentials sealed under the first key.")
        if unreadable:
            raise CommandError(
                f"{len(unreadable)} cannot be opened with any key and were left as they are: "
                + ", ".join(unreadable)
            )
