"""The boards that a sharing system registers in an annotation of their node.

HAMi writes ``uuid,split,MiB,cores,type,NUMA,health[,index,mode]:`` per board, since 2.7 a JSON
list; Volcano the same with fewer fields, ``uuid,split,MiB,type,health[,mode]:``. The text is
anybody's: an entry that is no board is counted as unreadable and costs itself only.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from fleet.units import plain_count

_MAX_ENTRIES = 2048  # more than any machine has, so that too many still shows as too many


@dataclass(frozen=True, slots=True)
class Form:
    """At which place of a text entry its fields stand."""

    type: int
    health: int
    mode: int


HAMI = Form(type=4, health=6, mode=8)
VOLCANO = Form(type=3, health=4, mode=5)


@dataclass(frozen=True, slots=True)
class Board:
    """``split``: units that the board is handed out as. ``memory_mib``: of the whole board."""

    uuid: str
    split: int
    memory_mib: int
    type: str
    mode: str
    is_healthy: bool


def registered_boards(text: str, form: Form = HAMI) -> tuple[tuple[Board, ...], int]:
    """The boards of a register, each once, and how many entries are no board."""
    is_json = text.lstrip().startswith("[")
    entries = _json_entries(text) if is_json else [e for e in text.split(":") if e.strip()]
    found: dict[str, Board] = {}
    unreadable = 0
    for entry in entries[:_MAX_ENTRIES]:
        board = _from_text(entry, form) if isinstance(entry, str) else _from_json(entry)
        if board is None:
            unreadable += 1
        else:
            found[board.uuid] = board
    return tuple(found.values()), unreadable


def _from_text(entry: str, form: Form) -> Board | None:
    parts = [part.strip() for part in entry.split(",")]
    if len(parts) <= form.health:
        return None
    return _board(
        parts[0],
        plain_count(parts[1], 6),
        plain_count(parts[2]),
        parts[form.type],
        parts[form.mode] if len(parts) > form.mode else "",
        is_healthy=parts[form.health].lower() == "true",
    )


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
