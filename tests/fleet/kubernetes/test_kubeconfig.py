"""A kubeconfig starts no program, opens no file and makes no call, whatever it holds."""

from __future__ import annotations

import ast
import base64
import builtins
import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.kubernetes.kubeconfig import (
    AccessError,
    ClusterAccess,
    from_fields,
    in_cluster,
    parse,
)
from tests.fakes.kubeapi import Authority

AUTHORITY = Authority()
CA = AUTHORITY.pem
CERT, KEY = AUTHORITY.client()


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def config(
    cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None, **top: Any
) -> dict[str, Any]:
    """A good kubeconfig, with changes."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "current-context": "main",
        "clusters": [
            {
                "name": "main",
                "cluster": {
                    "server": "https://10.0.0.5:6443",
                    "certificate-authority-data": b64(CA),
                    **(cluster or {}),
                },
            }
        ],
        "users": [{"name": "me", "user": {"token": "abc.def"} if user is None else user}],
        "contexts": [{"name": "main", "context": {"cluster": "main", "user": "me"}}],
        **top,
    }


def text(document: Any) -> str:
    return yaml.safe_dump(document, sort_keys=False)


@contextlib.contextmanager
def tripwires() -> Iterator[None]:
    """Any attempt to start a program, open a file or open a connection fails the test."""

    def trip(*args: object, **kwargs: object) -> Any:
        raise AssertionError("the parser reached outside")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", trip)
        patch.setattr(os, "system", trip)
        patch.setattr(os, "open", trip)
        patch.setattr(os, "posix_spawn", trip)
        patch.setattr(builtins, "open", trip)
        patch.setattr(Path, "open", trip)
        patch.setattr(socket.socket, "connect", trip)
        patch.setattr(socket, "getaddrinfo", trip)
        yield


EXEC = {
    "apiVersion": "client.authentication.k8s.io/v1",
    "command": "/bin/sh",
    "args": ["-c", "touch /tmp/hacked"],
}
HOSTILE: dict[str, tuple[str, str]] = {
    "exec": (text(config(user={"exec": EXEC})), "users[0].user.exec"),
    "exec beside a token": (text(config(user={"token": "t", "exec": EXEC})), "user.exec"),
    "gcp plugin": (
        text(config(user={"auth-provider": {"name": "gcp", "config": {"cmd-path": "/bin/sh"}}})),
        "user.auth-provider",
    ),
    "oidc plugin": (
        text(config(user={"auth-provider": {"name": "oidc", "config": {"idp-issuer-url": "x"}}})),
        "user.auth-provider",
    ),
    "token file": (text(config(user={"tokenFile": "/etc/passwd"})), "user.tokenFile"),
    "certificate file": (
        text(config(user={"client-certificate": "/etc/passwd", "client-key": "/etc/shadow"})),
        "user.client-certificate",
    ),
    "key file": (
        text(config(user={"client-certificate-data": b64(CERT), "client-key": "/etc/shadow"})),
        "user.client-key",
    ),
    "CA file": (
        text(config(cluster={"certificate-authority": "/etc/passwd"})),
        "cluster.certificate-authority",
    ),
    "proxy": (text(config(cluster={"proxy-url": "http://evil.test"})), "cluster.proxy-url"),
    "no verification": (
        text(config(cluster={"insecure-skip-tls-verify": True})),
        "cluster.insecure-skip-tls-verify",
    ),
    "basic authentication": (
        text(config(user={"username": "a", "password": "b"})),
        "user.username",
    ),
    "password alone": (text(config(user={"password": "b"})), "user.password"),
    "impersonation": (text(config(user={"token": "t", "as": "admin"})), "user.as"),
    "impersonated groups": (
        text(config(user={"token": "t", "as-groups": ["system:masters"]})),
        "user.as-groups",
    ),
    "impersonated uid": (text(config(user={"token": "t", "as-uid": "0"})), "user.as-uid"),
    "impersonated extra": (
        text(config(user={"token": "t", "as-user-extra": {"a": ["b"]}})),
        "user.as-user-extra",
    ),
    "unknown user key": (text(config(user={"token": "t", "sudo": "x"})), "user.sudo"),
    "unknown cluster key": (text(config(cluster={"unix-socket": "/x"})), "cluster.unix-socket"),
    "unknown top key": (text(config(include="/etc/passwd")), "include"),
    "two contexts": (
        text(
            config(
                contexts=[
                    {"name": "a", "context": {"cluster": "main", "user": "me"}},
                    {"name": "b", "context": {"cluster": "main", "user": "me"}},
                ],
                **{"current-context": ""},
            )
        ),
        "current-context",
    ),
    "no context": (text(config(contexts=[], **{"current-context": ""})), "current-context"),
    "current context that is not there": (
        text(config(**{"current-context": "other"})),
        "contexts",
    ),
    "user that is not there": (
        text(config(contexts=[{"name": "main", "context": {"cluster": "main", "user": "x"}}])),
        "users",
    ),
    "duplicate user names": (
        text(
            config(
                users=[
                    {"name": "me", "user": {"token": "a"}},
                    {"name": "me", "user": {"token": "b"}},
                ]
            )
        ),
        "users[1].name",
    ),
    "duplicate keys": (
        text(config()) + "users: []\n",
        "file",
    ),
    "token that is a list": (text(config(user={"token": ["a", "b"]})), "user.token"),
    "token with a line break": (text(config(user={"token": "a\r\nHost: evil"})), "user.token"),
    "token that is not ASCII": (text(config(user={"token": "tökén"})), "user.token"),
    "token too long": (text(config(user={"token": "a" * 20_000})), "user.token"),
    "users that are a mapping": (text(config(users={"me": {"token": "x"}})), "users"),
    "user that is text": (text(config(users=[{"name": "me", "user": "x"}])), "users[0].user"),
    "clusters that are text": (text(config(clusters="x")), "clusters"),
    "server over ftp": (text(config(cluster={"server": "ftp://10.0.0.5"})), "cluster.server"),
    "server that is a file": (
        text(config(cluster={"server": "file:///etc/passwd"})),
        "cluster.server",
    ),
    "server with a password": (
        text(config(cluster={"server": "https://a:b@10.0.0.5"})),
        "cluster.server",
    ),
    "no server": (text(config(cluster={"server": ""})), "cluster.server"),
    "token over plain http": (
        text(
            config(cluster={"server": "http://10.0.0.5:8001", "certificate-authority-data": None})
        ),
        "users[0].user",
    ),
    "name for TLS that is an address with a path": (
        text(config(cluster={"tls-server-name": "a/../b"})),
        "cluster.tls-server-name",
    ),
    "name for TLS with a port": (
        text(config(cluster={"tls-server-name": "api.test:443"})),
        "cluster.tls-server-name",
    ),
    "CA that is not base64": (
        text(config(cluster={"certificate-authority-data": "%%%"})),
        "cluster.certificate-authority-data",
    ),
    "CA that is no certificate": (
        text(config(cluster={"certificate-authority-data": b64("hello")})),
        "cluster.certificate-authority-data",
    ),
    "CA that is a private key": (
        text(config(cluster={"certificate-authority-data": b64(KEY)})),
        "cluster.certificate-authority-data",
    ),
    "certificate without key": (
        text(config(user={"client-certificate-data": b64(CERT)})),
        "user.client-certificate-data",
    ),
    "foreign key": (
        text(
            config(
                user={
                    "client-certificate-data": b64(CERT),
                    "client-key-data": b64(Authority().client()[1]),
                }
            )
        ),
        "user.client-certificate-data",
    ),
    "nothing to log in with": (text(config(user={})), "users[0].user"),
    "python object": ("!!python/object/apply:os.system ['touch /tmp/hacked']", "file"),
    "tagged value": (text(config()).replace("token: abc.def", "token: !!binary YWJj"), "file"),
    "anchor": (text(config()).replace("token: abc.def", "token: &a abc.def"), "file"),
    "merge key": ("a: {b: c}\n<<: {d: e}\n", "file"),
    "alias bomb": (
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(
            f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n"
            for i in range(8)
        ),
        "file",
    ),
    "deep nesting": ("[" * 30_000, "file"),
    "deep mappings": ("\n".join(" " * i + "a:" for i in range(60)), "file"),
    "two documents": (text(config()) + "---\n" + text(config()), "file"),
    "too large": ("# " + "x" * 70_000, "file"),
    "broken YAML": ("clusters: [", "file"),
    "control characters": ("clusters: \x00\x01", "file"),
    "another kind": (text({**config(), "kind": "Secret"}), "kind"),
    "another version": (text({**config(), "apiVersion": "v2"}), "apiVersion"),
    "a list": ("- a\n- b\n", "file"),
    "nothing": ("", "file"),
    "a word": ("hello", "file"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_kubeconfig_is_refused_by_name_and_touches_nothing(name: str) -> None:
    content, key = HOSTILE[name]
    with tripwires(), pytest.raises(AccessError) as caught:
        parse(content)
    assert caught.value.key.endswith(key)
    assert caught.value.message
    assert caught.value.way_out
    assert "abc.def" not in str(caught.value)


def test_at_least_25_hostile_files_are_in_the_table() -> None:
    assert len(HOSTILE) >= 25


@pytest.mark.parametrize("name", ["alias bomb", "deep nesting", "deep mappings", "too large"])
def test_a_bomb_is_refused_within_100_mb_and_two_seconds_of_work(name: str) -> None:
    program = """
