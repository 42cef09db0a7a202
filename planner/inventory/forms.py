"""Forms of clusters. A credential is written by a form and never shown by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import RegexValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from fleet.kubernetes import kubeconfig
from fleet.kubernetes.dump import Source
from fleet.kubernetes.kubeconfig import AccessError, ClusterAccess
from planner.inventory.models import Cluster

MOST_FILES = 100

INTERVALS = (
    (0, gettext_lazy("By hand only")),
    (60, gettext_lazy("Every minute")),
    (300, gettext_lazy("Every 5 minutes")),
    (900, gettext_lazy("Every 15 minutes")),
    (3600, gettext_lazy("Every hour")),
)


class FilesWidget(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One or more files; cleans to a list of uploads."""

    widget = FilesWidget

    def clean(self, data: Any, initial: Any = None) -> Any:
        files = data if isinstance(data, list | tuple) else [data] if data else []
        if len(files) > MOST_FILES:
            raise forms.ValidationError(
                _("At most %(count)d files at a time.") % {"count": MOST_FILES}
            )
        if not files:
            return super().clean(None, initial)
        return [super(FilesField, self).clean(file, initial) for file in files]


class WriteOnlyTextarea(forms.Textarea):
    """Never sends back what was typed, so that no page holds a credential."""

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        return super().get_context(name, None, attrs)


def sources_of(uploads: Sequence[UploadedFile[Any]]) -> list[Source]:
    """Uploads as the reader takes them. Each keeps its name, for messages only."""
    return [Source(upload.name or _("file without a name"), upload.read()) for upload in uploads]


def _name_field() -> forms.CharField:
    return forms.CharField(
        label=gettext_lazy("Name"),
        max_length=63,
        help_text=gettext_lazy("As people call it: lower-case letters, digits and hyphens."),
        validators=[
            RegexValidator(
                r"\A[a-z0-9]([a-z0-9-]*[a-z0-9])?\Z",
                gettext_lazy("Use lower-case letters, digits and hyphens, such as “prod-tokyo”."),
            )
        ],
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )


def _interval_field(initial: int | None) -> forms.TypedChoiceField:
    choices: list[tuple[int, Any]] = list(INTERVALS)
    if initial is not None and initial not in dict(choices):
        choices.append((initial, _("Every %(seconds)d seconds") % {"seconds": initial}))
    return forms.TypedChoiceField(
        label=gettext_lazy("Read again"),
        choices=sorted(choices, key=lambda choice: choice[0]),
        coerce=int,
        initial=initial,
    )


class ClusterForm(forms.Form):
    """What every way of adding a cluster asks for."""

    name = _name_field()
    description = forms.CharField(label=gettext_lazy("Description"), max_length=200, required=False)


class FilesForm(ClusterForm):
    files = FilesField(  # type: ignore[assignment]  # a field, not BaseForm.files
        label=gettext_lazy("Files from kubectl"),
        help_text=gettext_lazy("JSON or YAML, also packed with gzip; several files at once."),
    )


class ImportForm(forms.Form):
    files = FilesField(  # type: ignore[assignment]  # a field, not BaseForm.files
        label=gettext_lazy("Newer files from kubectl"),
        help_text=gettext_lazy("All files of one export together; they become one snapshot."),
    )


class LiveForm(ClusterForm):
    """A cluster that is read live: subclasses say where its access comes from."""

    source: Cluster.Source

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["sync_interval_s"] = _interval_field(settings.PLANNER_SYNC_INTERVAL_S)
        self.access: ClusterAccess | None = None

    def _read_access(self) -> ClusterAccess:
        """Each kind of live form has its own; this one is never shown."""
        raise TypeError(f"{type(self).__name__} does not say where its access comes from")

    @property
    def valid_access(self) -> ClusterAccess:
        """The access of a form that is valid. Raises ``ValueError`` before that."""
        if self.access is None:
            raise ValueError("the form is not valid")
        return self.access

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if not self.errors:
            try:
                self.access = self._read_access()
            except AccessError as error:
                self.add_error(None, f"{error.key}: {error.message} {error.way_out}")
        return cleaned


