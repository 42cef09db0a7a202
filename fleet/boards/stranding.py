"""Why free boards cannot be had: what one needs beside it, and taints that nobody tolerates."""

from __future__ import annotations

from fleet.boards.asked import Asked
from fleet.inventory import Node, Taint
from fleet.tolerations import (
    GPU_TAINT_KEYS,
    blocks,
    is_lifecycle,
    taint_text,
    untolerated,
)
from fleet.units import gib_text
from fleet.words import say, say_many

CPU_PER_GPU_MILLI = 1_000
"""The least CPU beside one GPU: below it no process feeds the card."""
MEMORY_PER_GPU_MIB = 2_048
"""The least host memory beside one GPU: a CUDA context and its libraries take about this."""

PLENTY = 1_000_000

CAUSES = ("cpu", "memory", "pods", "taint")


def room(node: Node) -> tuple[int, str]:
    """How many more boards CPU, memory and pod places can serve, and which runs out first.

    What the node does not state (0) is no limit.
    """
    limits = []
    if node.cpu_allocatable:
        limits.append((cpu_left(node) // CPU_PER_GPU_MILLI, "cpu"))
    if node.memory_allocatable_mib:
        limits.append((memory_left(node) // MEMORY_PER_GPU_MIB, "memory"))
    if node.pods_allocatable and node.pods_count >= node.pods_allocatable:
        limits.append((0, "pods"))  # one place is enough: one pod can hold all boards
    return min(limits, default=(PLENTY, ""))


def pods_that_fit(node: Node, gpus: int, free: int) -> int:
    """How many more pods of ``gpus`` whole GPUs the node takes, of ``free`` ones, with the least
    CPU and memory beside each GPU and a pod place for each pod."""
    count = free // gpus
    if node.cpu_allocatable:
        count = min(count, cpu_left(node) // (gpus * CPU_PER_GPU_MILLI))
    if node.memory_allocatable_mib:
        count = min(count, memory_left(node) // (gpus * MEMORY_PER_GPU_MIB))
    if node.pods_allocatable:
        count = min(count, max(0, node.pods_allocatable - node.pods_count))
    return count


def cpu_left(node: Node) -> int:
    """Millicores that nobody has asked for."""
    return max(0, node.cpu_allocatable - node.cpu_requested)


def memory_left(node: Node) -> int:
    """MiB that nobody has asked for."""
    return max(0, node.memory_allocatable_mib - node.memory_requested_mib)


def special_taints(node: Node) -> tuple[Taint, ...]:
    """Taints that keep GPU pods away by an owner's wish.

    Not those of a node's state, which make it unschedulable, and not those whose key is a
    vendor's GPU resource: pods that ask for GPUs tolerate these, or get the toleration at
    admission.
    """
    return tuple(
        taint
        for taint in node.taints
        if blocks(taint) and not is_lifecycle(taint) and taint.key not in GPU_TAINT_KEYS
    )


def unwanted_taints(node: Node, asked: Asked) -> tuple[Taint, ...]:
    """The special taints, if no workload that asks for GPUs tolerates all of them.

    Nothing is said where no such workload is known: an empty cluster proves nothing.
    """
    special = special_taints(node)
    if not special or not asked.is_known:
        return ()
    if any(not untolerated(special, tolerations) for tolerations in asked.tolerations):
        return ()
    return special


def why_stranded(node: Node, cause: str, gpus: int) -> str:
    """The cause in words, with its figures; "" for no cause. ``gpus`` are those that nobody
    holds, stranded or free."""
    if cause == "cpu":
        return say(
            "needs {need} CPU beside each GPU, {left} left for {gpus}",
            gpus=gpus,
            need=f"{CPU_PER_GPU_MILLI / 1000:g}",
            left=f"{cpu_left(node) / 1000:g}",
        )
    if cause == "memory":
        return say(
            "needs {need} of memory beside each GPU, {left} left for {gpus}",
            gpus=gpus,
            need=gib_text(MEMORY_PER_GPU_MIB, 0),
            left=gib_text(memory_left(node)),
        )
    if cause == "pods":
        return say_many(
            "its {n} pod place is taken", "all {n} pod places are taken", node.pods_allocatable
        )
    if cause == "taint":
        return say(
            "no workload that asks for GPUs tolerates {taints}",
            taints=", ".join(taint_text(taint) for taint in special_taints(node)),
        )
    return ""
