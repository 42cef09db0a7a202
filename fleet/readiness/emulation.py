"""Does the API server emulate an older minor? Then that minor decides the feature defaults."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.subject import Subject
from fleet.readiness.wording import not_applicable, of_api_server
from fleet.words import say

CHECK = "emulation"
QUESTION = 1


def check(subject: Subject) -> Iterator[Finding]:
    version = subject.inventory.version
    emulated = version.emulation_minor
    if emulated is None or version.minor is None:
        yield not_applicable(CHECK, QUESTION, say("The API server reports no emulated version"))
    elif emulated < version.minor:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say("1.{minor} behaves as 1.{emulated}", minor=version.minor, emulated=emulated),
            say(
                "The API server runs with --emulated-version 1.{emulated}: APIs and feature "
                "defaults are those of 1.{emulated}, whatever the binary can do.",
                emulated=emulated,
            ),
            (of_api_server("emulationMinor", str(emulated)),),
            say("Remove --emulated-version from the API server when the upgrade is proven."),
            source="GET /version",
        )
    else:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say("No older version is emulated"),
            say("Binary and emulated version are both 1.{minor}.", minor=version.minor),
            source="GET /version",
        )
