"""Between the texts of a form and the declared value: tolerations, selectors, priorities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import yaml
from django.utils.formats import number_format
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from fleet.refusals import Refusal
from fleet.workloads import Workload
from planner.plans.models import Workload as WorkloadRow

PRIORITY_LEVELS: dict[str, int] = {"low": -100, "normal": 0, "high": 100}
PRIORITY_LABELS = {
    "low": gettext_lazy("low"),
    "normal": gettext_lazy("normal"),
    "high": gettext_lazy("high"),
}
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
MAX_LINES = 50


class TextError(ValueError):
    """A line that cannot be read; the message names the line."""


def _lines(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > MAX_LINES:
        raise TextError(_("At most %(count)d lines, please.") % {"count": MAX_LINES})
    return lines


def parse_selector(text: str) -> dict[str, str]:
    """Node labels, one ``key=value`` a line. Raises ``TextError``."""
    labels = {}
    for line in _lines(text):
        key, found, value = line.partition("=")
        if not found or not key.strip():
            raise TextError(
                _("“%(line)s”: write a label as key=value, one a line.") % {"line": line[:80]}
            )
        labels[key.strip()[:317]] = value.strip()[:63]
    return labels


def parse_tolerations(text: str) -> list[dict[str, str]]:
    """Tolerations as kubectl writes taints, one a line. Raises ``TextError``.

    ``key=value:Effect`` tolerates that taint, ``key:Effect`` any value of the key, ``key`` every
    taint of the key. The effect may be left out.
    """
    tolerations = []
    for line in _lines(text):
        body, found, effect = line.rpartition(":")
        if not found:
            body, effect = line, ""
        elif effect not in EFFECTS:
            raise TextError(
                _("“%(line)s”: the effect after the colon is one of %(effects)s.")
                % {"line": line[:80], "effects": ", ".join(EFFECTS)}
            )
        key, equal, value = body.partition("=")
        if not key.strip():
            raise TextError(_("“%(line)s”: a taint needs a key.") % {"line": line[:80]})
        entry = {"key": key.strip(), "operator": "Equal" if equal else "Exists"}
        if equal:
            entry["value"] = value.strip()
        if effect:
            entry["effect"] = effect
        tolerations.append(entry)
    return tolerations


def selector_text(labels: Mapping[str, str]) -> str:
    return "\n".join(f"{key}={value}" for key, value in labels.items())


def tolerations_text(tolerations: list[dict[str, str]]) -> str:
    """Inverse of ``parse_tolerations``."""
    lines = []
    for entry in tolerations:
        line = entry.get("key", "")
        if entry.get("operator", "Equal") == "Equal":
            line += f"={entry.get('value', '')}"
        if entry.get("effect"):
            line += f":{entry['effect']}"
        lines.append(line)
    return "\n".join(lines)


def priority_level(priority: int) -> str:
    """The named level of a number; "number" when it is none of them."""
    return next((name for name, value in PRIORITY_LEVELS.items() if value == priority), "number")


def priority_text(priority: int) -> str:
    """ "high", or the number itself."""
    level = priority_level(priority)
    return str(PRIORITY_LABELS[level]) if level in PRIORITY_LABELS else str(priority)


class SpecError(ValueError):
    """A spec that the domain refuses: the field that it is about and the reason."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


def to_value(spec: Mapping[str, Any]) -> Workload:
    """The declared value of a spec. Raises ``SpecError`` with the dotted field ("shape.head_dim",
    "" for the whole)."""
    try:
        value: Workload = msgspec.convert(dict(spec), type=Workload)
    except msgspec.ValidationError as error:
        refusal = Refusal.of(error, Workload, spec)
        if refusal.missing_field is not None:
            raise SpecError(refusal.missing_field, _("This field is required.")) from error
        field = re.sub(r"\[[^\]]*\]", "", refusal.path)
        raise SpecError(field, f"{capfirst(refusal.sentence)}.") from error
    return value


def to_spec(value: Workload) -> dict[str, Any]:
    """The value as JSON keeps it; inverse of ``to_value``."""
    spec: dict[str, Any] = msgspec.to_builtins(value)
    return spec


def short_spec(row: WorkloadRow) -> dict[str, Any]:
    """The spec without the fields that hold their default: as a person would write it."""
    value = row.value
    kept = {"kind": row.kind}
    kept.update(_without_defaults(value))
    return kept


def _without_defaults(value: msgspec.Struct) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for field in msgspec.structs.fields(value):
        held = getattr(value, field.name)
        if not field.required and held == field.default:
            continue
        if field.default_factory is not msgspec.NODEFAULT and held == field.default_factory():
            continue
        if isinstance(held, msgspec.Struct):
            held = _without_defaults(held)
        elif isinstance(held, tuple):
            held = [
                _without_defaults(part) if isinstance(part, msgspec.Struct) else part
                for part in held
            ]
        kept[field.name] = held
    return kept


def to_yaml(rows: Iterable[WorkloadRow]) -> bytes:
    """The workloads as a workload file that ``fleet.workload_file`` reads back."""
    content = {"workloads": [short_spec(row) for row in rows]}
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    return text.encode()


def declared(row: WorkloadRow) -> list[tuple[str, str]]:
    """The fields that do not hold their default, as words and texts."""
    pairs: list[tuple[str, str]] = []
    for name, value in short_spec(row).items():
        if name in ("kind", "name"):
            continue
        if name in ("shape", "constraints"):
            pairs += [(_words(inner), _text(inner, held)) for inner, held in value.items()]
        else:
            pairs.append((_words(name), _text(name, value)))
    return pairs


def _words(name: str) -> str:
    return name.replace("_", " ")


def _text(name: str, value: Any) -> str:
    if name == "priority":
        return priority_text(value)
    if name == "tolerations":
        return tolerations_text(value)
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, dict):
        return selector_text(value)
    if isinstance(value, list | tuple):
        return ", ".join(str(part) for part in value)
    if isinstance(value, int | float):
        return number_format(value, use_l10n=True, force_grouping=True)
    return str(value)
