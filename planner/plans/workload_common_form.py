"""What the forms of all kinds of workload share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import msgspec
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from fleet.catalogue.accelerators import accelerators
from fleet.catalogue.models import matching_models, model, nearest_models
from fleet.workloads import LlmWorkload, ModelShape, Workload
from planner.accounts.models import Team
from planner.plans.models import Workload as WorkloadRow
from planner.plans.number_fields import number_field
from planner.plans.workload_specs import (
    PRIORITY_LABELS,
    PRIORITY_LEVELS,
    SpecError,
    TextError,
    parse_selector,
    parse_tolerations,
    priority_level,
    selector_text,
    to_value,
    tolerations_text,
)

SHAPE_FIELDS = {
    "shape_max_context" if field.name == "max_context" else field.name: field.name
    for field in msgspec.structs.fields(ModelShape)
}
"""Form field -> field of the shape. Both a model and its serving have a longest context."""
_NEEDED_OF_A_SHAPE = tuple(
    field.name for field in msgspec.structs.fields(ModelShape) if field.required
)
CONSTRAINT_FIELDS = ("clusters", "gpu_models", "topology", "gang", "allow_mig")
_COMMON = ("replicas", "namespace", "preemptible")
MOST_CHOICES = 8
"""Models of the catalogue that a part of a name offers at most."""
TOKENS = gettext_lazy("tokens")
_shape = partial(number_field, ModelShape)


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Why a form is not ready: fields still empty, a model to choose, and what is wrong."""

    needed: tuple[tuple[str, str], ...]  # label, id of the field
    choices: str  # "3 models match; choose one.", "" without matches
    wrong: tuple[tuple[str, str, str], ...]  # label, id, error; both "" for the form as a whole


def radio(choices: Iterable[tuple[str, Any]], **kwargs: Any) -> forms.ChoiceField:
    return forms.ChoiceField(choices=list(choices), widget=forms.RadioSelect, **kwargs)


def same(values: Iterable[str]) -> list[tuple[str, str]]:
    return [(value, value) for value in values]


