"""A small administrator's client: creates what a test needs through the real API."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlencode

Object = dict[str, Any]

_PATCH = "application/merge-patch+json"


class ApiError(Exception):
    """The server refused: its status and its own words."""

    def __init__(self, status: int, message: str, where: str) -> None:
        super().__init__(f"{where}: {status} {message}")
        self.status, self.message = status, message


@dataclass(frozen=True, slots=True)
class Access:
    """Where a server is and who calls. Can be pickled, so that writer processes can have it."""

    host: str
    port: int
    ca_pem: str
    token: str = field(repr=False)

    @property
    def url(self) -> str:
        return f"https://{self.host}:{self.port}"

    def kubeconfig(self) -> str:
        """A kubeconfig as ``kubectl config view --raw --flatten`` would print it (JSON is YAML)."""
        ca = base64.b64encode(self.ca_pem.encode()).decode()
        return json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [
                    {
                        "name": "test",
                        "cluster": {"server": self.url, "certificate-authority-data": ca},
                    }
                ],
                "users": [{"name": "test", "user": {"token": self.token}}],
                "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
                "current-context": "test",
            }
        )


class Client:
    """Calls over one kept-alive connection. Not for two threads."""

    def __init__(self, access: Access, timeout_s: float = 60) -> None:
        self.access = access
        self._timeout_s = timeout_s
        self._connection: http.client.HTTPSConnection | None = None
        self._resources: dict[str, dict[str, tuple[str, bool]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # plain calls

    def send(
        self, method: str, path: str, body: bytes | None = None, content: str = "application/json"
    ) -> tuple[int, bytes]:
        """Status and body, whatever they are. A connection that has died is opened once more."""
        for attempt in (1, 2):
            is_fresh = self._connection is None
            if self._connection is None:
                context = ssl.create_default_context(cadata=self.access.ca_pem)
                self._connection = http.client.HTTPSConnection(
                    self.access.host, self.access.port, timeout=self._timeout_s, context=context
                )
            try:
                self._connection.request(
                    method,
                    path,
                    body,
                    {"Authorization": f"Bearer {self.access.token}", "Content-Type": content},
                )
                answer = self._connection.getresponse()
                return answer.status, answer.read()
            except (OSError, http.client.HTTPException):
                self.close()
                if is_fresh or attempt == 2:
                    raise
        raise AssertionError("not reached")

    def call(
        self, method: str, path: str, body: object = None, content: str = "application/json"
    ) -> Any:
        """The decoded answer. Raises ``ApiError`` for every status of 400 and more."""
        sent = None if body is None else json.dumps(body).encode()
        for attempt in range(20):
            status, data = self.send(method, path, sent, content)
            if status != 429 or attempt == 19:
                break
            time.sleep(0.5)
        if status >= 400:
            raise ApiError(status, _words(data), f"{method} {path}")
        return json.loads(data) if data else None

    def get(self, path: str) -> Any:
        return self.call("GET", path)

    def listed(self, path: str, **query: str) -> list[Object]:
        """All items of a list."""
        items: list[Object] = self.get(f"{path}?{urlencode(query)}" if query else path)["items"]
        return items

    # objects

    def path(self, item: Mapping[str, Any], *, named: bool = True) -> str:
        """Where an object lives: its own path, or that of its list."""
        version, kind = item["apiVersion"], item["kind"]
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        plural, is_namespaced = self._known(root)[kind]
        metadata = item.get("metadata") or {}
        place = f"/namespaces/{metadata.get('namespace') or 'default'}" if is_namespaced else ""
        return f"{root}{place}/{plural}" + (f"/{metadata['name']}" if named else "")

    def create(self, item: Mapping[str, Any]) -> Object:
        """Create an object; what the server made of it."""
        made: Object = self.call("POST", self.path(item, named=False), item)
        return made

    def create_all(self, items: Iterable[Mapping[str, Any]]) -> list[Object]:
        """Create objects one after the other, in this order."""
        return [self.create(item) for item in items]

    def ensure(self, item: Mapping[str, Any]) -> None:
        """Create an object unless one of its name is there."""
        try:
            self.create(item)
        except ApiError as error:
            if error.status != 409:
                raise

    def read(self, item: Mapping[str, Any]) -> Object:
        """An object as it stands now."""
        found: Object = self.get(self.path(item))
        return found

    def patch(self, item: Mapping[str, Any], change: object, *, status: bool = False) -> Object:
        """Merge a change into an object, or into its status."""
        changed: Object = self.call(
            "PATCH", self.path(item) + ("/status" if status else ""), change, _PATCH
        )
        return changed

    def delete(self, item: Mapping[str, Any]) -> None:
        """Delete at once, without the grace that a kubelet would need to end."""
        self.call("DELETE", f"{self.path(item)}?gracePeriodSeconds=0")

    def token(self, namespace: str, account: str, seconds: int = 3600) -> str:
        """A token of a ServiceAccount by TokenRequest, as ``kubectl create token`` asks for."""
        answer = self.call(
            "POST",
            f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token",
            {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": {"expirationSeconds": seconds},
            },
        )
        return str(answer["status"]["token"])

    def _known(self, root: str) -> dict[str, tuple[str, bool]]:
        """kind -> plural and whether it lives in a namespace; asked once per API version."""
        if root not in self._resources:
            self._resources[root] = dict(_kinds(self.get(root)["resources"]))
        return self._resources[root]

    def forget_apis(self) -> None:
        """After a CRD was installed: ask again what is served."""
        self._resources.clear()


def _kinds(resources: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, tuple[str, bool]]]:
    for resource in resources:
        if "/" not in resource["name"]:
            yield resource["kind"], (resource["name"], resource["namespaced"])


def _words(data: bytes) -> str:
    try:
        return str(json.loads(data)["message"])
    except (ValueError, KeyError, TypeError):
        return data[:300].decode("utf-8", "replace")
