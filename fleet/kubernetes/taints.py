"""Taints and tolerations as objects write them, and whether a node takes pods at all."""

from __future__ import annotations

from collections.abc import Iterable

from fleet.inventory import Taint, Toleration
from fleet.kubernetes.objects_core import NodeObject, TolerationObject
from fleet.tolerations import blocks, is_lifecycle


def taints_of(node: NodeObject) -> tuple[Taint, ...]:
    """The node's taints, as the API gives them."""
    listed = (node.spec.taints if node.spec else None) or ()
    return tuple(Taint(t.key, t.value or "", t.effect) for t in listed)


def tolerations_of(listed: Iterable[TolerationObject] | None) -> tuple[Toleration, ...]:
    """Tolerations with the API's defaults filled in."""
    return tuple(
        Toleration(
            key=t.key or "",
            operator=t.operator or "Equal",
            value=t.value or "",
            effect=t.effect or "",
            seconds=t.tolerationSeconds,
        )
        for t in listed or ()
    )


def not_schedulable_reason(ready: bool | None, cordoned: bool, taints: Iterable[Taint]) -> str:
    """Why the node takes no pods now, "" when it does. Ordinary taints are no reason."""
    if ready is None:
        return "no Ready condition"
    if not ready:
        return "NotReady"
    if cordoned:
        return "cordoned"
    held = next((t for t in taints if blocks(t) and is_lifecycle(t)), None)
    return f"taint {held.key}" if held is not None else ""
