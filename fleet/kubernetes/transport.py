"""One careful HTTP connection to one tested address.

It is built on the standard library's `http.client`, which follows no redirect and knows no proxy,
rather than on the `kubernetes` client: that one follows redirects and proxy variables unless told
not to, wants the client key as a file for as long as it lives, asks for no compression, and has
neither a total deadline nor a bound on bytes. Every wait for the network goes through one place
(`_PatientReader`), which looks at the deadline, at silence and at "cancel".
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import time
import zlib
from dataclasses import dataclass
from typing import Any

from fleet.kubernetes.address import Target
from fleet.kubernetes.certificates import CertificateError, tls_context
from fleet.kubernetes.dialing import Dialer, kind_of
from fleet.kubernetes.fetching import (
    POLL_S,
    ConnectionBroke,
    FetchError,
    FetchLimits,
    PageTooLarge,
    Patience,
    Reason,
    Spent,
    malformed,
)
from fleet.kubernetes.kubeconfig import ClusterAccess
from fleet.words import say

_CHUNK = 256 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """status: HTTP status. retry_after, etag: those headers as sent, "" if absent. body:
    decompressed."""

    status: int
    body: bytes
    retry_after: str = ""
    etag: str = ""


class Connection:
    """GET requests over one kept-alive connection. Not for use by two threads at a time."""

    def __init__(
        self,
        access: ClusterAccess,
        target: Target,
        patience: Patience,
        limits: FetchLimits,
        spent: Spent,
    ) -> None:
        self._target = target
        self._patience = patience
        self._limits = limits
        self._spent = spent
        self._socket: socket.socket | None = None
        self._headers = {
            "Host": target.authority,
            "User-Agent": "gpu-fleet-planner",
            "Accept-Encoding": "gzip",
        }
        if access.token:
            self._headers["Authorization"] = f"Bearer {access.token}"
        context = None
        if target.scheme == "https":
            try:
                context = tls_context(access.ca_pem, access.client_cert_pem, access.client_key_pem)
            except CertificateError as error:
                raise FetchError(
                    Reason.TLS, str(error), say("Enter the access to the cluster again.")
                ) from None
        server_name = access.tls_server_name or target.host
        self._dialer = Dialer(target, context, server_name, patience, limits)
        self._came_back = False

    @property
    def has_answered(self) -> bool:
        """Whether this server has answered anything at all, over whichever connection."""
        return self._spent.answers > 0

    @property
    def came_back(self) -> bool:
        """Whether a connection broke and nothing has been given (status 200) since."""
        return self._came_back

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def get(self, path: str, accept: str = "application/json", etag: str = "") -> Answer:
        """The answer to one GET, whatever its status. etag: of an answer that is known already;
        304 says that it is still the same. Raises FetchError."""
        reused = self._socket is not None
        try:
            return self._exchange(path, accept, etag)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError) as error:
            # A server may close an idle connection at any time; that is no failure of this call.
            self.close()
            self._came_back = True
            if not reused:
                raise self._broken(error) from None
        except OSError as error:
            self.close()
            self._came_back = True
            raise self._broken(error) from None
        try:
            return self._exchange(path, accept, etag)
        except OSError as error:
            self.close()
            raise self._broken(error) from None

    def _exchange(self, path: str, accept: str, etag: str) -> Answer:
        where = path.partition("?")[0]
        client = http.client.HTTPConnection(self._target.host, self._target.port)
        client.auto_open = 0
        if self._socket is None:
            self._socket = self._dialer.dial()
        client.sock = _PatientSocket(self._socket, self._patience, self._limits.silence_s)
        try:
            client.putrequest(
                "GET", self._target.path + path, skip_host=True, skip_accept_encoding=True
            )
            known = {"If-None-Match": etag} if etag else {}
            for name, value in {**self._headers, "Accept": accept, **known}.items():
                client.putheader(name, value)
            client.endheaders()
            response = client.getresponse()
            body = self._body(response, where)
        except OSError:
            raise  # RemoteDisconnected is one too; get() knows whether to call again
        except http.client.IncompleteRead:
            self.close()
            self._came_back = True
            raise _cut_off(where) from None
        except (http.client.HTTPException, ValueError):
            self.close()
            malformed(say("The answer to {where} is not HTTP.", where=where))
        except BaseException:
            self.close()
            raise
        if response.will_close:
            self.close()
        if 300 <= response.status < 400 and not (etag and response.status == 304):
            self.close()
            raise FetchError(
                Reason.REDIRECT,
                say(
                    "The server sends {where} on to another address, which is not followed.",
                    where=where,
                ),
                say("Give the address of the API server itself."),
            )
        self._came_back = self._came_back and response.status != 200
        return Answer(
            response.status,
            body,
            response.getheader("Retry-After") or "",
            response.getheader("ETag") or "",
        )

    def _body(self, response: http.client.HTTPResponse, where: str) -> bytes:
        encoding = (response.getheader("Content-Encoding") or "identity").strip().lower()
        if encoding not in ("identity", "gzip"):
            malformed(
                say("The answer to {where} has an encoding that was not asked for.", where=where)
            )
        inflate = zlib.decompressobj(wbits=31) if encoding == "gzip" else None
        body = bytearray()
        wire = 0
        while chunk := response.read1(_CHUNK):
            wire += len(chunk)
            if inflate is None:
                body += chunk
            elif inflate.eof:
                malformed(say("The answer to {where} goes on after its end.", where=where))
            try:
                while inflate and chunk:
                    body += inflate.decompress(chunk, _CHUNK)
                    chunk = inflate.unconsumed_tail
                    self._check_size(wire, len(body), where)
            except zlib.error:
                malformed(say("The answer to {where} is not valid gzip.", where=where))
            self._check_size(wire, len(body), where)
        if response.length or (inflate and body and not inflate.eof):
            raise _cut_off(where)
        self._spent.add(len(body))
        return bytes(body)

    def _check_size(self, wire: int, page: int, where: str) -> None:
        """Both counts are bounded: a little may unpack to much, and much to nothing."""
        size = max(wire, page)
        way_out = say("Check that the address is that of a Kubernetes API server.")
        if self._spent.bytes + size > self._limits.total_bytes:
            raise FetchError(
                Reason.TOO_LARGE,
                say(
                    "All answers together are larger than {n} MiB, the limit on one sync.",
                    n=self._limits.total_bytes >> 20,
                ),
                way_out,
            )
        if size > self._limits.page_bytes:
            self._spent.add(size, is_whole=False)
            raise PageTooLarge(
                Reason.TOO_LARGE,
                say(
                    "The answer to {where} is larger than {n} MiB.",
                    where=where,
                    n=self._limits.page_bytes >> 20,
                ),
                way_out,
            )

    def _broken(self, error: OSError) -> FetchError:
        kind = kind_of(error)
        return kind(
            Reason.CONNECTION if kind is ConnectionBroke else Reason.TLS,
            say(
                "The server at {at} closed the connection without an answer.",
                at=self._target.authority,
            ),
            say("If it asks for a client certificate, check that it is valid; else sync again."),
        )


def _cut_off(where: str) -> ConnectionBroke:
    return ConnectionBroke(
        Reason.CONNECTION,
        say("The answer to {where} was cut off, several times.", where=where),
        say("Look at the API server and at what lies before it, then sync again."),
    )


class _PatientSocket:
    """What `http.client` needs of a socket. The connection outlives one response, so close() here
    does nothing: `Connection` closes it."""

    def __init__(self, real: socket.socket, patience: Patience, silence_s: float) -> None:
        self._real = real
        self._patience = patience
        self._silence_s = silence_s

    def sendall(self, data: Any) -> None:
        self._real.settimeout(min(self._silence_s, self._patience.left()))
        self._real.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_PatientReader(self._real, self._patience, self._silence_s))

    def close(self) -> None:
        return


class _PatientReader(io.RawIOBase):
    """Bytes from a socket, waiting in small steps."""

    def __init__(self, real: socket.socket, patience: Patience, silence_s: float) -> None:
        super().__init__()
        self._real = real
        self._patience = patience
        self._silence_s = silence_s

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        silent_since = time.monotonic()
        while True:
            self._real.settimeout(min(POLL_S, self._patience.left()))
            try:
                return self._real.recv_into(buffer)
            except TimeoutError:
                if time.monotonic() - silent_since > self._silence_s:
                    raise FetchError(
                        Reason.TIMEOUT,
                        say("The server fell silent for {limit:g} s.", limit=self._silence_s),
                        say("Look at the load of the API server, then sync again."),
                    ) from None
