"""Settings of the Django project; every choice comes from ``PLANNER_*`` (docs/settings.md).

Without any variable this is the embedded default: SQLite below ``var/``, no services, bound to
this machine. ``PLANNER_DATABASE_URL`` and ``PLANNER_BROKER_URL`` turn it into the served form:
PostgreSQL, Redis and Celery workers.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import dj_database_url
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured
from django.utils.csp import CSP
from django.utils.translation import gettext_lazy as _

from planner import environment as env

BASE_DIR = Path(__file__).resolve().parent.parent
PRODUCTION = env.text("ENV", "embedded") == "production"
DATA_DIR = Path(env.text("DATA_DIR", str(BASE_DIR / "var")))


def _kept_secret(name: str, make: Any) -> str:
    """A secret from the environment; in the embedded default one made once and kept (0600)."""
    value = env.text(name)
    if value:
        return value
    if PRODUCTION:
        raise ImproperlyConfigured(f"PLANNER_ENV=production needs PLANNER_{name} (or _FILE).")
    DATA_DIR.mkdir(parents=True, exist_ok=True)
    path = DATA_DIR / name.lower()
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(make(), encoding="utf-8")
    return path.read_text(encoding="utf-8").strip()


SECRET_KEY = _kept_secret("SECRET_KEY", lambda: secrets.token_urlsafe(50))
PLANNER_CREDENTIAL_KEYS = (
    _kept_secret("CREDENTIAL_KEYS", lambda: Fernet.generate_key().decode())
    .replace(",", " ")
    .split()
)
DEBUG = env.flag("DEBUG", default=False)
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", "localhost 127.0.0.1 [::1]")
CSRF_TRUSTED_ORIGINS = env.words("TRUSTED_ORIGINS")

# Clusters may be called only at these networks; see planner.inventory and SECURITY.md. The
# embedded default also allows this machine itself (kind, minikube, k3d, kubectl proxy).
PLANNER_CLUSTER_NETWORKS = env.words("CLUSTER_NETWORKS", "" if PRODUCTION else "0.0.0.0/0 ::/0")
PLANNER_ALLOW_LOOPBACK = env.flag("ALLOW_LOOPBACK", default=not PRODUCTION)

# A broker is only a bell: without one, the job loop polls the job rows.
PLANNER_BROKER_URL = env.text("BROKER_URL")
PLANNER_JOB_LEASE_S = env.integer("JOB_LEASE_S", 60, least=5)
PLANNER_JOB_ATTEMPTS = env.integer("JOB_ATTEMPTS", 3, least=1)
PLANNER_TICK_S = env.integer("TICK_S", 15, least=1)
PLANNER_RING_AGAIN_S = env.integer("RING_AGAIN_S", 60, least=1)
PLANNER_SNAPSHOTS_KEPT = env.integer("SNAPSHOTS_KEPT", 48, least=1)
PLANNER_SNAPSHOT_DAYS = env.integer("SNAPSHOT_DAYS", 30, least=1)
PLANNER_SYNC_INTERVAL_S = env.integer("SYNC_INTERVAL_S", 300, least=30)
PLANNER_UPLOAD_MIB = env.integer("UPLOAD_MIB", 200, least=1)

if PRODUCTION:
    if DEBUG:
        raise ImproperlyConfigured("PLANNER_ENV=production refuses PLANNER_DEBUG.")
    if "*" in ALLOWED_HOSTS:
        raise ImproperlyConfigured("PLANNER_ENV=production refuses '*' in PLANNER_ALLOWED_HOSTS.")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "django_filters",
    "django_tables2",
    "planner.frame",
    "planner.accounts",
    "planner.jobs",
    "planner.inventory",
    "planner.plans",
    "planner.embedded",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "planner.accounts.middleware.TeamMiddleware",
    "planner.accounts.middleware.PasswordChangeMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "planner.frame.middleware.HtmxVaryMiddleware",
    "planner.frame.middleware.NoStoreMiddleware",
]

ROOT_URLCONF = "planner.urls"
WSGI_APPLICATION = "planner.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "planner.frame.context_processors.frame",
            ],
            "builtins": ["planner.frame.templatetags.components"],
        },
    }
]

DATABASES: dict[str, Any] = {
    "default": dj_database_url.parse(
        env.text("DATABASE_URL", f"sqlite:///{DATA_DIR / 'planner.sqlite3'}"),
        conn_max_age=60,
        conn_health_checks=True,
    )
}
USES_SQLITE = DATABASES["default"]["ENGINE"].endswith("sqlite3")
if USES_SQLITE:
    if PLANNER_BROKER_URL:
        raise ImproperlyConfigured(
            "PLANNER_BROKER_URL with SQLite: workers on other machines cannot see the file. "
            "Set PLANNER_DATABASE_URL to PostgreSQL, or leave the broker out."
        )
    DATA_DIR.mkdir(parents=True, exist_ok=True)
    DATABASES["default"]["CONN_MAX_AGE"] = 0
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        # Mapped, not copied: a page over thousands of nodes reads a few megabytes of rows.
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA mmap_size=268435456;"
        ),
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "accounts:login"
LOGIN_REDIRECT_URL = "inventory:overview"
LOGOUT_REDIRECT_URL = "accounts:login"

LANGUAGE_CODE = "en"
INTENDED_LANGUAGES = [("en", _("English")), ("ja", _("Japanese"))]
LOCALE_PATHS = [BASE_DIR / "planner" / "locale"]
# A browser gets a language once its catalogue is compiled, not Django's own words between English.
LANGUAGES = [
    (code, name)
    for code, name in INTENDED_LANGUAGES
    if code == LANGUAGE_CODE or (LOCALE_PATHS[0] / code / "LC_MESSAGES" / "django.mo").is_file()
]
TIME_ZONE = env.text("TIME_ZONE", "UTC")
USE_TZ = True
USE_THOUSAND_SEPARATOR = True

STATIC_URL = "static/"
STATIC_ROOT = Path(env.text("STATIC_ROOT", str(DATA_DIR / "static")))
if not PRODUCTION:
    STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # stays empty: the sources are served
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "planner.frame.finders.PlotlyFinder",
]
# The manifest needs collectstatic first; the embedded default serves straight from the sources.
_STATIC_STORAGE = (
    "whitenoise.storage.CompressedManifestStaticFilesStorage"
    if PRODUCTION
    else "django.contrib.staticfiles.storage.StaticFilesStorage"
)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": _STATIC_STORAGE},
}
WHITENOISE_USE_FINDERS = not PRODUCTION
WHITENOISE_AUTOREFRESH = not PRODUCTION  # a file changed by an update is served at once
MAILERS = {"default": {"BACKEND": "django.core.mail.backends.console.EmailBackend"}}

FILE_UPLOAD_HANDLERS = [
    "planner.inventory.uploads.LimitedUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000
FILE_UPLOAD_PERMISSIONS = 0o600

# Plotly fills an empty <style> by script; the hash is that of the empty string.
_EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
SECURE_CSP = {
    "default-src": [CSP.SELF],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF, _EMPTY_STYLE],
    "img-src": [CSP.SELF, "data:"],
    "object-src": [CSP.NONE],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
    "form-action": [CSP.SELF],
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_SAVE_EVERY_REQUEST = False
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "planner.frame.views.csrf_failure"
if PRODUCTION and not env.flag("PLAIN_HTTP", default=False):
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

DJANGO_TABLES2_TEMPLATE = "components/table.html"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.text("LOG_LEVEL", "INFO")},
}
