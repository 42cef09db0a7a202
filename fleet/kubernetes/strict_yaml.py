"""A small part of YAML, for files that hold credentials: mappings, lists and text.

No anchors, aliases, tags, merge keys, second documents or duplicate keys. Every scalar is text
(or None for an empty one), so no value changes its type by how it is written.
"""

from __future__ import annotations

from typing import NoReturn

import yaml

from fleet.words import say

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


class YamlError(Exception):
    """The text is not in this part of YAML; the message names the line, never its content."""


def read_strict(raw: bytes, *, max_depth: int) -> object:
    """dict, list, str and None from UTF-8 text of one document. Raises YamlError."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise YamlError(say("The text is not UTF-8.")) from None
    try:
        return _build(text, max_depth)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if mark is None:
            raise YamlError(say("The text is not valid YAML.")) from None
        line = mark.line + 1
        raise YamlError(say("The text is not valid YAML at line {line}.", line=line)) from None
    except yaml.YAMLError:  # a character that YAML does not allow
        raise YamlError(say("The text holds a character that YAML does not allow.")) from None


def _build(text: str, max_depth: int) -> object:
    root: list[object] = []
    open_nodes: list[object] = [root]
    keys: list[str | None] = [None]  # the key that waits for its value, per open mapping
    documents = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                _refuse(event, say("There is more than one document"))
        elif isinstance(event, yaml.AliasEvent):
            _refuse(event, say("Aliases are not allowed"))
        elif isinstance(event, yaml.NodeEvent):
            if event.anchor is not None:
                _refuse(event, say("Anchors are not allowed"))
            node = _node(event)
            is_key = _attach(open_nodes[-1], keys, node, event)
            if isinstance(event, yaml.CollectionStartEvent):
                if is_key:
                    _refuse(event, say("A key must be text"))
                open_nodes.append(node)
                keys.append(None)
                if len(open_nodes) - 1 > max_depth:
                    _refuse(event, say("The text is nested deeper than {n} levels", n=max_depth))
        elif isinstance(event, yaml.CollectionEndEvent):
            open_nodes.pop()
            keys.pop()
    return root[0] if root else None


def _node(event: yaml.NodeEvent) -> object:
    if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
        if event.tag is not None:
            _refuse(event, say("Tags are not allowed"))
        return {} if isinstance(event, yaml.MappingStartEvent) else []
    if not isinstance(event, yaml.ScalarEvent):  # pragma: no cover - the three kinds are all
        _refuse(event, say("Unknown kind of value"))
    if event.tag is not None:
        _refuse(event, say("Tags are not allowed"))
    plain = event.style in (None, "")
    return None if plain and event.value in _NULLS else str(event.value)


def _attach(parent: object, keys: list[str | None], node: object, event: yaml.NodeEvent) -> bool:
    """Put a node where it belongs; True when it was taken as a key."""
    if isinstance(parent, list):
        parent.append(node)
        return False
    if not isinstance(parent, dict):  # pragma: no cover - only collections are open
        _refuse(event, say("Unknown kind of value"))
    key = keys[-1]
    if key is not None:
        parent[key] = node
        keys[-1] = None
        return False
    if not isinstance(node, str):
        _refuse(event, say("A key must be text"))
    if node in parent:
        _refuse(event, say("A key is given twice"))
    if node == "<<":
        _refuse(event, say("Merge keys are not allowed"))
    keys[-1] = node
    return True


def _refuse(event: yaml.Event, what: str) -> NoReturn:
    mark = event.start_mark
    if mark is None:
        raise YamlError(f"{what}.")
    raise YamlError(say("{what} (line {line}).", what=what, line=mark.line + 1))
