"""Our own strict reader of kubeconfig files.

A kubeconfig can start programs, read files and send calls through a proxy. This reader can do none
of that: it reads text into a frozen value, knows an allow-list of keys and refuses every other one
by name. It never calls the client library's own loader.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from fleet.kubernetes.address import AddressError, Endpoint, split_server
from fleet.kubernetes.certificates import CertificateError, check_authorities, check_client_pair
from fleet.kubernetes.strict_yaml import YamlError, read_strict
from fleet.words import say

MAX_BYTES = 64 * 1024
MAX_DEPTH = 20
MAX_TOKEN = 16 * 1024

_USER_KEYS = frozenset({"token", "client-certificate-data", "client-key-data", "extensions"})
_CLUSTER_KEYS = frozenset(
    {
        "server",
        "certificate-authority-data",
        "tls-server-name",
        "disable-compression",
        "extensions",
    }
)
_CONTEXT_KEYS = frozenset({"cluster", "user", "namespace", "extensions"})
_TOP_KEYS = frozenset(
    {
        "apiVersion",
        "kind",
        "preferences",
        "clusters",
        "users",
        "contexts",
        "current-context",
        "extensions",
    }
)
_TOKEN = re.compile(r"[\x21-\x7e]+")


class AccessError(Exception):
    """A way into a cluster that we do not take: `key` names the place, `way_out` what to do."""

    def __init__(self, key: str, message: str, way_out: str) -> None:
        super().__init__(f"{key}: {message} {way_out}")
        self.key = key
        self.message = message
        self.way_out = way_out


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """How to reach one API server. Secrets never show in repr().

    ca_pem None means the machine's own list of authorities.
    """

    server: str
    ca_pem: str | None = None
    token: str | None = field(default=None, repr=False)
    client_cert_pem: str | None = field(default=None, repr=False)
    client_key_pem: str | None = field(default=None, repr=False)
    tls_server_name: str | None = None


Node = dict[str, object]


def _flatten() -> str:
    return say(
        "Print a file that stands alone with "
        "`kubectl config view --raw --minify --flatten` and paste that."
    )


def _service_account() -> str:
    return say(
        "Apply the read-only ServiceAccount manifest shown on this page and use its token, "
        "or run `kubectl proxy` and give http://127.0.0.1:8001."
    )


def _refused_key(section: str, key: str) -> tuple[str, str] | None:
    """What kubectl understands and we refuse, and the way out; None for every other key."""
    match section, key:
        case "users", "exec":
            return say(
                "The key would start a program on this server, so it is refused."
            ), _service_account()
        case "users", "auth-provider":
            return say(
                "The key would start a program or call an identity provider, so it is refused."
            ), _service_account()
        case "users", "tokenFile" | "client-certificate" | "client-key":
            return say("The key would read a file on this server, so it is refused."), _flatten()
        case "users", "username" | "password":
            return say(
                "The key is basic authentication, which Kubernetes removed in 1.19, so it is "
                "refused."
            ), _service_account()
        case "users", "as" | "as-uid" | "as-groups" | "as-user-extra":
            return say("The key acts as another user, so it is refused."), _service_account()
        case "clusters", "certificate-authority":
            return say("The key would read a file on this server, so it is refused."), _flatten()
        case "clusters", "proxy-url":
            return say(
                "The key would send the credential through another server, so it is refused."
            ), say("Remove the key and give an address that this server reaches directly.")
        case "clusters", "insecure-skip-tls-verify":
            return say(
                "The key would hand the credential to whoever answers, so it is refused."
            ), say("Remove the key and give the cluster's CA in certificate-authority-data.")
        case _:
            return None


def parse(text: str | bytes) -> ClusterAccess:
    """Access from the text of one kubeconfig. Raises AccessError; opens nothing, calls nothing."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(raw) > MAX_BYTES:
        _refuse(
            "file", say("The kubeconfig is larger than {n} KiB.", n=MAX_BYTES // 1024), _flatten()
        )
    try:
        document = read_strict(raw, max_depth=MAX_DEPTH)
    except YamlError as error:
        raise AccessError("file", str(error), _flatten()) from None
    top = _mapping(document, "file")
    _allow(top, "", _TOP_KEYS)
    if (_text(top, "apiVersion", "") or "v1") != "v1":
        _refuse("apiVersion", say("Only apiVersion v1 is understood."), _flatten())
    if (_text(top, "kind", "") or "Config") != "Config":
        _refuse("kind", say("This is not a kubeconfig: its kind is not Config."), _flatten())

    context, where = _chosen_context(top)
    _allow(context, where, _CONTEXT_KEYS)
    cluster_name = _text(context, "cluster", where)
    if not cluster_name:
        _refuse(_join(where, "cluster"), say("The context names no cluster."), _flatten())
    cluster, cluster_at = _entry(top, "clusters", "cluster", cluster_name)
    user_name = _text(context, "user", where)
    user, user_at = _entry(top, "users", "user", user_name) if user_name else ({}, "users")
    return _access(cluster, cluster_at, user, user_at)


def from_fields(address: str, token: str, ca_pem: str) -> ClusterAccess:
    """Access from the three fields of a form; token and CA may be empty. Raises AccessError."""
    endpoint = _server(address.strip(), "address")
    return _checked(
        address.strip(),
        endpoint,
        ca_pem=ca_pem.strip() or None,
        token=token.strip() or None,
        keys={"ca": "ca", "token": "token", "credential": "token"},
    )


def in_cluster(root: Path = Path("/var/run/secrets/kubernetes.io/serviceaccount")) -> ClusterAccess:
    """Access as the pod that we run in. Read it again for every sync: its token is short-lived.

    Raises AccessError when this is not a pod with a ServiceAccount.
    """
    values: dict[str, str] = {}
    for name in ("token", "ca.crt"):
        try:
            with (root / name).open("rb") as stream:
                values[name] = stream.read(MAX_BYTES).decode("ascii").strip()
        except (OSError, UnicodeDecodeError):
            _refuse(
                str(root / name),
                say(
                    "The ServiceAccount file cannot be read, so this is not a pod that may call "
                    "its own cluster."
                ),
                say(
                    "Run inside the cluster with automountServiceAccountToken, or add the cluster "
                    "with an address and a token."
                ),
            )
    # The name is in every API server's certificate and needs no environment variable.
    address = "https://kubernetes.default.svc"
    return from_fields(address, values["token"], values["ca.crt"])


def _access(cluster: Node, cluster_at: str, user: Node, user_at: str) -> ClusterAccess:
    if _is_false(cluster.get("insecure-skip-tls-verify")):
        cluster = {k: v for k, v in cluster.items() if k != "insecure-skip-tls-verify"}
    _allow(cluster, cluster_at, _CLUSTER_KEYS, "clusters")
    _allow(user, user_at, _USER_KEYS, "users")
    server = _text(cluster, "server", cluster_at)
    if not server:
        _refuse(_join(cluster_at, "server"), say("The cluster has no server address."), _flatten())
    endpoint = _server(server, _join(cluster_at, "server"))
    name = _text(cluster, "tls-server-name", cluster_at)
    if name and _server(f"https://{name}", _join(cluster_at, "tls-server-name")).host != name:
        _refuse(
            _join(cluster_at, "tls-server-name"),
            say("This is not a host name in lower case."),
            say("Give the name alone, as the server's certificate has it."),
        )
    return _checked(
        server,
        endpoint,
        ca_pem=_base64_text(cluster, "certificate-authority-data", cluster_at),
        token=_text(user, "token", user_at),
        client_cert_pem=_base64_text(user, "client-certificate-data", user_at),
        client_key_pem=_base64_text(user, "client-key-data", user_at),
        tls_server_name=name,
        keys={
            "ca": _join(cluster_at, "certificate-authority-data"),
            "token": _join(user_at, "token"),
            "client": _join(user_at, "client-certificate-data"),
            "credential": user_at,
        },
    )


def _checked(
    server: str,
    endpoint: Endpoint,
    *,
    keys: dict[str, str],
    ca_pem: str | None = None,
    token: str | None = None,
    client_cert_pem: str | None = None,
    client_key_pem: str | None = None,
    tls_server_name: str | None = None,
) -> ClusterAccess:
    """One home for what every way in must satisfy; `keys` says how the caller names each place."""
    if token is not None and (len(token) > MAX_TOKEN or not _TOKEN.fullmatch(token)):
        _refuse(
            keys["token"],
            say(
                "The token holds a space, a line break or another character no token has, "
                "or is longer than 16 KiB."
            ),
            say("Copy the token again, as one line."),
        )
    has_client = client_cert_pem is not None or client_key_pem is not None
    if endpoint.scheme == "http" and (token or has_client or ca_pem):
        _refuse(
            keys["credential"],
            say("A credential is never sent without TLS."),
            say(
                "For kubectl proxy on http://127.0.0.1:8001 leave token and CA empty; "
                "else use an https:// address."
            ),
        )
    if endpoint.scheme == "https" and not token and not has_client:
        _refuse(
            keys["credential"],
            say("There is neither a token nor a certificate."),
            _service_account(),
        )
    try:
        if ca_pem is not None:
            place = keys["ca"]
            ca_pem = check_authorities(ca_pem)
        if has_client:
            place = keys["client"]
            client_cert_pem, client_key_pem = check_client_pair(client_cert_pem, client_key_pem)
    except CertificateError as error:
        raise AccessError(place, str(error), _flatten()) from None
    return ClusterAccess(
        server=server,
        ca_pem=ca_pem,
        token=token,
        client_cert_pem=client_cert_pem,
        client_key_pem=client_key_pem,
        tls_server_name=tls_server_name,
    )


def _chosen_context(top: Node) -> tuple[Node, str]:
    names = _names(top, "contexts")
    current = _text(top, "current-context", "")
    if current is None:
        if len(names) != 1:
            _refuse(
                "current-context",
                say("The file has {n} contexts and does not say which one to use.", n=len(names)),
                _flatten(),
            )
        current = names[0]
    return _entry(top, "contexts", "context", current)


def _names(top: Node, section: str) -> list[str]:
    names: list[str] = []
    for index, item in enumerate(_list(top.get(section), section)):
        place = f"{section}[{index}]"
        name = _text(_mapping(item, place), "name", place)
        if not name:
            _refuse(f"{place}.name", say("The entry has no name."), _flatten())
        if name in names:
            _refuse(f"{place}.name", say("Two entries have the same name."), _flatten())
        names.append(name)
    return names


def _entry(top: Node, section: str, inner: str, name: str) -> tuple[Node, str]:
    names = _names(top, section)
    if name not in names:
        _refuse(section, say("There is no entry called {name}.", name=repr(name[:80])), _flatten())
    index = names.index(name)
    place = f"{section}[{index}]"
    item = _mapping(_list(top.get(section), section)[index], place)
    _allow(item, place, frozenset({"name", inner}))
    return _mapping(item.get(inner) or {}, f"{place}.{inner}"), f"{place}.{inner}"


def _allow(node: Node, place: str, known: frozenset[str], section: str = "") -> None:
    for key in node:
        refused = _refused_key(section, key)
        if refused is not None:
            _refuse(_join(place, key), *refused)
    for key in node:
        if key not in known:
            _refuse(_join(place, key[:80]), say("The key is not one that we know."), _flatten())


def _server(url: str, key: str) -> Endpoint:
    try:
        return split_server(url)
    except AddressError as error:
        raise AccessError(
            key, error.message, say("Give the address as `kubectl cluster-info` prints it.")
        ) from None


def _base64_text(node: Node, key: str, place: str) -> str | None:
    encoded = _text(node, key, place)
    if not encoded:
        return None
    try:
        return base64.b64decode("".join(encoded.split()), validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        _refuse(_join(place, key), say("The value is not PEM text in base64."), _flatten())


def _text(node: Node, key: str, place: str) -> str | None:
    value = node.get(key)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        _refuse(_join(place, key), say("The value must be text."), _flatten())
    return value


def _is_false(value: object) -> bool:
    return isinstance(value, str) and value.lower() == "false"


def _mapping(value: object, place: str) -> Node:
    if not isinstance(value, dict):
        _refuse(place, say("This must be a set of keys and values."), _flatten())
    return value


def _list(value: object, place: str) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        _refuse(place, say("This must be a list."), _flatten())
    return value


def _join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _refuse(key: str, message: str, way_out: str) -> NoReturn:
    raise AccessError(key, message, way_out)
