"""Are there objects of an alpha scheduling API that the next upgrade no longer serves?"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.inventory import ReadStatus
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded, not_applicable, of_object, unknown
from fleet.words import say, say_many

CHECK = "alpha-objects"
QUESTION = 1

_RESOURCES = ("podgroups.scheduling.k8s.io", "workloads.scheduling.k8s.io")


def _source() -> str:
    return say("release notes of 1.36 (#136976) and 1.37 (#138572, #140184)")


def check(subject: Subject) -> Iterator[Finding]:
    inventory = subject.inventory
    alpha = [
        o for o in inventory.gang_objects if o.api_version.startswith("scheduling.k8s.io/v1alpha")
    ]
    if alpha:
        kinds = sorted({o.api_version for o in alpha})
        evidence = [
            of_object(
                f"{o.api_version} {o.kind} {o.namespace}/{o.name}", "apiVersion", o.api_version
            )
            for o in alpha
        ]
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.WARN,
            say_many(
                "{n} object of an alpha scheduling API",
                "{n} objects of an alpha scheduling API",
                len(alpha),
            ),
            say(
                "{versions}: every minor so far replaced the version before it, so these objects "
                "must be deleted before the upgrade and written anew after it.",
                versions=", ".join(kinds),
            ),
            bounded(evidence),
            say(
                "Save them, delete them, upgrade, and create them in the version that the new "
                "minor serves:"
            ),
            "kubectl get podgroups.scheduling.k8s.io -A -o yaml > podgroups-before.yaml\n"
            "kubectl delete podgroups.scheduling.k8s.io -A --all\n",
            source=_source(),
        )
        return
    for resource in _RESOURCES:
        if subject.status(resource) in (ReadStatus.FORBIDDEN, ReadStatus.FAILED):
            yield unknown(
                CHECK, QUESTION, say("Objects of an alpha API?"), resource, inventory.read(resource)
            )
            return
    if any(subject.was_read(resource) for resource in _RESOURCES):
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say("No object of an alpha scheduling API"),
            source=_source(),
        )
    else:
        yield not_applicable(CHECK, QUESTION, say("The native workload API is not in use"))
