"""Settings of the tests: the project's own, with a fast hasher and data in a temporary folder."""

import os
import tempfile

os.environ.setdefault("PLANNER_DATA_DIR", tempfile.mkdtemp(prefix="planner-tests-"))

from planner.settings import *  # noqa: F403
from planner.settings import DATA_DIR, DATABASES, INTENDED_LANGUAGES, USES_SQLITE

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if USES_SQLITE:
    # A file, as in use: the in-memory database of Django's runner locks differently.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
# Tests of translation need no catalogue: they bring their own words.
LANGUAGES = INTENDED_LANGUAGES
