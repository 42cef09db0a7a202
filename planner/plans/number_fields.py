"""Form fields whose range and default come from the type of the declared value."""

from __future__ import annotations

from typing import Any

import msgspec
from django import forms


def _number_type(kind: Any) -> Any:
    """The number inside an optional one."""
    if isinstance(kind, msgspec.inspect.UnionType):
        return next(part for part in kind.types if not isinstance(part, msgspec.inspect.NoneType))
    return kind


def number_field(
    struct: type[msgspec.Struct],
    name: str,
    label: Any,
    *,
    unit: Any = "",
    help_text: Any = "",
    optional: bool = False,
) -> forms.IntegerField | forms.FloatField:
    """The field for ``struct.name``. ``unit`` is kept on the field, for the template.

    A field with a default may be left empty: the default then counts.
    """
    info: Any = msgspec.inspect.type_info(struct)
    field = next(part for part in info.fields if part.name == name)
    kind = _number_type(field.type)
    least = kind.ge if kind.ge is not None else kind.gt
    kwargs: dict[str, Any] = {
        "label": label,
        "help_text": help_text,
        "required": not optional and field.required,
        "min_value": least,
        "max_value": kind.le,
        "initial": None if field.default in (msgspec.NODEFAULT, None) else field.default,
    }
    made: forms.IntegerField | forms.FloatField
    if isinstance(kind, msgspec.inspect.IntType):
        made = forms.IntegerField(**kwargs)
    else:
        made = forms.FloatField(**kwargs)
        made.widget.attrs["step"] = "any"
    made.widget.attrs["inputmode"] = (
        "numeric" if isinstance(made, forms.IntegerField) else "decimal"
    )
    made.unit = unit  # type: ignore[attr-defined]  # read by the form templates
    return made
