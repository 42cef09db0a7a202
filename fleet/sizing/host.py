"""CPU and host memory of one pod. The rules are stated in docs/sizing.md, "Host"."""

from __future__ import annotations

import math

from fleet.sizing.requirement import Line
from fleet.sizing.weights import MIB

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
    formula = (
        f"{cpu / 1000:g} CPU; memory 1.1 × {checkpoint / pods / 1e9:.4g} GB + {base} MiB"
        + (f" + {gpus} × {_SHARED_MIB} MiB shared memory" if shared else "")
        + f" = {memory:,} MiB"
    )
    return cpu, memory, Line("Host, per pod", formula, None, SOURCE)


def training_host(checkpoint: float, gpus: int) -> tuple[int, int, Line]:
    """Millicores and MiB of one training worker with ``gpus`` GPUs, and the arithmetic.

    One process of the worker reads the whole 16-bit checkpoint; each GPU has a process and
    data-loading workers.
    """
    cpu = 1000 + 2000 * gpus
    memory = math.ceil(_OF_CHECKPOINT * checkpoint / MIB + (_PROCESS_MIB + _SHARED_MIB) * gpus)
    formula = (
        f"{cpu / 1000:g} CPU (1 + 2 a GPU); memory 1.1 × {checkpoint / 1e9:.4g} GB + {gpus} × "
        f"{_PROCESS_MIB + _SHARED_MIB} MiB = {memory:,} MiB"
    )
    return cpu, memory, Line("Host, per pod", formula, None, SOURCE)
