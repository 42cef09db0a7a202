"""Does the API server emulate an older minor? Then that minor decides the feature defaults."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.readiness.subject import Subject
from fleet.readiness.wording import not_applicable

CHECK = "emulation"
QUESTION = 1


def check(subject: Subject) -> Iterator[Finding]:
    version = subject.inventory.version
    emulated = version.emulation_minor
    if emulated is None or version.minor is None:
        yield not_applicable(CHECK, QUESTION, "The API server reports no emulated version")
    elif emulated < version.minor:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            f"1.{version.minor} behaves as 1.{emulated}",
            f"The API server runs with --emulated-version 1.{emulated}: APIs and feature defaults "
            f"are those of 1.{emulated}, whatever the binary can do.",
            (Evidence("API server", "emulationMinor", str(emulated)),),
            "Remove --emulated-version from the API server when the upgrade is proven.",
            source="GET /version",
        )
    else:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            "No older version is emulated",
            f"Binary and emulated version are both 1.{version.minor}.",
            source="GET /version",
        )
