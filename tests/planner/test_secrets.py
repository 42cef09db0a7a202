"""Sealed access: opened only with a key, and only for its own cluster."""

from __future__ import annotations

import base64
from uuid import UUID, uuid4

import pytest
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from fleet.kubernetes.kubeconfig import ClusterAccess
from planner.inventory.secrets import (
    CredentialUnreadable,
    fingerprint,
    open_sealed,
    reseal,
    seal,
)

OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))
ACCESS = ClusterAccess(
    server="https://10.0.0.5:6443", ca_pem="CA", token="CANARY-TOKEN", client_key_pem="CANARY-KEY"
)
CLUSTER = UUID("6f1d3c2e-0000-4000-8000-000000000001")

OPTIONAL = st.none() | st.text(max_size=50)
ACCESSES = st.builds(
    ClusterAccess,
    server=st.text(max_size=50),
    ca_pem=OPTIONAL,
    token=OPTIONAL,
    client_cert_pem=OPTIONAL,
    client_key_pem=OPTIONAL,
    tls_server_name=OPTIONAL,
)


@pytest.fixture(autouse=True)
def keys(settings: Settings) -> None:
    settings.PLANNER_CREDENTIAL_KEYS = [OLD]


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ACCESSES, st.uuids())
def test_what_was_sealed_opens_as_it_was(access: ClusterAccess, cluster: UUID) -> None:
    assert open_sealed(seal(access, cluster), cluster) == access


def test_the_sealed_bytes_do_not_hold_the_secret() -> None:
    sealed = seal(ACCESS, CLUSTER)
    for secret in (b"CANARY", b"10.0.0.5", base64.b64encode(b"CANARY-TOKEN")):
        assert secret not in sealed
        assert secret not in base64.urlsafe_b64decode(sealed)


def test_sealing_twice_gives_different_bytes() -> None:
    assert seal(ACCESS, CLUSTER) != seal(ACCESS, CLUSTER)


def test_a_row_copied_to_another_cluster_opens_nothing() -> None:
    with pytest.raises(CredentialUnreadable, match="another cluster"):
        open_sealed(seal(ACCESS, CLUSTER), uuid4())


def test_a_lost_key_is_said_without_a_word_of_the_secret(settings: Settings) -> None:
    sealed = seal(ACCESS, CLUSTER)
    settings.PLANNER_CREDENTIAL_KEYS = [NEW]
    for action in (lambda: open_sealed(sealed, CLUSTER), lambda: reseal(sealed)):
        with pytest.raises(CredentialUnreadable, match="PLANNER_CREDENTIAL_KEYS") as caught:
            action()
        assert "CANARY" not in caught.value.message
        assert OLD not in caught.value.message
        assert NEW not in caught.value.message


@given(st.binary(max_size=200))
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_bytes_are_unreadable_and_nothing_worse(sealed: bytes) -> None:
    with pytest.raises(CredentialUnreadable):
        open_sealed(sealed, CLUSTER)


def test_changed_ciphertext_is_unreadable() -> None:
    sealed = bytearray(seal(ACCESS, CLUSTER))
    sealed[40] ^= 1
    with pytest.raises(CredentialUnreadable):
        open_sealed(bytes(sealed), CLUSTER)


def test_a_database_value_of_another_type_opens_too() -> None:
    assert open_sealed(memoryview(seal(ACCESS, CLUSTER)), CLUSTER) == ACCESS  # type: ignore[arg-type]


def test_rotation_moves_to_the_new_key_and_the_old_one_can_go(settings: Settings) -> None:
    sealed = seal(ACCESS, CLUSTER)
    settings.PLANNER_CREDENTIAL_KEYS = [NEW, OLD]
    assert open_sealed(sealed, CLUSTER) == ACCESS
    again = reseal(sealed)
    settings.PLANNER_CREDENTIAL_KEYS = [NEW]
    assert open_sealed(again, CLUSTER) == ACCESS
    with pytest.raises(CredentialUnreadable):
        open_sealed(sealed, CLUSTER)


def test_a_rotated_row_still_belongs_to_its_cluster(settings: Settings) -> None:
    settings.PLANNER_CREDENTIAL_KEYS = [NEW, OLD]
    with pytest.raises(CredentialUnreadable, match="another cluster"):
        open_sealed(reseal(seal(ACCESS, CLUSTER)), uuid4())


@pytest.mark.parametrize("wrong", [[], ["short"], ["*" * 44], [OLD, "CANARY"], ["ключ"]])
def test_wrong_keys_in_the_settings_are_said_without_showing_them(
    settings: Settings, wrong: list[str]
) -> None:
    settings.PLANNER_CREDENTIAL_KEYS = wrong
    with pytest.raises(ImproperlyConfigured, match="PLANNER_CREDENTIAL_KEYS") as caught:
        seal(ACCESS, CLUSTER)
    assert "CANARY" not in str(caught.value)


def test_the_fingerprint_tells_credentials_apart_and_shows_none_of_them() -> None:
    other = ClusterAccess(server=ACCESS.server, token="another")
    by_certificate = ClusterAccess(server=ACCESS.server, client_cert_pem="CERT")
    marks = {fingerprint(access) for access in (ACCESS, other, by_certificate)}
    assert len(marks) == 3
    assert all(len(mark) == 12 for mark in marks)
    assert fingerprint(ClusterAccess(server="http://127.0.0.1:8001")) == "none"
