"""Every address of a host is tested, and the tested one is dialled."""

from __future__ import annotations

import contextlib
import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.kubernetes.address import (
    AddressError,
    AddressPolicy,
    Target,
    check,
    parse_networks,
    split_server,
)

ANY = parse_networks("0.0.0.0/0, ::/0")
HOUSE = AddressPolicy(parse_networks("10.0.0.0/8 fd00:1::/32"))
EVERYWHERE = AddressPolicy(ANY)
LOCAL = AddressPolicy(parse_networks("10.0.0.0/8"), allow_loopback=True)


def answers(*addresses: str):  # type: ignore[no-untyped-def]
    return lambda host, port: addresses


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",  # cloud metadata
        "169.254.10.1",
        "[fe80::1]",
        "[fe80::1%25eth0]",
        "[fd00:ec2::254]",
        "[fd20:ce::254]",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "0.0.0.0",
        "0.1.2.3",
        "[::]",
        "224.0.0.1",
        "[ff02::1]",
        "240.0.0.1",
        "255.255.255.255",
        "[::ffff:10.0.0.5]",  # IPv4-mapped
        "[::ffff:127.0.0.1]",
        "[::ffff:a9fe:a9fe]",
        "[::127.0.0.1]",  # IPv4-compatible
        "[64:ff9b::a00:5]",  # NAT64
        "[64:ff9b:1::a00:5]",
        "[2002:a00:5::1]",  # 6to4
        "[2001:0:a00:5::1]",  # Teredo
        "[fec0::1]",  # site-local
        "[100::1]",  # discard
    ],
)
@pytest.mark.parametrize("loopback", [True, False])
def test_these_addresses_are_refused_even_when_every_network_is_allowed(
    host: str, loopback: bool
) -> None:
    with pytest.raises(AddressError):
        check(f"https://{host}:6443", AddressPolicy(ANY, allow_loopback=loopback))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "[::1]"])
def test_loopback_is_called_only_where_the_operator_said_so(host: str) -> None:
    with pytest.raises(AddressError, match="PLANNER_ALLOW_LOOPBACK"):
        check(f"https://{host}:6443", EVERYWHERE)
    assert check(f"https://{host}:6443", LOCAL).port == 6443


@pytest.mark.parametrize(
    "host",
    [
        "2130706433",  # 127.0.0.1 as the C library reads it
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.1",
        "127.0.0.1.",
        "10.0.5",
        "1.2.3.4.5",
        "10.0.0.256",
    ],
)
def test_numbers_that_only_the_resolver_takes_for_an_address_are_refused(host: str) -> None:
    def resolver(name: str, port: int) -> list[str]:
        raise AssertionError("nothing may be resolved")

    with pytest.raises(AddressError):
        check(f"https://{host}:6443", AddressPolicy(ANY, allow_loopback=True), resolver=resolver)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://10.0.0.5", "https://"),
        ("file:///etc/passwd", "https://"),
        ("10.0.0.5:6443", "https://"),
        ("", "https://"),
        ("https://", "no host"),
        ("https://user:pass@10.0.0.5", "user name"),
        ("https://10.0.0.5@evil.test", "user name"),
        ("https://10.0.0.5/?x=1", "query"),
        ("https://10.0.0.5?", "query"),
        ("https://10.0.0.5/#x", "fragment"),
        ("https://10.0.0.5:0", "Port 0"),
        ("https://10.0.0.5:99999", "valid URL"),
        ("https://10.0.0.5:abc", "valid URL"),
        ("https://[10.0.0.5", "valid URL"),
        ("https://10.0.0.5/../x", "path"),
        ("https://10.0.0.5/a//b", "path"),
        ("https://10.0.0.5/%2e%2e", "path"),
        ("https://10.0.0.5\\@evil.test", "path|host|user"),
        ("https://10.0.0.5 .test", "space"),
        ("https://10.0.0.5\r\nX: y", "space"),
        ("https://\uff11\uff10.0.0.5", "non-ASCII"),
        ("https://bücher.test", "non-ASCII"),
        ("https://-x-.te$t", "host"),
        ("https://" + "a" * 3000, "longer"),
    ],
)
def test_an_address_of_another_form_is_refused_with_its_reason(url: str, words: str) -> None:
    with pytest.raises(AddressError, match=words):
        split_server(url)


