"""Equal values kept once. The pods of a cluster come from few templates: what they have in common
is worked out and held once, so that 150,000 of them fit into little memory."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, cast

import msgspec

_MOST = 100_000
"""Values kept. A hostile cluster, whose pods have nothing in common, gains nothing from more."""

_MOST_BYTES = 16_384  # of one key
_pack = msgspec.msgpack.Encoder().encode


class Interned:
    """A memory of values for one reading of one cluster."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._ones: dict[Hashable, Hashable] = {}
        self._values: dict[bytes, Any] = {}

    def text(self, text: str) -> str:
        """The text itself, or an equal one that was seen before."""
        found = self._texts.get(text)
        if found is not None:
            return found
        if len(self._texts) < _MOST:
            self._texts[text] = text
        return text

    def one[H: Hashable](self, value: H) -> H:
        """The value itself, or an equal one that was seen before."""
        found = self._ones.get(value)
        if found is not None:
            return cast("H", found)
        if len(self._ones) < _MOST:
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
        if len(self._values) < _MOST and len(key) <= _MOST_BYTES:
            self._values[key] = made
        return made
