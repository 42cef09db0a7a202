"""Equal values kept once. The pods of a cluster come from few templates: what they have in common
is worked out and held once, so that 150,000 of them fit into little memory."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, cast

import msgspec

_MOST = 100_000
"""Values kept. A hostile cluster, whose pods have nothing in common, gains nothing from more."""

_KEPT_BYTES = 64 * 1024 * 1024
"""What they may take together; what comes later passes through. 30,000 pods of
4,000 jobs take 2 MiB of it."""

_MOST_BYTES = 16_384  # of one key
_VALUE_BYTES = 500  # about what a value takes beside the texts of its key
_pack = msgspec.msgpack.Encoder().encode


class Interned:
    """A memory of values for one reading of one cluster."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._ones: dict[Hashable, Hashable] = {}
        self._values: dict[bytes, Any] = {}
        self._left = _KEPT_BYTES
        self.unshared = 0
        """Bytes, about, of what passed through because there was no more room for it."""

    def _has_room(self, size: int, held: int) -> bool:
        if held < _MOST and size <= self._left:
            self._left -= size
            return True
        self.unshared += size
        return False

    def text(self, text: str) -> str:
        """The text itself, or an equal one that was seen before."""
        found = self._texts.get(text)
        if found is not None:
            return found
        if self._has_room(len(text), len(self._texts)):
            self._texts[text] = text
        return text

    def one[H: Hashable](self, value: H) -> H:
        """The value itself, or an equal one that was seen before."""
        found = self._ones.get(value)
        if found is not None:
            return cast("H", found)
        if self._has_room(_VALUE_BYTES, len(self._ones)):
            self._ones[value] = value
        return value

    def value[T](self, of: object, make: Callable[[], T]) -> T:
        """What ``make`` gives, called once for equal ``of``, which names everything that it looks
        at. The value is shared: nobody may change it."""
        try:
            key = _pack(of)
        except (OverflowError, ValueError):  # a number or a text that only JSON can carry
            return make()
        if key in self._values:
            return cast("T", self._values[key])
        made = make()
        if len(key) > _MOST_BYTES:
            self.unshared += len(key)
        elif self._has_room(2 * len(key) + _VALUE_BYTES, len(self._values)):
            self._values[key] = made
        return made
