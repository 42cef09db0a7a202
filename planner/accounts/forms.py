"""Forms about people."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from planner.accounts import throttle
from planner.accounts.models import Role, User
from planner.frame import languages


class LoginForm(AuthenticationForm):
    """Name and password, with a limit on guesses per name and address."""

    error_messages = {
        **AuthenticationForm.error_messages,
        "throttled": _("Too many failed logins. Wait 15 minutes, then try again."),
    }

    def __init__(self, request: HttpRequest | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, *args, **kwargs)
        self.address = (request.META.get("REMOTE_ADDR") or "")[:45] if request else ""

    def clean(self) -> dict[str, Any]:
        username = self.cleaned_data.get("username") or ""
        if throttle.is_blocked(username, self.address):
            # Before the password is looked at: a guesser must not learn that it was right.
            raise forms.ValidationError(self.error_messages["throttled"], code="throttled")
        try:
            cleaned: dict[str, Any] = super().clean()
        except forms.ValidationError:
            throttle.note_failure(username, self.address)
            raise
        throttle.forget(username, self.address)
        return cleaned


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]  # no generics at run time
    """How the pages look for this user."""

    language = forms.ChoiceField(
        label=_("Language"),
        choices=lambda: [("", _("As the browser")), *languages.offered()],
        required=False,
    )

    class Meta:
        model = User
        fields = ("theme", "language")
        widgets = {"theme": forms.RadioSelect}
        labels = {"theme": _("Theme")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if len(languages.offered()) == 1:
            del self.fields["language"]


class MemberAddForm(forms.Form):
    """A person to add to the team, by name; a name that nobody has makes a new user."""

    username = forms.CharField(
        label=_("User name"),
        max_length=150,
        validators=[UnicodeUsernameValidator()],
        help_text=_("A new name makes a new user with a one-time password."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    role = forms.ChoiceField(
        label=_("Role"), choices=Role.choices, initial=Role.VIEWER, widget=forms.RadioSelect
    )


class RoleForm(forms.Form):
    """Another role for a member."""

    role = forms.ChoiceField(choices=Role.choices)
