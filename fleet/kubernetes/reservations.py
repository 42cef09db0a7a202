"""Pods that hold a device in the place of others: KAI's reservations, and who shares them.

A pod that asks for a part of a board asks for no device; a reservation pod in a namespace of the
system's own holds the board for all that share it. Use and cost belong to those that share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from fleet.inventory import Node, Pod

NAMESPACES = ("kai-resource-reservation", "runai-reservation")
GROUP_LABEL = "runai-gpu-group"
_GONE = ("finished", "orphaned")


def attributed(pods: Iterable[Pod], nodes: Iterable[Node]) -> tuple[Pod, ...]:
    """The pods; reservations name the pods that they stand for, and a pod that shares a board by
    its memory says which part of the board that is."""
    pods = tuple(pods)
    sharing: dict[tuple[str, str], list[str]] = defaultdict(list)
    for pod in pods:
        group = pod.labels.get(GROUP_LABEL)
        if group and pod.namespace not in NAMESPACES and pod.state not in _GONE:
            sharing[pod.node, group].append(f"{pod.namespace}/{pod.name}")
    boards = {node.name: _board_mib(node) for node in nodes if node.is_gpu_node}
    return tuple(_one(pod, sharing, boards) for pod in pods)


def _one(
    pod: Pod, sharing: Mapping[tuple[str, str], list[str]], boards: Mapping[str, int | None]
) -> Pod:
    group = pod.labels.get(GROUP_LABEL)
    if not group:
        return pod
    if pod.namespace in NAMESPACES:
        return replace(pod, stands_for=tuple(sharing.get((pod.node, group), ())))
    board = boards.get(pod.node)
    if pod.gpu_fraction is None and pod.gpu_memory_mib and board:
        return replace(pod, gpu_fraction=round(pod.gpu_memory_mib / board, 6))
    return pod


def _board_mib(node: Node) -> int | None:
    """Memory of a board of the node; None where several models leave it open which one it is."""
    sizes = {group.memory_mib for group in node.groups}
    return sizes.pop() if len(sizes) == 1 else None
