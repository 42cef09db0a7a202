"""Who is called, and who is trusted: TLS, redirects, proxies, names."""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path

import pytest

from fleet.kubernetes import certificates
from fleet.kubernetes.address import AddressPolicy, parse_networks
from fleet.kubernetes.api import FetchError, Reason, fetch
from fleet.kubernetes.fetching import FetchLimits
from tests.fakes.kubeapi import Authority, FakeKubeApi, Trap, redirect, status

LOOPBACK = AddressPolicy((), allow_loopback=True)
QUICK = FetchLimits(connect_s=2, silence_s=1, back_off_s=0.01)
AUTHORITY = Authority()


def serve(fake: FakeKubeApi) -> None:
    fake.add("/api/v1/nodes", "NodeList", [{"metadata": {"name": "n1"}}])
    fake.add("/api/v1/pods", "PodList", [])


@pytest.mark.parametrize(
    ("names", "expired", "ca", "words"),
    [
        (("127.0.0.1",), False, Authority().pem, "signed by an authority that is not the given CA"),
        (("127.0.0.1",), False, None, "signed by an authority|self-signed"),
        (("127.0.0.1",), True, AUTHORITY.pem, "expired"),
        (("10.0.0.5",), False, AUTHORITY.pem, "another IP address"),
        (("other.test",), False, AUTHORITY.pem, "another"),
    ],
)
def test_a_server_that_is_not_trusted_gets_no_request_and_no_token(
    names: tuple[str, ...], expired: bool, ca: str | None, words: str
) -> None:
    with FakeKubeApi(tls=AUTHORITY.server(*names, expired=expired), ca_pem=ca) as fake:
        serve(fake)
        with pytest.raises(FetchError, match=words) as caught:
            fetch(fake.access(), LOOPBACK, limits=QUICK)
        assert caught.value.code is Reason.TLS
        assert fake.requests == []


def test_the_name_is_verified_while_the_tested_address_is_dialled() -> None:
    with FakeKubeApi(tls=AUTHORITY.server("api.test"), ca_pem=AUTHORITY.pem) as fake:
        serve(fake)
        access = fake.access(server=f"https://api.test:{fake.port}")
        raw = fetch(access, LOOPBACK, limits=QUICK, resolver=lambda host, port: ["127.0.0.1"])
        assert len(raw.objects["nodes"]) == 1
        assert fake.requests[0].headers["host"] == f"api.test:{fake.port}"
        wrong = fake.access(server=f"https://other.test:{fake.port}")
        with pytest.raises(FetchError, match="another host name"):
            fetch(wrong, LOOPBACK, limits=QUICK, resolver=lambda host, port: ["127.0.0.1"])


def test_a_name_that_changes_its_answer_is_resolved_once_per_fetch() -> None:
    with (
        Trap() as trap,
        FakeKubeApi(tls=AUTHORITY.server("api.test"), ca_pem=AUTHORITY.pem) as fake,
    ):
        serve(fake)
        asked: list[str] = []

        def resolver(host: str, port: int) -> list[str]:
            asked.append(host)
            return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]

        access = fake.access(server=f"https://api.test:{fake.port}")
        assert fetch(access, LOOPBACK, limits=QUICK, resolver=resolver).objects["nodes"]
        assert asked == ["api.test"]
        with pytest.raises(FetchError, match="metadata") as caught:
            fetch(access, LOOPBACK, limits=QUICK, resolver=resolver)
        assert caught.value.code is Reason.ADDRESS
    assert trap.hits == 0


def test_the_next_tested_address_is_tried_when_the_first_refuses() -> None:
    with FakeKubeApi(token=None) as fake:
        serve(fake)
        access = fake.access(server=f"http://localhost:{fake.port}")
        raw = fetch(
            access, LOOPBACK, limits=QUICK, resolver=lambda host, port: ["127.0.0.2", "127.0.0.1"]
        )
    assert len(raw.objects["nodes"]) == 1


def test_the_server_name_of_a_kubeconfig_is_the_one_verified() -> None:
    with FakeKubeApi(tls=AUTHORITY.server("inside.test"), ca_pem=AUTHORITY.pem) as fake:
        serve(fake)
        raw = fetch(fake.access(tls_server_name="inside.test"), LOOPBACK, limits=QUICK)
    assert len(raw.objects["nodes"]) == 1


def test_a_client_certificate_logs_in_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cert, key = AUTHORITY.client()
    context = AUTHORITY.server(client_authority=AUTHORITY)
    with FakeKubeApi(tls=context, ca_pem=AUTHORITY.pem, token=None) as fake:
        serve(fake)
        access = fake.access(client_cert_pem=cert, client_key_pem=key)
        raw = fetch(access, LOOPBACK, limits=QUICK)
        assert len(raw.objects["nodes"]) == 1
        assert {request.client_name for request in fake.requests} == {"planner"}
    assert list(tmp_path.iterdir()) == []


