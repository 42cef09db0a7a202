"""Settings of the tests: the project's own, with a fast hasher and data in a temporary folder."""

import os
import tempfile

os.environ.setdefault("PLANNER_DATA_DIR", tempfile.mkdtemp(prefix="planner-tests-"))

from planner.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
