"""What sharing systems register of a node's boards: HAMi and Volcano, and which of the boards
pods hold.

HAMi's device plugin writes the register every 30 seconds, as text (``uuid,split,MiB,cores,type,
NUMA,health[,index,mode]:`` per board) or, since 2.7, as a JSON list. Volcano's is the same with
fewer fields (``uuid,split,MiB,type,health[,mode]:``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec

from fleet.kubernetes.objects_core import Annotations
from fleet.units import plain_count

_MAX_ENTRIES = 2048  # more than any machine has, so that too many still shows as too many
_STALE_AFTER = timedelta(minutes=5)
_ASKED = re.compile(r"Requesting_(\d{4}\.\d\d\.\d\d \d\d:\d\d:\d\d)", re.ASCII)
_HAMI = "annotation hami.io/node-nvidia-register"
_VOLCANO = "annotation volcano.sh/node-vgpu-register"


@dataclass(frozen=True, slots=True)
class Board:
    """``split``: units that the board is handed out as. ``memory_mib``: of the whole board."""

    uuid: str
    split: int
    memory_mib: int
    type: str
    mode: str
    is_healthy: bool


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
        return self.source == _HAMI


def _same(values: Iterable[int]) -> int | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None


def register_of(notes: Annotations, now: datetime | None) -> Register | None:
    """The register of a node's NVIDIA boards; None when there is none, or none to be read.

    ``now``: when the node was read, to tell a late answer from a missing one.
    """
    handshake = notes.hami_handshake or notes.hami_nvidia_handshake or ""
    for source, text, health_at, shake in (
        (_HAMI, notes.hami_register, 6, handshake),
        (_VOLCANO, notes.volcano_register, 4, notes.volcano_handshake or ""),
    ):
        boards, unreadable = registered_boards(text or "", health_at)
        if boards:
            return Register(source, boards, unreadable, is_stale(shake, now))
    return None


def registered_boards(text: str, health_at: int = 6) -> tuple[tuple[Board, ...], int]:
    """The boards of a register, each once, and how many entries are no board.

    ``health_at``: which field of a text entry tells the health; the type stands before it.
    """
    is_json = text.lstrip().startswith("[")
    entries = _json_entries(text) if is_json else [e for e in text.split(":") if e.strip()]
    found: dict[str, Board] = {}
    unreadable = 0
    for entry in entries[:_MAX_ENTRIES]:
        board = _from_text(entry, health_at) if isinstance(entry, str) else _from_json(entry)
        if board is None:
            unreadable += 1
        else:
            found[board.uuid] = board
    return tuple(found.values()), unreadable


def _from_text(entry: str, health_at: int) -> Board | None:
    parts = [part.strip() for part in entry.split(",")]
    if len(parts) <= health_at:
        return None
    kind = parts[4] if health_at == 6 else parts[3]
    mode = parts[8] if len(parts) > 8 else ""
    if health_at == 4:
        mode = parts[5] if len(parts) > 5 else ""
    return _board(parts[0], plain_count(parts[1], 6), plain_count(parts[2]), kind, mode,
                  is_healthy=parts[health_at].lower() == "true")  # fmt: skip


class _Entry(msgspec.Struct):
    id: str = ""
    count: int = 0
    devmem: int = 0
    type: str = ""
    mode: str = ""
    health: bool = False


def _json_entries(text: str) -> list[msgspec.Raw] | list[str]:
    try:
        return msgspec.json.decode(text.encode(), type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeEncodeError):
        return [""]  # one entry that is no board


def _from_json(entry: msgspec.Raw) -> Board | None:
    try:
        found = msgspec.json.decode(entry, type=_Entry)
    except msgspec.DecodeError:
        return None
    return _board(found.id, found.count, found.devmem, found.type, found.mode,
                  is_healthy=found.health)  # fmt: skip


def _board(
    uuid: str, split: int | None, memory: int | None, kind: str, mode: str, *, is_healthy: bool
) -> Board | None:
    if not uuid or not split or memory is None:
        return None
    if not 0 < split < 10**6 or not 0 <= memory < 10**9:
        return None
    return Board(uuid[:253], split, memory, kind[:253], mode[:63], is_healthy)


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