def test_a_private_address_is_called_only_inside_the_allowed_networks() -> None:
    assert check("https://10.1.2.3:6443", HOUSE) == Target("10.1.2.3", "10.1.2.3", 6443)
    assert check("https://[fd00:1::5]", HOUSE).ip == "fd00:1::5"
    for url in ("https://192.168.1.1", "https://8.8.8.8", "https://[2600::1]"):
        with pytest.raises(AddressError, match="PLANNER_CLUSTER_NETWORKS"):
            check(url, HOUSE)


def test_without_any_network_nothing_is_called() -> None:
    with pytest.raises(AddressError, match="PLANNER_CLUSTER_NETWORKS"):
        check("https://10.0.0.5", AddressPolicy(()))


def test_plain_http_is_for_loopback_only() -> None:
    assert check("http://127.0.0.1:8001", LOCAL).scheme == "http"
    with pytest.raises(AddressError, match="kubectl proxy"):
        check("http://10.0.0.5:8001", LOCAL)
    with pytest.raises(AddressError, match="kubectl proxy"):
        check("http://api.test", EVERYWHERE, resolver=answers("8.8.8.8"))


def test_every_address_of_a_name_is_tested() -> None:
    assert check(
        "https://api.test:6443", HOUSE, resolver=answers("10.0.0.5", "10.0.0.6")
    ) == Target("api.test", "10.0.0.5", 6443, more_ips=("10.0.0.6",))
    for bad in ("169.254.169.254", "127.0.0.1", "::ffff:10.0.0.5", "fe80::1%eth0", "nonsense"):
        with pytest.raises(AddressError):
            check("https://api.test:6443", HOUSE, resolver=answers("10.0.0.5", bad))


def test_a_name_is_resolved_once_so_that_it_cannot_change_its_answer() -> None:
    turns = [["10.0.0.5"], ["169.254.169.254"]]
    target = check("https://api.test", HOUSE, resolver=lambda host, port: turns.pop(0))
    assert target.ip == "10.0.0.5"
    assert len(turns) == 1


def test_a_name_without_an_address_is_a_dns_failure() -> None:
    def fails(host: str, port: int) -> list[str]:
        raise OSError("resolver's own text")

    for resolver in (fails, answers()):
        with pytest.raises(AddressError, match=r"api\.test") as caught:
            check("https://api.test", HOUSE, resolver=resolver)
        assert caught.value.code == "dns"
        assert "resolver's own text" not in caught.value.message


def test_port_and_path_are_kept() -> None:
    target = check("https://rancher.test/k8s/clusters/c-1/", HOUSE, resolver=answers("10.0.0.5"))
    assert (target.port, target.path, target.authority) == (
        443,
        "/k8s/clusters/c-1",
        "rancher.test:443",
    )
    assert check("https://[fd00:1::5]:6443", HOUSE).authority == "[fd00:1::5]:6443"


def test_a_wrong_network_in_the_settings_is_named() -> None:
    with pytest.raises(ValueError, match="10\\.0\\.0\\.1/8"):
        parse_networks("fd00::/8 10.0.0.1/8")


@given(st.ip_addresses())
def test_what_check_lets_through_lies_in_an_allowed_network(
    ip: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    host = f"[{ip}]" if ip.version == 6 else str(ip)
    try:
        target = check(f"https://{host}", HOUSE)
    except AddressError:
        return
    assert any(ipaddress.ip_address(target.ip) in network for network in HOUSE.networks)


@given(st.text(max_size=60))
def test_no_text_makes_the_address_check_fall(text: str) -> None:
    for url in (text, f"https://{text}"):
        with contextlib.suppress(AddressError):
            assert split_server(url).host
