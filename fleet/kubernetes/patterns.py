"""Patterns from a cluster, matched in time that grows with the text and never explodes.

Python's own ``re`` may try for hours on a pattern made to hurt. This reads the plain part of Go's
syntax (letters, ``.``, classes, groups, ``|``, ``* + ? {m,n}``, ``^ $``, ``\\d \\w \\s``) and keeps
the set of all states at once. What it does not know is refused, not guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

MOST_STATES = 2_000
MOST_REPEATS = 255
_DIGITS = frozenset("0123456789")
_WORD = _DIGITS | frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_SPACE = frozenset(" \t\n\r\f")
_SETS = {"d": _DIGITS, "w": _WORD, "s": _SPACE}
_PLAIN_ESCAPES = frozenset(r".\+*?()|[]{}^$-/_")

Test = Callable[[str], bool]


class PatternError(ValueError):
    """The pattern is wrong, too large, or uses what is not read here."""


@dataclass(slots=True)
class _State:
    """One step: a character that passes ``test``, an anchor, or free steps only."""

    test: Test | None = None
    anchor: str = ""
    after: list[int] = field(default_factory=list)


_Part = tuple[int, int]  # first state, last state: a free state that leads on


class Pattern:
    """A pattern that was understood."""

    def __init__(self, states: list[_State], whole: _Part) -> None:
        self._states, (self._start, self._end) = states, whole

    def search(self, text: str) -> bool:
        """Whether the pattern is found anywhere in ``text``, as Go's ``MatchString``."""
        now: set[int] = set()
        for place in range(len(text) + 1):
            now = self._free(now | {self._start}, place == 0, place == len(text))
            if self._end in now:
                return True
            if place < len(text):
                now = {
                    nxt
                    for number in now
                    if (test := self._states[number].test) is not None and test(text[place])
                    for nxt in self._states[number].after
                }
        return False

    def _free(self, found: set[int], at_start: bool, at_end: bool) -> set[int]:
        """All states that are reached without a character."""
        waiting = list(found)
        while waiting:
            state = self._states[waiting.pop()]
            if state.test is not None:
                continue
            if (state.anchor == "^" and not at_start) or (state.anchor == "$" and not at_end):
                continue
            for number in state.after:
                if number not in found:
                    found.add(number)
                    waiting.append(number)
        return found


