"""Names from a cluster inside text that a person pastes: into YAML or into a shell.

A node can be named ``x; rm -rf ~`` by whoever may write node objects. So a name is quoted unless
it is a plain word, and signs that cannot be printed are not passed on to a shell at all.
"""

from __future__ import annotations

import re
import shlex

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._/-]{0,252}")
_OTHER_TYPES = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


def yaml_text(text: str) -> str:
    """A YAML scalar that reads as this text, quoted where a plain one would not."""
    if _PLAIN.fullmatch(text) and text.lower() not in _OTHER_TYPES:
        return text
    return f'"{"".join(_in_quotes(c) for c in text)}"'


def _in_quotes(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def shell_word(text: str) -> str:
    """One word for a POSIX shell. What cannot be printed becomes "?"."""
    return shlex.quote("".join(c if c.isprintable() else "?" for c in text))
