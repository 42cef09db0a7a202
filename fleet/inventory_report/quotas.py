"""What the report says of each ResourceQuota that names a GPU: is it enforced, and what is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet.inventory import Inventory, Quota
from fleet.inventory_totals import holds_devices
from fleet.readiness.quota_keys import (
    DEVICE_CLASS_PREFIX,
    DEVICE_CLASS_SUFFIX,
    Key,
    classify,
    resource_of,
)
from fleet.units import QuantityError, whole

Report = dict[str, Any]

_ENFORCED: dict[Key, bool | str] = {
    Key.ENFORCED: True,
    Key.BARE: False,
    Key.LIMITS: "only by HAMi",
    Key.LEGACY: False,
}


def quotas_report(inventory: Inventory) -> Report:
    """Quotas by namespace/name, those without a key about GPUs left out."""
    found = ((f"{q.namespace}/{q.name}", _quota(inventory, q)) for q in inventory.quotas)
    return {name: quota for name, quota in found if quota["keys"]}


def _quota(inventory: Inventory, quota: Quota) -> Report:
    keys = {key: kind for key in sorted(quota.hard) if (kind := classify(key)) is not Key.NONE}
    rows = {key: _key(inventory, quota, key, kind) for key, kind in keys.items()}
    enforced = [key for key, kind in keys.items() if kind is Key.ENFORCED]
    found: Report = {"enforced": _verdict(keys, enforced), "keys": rows}
    if quota.scopes:
        found["scopes"] = list(quota.scopes)
    shown = enforced if enforced else list(keys)
    if len(shown) == 1:  # one key that decides: its numbers are those of the quota
        found |= {"key": shown[0]} | {k: v for k, v in rows[shown[0]].items() if k != "enforced"}
    if _counts_twice(enforced):
        found["do_not_add"] = True
    return found


def _verdict(keys: Mapping[str, Key], enforced: list[str]) -> bool | str:
    if enforced:
        return True
    kinds = set(keys.values())
    return _ENFORCED[Key.LIMITS] if kinds == {Key.LIMITS} else False


def _key(inventory: Inventory, quota: Quota, key: str, kind: Key) -> Report:
    """``hard`` and ``used`` are the quota's own; ``in_use`` counts the pods that hold devices."""
    hard, used = _number(quota.hard[key]), _number(quota.used.get(key))
    found: Report = {"enforced": _ENFORCED[kind], "hard": hard, "used": used}
    if kind is Key.ENFORCED:
        found["free"] = None if hard is None or used is None else max(0, hard - used)
        return found
    found["why"] = _why(kind)
    resource = resource_of(key)
    found["gpus_running"] = sum(
        pod.requests.get(resource, 0)
        for pod in inventory.pods
        if pod.namespace == quota.namespace and holds_devices(pod)
    )
    return found


def _why(kind: Key) -> str:
    """In English: a report for programs."""
    if kind is Key.LEGACY:
        return "no such resource any more"
    if kind is Key.LIMITS:
        return "extended resources are limited by requests"
    return "a bare name limits nothing"


def _number(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return whole(text)
    except QuantityError:
        return None


def _counts_twice(enforced: list[str]) -> bool:
    """Whether two keys may count the same devices: what a claim takes is charged to the key of
    its device class and, where the class stands for a resource, to that of the resource."""
    classes = [
        key
        for key in enforced
        if key.endswith(DEVICE_CLASS_SUFFIX) or key.startswith(DEVICE_CLASS_PREFIX)
    ]
    return bool(classes) and len(enforced) > len(classes)
