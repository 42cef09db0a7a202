"""Forms of the price book: a price per GPU-hour, and the figures of owned hardware."""

from __future__ import annotations

from dataclasses import MISSING
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from fleet.catalogue.accelerators import accelerator
from fleet.catalogue.prices import OwnedHardware
from planner.accounts.models import Team
from planner.frame.choice_fields import RowChoice
from planner.inventory.models import Cluster
from planner.plans.models import PriceEntry
from planner.plans.price_books import from_inputs

CURRENCIES = ("USD", "EUR", "JPY", "GBP", "CHF", "CNY", "KRW", "SGD", "INR", "AUD", "CAD", "SEK")
FIGURES = (
    "node_price",
    "gpus",
    "gpu_watts",
    "host_watts",
    "residual",
    "years",
    "load",
    "pue",
    "per_kwh",
    "yearly_share",
)


class _AboutForm(forms.Form):
    """What a typed-in price and owned hardware share."""

    version = forms.IntegerField(widget=forms.HiddenInput, required=False, min_value=0)
    cluster = RowChoice(
        label=gettext_lazy("Cluster"),
        queryset=Cluster.objects.none(),
        required=False,
        empty_label=gettext_lazy("All clusters"),
    )
    currency = forms.ChoiceField(
        label=gettext_lazy("Currency"), choices=[(code, code) for code in CURRENCIES]
    )
    source = forms.CharField(
        label=gettext_lazy("Source"),
        max_length=200,
        help_text=gettext_lazy("Where the figure comes from: a contract, a quote, a web page."),
    )
    as_of = forms.DateField(
        label=gettext_lazy("As of"), widget=forms.DateInput(attrs={"type": "date"})
    )

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice: Any = self.fields["cluster"]
        choice.queryset = Cluster.objects.filter(team=team)

    def about(self) -> dict[str, Any]:
        """The columns that both forms fill alike."""
        return {
            name: self.cleaned_data[name] for name in ("cluster", "currency", "source", "as_of")
        }

    def columns(self) -> dict[str, Any]:
        """The columns of the row. Both forms have their own; this one is never shown."""
        raise TypeError(f"{type(self).__name__} does not say its columns")