def test_where_memory_files_are_missing_the_key_is_on_disk_for_a_moment_and_for_us_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delattr(os, "memfd_create", raising=False)
    cert, key = AUTHORITY.client()
    modes: list[int] = []
    real = certificates.ssl.SSLContext.load_cert_chain

    def watched(self: object, path: str, **more: object) -> None:
        modes.append(Path(path).stat().st_mode & 0o777)
        modes.append(Path(path).parent.stat().st_mode & 0o777)
        real(self, path, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(certificates.ssl.SSLContext, "load_cert_chain", watched)
    certificates.tls_context(AUTHORITY.pem, cert, key)
    assert modes == [0o600, 0o700]
    assert list(tmp_path.iterdir()) == []


def test_a_foreign_client_certificate_is_a_clear_failure() -> None:
    cert, key = Authority().client()
    context = AUTHORITY.server(client_authority=AUTHORITY)
    with FakeKubeApi(tls=context, ca_pem=AUTHORITY.pem, token=None) as fake:
        access = fake.access(client_cert_pem=cert, client_key_pem=key)
        with pytest.raises(FetchError, match="client certificate") as caught:
            fetch(access, LOOPBACK, limits=QUICK)
        assert caught.value.code in (Reason.TLS, Reason.CONNECTION)
        assert fake.requests == []


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("path", ["/version", "/api", "/api/v1/nodes"])
def test_a_redirect_is_not_followed(code: int, path: str) -> None:
    with Trap() as trap, FakeKubeApi(tls=AUTHORITY.server(), ca_pem=AUTHORITY.pem) as fake:
        serve(fake)
        fake.script(path, redirect(f"http://127.0.0.1:{trap.port}/", code))
        with pytest.raises(FetchError) as caught:
            fetch(fake.access(), LOOPBACK, limits=QUICK)
        assert caught.value.code is Reason.REDIRECT
    assert trap.hits == 0


def test_proxy_variables_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        Trap() as trap,
        FakeKubeApi(tls=AUTHORITY.server(), ca_pem=AUTHORITY.pem) as fake,
        FakeKubeApi(token=None) as plain,
    ):
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            for spelled in (name, name.lower()):
                monkeypatch.setenv(spelled, f"http://127.0.0.1:{trap.port}")
        serve(fake)
        serve(plain)
        assert fetch(fake.access(), LOOPBACK, limits=QUICK).objects["nodes"]
        assert fetch(plain.access(), LOOPBACK, limits=QUICK).objects["nodes"]
    assert trap.hits == 0


def test_session_secrets_are_not_written_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys"))
    with FakeKubeApi(tls=AUTHORITY.server(), ca_pem=AUTHORITY.pem) as fake:
        serve(fake)
        fetch(fake.access(), LOOPBACK, limits=QUICK)
    assert not (tmp_path / "keys").exists()


def test_an_address_outside_the_policy_is_refused_before_any_call() -> None:
    with Trap() as trap:
        house = AddressPolicy(parse_networks("10.0.0.0/8"))
        with FakeKubeApi(token=None) as fake:
            access = fake.access(server=f"https://127.0.0.1:{trap.port}", token="t")
            with pytest.raises(FetchError) as caught:
                fetch(access, house, limits=QUICK)
        assert caught.value.code is Reason.ADDRESS
    assert trap.hits == 0


def test_kubectl_proxy_on_loopback_needs_no_token_and_gets_none() -> None:
    with FakeKubeApi(token=None) as fake:
        serve(fake)
        assert fetch(fake.access(), LOOPBACK, limits=QUICK).objects["nodes"]
        assert all("authorization" not in request.headers for request in fake.requests)


def test_a_token_that_is_not_accepted_is_named_without_showing_it() -> None:
    with FakeKubeApi(tls=AUTHORITY.server(), ca_pem=AUTHORITY.pem) as fake:
        with pytest.raises(FetchError) as caught:
            fetch(fake.access(token="CANARY-TOKEN"), LOOPBACK, limits=QUICK)
        assert caught.value.code is Reason.UNAUTHORIZED
        assert "CANARY" not in str(caught.value)
        assert len(fake.requests) == 1


def test_the_texts_of_a_cluster_are_not_repeated_in_errors() -> None:
    with FakeKubeApi(tls=AUTHORITY.server(), ca_pem=AUTHORITY.pem) as fake:
        for code in (400, 401, 404, 500):
            fake.script("/version", status(code), repeat_last=True)
            with pytest.raises(FetchError) as caught:
                fetch(fake.access(), LOOPBACK, limits=QUICK)
            assert "SECRET TEXT" not in str(caught.value)


def test_a_port_where_nothing_listens_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with FakeKubeApi(token=None) as fake:
        access = fake.access(server=f"http://127.0.0.1:{port}")
        with pytest.raises(FetchError) as caught:
            fetch(access, LOOPBACK, limits=QUICK)
    assert caught.value.code is Reason.REFUSED


def test_a_name_without_an_address_is_dns() -> None:
    with FakeKubeApi(token=None) as fake:
        access = fake.access(server="https://api.test", token="t")
        with pytest.raises(FetchError) as caught:
            fetch(access, LOOPBACK, limits=QUICK, resolver=lambda host, port: [])
    assert caught.value.code is Reason.DNS


def test_a_server_that_speaks_no_tls_is_a_tls_failure() -> None:
    with FakeKubeApi(token=None) as fake:
        access = fake.access(server=f"https://127.0.0.1:{fake.port}", token="t")
        with pytest.raises(FetchError) as caught:
            fetch(access, LOOPBACK, limits=QUICK)
    assert caught.value.code is Reason.TLS
