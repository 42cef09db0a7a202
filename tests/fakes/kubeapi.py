"""A fake Kubernetes API server on loopback with real sockets and real TLS, scripted per test.

    with FakeKubeApi(tls=Authority().server()) as fake:
        fake.add("/api/v1/nodes", "NodeList", [node, ...])
        fake.script("/api/v1/pods", status(429, retry_after="1"), cut_after(100))
        fetch(fake.access(), POLICY)
        fake.requests[0].headers["authorization"]

Without a script a path answers from the objects that were added (with limit and continue), and 404
if there are none. A scripted step answers one request to its path; the last step may repeat.
"""

from __future__ import annotations

import contextlib
import datetime
import gzip
import hashlib
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import trustme

from fleet.kubernetes.kubeconfig import ClusterAccess

TOKEN = "good-token"
DISCOVERY_V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@dataclass
class Request:
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    client_name: str | None = None


Step = Callable[["_Handler", Request], None]


def status(code: int, *, retry_after: str | None = None, body: bytes = b"") -> Step:
    """Answer with a status, as an API server's Status object unless `body` is given."""

    def step(handler: _Handler, _: Request) -> None:
        headers = {"Retry-After": retry_after} if retry_after is not None else {}
        text = body or json.dumps({"kind": "Status", "code": code, "message": "SECRET TEXT"})
        handler.answer(code, text if isinstance(text, bytes) else text.encode(), headers)

    return step


def raw(body: bytes, content_type: str = "application/json", **headers: str) -> Step:
    """Answer 200 with exactly these bytes."""

    def step(handler: _Handler, _: Request) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        handler.answer(200, body, {"Content-Type": content_type, **named})

    return step


def page(kind: str, items: Sequence[object] | None, continue_token: str = "") -> Step:
    """Answer one page of a list, whatever was asked for."""
    return raw(list_body(kind, items, continue_token))


def redirect(location: str, code: int = 302) -> Step:
    def step(handler: _Handler, _: Request) -> None:
        handler.answer(code, b"", {"Location": location})

    return step


def cut_after(count: int, *, promised: int = 100_000, body: bytes = b"") -> Step:
    """Promise a body, send the first `count` bytes of one and close the connection."""
    body = body or list_body("NodeList", [{}] * count)

    def step(handler: _Handler, _: Request) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(promised))
        handler.end_headers()
        handler.wfile.write(body[:count])
        handler.close_connection = True

    return step


def slow(pause_s: float) -> Step:
    """Answer from the objects that were added, but only after a while."""

    def step(handler: _Handler, request: Request) -> None:
        handler.fake.stopping.wait(pause_s)
        handler.fake.serve(handler, request)

    return step


def expired(continue_token: str = "") -> Step:
    """410 for a list, with the token that a server may offer for the rest as it is now."""
    meta = {"continue": continue_token} if continue_token else {}
    return status(410, body=json.dumps({"kind": "Status", "code": 410, "metadata": meta}).encode())


def chunks_that_stop(body: bytes) -> Step:
    """A chunked body whose last chunk never comes: the connection is closed instead."""

    def step(handler: _Handler, _: Request) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")
        handler.close_connection = True

    return step


def drip(interval_s: float, *, headers: bool = False) -> Step:
    """One byte now and then, for ever: in the body, or already in the headers."""

    def step(handler: _Handler, _: Request) -> None:
        if not headers:
            handler.send_response(200)
            handler.send_header("Content-Length", "1000000")
            handler.end_headers()
        else:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        try:
            while not handler.fake.stopping.wait(interval_s):
                handler.wfile.write(b"a")
                handler.wfile.flush()
        except OSError:
            pass
        handler.close_connection = True

    return step


def hang() -> Step:
    """Take the request and say nothing until the fake stops."""

    def step(handler: _Handler, _: Request) -> None:
        handler.fake.stopping.wait(60)
        handler.close_connection = True

    return step


def hang_up() -> Step:
    """Close the connection without a byte."""

    def step(handler: _Handler, _: Request) -> None:
        handler.close_connection = True

    return step


def list_body(kind: str, items: Sequence[object] | None, continue_token: str = "") -> bytes:
    metadata = {"resourceVersion": "4711"}
    if continue_token:
        metadata["continue"] = continue_token
    return json.dumps(
        {"kind": kind, "apiVersion": "v1", "metadata": metadata, "items": items}
    ).encode()


