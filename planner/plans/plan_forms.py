"""The form of a plan, and the upload of a workload file."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from planner.accounts.models import Team
from planner.frame.choice_fields import RowChoices
from planner.inventory.models import Cluster
from planner.plans.models import Plan, Workload
from planner.plans.plan_services import MAX_WORKLOADS_OF_PLAN


class _WorkloadChoices(RowChoices):
    def label_from_instance(self, obj: Any) -> str:
        count = obj.spec.get("replicas", 1)
        replicas = ngettext("%(n)d replica", "%(n)d replicas", count) % {"n": count}
        return f"{obj.name} · {obj.get_kind_display()} · {replicas}"


class _ClusterChoices(RowChoices):
    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.name} · {_('synthetic')}" if obj.is_synthetic else str(obj.name)


class PlanForm(forms.Form):
    """Name, workloads, clusters and the limits of the solve."""

    version = forms.IntegerField(widget=forms.HiddenInput, required=False, min_value=0)
    name = forms.CharField(label=gettext_lazy("Name"), max_length=80)
    description = forms.CharField(
        label=gettext_lazy("What it is for"), max_length=300, required=False
    )
    workloads = _WorkloadChoices(
        label=gettext_lazy("Workloads"),
        queryset=Workload.objects.none(),
        widget=forms.CheckboxSelectMultiple,
    )
    clusters = _ClusterChoices(
        label=gettext_lazy("Clusters"),
        queryset=Cluster.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=gettext_lazy("None chosen: all clusters of the team."),
    )
    budget_s = forms.IntegerField(
        label=gettext_lazy("Time budget"),
        min_value=1,
        max_value=600,
        initial=20,
        help_text=gettext_lazy("The best answer found by then counts."),
    )
    seed = forms.IntegerField(
        label=gettext_lazy("Seed"),
        min_value=0,
        max_value=2**31 - 1,
        initial=0,
        help_text=gettext_lazy("Equal input and seed give an equal answer."),
    )

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, queryset in (
            ("workloads", Workload.objects.filter(team=team)),
            ("clusters", Cluster.objects.filter(team=team)),
        ):
            field: Any = self.fields[name]
            field.queryset = queryset
        if Cluster.objects.filter(team=team, source=Cluster.Source.DEMO).exists():
            self.fields["clusters"].help_text = _(
                "None chosen: all clusters of the team, synthetic ones too."
            )

    def clean_workloads(self) -> Any:
        chosen = self.cleaned_data["workloads"]
        if len(chosen) > MAX_WORKLOADS_OF_PLAN:
            raise forms.ValidationError(
                _("A plan holds at most %(count)d workloads.") % {"count": MAX_WORKLOADS_OF_PLAN}
            )
        return chosen

    def columns(self) -> dict[str, Any]:
        """All cleaned fields but the version."""
        return {name: value for name, value in self.cleaned_data.items() if name != "version"}

    @staticmethod
    def initial_of(plan: Plan) -> dict[str, Any]:
        initial: dict[str, Any] = {
            name: getattr(plan, name) for name in ("version", "name", "description")
        }
        return initial | {
            "budget_s": plan.budget_s,
            "seed": plan.seed,
            "workloads": list(plan.workloads.values_list("pk", flat=True)),
            "clusters": list(plan.clusters.values_list("pk", flat=True)),
        }


class ImportForm(forms.Form):
    """A workload file: uploaded or pasted."""

    MAX_BYTES = 2 * 1024 * 1024

    file = forms.FileField(
        label=gettext_lazy("Workload file"),
        required=False,
        help_text=gettext_lazy("YAML or JSON, at most 2 MiB."),
    )
    text = forms.CharField(
        label=gettext_lazy("Or paste it"),
        required=False,
        max_length=500_000,
        widget=forms.Textarea(attrs={"rows": 12, "spellcheck": "false"}),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        upload, text = cleaned.get("file"), cleaned.get("text")
        if self.errors:
            return cleaned
        if bool(upload) == bool(text):
            raise forms.ValidationError(_("Choose a file or paste its text, one of the two."))
        if upload and upload.size > min(self.MAX_BYTES, settings.PLANNER_UPLOAD_MIB * 2**20):
            raise forms.ValidationError(_("The file is larger than 2 MiB."))
        return cleaned

    def data_bytes(self) -> bytes:
        upload = self.cleaned_data.get("file")
        if upload:
            data: bytes = upload.read()
            return data
        return str(self.cleaned_data["text"]).encode()
