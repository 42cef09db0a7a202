"""What the report says of each pod: what it asks for and what it holds, kind by kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet.device_names import device_name
from fleet.inventory import Node, Pod, UnitKind
from fleet.inventory_totals import (
    by_kind,
    holds_devices,
    kinds_on,
    takes_part_of_a_board,
    whole_gpus,
)

Report = dict[str, Any]
_KUEUE = "kueue.x-k8s.io/"


def pod_report(pod: Pod, node: Node | None) -> Report:
    """One pod, and the node that it is bound to. ``gpus_once``: whole boards; a device that was
    asked for by name and turned into a claim by the scheduler is one. ``counts_now``: devices and
    shares that it holds, whatever their kind."""
    known = kinds_on(node)
    kinds = by_kind(pod.requests, known)
    whole = whole_gpus(pod, known)
    found: Report = {
        "requests": {"cpu_millis": pod.cpu_milli, "memory_mib": pod.memory_mib} | pod.requests,
        "node": pod.node or None,
        "owner": f"{pod.owner.kind} {pod.owner.name}",
        "state": state(pod),
        "whole_gpus": whole,
        "gpus_once": whole + pod.claim_devices,
        "counts_now": _devices(pod, kinds) if holds_devices(pod) else 0,
        "infrastructure": pod.is_infrastructure,
    }
    found |= _why(pod)
    if UnitKind.MIG in kinds:
        found["mig_devices"] = kinds[UnitKind.MIG]
    unclassified = {
        name: number
        for name, number in pod.requests.items()
        if (kind := device_name(name)) is not None and kind.kind is UnitKind.UNCLASSIFIED
    }
    if unclassified:
        found["unclassified"] = unclassified
    shares = kinds.get(UnitKind.SHARE, 0)
    if takes_part_of_a_board(pod):
        shares += kinds.get(UnitKind.WHOLE, 0)
    if shares:
        found["gpu_shares"] = shares
    if pod.claim_devices:
        found["dra_devices"] = pod.claim_devices
    if pod.gpu_fraction is not None:
        found["gpu_fraction"] = found["gpu_share"] = pod.gpu_fraction
    if pod.gpu_memory_mib is not None:
        found["gpu_memory_mib"] = pod.gpu_memory_mib
    return found


def _why(pod: Pod) -> Report:
    """Why a pod does not simply run."""
    since = pod.terminating_since
    found = {
        "state_reason": pod.state_reason,
        "terminating_since": since.isoformat() if since is not None else None,
        "nominated_node": pod.nominated_node,
        "stands_for": list(pod.stands_for),
    }
    return {key: value for key, value in found.items() if value}


def _devices(pod: Pod, kinds: Mapping[UnitKind, int]) -> int:
    return sum(kinds.values()) + pod.claim_devices


def state(pod: Pod) -> str:
    """The state, and for a gated pod who holds it back: "queued" is Kueue's own gate."""
    if pod.state != "gated":
        return pod.state
    foreign = next((g for g in pod.gates if not g.startswith(_KUEUE)), None)
    return "queued" if foreign is None else f"gated by '{foreign}'"
