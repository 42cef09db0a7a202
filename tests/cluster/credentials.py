"""Keys, certificates and tokens of a control plane that lives only for some tests."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import trustme
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

ISSUER = "https://kubernetes.default.svc"
HOST = "127.0.0.1"
"""The only name in the serving certificate: any other one must be refused."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What the API server is started with, as files in one folder, and what clients need of it."""

    folder: Path
    ca_pem: str
    signing_key: rsa.RSAPrivateKey

    @property
    def certificate(self) -> Path:
        return self.folder / "server.crt"

    @property
    def key(self) -> Path:
        return self.folder / "server.key"

    @property
    def account_key(self) -> Path:
        """The key that signs the tokens of ServiceAccounts; the server checks with the same."""
        return self.folder / "account.key"

    @property
    def tokens(self) -> Path:
        return self.folder / "tokens.csv"

    @classmethod
    def made_in(cls, folder: Path, admin_token: str) -> Credentials:
        """Fresh ones. The token belongs to a user of ``system:masters``."""
        authority = trustme.CA()
        serving = authority.issue_cert(HOST)
        signing_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        made = cls(folder, authority.cert_pem.bytes().decode(), signing_key)
        serving.private_key_pem.write_to_path(str(made.key))
        for part in serving.cert_chain_pems:
            part.write_to_path(str(made.certificate), append=True)
        made.account_key.write_bytes(
            signing_key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.TraditionalOpenSSL,
                serialization.NoEncryption(),
            )
        )
        made.tokens.write_text(f'{admin_token},admin,admin,"system:masters"\n')
        return made

    def signed(self, claims: Mapping[str, object]) -> str:
        """A JWT that the API server takes for one of its own, with any claims."""
        head = {"alg": "RS256", "typ": "JWT"}
        text = ".".join(_base64(json.dumps(part).encode()) for part in (head, claims))
        signature = self.signing_key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{text}.{_base64(signature)}"

    def expired_token(self, namespace: str, account: str, uid: str) -> str:
        """A ServiceAccount's token that was good until ten minutes ago."""
        now = int(time.time())
        return self.signed(
            {
                "iss": ISSUER,
                "aud": [ISSUER],
                "sub": f"system:serviceaccount:{namespace}:{account}",
                "iat": now - 4200,
                "nbf": now - 4200,
                "exp": now - 600,
                "kubernetes.io": {
                    "namespace": namespace,
                    "serviceaccount": {"name": account, "uid": uid},
                },
            }
        )


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