def _kubeconfig_field(**kwargs: Any) -> forms.CharField:
    return forms.CharField(
        label=gettext_lazy("Kubeconfig"),
        max_length=kubeconfig.MAX_BYTES,
        strip=False,
        widget=WriteOnlyTextarea(
            attrs={"rows": 8, "autocomplete": "off", "spellcheck": "false", "class": "code"}
        ),
        help_text=gettext_lazy(
            "Paste what “kubectl config view --raw --minify --flatten” prints. "
            "Sealed when stored, never shown again."
        ),
        **kwargs,
    )


def _token_field(**kwargs: Any) -> forms.CharField:
    return forms.CharField(
        label=gettext_lazy("Token"),
        max_length=kubeconfig.MAX_TOKEN,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=gettext_lazy(
            "Of a ServiceAccount. Sealed when stored, never shown again. Empty for kubectl proxy."
        ),
        **kwargs,
    )


def _ca_field() -> forms.CharField:
    return forms.CharField(
        label=gettext_lazy("CA certificate"),
        max_length=kubeconfig.MAX_BYTES,
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "class": "code"}),
        help_text=gettext_lazy("PEM text. Empty: the authorities that this machine knows."),
    )


class KubeconfigForm(LiveForm):
    source = Cluster.Source.KUBECONFIG
    kubeconfig = _kubeconfig_field()

    def _read_access(self) -> ClusterAccess:
        return kubeconfig.parse(self.cleaned_data["kubeconfig"])


class AddressForm(LiveForm):
    source = Cluster.Source.FIELDS
    address = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=300,
        widget=forms.TextInput(attrs={"placeholder": "https://10.0.0.5:6443"}),
        help_text=gettext_lazy("As “kubectl cluster-info” prints it."),
    )
    token = _token_field()
    ca = _ca_field()

    def _read_access(self) -> ClusterAccess:
        data = self.cleaned_data
        return kubeconfig.from_fields(data["address"], data["token"], data["ca"])


class InClusterForm(LiveForm):
    source = Cluster.Source.IN_CLUSTER

    def _read_access(self) -> ClusterAccess:
        return kubeconfig.in_cluster()


class EditForm(ClusterForm):
    """Name, description and interval of a cluster; and a new credential, if one is given."""

    version = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, cluster: Cluster, **kwargs: Any) -> None:
        initial = {
            "name": cluster.name,
            "description": cluster.description,
            "version": cluster.version,
        }
        kwargs["initial"] = initial
        super().__init__(*args, **kwargs)
        self.access: ClusterAccess | None = None
        self._cluster = cluster
        if cluster.is_live:
            self.fields["sync_interval_s"] = _interval_field(cluster.sync_interval_s)
        if cluster.source == Cluster.Source.KUBECONFIG:
            self.fields["kubeconfig"] = _kubeconfig_field(required=False)
        elif cluster.source == Cluster.Source.FIELDS:
            self.fields["address"] = forms.CharField(
                label=_("Address"), max_length=300, required=False, initial=cluster.server
            )
            self.fields["token"] = _token_field()
            self.fields["ca"] = _ca_field()

    @property
    def credential_fields(self) -> list[Any]:
        return [
            self[name] for name in ("kubeconfig", "address", "token", "ca") if name in self.fields
        ]

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        data = self.cleaned_data
        try:
            if data.get("kubeconfig", "").strip():
                self.access = kubeconfig.parse(data["kubeconfig"])
            elif data.get("token") or data.get("ca") or self._address_changed(data):
                self.access = kubeconfig.from_fields(
                    data.get("address", ""), data.get("token", ""), data.get("ca", "")
                )
        except AccessError as error:
            self.add_error(None, f"{error.key}: {error.message} {error.way_out}")
        return cleaned

    def _address_changed(self, data: dict[str, Any]) -> bool:
        return "address" in self.fields and data.get("address", "") != self._cluster.server
