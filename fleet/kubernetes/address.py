"""Which addresses a cluster may have: the rule against being sent somewhere else.

API servers are private by nature, so "no private addresses" would be the wrong rule. A host name is
resolved once, every address that it has is tested, and the caller connects to the tested address
(TLS still verifies the name), so that a name cannot change its answer between test and call.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from fleet.words import say

IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network
IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Iterable[str]]

MAX_URL = 2048
SETTING = "PLANNER_CLUSTER_NETWORKS"

_HOST_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?\Z", re.IGNORECASE)
_PATH = re.compile(r"(/[A-Za-z0-9._~:@!$&'()*+,;=-]+)*/?\Z")

# Never an API server, whatever the operator allowed: places that hand out cloud credentials.
_METADATA_SERVICES = frozenset(
    ipaddress.ip_address(text)
    for text in (
        "169.254.169.254",  # most clouds; also refused as link-local
        "fd00:ec2::254",  # AWS over IPv6
        "fd20:ce::254",  # Google Cloud over IPv6
        "100.100.100.200",  # Alibaba Cloud
        "168.63.129.16",  # Azure platform service
        "192.0.0.192",  # Oracle Cloud
    )
)

# IPv6 forms that carry an IPv4 address inside: the real destination is another one.
_EMBEDDED_IPV4 = tuple(
    ipaddress.ip_network(text)
    for text in (
        "::ffff:0:0/96",  # IPv4-mapped
        "::ffff:0:0:0/96",  # IPv4-translated
        "64:ff9b::/96",  # NAT64
        "64:ff9b:1::/48",  # local NAT64
        "2001::/32",  # Teredo
        "2002::/16",  # 6to4
    )
)
_IPV6_USABLE = (ipaddress.ip_network("2000::/3"), ipaddress.ip_network("fc00::/7"))


class AddressError(Exception):
    """An address that may not be called. `code` is "address" for a refusal, "dns" for a name
    without an address; `message` says which rule and what to do."""

    def __init__(self, message: str, code: str = "address") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """networks: where API servers may live. allow_loopback: this machine itself counts as one."""

    networks: tuple[IPNetwork, ...]
    allow_loopback: bool = False


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The parts of a server address. host is lower case, without brackets; path is "" or "/x"."""

    scheme: str
    host: str
    port: int
    path: str = ""

    @property
    def authority(self) -> str:
        """host:port as an HTTP Host header takes it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Target:
    """Where to connect: `ip` was tested and is dialled, `host` is the name that TLS verifies.
    `more_ips` are the other addresses of that name, tested as well."""

    host: str
    ip: str
    port: int
    scheme: str = "https"
    path: str = ""
    more_ips: tuple[str, ...] = ()

    @property
    def authority(self) -> str:
        return Endpoint(self.scheme, self.host, self.port).authority


def parse_networks(text: str) -> tuple[IPNetwork, ...]:
    """Networks from a setting such as "10.0.0.0/8, 2001:db8::/32".

    Raises ValueError naming the entry that is not a network.
    """
    networks: list[IPNetwork] = []
    for entry in text.replace(",", " ").split():
        try:
            networks.append(ipaddress.ip_network(entry))
        except ValueError as error:
            raise ValueError(
                f"{entry!r} is not a network such as 10.0.0.0/8 or fd00:1::/32 ({error})"
            ) from None
    return tuple(networks)


def split_server(url: str) -> Endpoint:
    """The parts of a server address, or AddressError. Syntax only: nothing is resolved."""
    if len(url) > MAX_URL:
        raise AddressError(
            say("The server address is longer than {limit} characters.", limit=MAX_URL)
        )
    if not url.isascii() or any(ord(char) <= 32 or ord(char) == 127 for char in url):
        raise AddressError(
            say("The server address holds a space, a control or a non-ASCII character.")
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressError(say("The server address is not a valid URL.")) from None
    _refuse_extras(parts, url)
    host = (parts.hostname or "").lower()
    if not host:
        raise AddressError(
            say("The server address has no host; it looks like https://10.0.0.5:6443.")
        )
    if port == 0:
        raise AddressError(say("Port 0 is not a port that can be called."))
    if _literal(host) is None and not _is_host_name(host):
        raise AddressError(
            say(
                "The host {host} is neither a host name nor an IP address in its usual form.",
                host=repr(host[:80]),
            )
        )
    default = 443 if parts.scheme == "https" else 80
    return Endpoint(parts.scheme, host, port or default, parts.path.rstrip("/"))


def _refuse_extras(parts: SplitResult, url: str) -> None:
    if parts.scheme not in ("https", "http"):
        raise AddressError(say("The server address must begin with https://."))
    if "@" in parts.netloc:
        raise AddressError(say("The server address must not hold a user name or password."))
    if "?" in url or "#" in url:
        raise AddressError(say("The server address must not hold a query or a fragment."))
    if "\\" in url or "%" in url or not _PATH.match(parts.path) or ".." in parts.path:
        raise AddressError(say("The server address has a path that cannot be used."))


def _literal(host: str) -> IPAddress | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_host_name(host: str) -> bool:
    """Also refuses what the C library would read as a number: 2130706433, 0x7f.1, 127.1."""
    if not _HOST_NAME.match(host):
        return False
    last = host.rstrip(".").rsplit(".", 1)[-1]
    return not (last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last))


def resolve(host: str, port: int) -> list[str]:
    """Addresses of a host name as the system resolves it. Raises OSError."""
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


def check(server_url: str, policy: AddressPolicy, *, resolver: Resolver | None = None) -> Target:
    """Where to connect for this server address, after testing every address that it has.

    Raises AddressError. `resolver` replaces the system's (host, port -> addresses).
    """
    endpoint = split_server(server_url)
    literal = _literal(endpoint.host)
    addresses = [str(literal)] if literal is not None else _resolved(endpoint, resolver or resolve)
    for address in addresses:
        _test(address, endpoint, policy)
    return Target(
        host=endpoint.host,
        ip=addresses[0],
        port=endpoint.port,
        scheme=endpoint.scheme,
        path=endpoint.path,
        more_ips=tuple(addresses[1:]),
    )


def _resolved(endpoint: Endpoint, resolver: Resolver) -> list[str]:
    try:
        addresses = list(resolver(endpoint.host, endpoint.port))
    except (OSError, UnicodeError):
        addresses = []
    if not addresses:
        raise AddressError(
            say(
                "The host name {host} has no address. "
                "Check its spelling and that this machine can resolve it.",
                host=repr(endpoint.host),
            ),
            code="dns",
        )
    return addresses


def _test(address: str, endpoint: Endpoint, policy: AddressPolicy) -> None:
    where = address if address == endpoint.host else f"{endpoint.host} ({address})"
    ip = _literal(address)
    if ip is None:
        raise AddressError(say("{where} is not an IP address and is never called.", where=where))
    refusal = _always_refused(ip, where)
    if refusal:
        raise AddressError(refusal)
    if ip.is_loopback:
        if not policy.allow_loopback:
            raise AddressError(
                say(
                    "{where} is this machine itself. Loopback is allowed only where the operator "
                    "set PLANNER_ALLOW_LOOPBACK.",
                    where=where,
                )
            )
        return
    if endpoint.scheme == "http":
        raise AddressError(
            say(
                "{where} must be called with https://. Plain http is allowed only for "
                "kubectl proxy on loopback.",
                where=where,
            )
        )
    if not any(ip.version == network.version and ip in network for network in policy.networks):
        raise AddressError(
            say(
                "{where} is outside the networks in which clusters may live. "
                "The operator can add its network to {setting}.",
                where=where,
                setting=SETTING,
            )
        )


def _always_refused(ip: IPAddress, where: str) -> str:
    """Why this address is refused under every policy, as a sentence about ``where``; or ""."""
    if ip in _METADATA_SERVICES:
        return say("{where} is a cloud metadata service and is never called.", where=where)
    if getattr(ip, "scope_id", None):
        return say("{where} names a network interface and is never called.", where=where)
    # Before loopback: newer Pythons take ::ffff:127.0.0.1 for loopback.
    if any(ip.version == network.version and ip in network for network in _EMBEDDED_IPV4):
        return say(
            "{where} hides an IPv4 address inside an IPv6 address and is never called.", where=where
        )
    if ip.is_loopback:
        return ""
    if ip.is_unspecified:
        return say("{where} is the unspecified address and is never called.", where=where)
    if ip.is_link_local:
        return say("{where} is a link-local address and is never called.", where=where)
    if ip.is_multicast:
        return say("{where} is a multicast address and is never called.", where=where)
    if ip.version == 4:
        reserved = ip.is_reserved or ip in ipaddress.ip_network("0.0.0.0/8")
    else:
        reserved = not any(ip in network for network in _IPV6_USABLE)
    if reserved:
        return say("{where} is a reserved address and is never called.", where=where)
    return ""
