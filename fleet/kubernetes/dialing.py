"""Connecting to one tested address: TCP, then TLS, waiting in small steps so that "cancel" and the
deadline are heard meanwhile."""

from __future__ import annotations

import errno
import os
import selectors
import socket
import ssl
import time
from dataclasses import dataclass

from fleet.kubernetes.address import Target
from fleet.kubernetes.fetching import (
    POLL_S,
    ConnectionBroke,
    FetchError,
    FetchLimits,
    Patience,
    Reason,
)
from fleet.words import say


def _not_trusted(at: str, code: int) -> str:
    """A code of OpenSSL's X509_verify_cert in our words: OpenSSL's hold names from outside."""
    match code:
        case 9:
            return say(
                "The server at {at} is not trusted: its certificate is not valid yet.", at=at
            )
        case 10:
            return say("The server at {at} is not trusted: its certificate has expired.", at=at)
        case 18:
            return say(
                "The server at {at} is not trusted: its certificate is self-signed and not the "
                "given CA.",
                at=at,
            )
        case 19 | 20:
            return say(
                "The server at {at} is not trusted: its certificate was signed by an authority "
                "that is not the given CA.",
                at=at,
            )
        case 62:
            return say(
                "The server at {at} is not trusted: its certificate is for another host name.",
                at=at,
            )
        case 64:
            return say(
                "The server at {at} is not trusted: its certificate is for another IP address.",
                at=at,
            )
        case _:
            return say(
                "The server at {at} is not trusted: its certificate cannot be verified.", at=at
            )


@dataclass(frozen=True, slots=True)
class Dialer:
    """context: None for plain HTTP. server_name: what the server's certificate must name."""

    target: Target
    context: ssl.SSLContext | None
    server_name: str
    patience: Patience
    limits: FetchLimits

    def dial(self) -> socket.socket:
        """A connection to the tested address; TLS verifies the name that the user gave."""
        addresses = (self.target.ip, *self.target.more_ips)
        for index, ip in enumerate(addresses):
            try:
                plain = self._reach(ip)
                break
            except OSError as error:
                if index + 1 < len(addresses):
                    continue
                raise self._unreachable(error) from None
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.context is None:
            return plain
        try:
            return self._shake_hands(plain, self.context)
        except FetchError:
            plain.close()
            raise
        except ssl.SSLCertVerificationError as error:
            plain.close()
            raise FetchError(
                Reason.TLS,
                _not_trusted(self.target.authority, error.verify_code),
                say(
                    "Give the CA certificate of this cluster, and an address that its certificate "
                    "names."
                ),
            ) from None
        except TimeoutError as error:
            plain.close()
            raise self._unreachable(error) from None
        except (ssl.SSLError, OSError) as error:
            plain.close()
            raise kind_of(error)(
                Reason.TLS,
                say(
                    "The server at {at} does not complete a TLS handshake.",
                    at=self.target.authority,
                ),
                say(
                    "Check the address and port, and whether the server asks for a client "
                    "certificate."
                ),
            ) from None

    def _reach(self, ip: str) -> socket.socket:
        """A TCP connection. Raises OSError; FetchError when cancelled or out of time."""
        family, kind, protocol, _, address = socket.getaddrinfo(
            ip, self.target.port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
        )[0]
        plain = socket.socket(family, kind, protocol)
        try:
            plain.setblocking(False)
            code = plain.connect_ex(address)
            if code == errno.EINPROGRESS:
                self._wait_for(plain)
                code = plain.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code:
                raise OSError(code, os.strerror(code))
        except BaseException:
            plain.close()
            raise
        return plain

    def _wait_for(self, plain: socket.socket) -> None:
        """Until the connection stands or has failed."""
        until = time.monotonic() + self.limits.connect_s
        with selectors.DefaultSelector() as selector:
            selector.register(plain, selectors.EVENT_WRITE)
            while not selector.select(min(POLL_S, self.patience.left())):
                if time.monotonic() > until:
                    raise TimeoutError

    def _shake_hands(self, plain: socket.socket, context: ssl.SSLContext) -> ssl.SSLSocket:
        until = time.monotonic() + self.limits.connect_s
        plain.settimeout(POLL_S)
        secured = context.wrap_socket(
            plain, server_hostname=self.server_name, do_handshake_on_connect=False
        )
        try:
            while True:
                secured.settimeout(min(POLL_S, self.patience.left()))
                try:
                    secured.do_handshake()
                    return secured
                except TimeoutError:
                    if time.monotonic() > until:
                        raise
        except BaseException:
            secured.close()
            raise

    def _unreachable(self, error: OSError) -> FetchError:
        if isinstance(error, TimeoutError):
            return FetchError(
                Reason.TIMEOUT,
                say(
                    "{at} did not answer within {limit:g} s.",
                    at=self.target.authority,
                    limit=self.limits.connect_s,
                ),
                say("Check the address, and that a firewall lets this machine reach it."),
            )
        return ConnectionBroke(
            Reason.REFUSED,
            say("Nothing accepts a connection at {at}.", at=self.target.authority),
            say("Check the address and port, and that the API server runs."),
        )


def kind_of(error: OSError) -> type[FetchError]:
    """The end of a connection is no fault of its TLS, though the library calls it one."""
    is_tls = isinstance(error, ssl.SSLError) and not isinstance(
        error, ssl.SSLEOFError | ssl.SSLZeroReturnError
    )
    return FetchError if is_tls else ConnectionBroke
