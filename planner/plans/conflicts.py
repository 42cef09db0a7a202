"""The page for a lost update: what you wrote beside what somebody else saved meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext as _

LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Difference:
    label: str
    yours: str
    theirs: str


def differences(form: forms.Form, saved: Mapping[str, Any]) -> list[Difference]:
    """The fields in which the submitted form differs from the row as it is now (``saved``:
    initial values of a form on that row)."""
    found = []
    for name, field in form.fields.items():
        if isinstance(field.widget, forms.HiddenInput):
            continue
        raw = field.widget.value_from_datadict(form.data, form.files, form.add_prefix(name))
        if raw in (None, "") and not field.required:
            raw = field.initial  # an empty field takes its default
        yours, theirs = _text(field, raw), _text(field, saved.get(name, field.initial))
        if yours != theirs:
            found.append(Difference(str(field.label or name), yours or "–", theirs or "–"))
    return found


def renewed(form: forms.Form, version: int) -> None:
    """Let the form be sent once more, now against the version as it is."""
    data: Any = form.data
    data = data.copy()
    data[form.add_prefix("version")] = str(version)
    form.data = data


def _text(field: forms.Field, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(field, forms.BooleanField):
        return _("yes") if value else _("no")
    labels = _labels(field)
    values = value if isinstance(value, list | tuple) else [value]
    shown = [labels.get(str(part), str(part)).replace("\r\n", "\n").strip() for part in values]
    return ", ".join(shown)[:LONGEST]


def _labels(field: forms.Field) -> dict[str, str]:
    if not isinstance(field, forms.ChoiceField | forms.ModelChoiceField):
        return {}
    found: dict[str, str] = {}
    choices: Any = field.choices
    for value, label in choices:
        if isinstance(label, list | tuple):
            found.update({str(inner): str(text) for inner, text in label})
        else:
            found[str(value)] = str(label)
    return found
