"""CPU and host memory of one pod. The rules are stated in docs/sizing.md, "Host"."""

from __future__ import annotations

import math

from fleet.sizing.requirement import Line
from fleet.sizing.weights import MIB
from fleet.words import say

SOURCE = "docs/sizing.md, Host"
_PROCESS_MIB = 4096  # Python, CUDA and engine of one pod
_SHARED_MIB = 2048  # /dev/shm of one GPU when GPUs talk
_OF_CHECKPOINT = 1.1


def serving_host(checkpoint: float, gpus: int, pods: int, *, light: bool) -> tuple[int, int, Line]:
    """Millicores and MiB of one pod that serves, and the arithmetic.

    ``checkpoint`` in bytes. ``light`` is for embedding servers. Each pod must hold 1.1 times its
    part of the checkpoint while it loads, else it is killed for memory.
    """
    cpu = 2000 if light else 2000 + 1000 * gpus
    shared = _SHARED_MIB * gpus if gpus > 1 else 0
    base = _PROCESS_MIB // 2 if light else _PROCESS_MIB
    part = _OF_CHECKPOINT * checkpoint / pods / MIB
    memory = math.ceil(part + base + shared)
    read = f"1.1 × {checkpoint / pods / 1e9:.4g} GB + {base} MiB"
    if shared:
        formula = say(
            "{cpu:g} CPU; memory {read} + {shared} MiB shared memory = {memory:,} MiB",
            cpu=cpu / 1000,
            read=read,
            shared=f"{gpus} × {_SHARED_MIB}",
            memory=memory,
        )
    else:
        formula = say(
            "{cpu:g} CPU; memory {read} = {memory:,} MiB",
            cpu=cpu / 1000,
            read=read,
            memory=memory,
        )
    return cpu, memory, Line(say("Host, per pod"), formula, None, SOURCE)


def training_host(checkpoint: float, gpus: int) -> tuple[int, int, Line]:
    """Millicores and MiB of one training worker with ``gpus`` GPUs, and the arithmetic.

    One process of the worker reads the whole 16-bit checkpoint; each GPU has a process and
    data-loading workers.
    """
    cpu = 1000 + 2000 * gpus
    memory = math.ceil(_OF_CHECKPOINT * checkpoint / MIB + (_PROCESS_MIB + _SHARED_MIB) * gpus)
    formula = say(
        "{cpu:g} CPU (1 + 2 a GPU); memory {sum} = {memory:,} MiB",
        cpu=cpu / 1000,
        sum=f"1.1 × {checkpoint / 1e9:.4g} GB + {gpus} × {_PROCESS_MIB + _SHARED_MIB} MiB",
        memory=memory,
    )
    return cpu, memory, Line(say("Host, per pod"), formula, None, SOURCE)
