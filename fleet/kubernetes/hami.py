"""What sharing systems register of a node's boards: HAMi and Volcano, and which of the boards
pods hold.

The device plugin writes the register every 30 seconds; the scheduler asks for a sign of life.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fleet.board_registers import HAMI, VOLCANO, Board, registered_boards
from fleet.kubernetes.objects_core import Annotations

_STALE_AFTER = timedelta(minutes=5)
_ASKED = re.compile(r"Requesting_(\d{4}\.\d\d\.\d\d \d\d:\d\d:\d\d)", re.ASCII)
_HAMI_SOURCE = "annotation hami.io/node-nvidia-register"
_VOLCANO_SOURCE = "annotation volcano.sh/node-vgpu-register"


@dataclass(frozen=True, slots=True)
class Register:
    """The boards of a node as its sharing system registers them; never empty."""

    source: str
    boards: tuple[Board, ...]
    unreadable: int  # entries that are no board
    is_stale: bool  # the device plugin no longer answers

    @property
    def split(self) -> int | None:
        """Units per board; None when boards differ."""
        return _same(board.split for board in self.boards)

    @property
    def memory_mib(self) -> int | None:
        """Of each board; None when boards differ."""
        return _same(board.memory_mib for board in self.boards)

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(board.type for board in self.boards))

    @property
    def mode(self) -> str:
        return next((board.mode for board in self.boards if board.mode), "")

    @property
    def unhealthy(self) -> int:
        return sum(not board.is_healthy for board in self.boards)

    @property
    def is_hami(self) -> bool:
        return self.source == _HAMI_SOURCE


def _same(values: Iterable[int]) -> int | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None


def register_of(notes: Annotations, now: datetime | None) -> Register | None:
    """The register of a node's NVIDIA boards; None when there is none, or none to be read.

    ``now``: when the node was read, to tell a late answer from a missing one.
    """
    handshake = notes.hami_handshake or notes.hami_nvidia_handshake or ""
    for source, text, form, shake in (
        (_HAMI_SOURCE, notes.hami_register, HAMI, handshake),
        (_VOLCANO_SOURCE, notes.volcano_register, VOLCANO, notes.volcano_handshake or ""),
    ):
        boards, unreadable = registered_boards(text or "", form)
        if boards:
            return Register(source, boards, unreadable, is_stale(shake, now))
    return None


def is_stale(handshake: str, now: datetime | None) -> bool:
    """Whether the scheduler has asked for a sign of life and got none for five minutes.

    It asks every 30 seconds, so a fresh question is no bad sign; without ``now`` nobody knows
    how old the question is, and it counts. The time is the scheduler's, taken as UTC.
    """
    if handshake.startswith("Deleted"):
        return True
    if not handshake.startswith("Requesting"):
        return False
    match = _ASKED.match(handshake)
    if match is None or now is None:
        return True
    try:
        asked = datetime.strptime(match[1], "%Y.%m.%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return True
    return now - asked > _STALE_AFTER


def hami_used(notes: Annotations) -> frozenset[str]:
    """Boards that a pod holds: ``uuid,vendor,MiB,cores:…;`` per container."""
    found = set()
    for container in (notes.hami_allocated or "").split(";"):
        for device in container.split(":"):
            uuid = device.partition(",")[0].strip()
            if uuid:
                found.add(uuid)
    return frozenset(found)
