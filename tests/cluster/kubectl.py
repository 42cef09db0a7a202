"""The three verbs of kubectl that the product's export script uses, on a real API server.

    python -m tests.cluster.kubectl --kubeconfig FILE get nodes --all-namespaces -o json

It stands in for kubectl, which a machine that runs the tests need not have: what it prints is the
server's own answer in the form in which kubectl prints it.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from urllib.parse import urlsplit

from tests.cluster.client import Access, ApiError, Client, Object


def main(arguments: list[str]) -> int:
    flag, path, *verb = arguments
    assert flag == "--kubeconfig"
    with Client(_access(Path(path))) as client:
        match verb:
            case ["version", "-o", "json"]:
                print(json.dumps({"serverVersion": client.get("/version")}))
            case ["get", "--raw", where]:
                return _raw(client, where)
            case ["get", what, "--all-namespaces", "-o", "json"]:
                return _list(client, what)
            case _:
                print(f"error: unknown command {verb}", file=sys.stderr)
                return 1
    return 0


def _access(path: Path) -> Access:
    config = json.loads(path.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    server = urlsplit(cluster["server"])
    assert server.hostname is not None
    assert server.port is not None
    ca = base64.b64decode(cluster["certificate-authority-data"]).decode()
    return Access(server.hostname, server.port, ca, user["token"])


def _raw(client: Client, where: str) -> int:
    try:
        print(json.dumps(client.get(where)))
    except ApiError as error:
        print(f"Error from server: {error.message}", file=sys.stderr)
        return 1
    return 0


def _list(client: Client, what: str) -> int:
    """All objects of "nodes" or "jobs.batch" in the group's preferred version, as one List."""
    plural, _, group = what.partition(".")
    try:
        version = client.get(f"/apis/{group}")["preferredVersion"]["version"] if group else "v1"
        root = f"/apis/{group}/{version}" if group else "/api/v1"
        answer = client.get(f"{root}/{plural}")
    except ApiError as error:
        words = f'the server doesn\'t have a resource type "{plural}"'
        print(f"error: {words if error.status == 404 else error.message}", file=sys.stderr)
        return 1
    kind, api = answer["kind"].removesuffix("List"), answer["apiVersion"]
    items: list[Object] = [{"apiVersion": api, "kind": kind, **i} for i in answer["items"]]
    print(json.dumps({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": items}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