import resource, sys
from fleet.kubernetes.kubeconfig import AccessError, parse
pages = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (pages + 100 * 2**20,) * 2)
used = int(resource.getrusage(resource.RUSAGE_SELF).ru_utime)
resource.setrlimit(resource.RLIMIT_CPU, (used + 2,) * 2)
try:
    parse(sys.stdin.read())
except AccessError as error:
    print(error.key)
"""
    child = subprocess.run(
        [sys.executable, "-c", program],
        input=HOSTILE[name][0],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        check=False,
    )
    assert (child.returncode, child.stdout.strip()) == (0, "file"), child.stderr


@pytest.mark.parametrize(
    ("user", "way_out"),
    [
        ({"exec": EXEC}, "ServiceAccount"),
        ({"exec": EXEC}, "kubectl proxy"),
        ({"tokenFile": "/x"}, "kubectl config view --raw --minify --flatten"),
        ({"client-certificate": "/x"}, "kubectl config view --raw --minify --flatten"),
    ],
)
def test_a_refusal_says_what_to_do_instead(user: dict[str, Any], way_out: str) -> None:
    with pytest.raises(AccessError) as caught:
        parse(text(config(user=user)))
    assert way_out in caught.value.way_out


def test_a_token_kubeconfig_is_read_without_touching_anything() -> None:
    with tripwires():
        access = parse(text(config(cluster={"tls-server-name": "api.test"})))
    assert access == ClusterAccess(
        server="https://10.0.0.5:6443", ca_pem=CA, token="abc.def", tls_server_name="api.test"
    )


def test_a_client_certificate_kubeconfig_is_read_without_touching_anything() -> None:
    document = config(
        user={"client-certificate-data": b64(CERT), "client-key-data": b64(KEY)},
        cluster={"insecure-skip-tls-verify": False, "extensions": [{"name": "minikube"}]},
    )
    with tripwires():
        access = parse(text(document).encode())
    assert (access.client_cert_pem, access.client_key_pem, access.token) == (CERT, KEY, None)


def test_the_current_context_is_used_and_the_others_are_not_looked_at() -> None:
    document = config()
    document["contexts"].append({"name": "aws", "context": {"cluster": "c2", "user": "u2"}})
    document["users"].append({"name": "u2", "user": {"exec": EXEC}})
    document["clusters"].append({"name": "c2", "cluster": {"server": "https://other.test"}})
    assert parse(text(document)).server == "https://10.0.0.5:6443"


def test_the_only_context_needs_no_current_context() -> None:
    document = config()
    del document["current-context"]
    assert parse(text(document)).token == "abc.def"


def test_json_is_accepted() -> None:
    assert parse(json.dumps(config())).token == "abc.def"


def test_secrets_do_not_show_in_the_text_of_an_access() -> None:
    access = ClusterAccess("https://x", CA, "CANARY1", "CANARY2", "CANARY3")
    assert "CANARY" not in repr(access) + str(access) + f"{access}"


def test_a_kubectl_proxy_needs_no_credential() -> None:
    access = from_fields(" http://127.0.0.1:8001 ", "", "")
    assert access == ClusterAccess(server="http://127.0.0.1:8001")
    with pytest.raises(AccessError, match="without TLS"):
        from_fields("http://127.0.0.1:8001", "token", "")


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        (("10.0.0.5", "t", ""), "address"),
        (("https://10.0.0.5", "", CA), "token"),
        (("https://10.0.0.5", "two words", CA), "token"),
        (("https://10.0.0.5", "t", "hello"), "ca"),
        (("https://10.0.0.5", "t", KEY), "ca"),
    ],
)
def test_a_wrong_form_field_is_named(fields: tuple[str, str, str], key: str) -> None:
    with tripwires(), pytest.raises(AccessError) as caught:
        from_fields(*fields)
    assert caught.value.key == key


def test_the_service_account_of_a_pod_is_read_anew_each_time(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first\n")
    (tmp_path / "ca.crt").write_text(CA)
    assert in_cluster(tmp_path).token == "first"
    (tmp_path / "token").write_text("second\n")
    access = in_cluster(tmp_path)
    assert (access.token, access.server) == ("second", "https://kubernetes.default.svc")


def test_outside_a_pod_the_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(AccessError, match="token"):
        in_cluster(tmp_path)


def test_the_loader_of_the_client_library_is_imported_nowhere() -> None:
    root = Path(__file__).parents[3]
    for path in [*root.glob("fleet/**/*.py"), *root.glob("planner/**/*.py")]:
        for item in ast.walk(ast.parse(path.read_text())):
            names: list[str] = []
            if isinstance(item, ast.Import):
                names = [alias.name for alias in item.names]
            elif isinstance(item, ast.ImportFrom):
                names = [f"{item.module}.{alias.name}" for alias in item.names]
            assert not any(name.split(".")[0] == "kubernetes" for name in names), path


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=300) | st.binary(max_size=300))
def test_no_text_makes_the_parser_fall(content: str | bytes) -> None:
    with pytest.raises(AccessError):
        parse(content)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(config())), VALUES)
def test_no_value_in_any_place_makes_the_parser_fall(key: str, value: object) -> None:
    with contextlib.suppress(AccessError):
        parse(text({**config(), key: value}))