class WorkloadForm(forms.Form):
    """What the three kinds share. ``value`` holds the declared workload once the form is valid."""

    kind: ClassVar[str]
    struct: ClassVar[type[msgspec.Struct]]
    own_fields: ClassVar[tuple[str, ...]]
    """Fields of this kind, in the order of the page."""
    model_kinds: ClassVar[tuple[str, ...]]
    """Kinds of catalogue models that it can be."""

    version = forms.IntegerField(widget=forms.HiddenInput, required=False, min_value=0)
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=63,
        help_text=gettext_lazy("Lower case letters, digits and hyphens, as Kubernetes names are."),
    )
    model_source = radio(
        [
            ("catalogue", gettext_lazy("From the catalogue")),
            ("shape", gettext_lazy("By hand")),
        ],
        label=gettext_lazy("Model"),
        initial="catalogue",
    )
    model = forms.CharField(
        label=gettext_lazy("Catalogue model"),
        max_length=200,
        required=False,
        widget=forms.TextInput(
            attrs={"list": "catalogue-models", "autocomplete": "off", "spellcheck": "false"}
        ),
    )
    total_params_b = _shape("total_params_b", gettext_lazy("Parameters"), unit="B", optional=True)
    active_params_b = _shape(
        "active_params_b",
        gettext_lazy("Active per token"),
        unit="B",
        help_text=gettext_lazy("Mixture of experts only."),
    )
    hidden_size = _shape("hidden_size", gettext_lazy("Hidden size"), optional=True)
    num_layers = _shape("num_layers", gettext_lazy("Layers"), optional=True)
    num_heads = _shape("num_heads", gettext_lazy("Attention heads"), optional=True)
    num_kv_heads = _shape(
        "num_kv_heads",
        gettext_lazy("KV heads"),
        help_text=gettext_lazy("Empty: as many as heads."),
    )
    head_dim = _shape(
        "head_dim",
        gettext_lazy("Head size"),
        help_text=gettext_lazy("Empty: hidden size / heads."),
    )
    intermediate_size = _shape("intermediate_size", gettext_lazy("Feed-forward size"))
    vocab_size = _shape("vocab_size", gettext_lazy("Vocabulary"))
    shape_max_context = _shape(
        "max_context",
        gettext_lazy("Trained for"),
        unit=TOKENS,
        help_text=gettext_lazy("Empty: not checked."),
    )
    replicas = number_field(
        LlmWorkload,
        "replicas",
        gettext_lazy("Replicas"),
        help_text=gettext_lazy("Independent copies; for training, jobs."),
    )
    namespace = forms.CharField(
        label=gettext_lazy("Namespace"),
        max_length=63,
        required=False,
        initial="default",
        help_text=gettext_lazy("Its quotas count."),
    )
    priority_level = radio(
        [*PRIORITY_LABELS.items(), ("number", gettext_lazy("number"))],
        label=gettext_lazy("Priority"),
        initial="normal",
        help_text=gettext_lazy("Higher is placed first."),
    )
    priority_number = number_field(
        LlmWorkload,
        "priority",
        gettext_lazy("Priority as a number"),
        help_text=gettext_lazy("Counts when “number” is chosen above."),
    )
    preemptible = forms.BooleanField(
        label=gettext_lazy("May be pre-empted by others"), required=False
    )
    clusters = forms.MultipleChoiceField(
        label=gettext_lazy("Clusters"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("None chosen: any cluster."),
    )
    gpu_models = forms.MultipleChoiceField(
        label=gettext_lazy("GPU models"),
        required=False,
        widget=forms.SelectMultiple(attrs={"size": 6}),
        help_text=gettext_lazy("None chosen: any card that fits."),
    )
    topology = forms.ChoiceField(
        label=gettext_lazy("Pods of one replica together in one"),
        initial="any",
        choices=[
            ("any", gettext_lazy("anywhere in the cluster")),
            ("node", gettext_lazy("node")),
            ("nvlink", gettext_lazy("NVLink domain")),
            ("rack", gettext_lazy("rack")),
            ("zone", gettext_lazy("zone")),
        ],
    )
    gang = forms.BooleanField(
        label=gettext_lazy("All pods of a replica or none (gang)"), required=False, initial=True
    )
    allow_mig = forms.BooleanField(
        label=gettext_lazy("MIG devices will do"), required=False, initial=True
    )
    tolerate_gpu_taints = forms.BooleanField(
        label=gettext_lazy("Tolerate the usual GPU taints"), required=False, initial=True
    )
    node_selector = forms.CharField(
        label=gettext_lazy("Node labels"),
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        help_text=gettext_lazy("key=value, one a line."),
    )
    tolerations = forms.CharField(
        label=gettext_lazy("Tolerations"),
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        help_text=gettext_lazy("As taints are written: key=value:NoSchedule, one a line."),
    )

    def __init__(
        self, *args: Any, team: Team, fleet_models: Iterable[str] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.team = team
        self.value: Workload | None = None
        self.choices: tuple[str, ...] = ()  # full names for a part of a name
        clusters: Any = self.fields["clusters"]
        clusters.choices = same(team.clusters.values_list("name", flat=True))
        here = sorted(set(fleet_models))
        others = [name for name in accelerators() if name not in set(here)]
        gpu_models: Any = self.fields["gpu_models"]
        gpu_models.choices = [
            (_("In your fleet"), same(here)),
            (_("Other cards"), same(others)),
        ]

    def clean_model(self) -> str:
        """The full catalogue name; nothing when the shape is given by hand."""
        name: str = self.cleaned_data["model"].strip()
        if self.data.get(self.add_prefix("model_source")) == "shape":
            return ""
        if not name:
            raise forms.ValidationError(
                _("Choose a model, or give its shape by hand."), code="required"
            )
        found = model(name)
        if found is not None:
            return found.name
        matches = [m.name for m in matching_models(name) if m.kind in self.model_kinds]
        self.choices = tuple(matches[:MOST_CHOICES]) or nearest_models(name)
        if not matches:
            text = _("The catalogue has no model of this name.")
            if self.choices:
                text += _(" Did you mean %(near)s?") % {"near": ", ".join(self.choices)}
            raise forms.ValidationError(text)
        text = ngettext(
            "%(n)d model matches; choose it.", "%(n)d models match; choose one.", len(matches)
        )
        if len(matches) > MOST_CHOICES:
            text = _("%(n)d models match; choose one or type more of the name.")
        raise forms.ValidationError(text % {"n": len(matches)}, code="choose")

    def clean_node_selector(self) -> dict[str, str]:
        labels: dict[str, str] = self._parsed(parse_selector, "node_selector")
        return labels

    def clean_tolerations(self) -> list[dict[str, str]]:
        parsed: list[dict[str, str]] = self._parsed(parse_tolerations, "tolerations")
        return parsed

    def _parsed(self, parse: Any, name: str) -> Any:
        try:
            return parse(self.cleaned_data[name])
        except TextError as error:
            raise forms.ValidationError(str(error)) from error

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("model_source") == "shape":
            for name in _NEEDED_OF_A_SHAPE:
                if cleaned.get(name) is None and name not in self.errors:
                    error = forms.ValidationError(_("This field is required."), code="required")
                    self.add_error(name, error)
        if self.errors:
            return cleaned
        try:
            self.value = to_value(self.spec())
        except SpecError as error:
            field = error.field.rpartition(".")[2]
            self.add_error(field if field in self.fields else None, error.message)
        return cleaned

    def spec(self) -> dict[str, Any]:
        """The spec that the cleaned fields describe; empty fields take their default."""
        data = self.cleaned_data
        spec: dict[str, Any] = {"kind": self.kind, "name": data["name"]}
        if data["model_source"] == "shape":
            spec["shape"] = {
                name: data[field]
                for field, name in SHAPE_FIELDS.items()
                if data.get(field) is not None
            }
        else:
            spec["model"] = data["model"]
        for name in (*_COMMON, *self.own_fields):
            if data[name] not in (None, ""):
                spec[name] = data[name]
        level = data["priority_level"]
        spec["priority"] = PRIORITY_LEVELS.get(level, data["priority_number"] or 0)
        spec["constraints"] = {name: data[name] for name in CONSTRAINT_FIELDS}
        spec["constraints"]["tolerate_gpu_taints"] = data["tolerate_gpu_taints"]
        spec["constraints"]["node_selector"] = data["node_selector"]
        spec["constraints"]["tolerations"] = data["tolerations"]
        return spec

    @classmethod
    def initial_of(cls, row: WorkloadRow) -> dict[str, Any]:
        """The fields of a stored workload."""
        spec: dict[str, Any] = msgspec.to_builtins(row.value)
        constraints = spec["constraints"]
        initial = {name: spec[name] for name in (*_COMMON, *cls.own_fields)}
        initial |= {name: constraints[name] for name in CONSTRAINT_FIELDS}
        shape = spec["shape"] or {}
        initial |= {field: shape.get(name) for field, name in SHAPE_FIELDS.items() if shape}
        return initial | {
            "version": row.version,
            "name": row.name,
            "model": spec["model"],
            "model_source": "shape" if spec["shape"] else "catalogue",
            "priority_level": priority_level(spec["priority"]),
            "priority_number": spec["priority"],
            "tolerate_gpu_taints": constraints["tolerate_gpu_taints"],
            "node_selector": selector_text(constraints["node_selector"]),
            "tolerations": tolerations_text(constraints["tolerations"]),
        }

    @property
    def unfinished(self) -> Unfinished | None:
        """What keeps the sent form from being worked out; None when nothing does."""
        if not self.is_bound or not self.errors:
            return None
        needed, wrong, choices = [], [], ""
        for name, errors in self.errors.as_data().items():
            bound = self[name] if name in self.fields else None
            place = (str(bound.label), bound.id_for_label) if bound is not None else ("", "")
            for error in errors:
                text = " ".join(error.messages)
                if error.code == "required":
                    needed.append(place)
                elif error.code == "choose":
                    choices = text
                else:
                    wrong.append((*place, text))
        return Unfinished(tuple(needed), choices, tuple(wrong))

    def bound(self, *names: str) -> list[forms.BoundField]:
        return [self[name] for name in names]

    def shape_group(self) -> list[forms.BoundField]:
        return self.bound(*SHAPE_FIELDS)

    def own_group(self) -> list[forms.BoundField]:
        return self.bound(*self.own_fields)

    def where_group(self) -> list[forms.BoundField]:
        return self.bound("topology", "clusters", "gpu_models", "allow_mig")

    @property
    def where_open(self) -> bool:
        """Whether the part is shown from the start: something in it is chosen or wrong."""
        return self._is_touched(self.where_group())

    @property
    def rules_open(self) -> bool:
        return self._is_touched(self.rules_group())

    def _is_touched(self, group: list[forms.BoundField]) -> bool:
        return any(
            bound.errors or (bound.value() or "") not in ("", bound.field.initial or "", [])
            for bound in group
            if not isinstance(bound.field, forms.BooleanField) and bound.name != "priority_number"
        )

    def rules_group(self) -> list[forms.BoundField]:
        return self.bound(
            "namespace",
            "preemptible",
            "gang",
            "tolerate_gpu_taints",
            "node_selector",
            "tolerations",
        )
