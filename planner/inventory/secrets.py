"""Sealing the access to a cluster, so that the database holds nothing that opens one.

The keys are those of ``PLANNER_CREDENTIAL_KEYS`` (or ``_FILE``): the first seals, all of them open.
The sealed text holds the UUID of its cluster, so that a row copied to another cluster opens
nothing. No message of this module holds any part of a secret.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from uuid import UUID

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from fleet.kubernetes.kubeconfig import ClusterAccess

_FORMAT = 1


class CredentialUnreadable(Exception):
    """A sealed access that cannot be opened: a lost key, a damaged row or another cluster's row."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def seal(access: ClusterAccess, cluster_uuid: UUID) -> bytes:
    """Ciphertext of an access, bound to one cluster."""
    plain = {"format": _FORMAT, "cluster": str(cluster_uuid), "access": asdict(access)}
    return _keys().encrypt(json.dumps(plain).encode())


def open_sealed(sealed: bytes, cluster_uuid: UUID) -> ClusterAccess:
    """The access that was sealed for this cluster. Raises CredentialUnreadable."""
    try:
        plain = json.loads(_keys().decrypt(bytes(sealed)))
    except InvalidToken:
        raise CredentialUnreadable(
            "The stored credential cannot be opened with the keys in PLANNER_CREDENTIAL_KEYS. "
            "Put the key back that sealed it, or enter the credential again."
        ) from None
    if plain.get("format") != _FORMAT or plain.get("cluster") != str(cluster_uuid):
        raise CredentialUnreadable(
            "The stored credential belongs to another cluster or another version of this "
            "program. Enter the credential again."
        )
    return ClusterAccess(**plain["access"])


def reseal(sealed: bytes) -> bytes:
    """The same secret under the first key. Raises CredentialUnreadable."""
    try:
        return _keys().rotate(bytes(sealed))
    except InvalidToken:
        raise CredentialUnreadable(
            "The stored credential cannot be opened with the keys in PLANNER_CREDENTIAL_KEYS, "
            "so it was left as it is."
        ) from None


def fingerprint(access: ClusterAccess) -> str:
    """Twelve hexadecimal digits that tell two credentials apart, or "none" without one.

    Of the token when there is one, else of the client certificate.
    """
    secret = access.token or access.client_cert_pem
    return hashlib.sha256(secret.encode()).hexdigest()[:12] if secret else "none"


def _keys() -> MultiFernet:
    keys: list[str] = list(settings.PLANNER_CREDENTIAL_KEYS)
    try:
        return MultiFernet([Fernet(key) for key in keys])
    except ValueError:
        # Not the library's own text: it may hold the key.
        raise ImproperlyConfigured(
            "PLANNER_CREDENTIAL_KEYS must hold one or more Fernet keys, each 32 bytes in URL-safe "
            "base64, made by: python -c 'from cryptography.fernet import Fernet; "
            "print(Fernet.generate_key().decode())'"
        ) from None
