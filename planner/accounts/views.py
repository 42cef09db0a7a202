"""Logging in and out, the profile, and the choices of the top bar."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import PasswordChangeForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from planner.accounts import services
from planner.accounts.forms import LoginForm, ProfileForm
from planner.accounts.middleware import SESSION_KEY, PlannerRequest
from planner.accounts.models import Team, User
from planner.frame import languages
from planner.frame.context_processors import THEME_COOKIE

YEAR_S = 365 * 24 * 3600


def _next(request: HttpRequest, default: str) -> str:
    """Where to go afterwards: ``next`` if it stays on this site, else ``default``."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    allowed = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if wanted and allowed else resolve_url(default)


@login_not_required
@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "POST"])
def user_login(request: PlannerRequest) -> HttpResponse:
    """Name and password."""
    if request.htmx:
        # A fragment was asked for after the session had ended: let the browser show the login.
        return HttpResponseClientRefresh()
    form = LoginForm(request, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        login(request, form.get_user())
        response = redirect(_next(request, settings.LOGIN_REDIRECT_URL))
        return _with_theme(response, form.get_user().theme)
    return render(
        request,
        "accounts/login.html",
        {"form": form, "next": _next(request, settings.LOGIN_REDIRECT_URL)},
        status=422 if form.is_bound else 200,
    )


@require_POST
def user_logout(request: PlannerRequest) -> HttpResponse:
    """End this session."""
    logout(request)
    return redirect(settings.LOGOUT_REDIRECT_URL)


def _with_theme(response: HttpResponse, theme: str) -> HttpResponse:
    response.set_cookie(
        THEME_COOKIE,
        theme,
        max_age=YEAR_S,
        samesite="Lax",
        httponly=True,
        secure=settings.SESSION_COOKIE_SECURE,
    )
    return response


def _profile_page(
    request: PlannerRequest,
    *,
    profile: ProfileForm | None = None,
    password: PasswordChangeForm | None = None,
) -> HttpResponse:
    wrong = any(form is not None and form.errors for form in (profile, password))
    context = {
        "profile_form": profile or ProfileForm(instance=request.user),
        "password_form": password or PasswordChangeForm(request.user),
    }
    # Django's form asks for the focus; here it is one form of two, and a jump for readers.
    context["password_form"].fields["old_password"].widget.attrs.pop("autofocus", None)
    return render(request, "accounts/profile_edit.html", context, status=422 if wrong else 200)


@require_http_methods(["GET", "POST"])
def profile_edit(request: PlannerRequest) -> HttpResponse:
    """Theme and language; the password has its own form on the same page."""
    if request.method == "GET":
        return _profile_page(request)
    # A copy, so that a refused value does not dress this very page.
    form = ProfileForm(request.POST, instance=User.objects.get(pk=request.user.pk))
    if not form.is_valid():
        return _profile_page(request, profile=form)
    saved = form.save(commit=False)  # with the language kept where there is none to choose
    services.save_profile(user=request.user, theme=saved.theme, language=saved.language)
    messages.success(request, _("Saved."))
    return _with_theme(redirect("accounts:profile"), saved.theme)


@sensitive_post_parameters()
@require_POST
def password_change(request: PlannerRequest) -> HttpResponse:
    """A new password; all other sessions of the user end."""
    form = PasswordChangeForm(request.user, request.POST)
    if not form.is_valid():
        return _profile_page(request, password=form)
    services.change_password(
        user=request.user, password=form.cleaned_data["new_password1"], request=request
    )
    update_session_auth_hash(request, request.user)
    messages.success(request, _("The password is changed. Your other sessions have ended."))
    return redirect("accounts:profile")


@require_POST
def theme_set(request: PlannerRequest) -> HttpResponse:
    """Light, dark or as the system, from the menu."""
    theme = request.POST.get("theme", "")
    if theme not in User.Theme.values:
        return HttpResponse(_("No such theme."), status=422, content_type="text/plain")
    services.save_profile(user=request.user, theme=theme, language=request.user.language)
    return _with_theme(redirect(_next(request, "accounts:profile")), theme)


@require_POST
def language_set(request: PlannerRequest) -> HttpResponse:
    """Another language, from the menu."""
    language = request.POST.get("language", "")
    if language not in dict(languages.offered()):
        return HttpResponse(_("No such language."), status=422, content_type="text/plain")
    services.save_profile(user=request.user, theme=request.user.theme, language=language)
    response = redirect(_next(request, "accounts:profile"))
    response.set_cookie(settings.LANGUAGE_COOKIE_NAME, language, max_age=YEAR_S, samesite="Lax")
    return response


@require_POST
def team_switch(request: PlannerRequest) -> HttpResponse:
    """Work in another team of the user."""
    wanted = request.POST.get("team", "")
    key = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 19 else 0
    team = get_object_or_404(Team.objects.visible_to(request.user), pk=key)
    request.session[SESSION_KEY] = team.pk
    return redirect(settings.LOGIN_REDIRECT_URL)
