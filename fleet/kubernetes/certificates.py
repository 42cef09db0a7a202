"""Certificates and keys given as PEM text: checked before they are kept, loaded before a call."""

from __future__ import annotations

import contextlib
import os
import ssl
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization

from fleet.words import say

_PEM_MAX = 256 * 1024


class CertificateError(Exception):
    """PEM text that cannot be used; the message never holds any of it."""


def check_authorities(pem: str) -> str:
    """The CA certificates, as they were given. Raises CertificateError."""
    if "PRIVATE KEY" in pem:
        raise CertificateError(say("This is a private key, not the certificate of an authority."))
    try:
        certificates = x509.load_pem_x509_certificates(pem[:_PEM_MAX].encode("ascii"))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=pem)
    except (ValueError, ssl.SSLError):
        raise CertificateError(say("The CA is not a PEM certificate.")) from None
    if not certificates:
        raise CertificateError(say("The CA holds no certificate."))
    return pem


def check_client_pair(cert_pem: str | None, key_pem: str | None) -> tuple[str, str]:
    """A client certificate with its own unencrypted key. Raises CertificateError."""
    if not cert_pem:
        raise CertificateError(say("The client certificate is missing; both are needed."))
    if not key_pem:
        raise CertificateError(say("The client key is missing; both are needed."))
    try:
        certificate = x509.load_pem_x509_certificates(cert_pem[:_PEM_MAX].encode("ascii"))[0]
    except (ValueError, IndexError):
        raise CertificateError(say("The client certificate is not a PEM certificate.")) from None
    try:
        key = serialization.load_pem_private_key(key_pem.encode("ascii"), password=None)
    except TypeError:
        raise CertificateError(say("The client key is protected by a password.")) from None
    except (ValueError, UnsupportedAlgorithm):
        raise CertificateError(say("The client key is not a PEM private key.")) from None
    encoding, form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    if certificate.public_key().public_bytes(encoding, form) != key.public_key().public_bytes(
        encoding, form
    ):
        raise CertificateError(say("The client key does not belong to the client certificate."))
    return cert_pem, key_pem


def tls_context(ca_pem: str | None, cert_pem: str | None, key_pem: str | None) -> ssl.SSLContext:
    """A client context that verifies chain and name. Raises CertificateError."""
    # Not ssl.create_default_context: it writes session secrets to SSLKEYLOGFILE, and from Python
    # 3.13 on it refuses CAs without an authority key identifier, which many clusters have.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        if ca_pem is None:
            context.load_default_certs(ssl.Purpose.SERVER_AUTH)
        else:
            context.load_verify_locations(cadata=ca_pem)
        if cert_pem and key_pem:
            with _as_path(f"{cert_pem.strip()}\n{key_pem.strip()}\n") as path:
                # The password callback keeps OpenSSL from asking on the terminal.
                context.load_cert_chain(path, password=lambda: b"")
    except (ssl.SSLError, ValueError, OSError):
        raise CertificateError(say("The certificates cannot be used for TLS.")) from None
    return context


@contextlib.contextmanager
def _as_path(secret: str) -> Iterator[str]:
    """A path under which `ssl` can read a secret for a moment.

    OpenSSL's context takes a client key only from a file. On Linux that file lives in memory
    without a name on any disk, so that even a killed process leaves nothing behind; elsewhere it is
    a file that only we can read, in a directory that only we can enter, removed at once.
    """
    data = secret.encode("ascii")
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("client", os.MFD_CLOEXEC)
        try:
            os.write(descriptor, data)
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
    else:
        with tempfile.TemporaryDirectory(prefix="planner-") as directory:
            path = Path(directory) / "client.pem"
            path.touch(mode=0o600)
            path.write_bytes(data)
            yield str(path)