class PriceForm(_AboutForm):
    """A price per GPU-hour for an instance type or for a GPU model."""

    match_by = forms.ChoiceField(
        label=gettext_lazy("Price for"),
        choices=[
            ("instance_type", gettext_lazy("Instance type")),
            ("gpu_model", gettext_lazy("GPU model")),
        ],
        widget=forms.RadioSelect,
        initial="gpu_model",
    )
    match = forms.CharField(
        label=gettext_lazy("Instance type or GPU model"),
        max_length=100,
        widget=forms.TextInput(
            attrs={"list": "price-matches", "autocomplete": "off", "spellcheck": "false"}
        ),
    )
    kind = forms.ChoiceField(
        label=gettext_lazy("Kind"),
        choices=[choice for choice in PriceEntry.Kind.choices if choice[0] != "owned"],
        initial=PriceEntry.Kind.NEGOTIATED,
    )
    per_gpu_hour = forms.DecimalField(
        label=gettext_lazy("Price of one GPU"),
        min_value=Decimal(0),
        max_digits=12,
        decimal_places=4,
    )

    field_order = (
        "version",
        "match_by",
        "match",
        "kind",
        "per_gpu_hour",
        "currency",
        "cluster",
        "source",
        "as_of",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        name = cleaned.get("match", "")
        if cleaned.get("match_by") == "gpu_model" and name and accelerator(name) is None:
            self.add_error("match", _("The catalogue has no GPU model of this name."))
        return cleaned

    def columns(self) -> dict[str, Any]:
        data = self.cleaned_data
        by_type = data["match_by"] == "instance_type"
        return self.about() | {
            "kind": data["kind"],
            "per_gpu_hour": data["per_gpu_hour"],
            "instance_type": data["match"] if by_type else "",
            "gpu_model": "" if by_type else data["match"],
            "owned_inputs": None,
        }

    @staticmethod
    def initial_of(row: PriceEntry) -> dict[str, Any]:
        return _about_of(row) | {
            "match_by": "instance_type" if row.instance_type else "gpu_model",
            "match": row.instance_type or row.gpu_model,
            "kind": row.kind,
            "per_gpu_hour": row.per_gpu_hour,
        }


def _figure(
    name: str,
    label: Any,
    most: str,
    *,
    least: str = "0",
    unit: Any = "",
    help_text: Any = "",
) -> forms.DecimalField:
    """A figure of owned hardware; its default is that of the formula. ``unit`` is kept on the
    field, for the template."""
    default = OwnedHardware.__dataclass_fields__[name].default
    field = forms.DecimalField(
        label=label,
        initial=None if default is MISSING else default,
        min_value=Decimal(least),
        max_value=Decimal(most),
        max_digits=14,
        decimal_places=4,
        help_text=help_text,
    )
    field.unit = unit  # type: ignore[attr-defined]  # read by the template
    return field


class OwnedForm(_AboutForm):
    """The figures of owned hardware; the price of a GPU-hour follows by formula."""

    gpu_model = forms.CharField(
        label=gettext_lazy("GPU model"),
        max_length=100,
        widget=forms.TextInput(
            attrs={"list": "price-matches", "autocomplete": "off", "spellcheck": "false"}
        ),
    )
    node_price = _figure("node_price", gettext_lazy("Price of one node"), "1e8")
    gpus = forms.IntegerField(
        label=gettext_lazy("GPUs in it"), min_value=1, max_value=64, initial=8
    )
    years = _figure(
        "years",
        gettext_lazy("Written off over"),
        "30",
        least="0.25",
        unit=gettext_lazy("years"),
        help_text=gettext_lazy("3 to 5 in public calculators."),
    )
    residual = _figure(
        "residual",
        gettext_lazy("Left at the end"),
        "1",
        help_text=gettext_lazy("Share of the price; 0.2 is 20 %."),
    )
    yearly_share = _figure(
        "yearly_share",
        gettext_lazy("Support, staff, rack"),
        "10",
        unit=gettext_lazy("of the price a year"),
    )
    gpu_watts = _figure("gpu_watts", gettext_lazy("Power of one GPU"), "1e5", unit="W")
    host_watts = _figure("host_watts", gettext_lazy("Power of the rest"), "1e6", unit="W")
    load = _figure(
        "load",
        gettext_lazy("Mean load"),
        "1",
        help_text=gettext_lazy("Mean power over rated power."),
    )
    pue = _figure(
        "pue",
        gettext_lazy("PUE"),
        "10",
        least="1",
        help_text=gettext_lazy("World average 1.55 to 1.58."),
    )
    per_kwh = _figure("per_kwh", gettext_lazy("Electricity"), "1e4", unit=gettext_lazy("a kWh"))
    utilisation = forms.DecimalField(
        label=gettext_lazy("Utilisation"),
        initial=Decimal("0.7"),
        min_value=Decimal("0.01"),
        max_value=Decimal(1),
        decimal_places=4,
        max_digits=5,
        help_text=gettext_lazy("Only for the price of a used hour, to compare with renting."),
    )

    hardware: OwnedHardware | None = None

    def clean_gpu_model(self) -> str:
        name: str = self.cleaned_data["gpu_model"].strip()
        if accelerator(name) is None:
            raise forms.ValidationError(_("The catalogue has no GPU model of this name."))
        return name

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        needed = (*FIGURES, "gpu_model", "currency")
        if all(cleaned.get(name) is not None for name in needed):
            try:
                self.hardware = from_inputs(
                    self.inputs(), gpu_model=cleaned["gpu_model"], currency=cleaned["currency"]
                )
            except ValueError as error:
                self.add_error(None, str(error))
        return cleaned

    def inputs(self) -> dict[str, str]:
        return {name: str(self.cleaned_data[name]) for name in FIGURES}

    def columns(self) -> dict[str, Any]:
        if self.hardware is None:
            raise ValueError("the form is not valid")
        return self.about() | {
            "kind": PriceEntry.Kind.OWNED,
            "gpu_model": self.cleaned_data["gpu_model"],
            "instance_type": "",
            "per_gpu_hour": self.hardware.per_installed_gpu_hour,
            "owned_inputs": self.inputs(),
        }

    @staticmethod
    def initial_of(row: PriceEntry) -> dict[str, Any]:
        return _about_of(row) | (row.owned_inputs or {}) | {"gpu_model": row.gpu_model}

    def figures(self) -> list[forms.BoundField]:
        return [self[name] for name in (*FIGURES, "utilisation")]


def _about_of(row: PriceEntry) -> dict[str, Any]:
    return {
        "version": row.version,
        "cluster": row.cluster_id,
        "currency": row.currency,
        "source": row.source,
        "as_of": row.as_of,
    }
