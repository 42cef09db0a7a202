"""The form in which a person chooses the levels of a cluster: rows of a name and a label key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms.renderers import get_default_renderer
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from fleet.kubernetes.topology import LEVEL_NAME, MOST_LEVELS, RESERVED_NAMES
from fleet.kubernetes.topology_keys import level_name

MOST_ROWS = MOST_LEVELS * 2
"""Rows of the form: a level may have several keys."""


class LevelForm(forms.Form):
    """One row. An empty one is left out."""

    name = forms.CharField(
        label=gettext_lazy("Level"),
        max_length=60,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    key = forms.CharField(
        label=gettext_lazy("Label key"),
        max_length=400,
        required=False,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "list": "label-keys"}
        ),
    )

    def __init__(self, *args: Any, known: Iterable[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._known = set(known)

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        name, key = self.cleaned_data.get("name", ""), self.cleaned_data.get("key", "")
        if key and not name:
            name = self.cleaned_data["name"] = level_name(key)
        if name and not key:
            self.add_error("key", _("Say which label tells the domains of this level apart."))
        elif key and key not in self._known:
            self.add_error(
                "key",
                _("No GPU node carries the label %(key)s. Label the nodes and read them first.")
                % {"key": key},
            )
        if name and not re.fullmatch(LEVEL_NAME, name):
            self.add_error("name", _("Use lower-case letters, digits and hyphens."))
        elif name in RESERVED_NAMES:
            self.add_error(
                "name", _("“%(name)s” has a meaning of its own in plans.") % {"name": name}
            )
        return cleaned


class LevelFormSet(forms.BaseFormSet):  # type: ignore[type-arg]  # not at run time
    """The rows together, coarse to fine."""

    form = LevelForm
    renderer = get_default_renderer()
    extra = 1
    min_num = 0
    max_num = absolute_max = MOST_ROWS
    can_order = can_delete = can_delete_extra = validate_min = validate_max = edit_only = False

    def __init__(self, *args: Any, known: Iterable[str] = (), **kwargs: Any) -> None:
        kwargs.setdefault("prefix", "level")
        kwargs["form_kwargs"] = {"known": set(known)}
        super().__init__(*args, **kwargs)

    @classmethod
    def of(cls, rows: Sequence[tuple[str, str]], known: Iterable[str]) -> LevelFormSet:
        """The form with these rows, not yet sent."""
        return cls(initial=[{"name": name, "key": key} for name, key in rows], known=known)

    def typed(self) -> list[tuple[str, str]]:
        """The rows as they were typed, whether right or wrong."""
        count = min(self.total_form_count(), MOST_ROWS)
        return [
            (self.data.get(f"level-{n}-name", ""), self.data.get(f"level-{n}-key", ""))
            for n in range(count)
        ]

    def levels(self) -> list[tuple[str, str]]:
        """The levels of a valid form."""
        return [
            (form.cleaned_data["name"], form.cleaned_data["key"])
            for form in self.forms
            if form.cleaned_data.get("key")
        ]

    def clean(self) -> None:
        if any(self.errors):
            return
        chosen = self.levels()
        if not chosen:
            raise forms.ValidationError(_("Choose at least one level, or go back to the proposal."))
        keys = [key for _name, key in chosen]
        if double := next((key for key in keys if keys.count(key) > 1), ""):
            raise forms.ValidationError(
                _("The label %(key)s stands in two rows. Each tells one level apart.")
                % {"key": double}
            )
        seen: list[str] = []
        for name, _key in chosen:
            if name in seen and seen[-1] != name:
                raise forms.ValidationError(
                    _(
                        "The name %(name)s comes twice with another level between. Rows of one "
                        "level stand together; different levels need different names."
                    )
                    % {"name": name}
                )
            seen.append(name)
        if len(set(seen)) > MOST_LEVELS:
            raise forms.ValidationError(
                _("At most %(count)d levels can be kept.") % {"count": MOST_LEVELS}
            )


@dataclass(frozen=True, slots=True)
class LevelLine:
    """One row as it is shown: what can be done with it, and how far its label reaches."""

    form: LevelForm
    number: int
    can_rise: bool
    can_sink: bool
    is_empty: bool
    reach: bool
    nodes: int
    values: int

    @property
    def place(self) -> int:
        return self.number + 1


def level_lines(forms: LevelFormSet, carried: Mapping[str, tuple[int, int]]) -> list[LevelLine]:
    """The rows; ``carried`` is label key -> (GPU nodes, values)."""
    texts = [(form["name"].value() or "", form["key"].value() or "") for form in forms]
    filled = sum(any(pair) for pair in texts)
    return [
        LevelLine(
            form=form,
            number=number,
            can_rise=0 < number < filled,
            can_sink=number < filled - 1,
            is_empty=not any(texts[number]),
            reach=texts[number][1] in carried,
            nodes=carried.get(texts[number][1], (0, 0))[0],
            values=carried.get(texts[number][1], (0, 0))[1],
        )
        for number, form in enumerate(forms)
    ]


def moved(rows: list[tuple[str, str]], what: str, row: str) -> list[tuple[str, str]]:
    """The rows after a press of "up", "down", "drop" (of row number ``row``) or "add"."""
    rows = [pair for pair in rows if any(pair)] if what == "add" else list(rows)
    number = int(row) if row.isascii() and row.isdigit() else -1
    if what != "add" and 0 <= number < len(rows):
        pair = rows.pop(number)
        if what != "drop":
            place = number - 1 if what == "up" else number + 1
            rows.insert(max(0, place), pair)
    return [pair for pair in rows if any(pair)][:MOST_ROWS]


def rows_of(facts: dict[str, Any], number: str) -> list[tuple[str, str]]:
    """The rows of one declared topology; none for a number that there is not."""
    declared = facts.get("declared", [])
    if not (number.isascii() and number.isdigit()) or int(number[:4]) >= len(declared):
        return []
    _source, keys, names, _flavors = declared[int(number[:4])]
    return [(name or level_name(key), key) for name, key in zip(names, keys, strict=False)]