def pattern(text: str) -> Pattern:
    """The pattern of ``text``. Raises ``PatternError``."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._place = text, 0
        self._states: list[_State] = []
        self._depth = 0

    def read(self) -> Pattern:
        whole = self._choice()
        if self._place < len(self._text):
            raise PatternError(f"“)” without “(” at {self._place}")
        return Pattern(self._states, whole)

    def _state(self, test: Test | None = None, anchor: str = "") -> int:
        if len(self._states) >= MOST_STATES:
            raise PatternError("too large")
        self._states.append(_State(test, anchor))
        return len(self._states) - 1

    def _link(self, start: int, *targets: int) -> None:
        self._states[start].after.extend(targets)

    def _next(self) -> str:
        return self._text[self._place] if self._place < len(self._text) else ""

    def _take(self) -> str:
        found = self._next()
        if not found:
            raise PatternError("it ends too early")
        self._place += 1
        return found

    def _choice(self) -> _Part:
        parts = [self._sequence()]
        while self._next() == "|":
            self._take()
            parts.append(self._sequence())
        start, end = self._state(), self._state()
        for first, last in parts:
            self._link(start, first)
            self._link(last, end)
        return start, end

    def _sequence(self) -> _Part:
        start = end = self._state()
        while self._next() not in ("", "|", ")"):
            first, last = self._repeated()
            self._link(end, first)
            end = last
        return start, end

    def _repeated(self) -> _Part:
        place = self._place
        part = self._atom()
        least, most = self._count()
        if (least, most) == (1, 1):
            return part
        after = self._place
        start = end = self._state()
        for _ in range(least):
            first, last = self._again(place)
            self._link(end, first)
            end = last
        if most is None:
            first, last = self._again(place)
            loop = self._state()
            self._link(end, loop)
            self._link(loop, first)
            self._link(last, loop)
            end = loop
        else:
            stop = self._state()
            for _ in range(most - least):
                first, last = self._again(place)
                self._link(end, first, stop)
                end = last
            self._link(end, stop)
            end = stop
        self._place = after
        return start, end

    def _again(self, place: int) -> _Part:
        """The same atom once more, as states of its own."""
        self._place = place
        return self._atom()

    def _count(self) -> tuple[int, int | None]:
        mark = self._next()
        if mark not in ("*", "+", "?", "{") or not mark:
            return 1, 1
        self._take()
        least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(mark, (1, 1))
        if mark == "{":
            least, most = self._braces()
        if self._next() == "?":  # as few as possible: the same texts match
            self._take()
        if self._next() in ("*", "+", "?", "{") and self._next():
            raise PatternError("two repetitions in a row")
        return least, most

    def _braces(self) -> tuple[int, int | None]:
        text = ""
        while (letter := self._take()) != "}":
            text += letter
        low, comma, high = text.partition(",")
        numbers = [n for n in (low, high) if n]
        if not low or any(not n.isdecimal() or len(n) > 3 for n in numbers):
            raise PatternError(f"repetition {{{text}}} is not read")
        least = int(low)
        most = (int(high) if high else None) if comma else least
        if max(least, most or 0) > MOST_REPEATS or (most is not None and most < least):
            raise PatternError(f"repetition {{{text}}} is not read")
        return least, most

    def _atom(self) -> _Part:
        letter = self._take()
        if letter == "(":
            return self._group()
        if letter in ("*", "+", "?"):
            raise PatternError(f"nothing to repeat at {self._place - 1}")
        if letter in ("^", "$"):
            start, end = self._state(anchor=letter), self._state()
            self._link(start, end)
            return start, end
        start, end = self._state(self._test(letter)), self._state()
        self._link(start, end)
        return start, end

    def _group(self) -> _Part:
        if self._next() == "?":
            self._take()
            if self._take() != ":":
                raise PatternError("groups with flags or names are not read")
        self._depth += 1
        if self._depth > 50:
            raise PatternError("too deep")
        part = self._choice()
        self._depth -= 1
        if self._next() != ")":
            raise PatternError("“(” without “)”")
        self._take()
        return part

    def _test(self, letter: str) -> Test:
        if letter == ".":
            return lambda found: found != "\n"
        if letter == "[":
            return self._class()
        if letter == "\\":
            return self._escape()
        return lambda found: found == letter

    def _escape(self) -> Test:
        letter = self._take()
        if letter.lower() in _SETS:
            chosen, wanted = _SETS[letter.lower()], letter.islower()
            return lambda found: (found in chosen) == wanted
        if letter in _PLAIN_ESCAPES:
            return lambda found: found == letter
        raise PatternError(f"\\{letter} is not read")

    def _class(self) -> Test:
        wanted = True
        if self._next() == "^":
            self._take()
            wanted = False
        tests: list[Test] = []
        is_first = True
        while (letter := self._take()) != "]" or is_first:
            is_first = False
            if letter == "[" and self._next() == ":":
                raise PatternError("named classes are not read")
            if letter == "\\":
                tests.append(self._escape())
                continue
            tests.append(self._range(letter))
        return lambda found: any(test(found) for test in tests) == wanted

    def _range(self, low: str) -> Test:
        rest = self._text[self._place : self._place + 2]
        if len(rest) < 2 or rest[0] != "-" or rest[1] == "]":
            return lambda found: found == low
        self._place += 2
        high = rest[1]
        if high == "\\" or high < low:
            raise PatternError(f"range {low}-{high} is not read")
        return lambda found: low <= found <= high
