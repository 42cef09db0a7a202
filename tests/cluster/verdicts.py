"""What kube-scheduler says of a pod."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.cluster.client import ApiError, Client, Object
from tests.processes import wait_for


def bound(client: Client, item: Object) -> str:
    """Wait until the scheduler has bound a pod; the node it chose."""

    def has_node() -> bool:
        return bool(client.read(item)["spec"].get("nodeName"))

    try:
        wait_for(f"{_name(item)} is bound", has_node)
    except AssertionError as error:
        raise AssertionError(f"{error}; the scheduler says: {_scheduled(client, item)}") from None
    return str(client.read(item)["spec"]["nodeName"])


def refused(client: Client, item: Object, because: str = "") -> None:
    """Wait until the scheduler has said that a pod fits nowhere, with these words among its own.

    Its first word may come before it has heard of a node that was just created.
    """

    def is_refused() -> bool:
        said = _scheduled(client, item)
        return said.get("reason") == "Unschedulable" and because in said.get("message", "")

    wait_for(f"{_name(item)} is refused {because}".rstrip(), is_refused)
    assert not client.read(item)["spec"].get("nodeName")


def place(client: Client, *items: Object) -> list[str]:
    """Create pods and wait until all of them are bound; their nodes."""
    client.create_all(items)
    return [_placed(client, item) for item in items]


def _placed(client: Client, item: Object) -> str:
    """The pod's node. A scheduler that has not yet heard that a node of an earlier test is gone
    may choose that one: then the pod is made once more."""
    name = bound(client, item)
    if any(node["metadata"]["name"] == name for node in client.listed("/api/v1/nodes")):
        return name
    client.delete(item)
    wait_for(f"{_name(item)} is gone", lambda: not _is_there(client, item))
    client.create(item)
    return bound(client, item)


def _is_there(client: Client, item: Object) -> bool:
    try:
        client.read(item)
    except ApiError as error:
        if error.status == 404:
            return False
        raise
    return True


def fits(client: Client, item: Object) -> bool:
    """Create a pod, hear the scheduler's verdict, and take the pod away again."""
    client.create(item)
    state: dict[str, Any] = {}

    def has_verdict() -> bool:
        state.update(client.read(item))
        return bool(state["spec"].get("nodeName")) or (
            _condition(state).get("reason") == "Unschedulable"
        )

    wait_for(f"the scheduler has looked at {_name(item)}", has_verdict)
    client.delete(item)
    return bool(state["spec"].get("nodeName"))


def _scheduled(client: Client, item: Object) -> dict[str, Any]:
    return _condition(client.read(item))


def _condition(item: Object) -> dict[str, Any]:
    conditions: Iterable[dict[str, Any]] = (item.get("status") or {}).get("conditions") or ()
    return next((c for c in conditions if c["type"] == "PodScheduled"), {})


def _name(item: Object) -> str:
    return f"pod {item['metadata']['name']}"
