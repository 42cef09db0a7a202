"""Parts of a board that a pod asks for in the words of a sharing system: KAI's annotations, or
the memory and percentages of HAMi and Volcano. The same for pods and for templates of pods."""

from __future__ import annotations

from collections.abc import Mapping

from fleet.kubernetes.objects_core import Annotations
from fleet.units import plain_count

# HAMi and Volcano: memory is asked per unit of the device resource beside it.
_MEMORY_OF = (
    ("nvidia.com/gpumem", "nvidia.com/gpu"),
    ("volcano.sh/vgpu-memory", "volcano.sh/vgpu-number"),
)
_SHARES_OF_A_BOARD = ("nvidia.com/gpucores", "nvidia.com/gpumem-percentage")
_MOST_PARTS = 64  # of one pod, in boards


def fraction_of(notes: Annotations, devices: Mapping[str, int]) -> float | None:
    """The part of a board that a pod asks for, in boards; None when it states none."""
    stated = notes.kai_fraction
    if stated:
        try:
            value = float(stated)
        except ValueError:
            return None
        return value * _kai_devices(notes) if 0 < value <= _MOST_PARTS else None
    percent = max(devices.get(name, 0) for name in _SHARES_OF_A_BOARD) if devices else 0
    if not percent:
        return None
    return percent / 100 * max(1, devices.get("nvidia.com/gpu", 1))


def device_memory_of(notes: Annotations, devices: Mapping[str, int]) -> int | None:
    """Device memory that a pod asks for in MiB, all units together; None when it states none."""
    for memory, units in _MEMORY_OF:
        each = devices.get(memory)
        if each:
            return each * max(1, devices.get(units, 1))
    each = plain_count(notes.kai_memory)
    return each * _kai_devices(notes) if each is not None else None


def _kai_devices(notes: Annotations) -> int:
    """On so many boards a pod asks for the part that its annotation names."""
    return max(1, plain_count(notes.kai_devices, digits=3) or 1)
