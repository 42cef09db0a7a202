"""HAMi's own register: which boards a node has, and which of them pods hold."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.kubernetes.objects_core import Annotations
from fleet.units import plain_count

_MAX_BOARDS = 128


@dataclass(frozen=True, slots=True)
class HamiNode:
    """``boards``: (uuid, healthy). ``split``: units per board."""

    boards: tuple[tuple[str, bool], ...]
    split: int
    memory_mib: int
    type: str
    mode: str
    is_unanswered: bool

    @property
    def unhealthy(self) -> int:
        return sum(not healthy for _, healthy in self.boards)


def hami_node(notes: Annotations) -> HamiNode | None:
    """The register of a node: ``uuid,split,MiB,cores,type,NUMA,health[,index,mode]:`` per board.

    None when there is none, or none that can be read.
    """
    boards: list[tuple[str, bool]] = []
    split = memory = 0
    kind = mode = ""
    for entry in (notes.hami_register or "").split(":")[:_MAX_BOARDS]:
        parts = [part.strip() for part in entry.split(",")]
        if len(parts) < 7:
            continue
        units, size = plain_count(parts[1], 6), plain_count(parts[2])
        if units is None or size is None:
            continue
        boards.append((parts[0], parts[6].lower() == "true"))
        split, memory, kind = units, size, parts[4]
        mode = parts[8] if len(parts) > 8 else ""
    if not boards or not split:
        return None
    handshake = notes.hami_handshake or ""
    return HamiNode(
        boards=tuple(boards),
        split=split,
        memory_mib=memory,
        type=kind,
        mode=mode,
        is_unanswered=handshake.startswith(("Requesting", "Deleted")),
    )


def hami_used(notes: Annotations) -> frozenset[str]:
    """Boards that a pod holds: ``uuid,vendor,MiB,cores:…;`` per container."""
    found = set()
    for container in (notes.hami_allocated or "").split(";"):
        for device in container.split(":"):
            uuid = device.partition(",")[0].strip()
            if uuid:
                found.add(uuid)
    return frozenset(found)