class Authority:
    """A certificate authority of its own."""

    def __init__(self) -> None:
        self.ca = trustme.CA()

    @property
    def pem(self) -> str:
        return self.ca.cert_pem.bytes().decode()

    def server(
        self, *names: str, expired: bool = False, client_authority: Authority | None = None
    ) -> ssl.SSLContext:
        """A server context. With client_authority it demands client certificates from there."""
        now = datetime.datetime.now(datetime.UTC)
        certificate = self.ca.issue_cert(
            *(names or ("127.0.0.1", "localhost")),
            not_before=now - datetime.timedelta(days=30),
            not_after=now + datetime.timedelta(days=-1 if expired else 1),
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(context)
        if client_authority is not None:
            client_authority.ca.configure_trust(context)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def client(self, name: str = "planner@example.test") -> tuple[str, str]:
        """A client certificate and its key, as PEM."""
        leaf = self.ca.issue_cert(name, common_name="planner")
        chain = b"".join(blob.bytes() for blob in leaf.cert_chain_pems)
        return chain.decode(), leaf.private_key_pem.bytes().decode()


@dataclass
class _Objects:
    kind: str
    items: list[dict[str, Any]]


@dataclass
class FakeKubeApi:
    """See the module's text. tls=None is plain http, as `kubectl proxy` speaks it."""

    tls: ssl.SSLContext | None = None
    ca_pem: str | None = None
    token: str | None = TOKEN
    discovery: str = "v2"  # or "legacy", "none"
    version: dict[str, str] = field(
        default_factory=lambda: {"gitVersion": "v1.36.3", "major": "1", "minor": "36"}
    )
    compress: bool = True
    requests: list[Request] = field(default_factory=list)
    most_at_once: int = 0
    """Requests that were being answered at the same moment, at most."""
    open_connections: int = 0

    def __post_init__(self) -> None:
        self.stopping = threading.Event()
        self._objects: dict[str, _Objects] = {}
        self._scripts: dict[str, list[Step]] = {}
        self._lock = threading.Lock()
        self._at_once = 0
        fake = self

        class Handler(_Handler):
            pass

        Handler.fake = fake
        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.tls = self.tls
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def access(self, **changes: Any) -> ClusterAccess:
        """A way in that this fake accepts, with changes."""
        values: dict[str, Any] = {"server": self.url, "ca_pem": self.ca_pem, "token": self.token}
        return ClusterAccess(**{**values, **changes})

    def add(self, path: str, kind: str, items: Sequence[dict[str, Any]]) -> None:
        """Serve objects under a list's path, such as "/apis/apps/v1/deployments"."""
        self._objects[path] = _Objects(kind, list(items))

    def load(self, objects: Sequence[dict[str, Any]], paths: dict[tuple[str, str], str]) -> None:
        """Serve mixed objects: (apiVersion, kind) -> path of the list they belong to."""
        for (version, kind), path in paths.items():
            chosen = [o for o in objects if (o.get("apiVersion"), o.get("kind")) == (version, kind)]
            self.add(path, f"{kind}List", chosen)

    def remove(self, path: str) -> None:
        """Serve that list no longer."""
        del self._objects[path]

    def script(self, path: str, *steps: Step, repeat_last: bool = False) -> None:
        """Answer the next requests to `path` with these steps, one each."""
        queue = list(steps)
        if repeat_last:
            last = queue[-1]

            def again(handler: _Handler, request: Request) -> None:
                self._scripts.setdefault(path, []).append(again)
                last(handler, request)

            queue[-1] = again
        self._scripts[path] = queue

    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    # what a request meets, in this order

    def handle(self, handler: _Handler, request: Request) -> None:
        with self._lock:
            self.requests.append(request)
            steps = self._scripts.get(request.path)
            step = steps.pop(0) if steps else None
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        if self.token and request.headers.get("authorization") != f"Bearer {self.token}":
            step = status(401)
        try:
            (step or self.serve)(handler, request)
        finally:
            with self._lock:
                self._at_once -= 1

    def connected(self, change: int) -> None:
        """A connection began or ended."""
        with self._lock:
            self.open_connections += change

    def serve(self, handler: _Handler, request: Request) -> None:
        if request.path == "/version":
            handler.answer_json(self.version)
        elif request.path in ("/api", "/apis") and self.discovery != "none":
            wants_v2 = DISCOVERY_V2 in request.headers.get("accept", "")
            if self.discovery == "v2" and wants_v2:
                self._aggregated_or_unchanged(handler, request)
            else:
                handler.answer_json(self._legacy_root(request.path))
        elif request.path in self._objects:
            self._list(handler, request)
        elif resources := self._legacy_resources(request.path):
            version = request.path.removeprefix("/apis/").removeprefix("/api/")
            handler.answer_json(
                {"kind": "APIResourceList", "groupVersion": version, "resources": resources}
            )
        else:
            status(404)(handler, request)

    def _aggregated_or_unchanged(self, handler: _Handler, request: Request) -> None:
        """As API servers do: 304 where the caller has this very answer already."""
        body = json.dumps(self._aggregated(request.path)).encode()
        etag = f'"{hashlib.sha256(body).hexdigest()}"'
        if request.headers.get("if-none-match") == etag:
            handler.answer(304, b"", {"ETag": etag})
        else:
            handler.answer(200, body, {"ETag": etag})

    def _list(self, handler: _Handler, request: Request) -> None:
        objects = self._objects[request.path]
        start = int(request.query.get("continue") or 0)
        limit = int(request.query.get("limit") or 0) or len(objects.items)
        end = start + limit
        token = str(end) if end < len(objects.items) else ""
        handler.answer(200, list_body(objects.kind, objects.items[start:end], token))

    def _served(self) -> dict[str, dict[str, list[str]]]:
        """group -> version -> plurals"""
        served: dict[str, dict[str, list[str]]] = {}
        for path in self._objects:
            parts = path.strip("/").split("/")
            group, version, plural = (
                ("", parts[1], parts[2]) if parts[0] == "api" else (parts[1], parts[2], parts[3])
            )
            served.setdefault(group, {}).setdefault(version, []).append(plural)
        return served

    def _aggregated(self, path: str) -> dict[str, Any]:
        return {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "items": [
                {
                    "metadata": {"name": group} if group else {},
                    "versions": [
                        {
                            "version": version,
                            "freshness": "Current",
                            "resources": [
                                {"resource": plural, "verbs": ["get", "list", "watch"]}
                                for plural in plurals
                            ],
                        }
                        for version, plurals in versions.items()
                    ],
                }
                for group, versions in self._served().items()
                if bool(group) == (path == "/apis")
            ],
        }

    def _legacy_root(self, path: str) -> dict[str, Any]:
        if path == "/api":
            return {"kind": "APIVersions", "versions": list(self._served().get("", {}))}
        return {
            "kind": "APIGroupList",
            "groups": [
                {
                    "name": group,
                    "versions": [
                        {"groupVersion": f"{group}/{version}", "version": version}
                        for version in versions
                    ],
                }
                for group, versions in self._served().items()
                if group
            ],
        }

    def _legacy_resources(self, path: str) -> list[dict[str, Any]]:
        return [
            {
                "name": known.rsplit("/", 1)[1],
                "kind": objects.kind.removesuffix("List"),
                "namespaced": False,
                "verbs": ["get", "list"],
            }
            for known, objects in self._objects.items()
            if known.rsplit("/", 1)[0] == path
        ]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    tls: ssl.SSLContext | None = None

    def finish_request(self, request: Any, client_address: Any) -> None:
        # The handshake runs in the connection's own thread, so that a slow one blocks no other.
        if self.tls is not None:
            request.settimeout(10)
            try:
                request = self.tls.wrap_socket(request, server_side=True)
            except (OSError, ssl.SSLError):
                return
        super().finish_request(request, client_address)
        if isinstance(request, ssl.SSLSocket):
            with contextlib.suppress(OSError, ValueError):
                request.unwrap()
            request.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is part of many tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement
    fake: FakeKubeApi

    def handle(self) -> None:
        self.fake.connected(1)
        try:
            super().handle()
        finally:
            self.fake.connected(-1)

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        names = None
        if isinstance(self.connection, ssl.SSLSocket):
            subject = (self.connection.getpeercert() or {}).get("subject", ())
            names = next((v for rdn in subject for k, v in rdn if k == "commonName"), None)
        self.fake.handle(
            self,
            Request(
                path=parts.path,
                query={name: values[-1] for name, values in parse_qs(parts.query).items()},
                headers={name.lower(): value for name, value in self.headers.items()},
                client_name=names,
            ),
        )

    def answer_json(self, value: object) -> None:
        self.answer(200, json.dumps(value).encode())

    def answer(self, code: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        headers = {"Content-Type": "application/json", **(headers or {})}
        accepts = "gzip" in self.headers.get("Accept-Encoding", "")
        if (
            self.fake.compress
            and accepts
            and len(body) > 1024
            and "Content-Encoding" not in headers
        ):
            body = gzip.compress(body, 1)
            headers["Content-Encoding"] = "gzip"
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Tests read fake.requests."""


@dataclass
class Trap:
    """A listening socket that must not be called; `hits` counts who did."""

    hits: int = 0

    def __enter__(self) -> Self:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._stop = False
        self._socket.settimeout(0.05)
        self._thread = threading.Thread(target=self._count)
        self._thread.start()
        return self

    def _count(self) -> None:
        while not self._stop:
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            self.hits += 1
            connection.close()

    def __exit__(self, *_: object) -> None:
        time.sleep(0.1)  # whoever called has been accepted by now
        self._stop = True
        self._thread.join(5)
        self._socket.close()
